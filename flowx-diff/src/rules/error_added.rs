//! See the rule's page.

use flowx_manifest::Json;

use super::{Action, Area, Cx, Sink, rule};

rule! {
    /// # An error code was added
    ///
    /// ## What it catches
    ///
    /// A code that a flow or capability could not answer with before.
    ///
    /// ## Why it matters
    ///
    /// A caller that treats every unknown code as a defect will report one.
    ///
    /// ## Example
    ///
    /// `refund.window_closed` is new.
    ///
    /// ## Instead
    ///
    /// Nothing; say in the docs that codes can be added.
    "FXD104" "error-added" [Additive]
    cells &[(Area::Capability, "error", Action::Add)];
    consequence "Callers can meet a code that they do not know.";
    fix "Nothing, if callers treat unknown codes by their category.";
    check check;
}

fn check(cx: &Cx<'_>, sink: &mut Sink) {
    for (subject, before, after) in super::catalogues(cx) {
        let (Some(before), Some(after)) = (before, after) else {
            continue;
        };
        for e in after
            .iter()
            .filter(|e| !before.iter().any(|b| b.code == e.code))
        {
            sink.add(
                RULE.finding(&subject, format!("/errors/{}", e.code))
                    .says(format!("`{}` ({}) was added", e.code, e.category))
                    .change(None, Json::from(e.code.as_str())),
            );
        }
    }
}
