//! See the rule's page.

use super::{Action, Area, Cx, Sink, rule};

rule! {
    /// # A member must be there now
    ///
    /// ## What it catches
    ///
    /// A member that was optional and is required. Breaking in a request, additive in a response, where it is a
    /// stronger promise.
    ///
    /// ## Why it matters
    ///
    /// Calls without it were right until today.
    ///
    /// ## Example
    ///
    /// `note: Option<String>` became `note: String`.
    ///
    /// ## Instead
    ///
    /// `#[serde(default)]`.
    "FXD043" "member-required" [Breaking, Additive, Undecided]
    cells &[(Area::Contract, "required", Action::Tighten)];
    consequence "Callers that leave it out are refused.";
    fix "Keep it optional.";
    check check;
}

fn check(cx: &Cx<'_>, sink: &mut Sink) {
    super::shapes::report(cx, RULE.id, sink);
}
