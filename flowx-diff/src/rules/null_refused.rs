//! See the rule's page.

use super::{Action, Area, Cx, Sink, rule};

rule! {
    /// # Null is refused now
    ///
    /// ## What it catches
    ///
    /// A place where `null` could stand and cannot any more. Breaking in a request, additive in a response.
    ///
    /// ## Why it matters
    ///
    /// Many clients send null for what they leave out.
    ///
    /// ## Example
    ///
    /// `note: Option<String>` became `note: String`.
    ///
    /// ## Instead
    ///
    /// `#[serde(default)]` with `Option`.
    "FXD050" "null-refused" [Breaking, Additive, Undecided]
    cells &[(Area::Contract, "null", Action::Tighten)];
    consequence "Callers that send null are refused.";
    fix "Go on accepting null.";
    check check;
}

fn check(cx: &Cx<'_>, sink: &mut Sink) {
    super::shapes::report(cx, RULE.id, sink);
}
