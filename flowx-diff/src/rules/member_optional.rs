//! See the rule's page.

use super::{Action, Area, Cx, Sink, rule};

rule! {
    /// # A member may be absent now
    ///
    /// ## What it catches
    ///
    /// A member that was required and is optional. Breaking in a response, additive in a request.
    ///
    /// ## Why it matters
    ///
    /// Readers do not check for what was always there.
    ///
    /// ## Example
    ///
    /// `#[serde(skip_serializing_if = "Option::is_none")]` was added to a member of the output.
    ///
    /// ## Instead
    ///
    /// Write `null`, or a default, as before.
    "FXD044" "member-optional" [Breaking, Additive, Undecided]
    cells &[(Area::Contract, "required", Action::Loosen)];
    consequence "Callers that rely on it find nothing.";
    fix "Go on writing it always.";
    check check;
}

fn check(cx: &Cx<'_>, sink: &mut Sink) {
    super::shapes::report(cx, RULE.id, sink);
}
