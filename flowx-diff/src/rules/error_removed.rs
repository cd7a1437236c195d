//! See the rule's page.

use flowx_manifest::Json;

use super::{Action, Area, Cx, Sink, rule};

rule! {
    /// # An error code was removed
    ///
    /// ## What it catches
    ///
    /// A code that a flow or capability could answer with and cannot any more.
    ///
    /// ## Why it matters
    ///
    /// Callers branch on codes. One that never comes again usually means that another one comes in its place.
    ///
    /// ## Example
    ///
    /// `refund.already_issued` is gone from `payment.refund@1`.
    ///
    /// ## Instead
    ///
    /// Keep the code, or publish a new major.
    "FXD017" "error-removed" [Breaking]
    cells &[(Area::Capability, "error", Action::Remove)];
    consequence "Callers that wait for this code wait in vain.";
    fix "Keep the code in the catalogue.";
    check check;
}

fn check(cx: &Cx<'_>, sink: &mut Sink) {
    for (subject, before, after) in super::catalogues(cx) {
        let (Some(before), Some(after)) = (before, after) else {
            continue;
        };
        for e in before
            .iter()
            .filter(|e| !after.iter().any(|a| a.code == e.code))
        {
            sink.add(
                RULE.finding(&subject, format!("/errors/{}", e.code))
                    .says(format!("`{}` ({}) was removed", e.code, e.category))
                    .change(Json::from(e.code.as_str()), None),
            );
        }
    }
}
