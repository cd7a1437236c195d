//! See the rule's page.

use flowx_manifest::Json;

use super::{Action, Area, Cx, Sink, rule};

rule! {
    /// # An error catalogue cannot be compared
    ///
    /// ## What it catches
    ///
    /// A flow or capability whose catalogue is known on one side only.
    ///
    /// ## Why it matters
    ///
    /// What cannot be seen is not reported as compatible.
    ///
    /// ## Example
    ///
    /// The error type moved into a macro that the scan does not expand.
    ///
    /// ## Instead
    ///
    /// `#[derive(FlowError)]` on an enum in plain sight.
    "FXD019" "errors-not-compared" [Undecided]
    cells &[(Area::Capability, "error catalogue", Action::Change)];
    consequence "Codes may have come or gone.";
    fix "Make the error type one that the scan can read.";
    check check;
}

fn check(cx: &Cx<'_>, sink: &mut Sink) {
    for (subject, before, after) in super::catalogues(cx) {
        if before.is_some() != after.is_some() {
            let (was, is) = if before.is_some() {
                ("known", "unknown")
            } else {
                ("unknown", "known")
            };
            sink.add(
                RULE.finding(&subject, "/errors")
                    .says(format!("the error catalogue was {was} and is {is}"))
                    .change(Json::from(was), Json::from(is)),
            );
        }
    }
}
