//! See the rule's page.

use flowx_manifest::Json;

use super::{Action, Area, Cx, Sink, rule};

rule! {
    /// # A member became sensitive
    ///
    /// ## What it catches
    ///
    /// A member of an input, output or event that is marked sensitive now.
    ///
    /// ## Why it matters
    ///
    /// What was written before stays where it was written.
    ///
    /// ## Example
    ///
    /// `cardholder_reference: String` became `Sensitive<String>`.
    ///
    /// ## Instead
    ///
    /// Nothing; think of old logs.
    "FXD107" "sensitivity-gained" [Additive]
    cells &[(Area::Contract, "sensitive", Action::Tighten)];
    consequence "The value is kept out of logs, journals and prompts from now on.";
    fix "Nothing, if that is meant.";
    check check;
}

fn check(cx: &Cx<'_>, sink: &mut Sink) {
    for (subject, place, before, after) in super::type_refs(cx) {
        for member in after.sensitive.difference(&before.sensitive) {
            sink.add(
                RULE.finding(&subject, format!("/{place}/sensitive{member}"))
                    .says(format!("`{member}` of the {place} is sensitive now"))
                    .change(None, Json::from("sensitive")),
            );
        }
    }
}
