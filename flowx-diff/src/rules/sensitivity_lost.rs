//! See the rule's page.

use flowx_manifest::Json;

use super::{Action, Area, Cx, Sink, rule};

rule! {
    /// # A member is not sensitive any more
    ///
    /// ## What it catches
    ///
    /// A member of an input, output or event that was marked sensitive and is still there without the mark.
    ///
    /// ## Why it matters
    ///
    /// Redaction follows the mark. Without it the value is written wherever values are written.
    ///
    /// ## Example
    ///
    /// `cardholder_reference: Sensitive<String>` became `cardholder_reference: String`.
    ///
    /// ## Instead
    ///
    /// Keep `Sensitive<T>`, or rename the member if it now holds something harmless.
    "FXD006" "sensitivity-lost" [Security]
    cells &[(Area::Contract, "sensitive", Action::Loosen)];
    consequence "The value can appear in logs, journals, prompts and problem bodies.";
    fix "Keep it `Sensitive<T>`.";
    check check;
}

fn check(cx: &Cx<'_>, sink: &mut Sink) {
    for (subject, place, before, after) in super::type_refs(cx) {
        for member in before.sensitive.difference(&after.sensitive) {
            if super::member_is_gone(cx, before, after, member) {
                continue;
            }
            sink.add(
                RULE.finding(&subject, format!("/{place}/sensitive{member}"))
                    .says(format!(
                        "`{member}` of the {place} is not sensitive any more"
                    ))
                    .change(Json::from("sensitive"), None),
            );
        }
    }
}
