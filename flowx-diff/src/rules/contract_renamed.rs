//! See the rule's page.

use flowx_manifest::Json;

use super::{Action, Area, Cx, Sink, rule};

rule! {
    /// # A contract was renamed
    ///
    /// ## What it catches
    ///
    /// A contract that is gone and one that says `renamedFrom` of it. The two are compared as one; what breaks is
    /// reported member by member, and stays breaking.
    ///
    /// ## Why it matters
    ///
    /// The name stands in the manifest, in docs and in generated clients.
    ///
    /// ## Example
    ///
    /// `crate::IssueRefund` became `crate::RefundRequest`.
    ///
    /// ## Instead
    ///
    /// Nothing, if that is meant.
    "FXD060" "contract-renamed" [Neutral]
    cells &[(Area::Contract, "name", Action::Change)];
    consequence "Nothing on the wire; generated clients get another type name.";
    fix "Nothing, if that is meant.";
    check check;
}

fn check(cx: &Cx<'_>, sink: &mut Sink) {
    let old = |id: &str| super::shapes::contract(cx.old, id).is_some();
    let new = |id: &str| super::shapes::contract(cx.new, id).is_some();
    for contract in &cx.new.contracts {
        if let Some(from) = contract
            .renamed_from
            .as_deref()
            .filter(|f| old(f) && !new(f) && !old(&contract.id))
        {
            sink.add(
                RULE.finding(format!("contract {}", contract.id), "/id")
                    .says(format!("`{from}` is called `{}` now", contract.id))
                    .change(Json::from(from), Json::from(contract.id.as_str())),
            );
        }
    }
}
