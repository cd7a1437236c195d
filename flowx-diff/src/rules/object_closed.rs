//! See the rule's page.

use super::{Action, Area, Cx, Sink, rule};

rule! {
    /// # An object is closed now
    ///
    /// ## What it catches
    ///
    /// An object that ignored undeclared members and refuses them now (`deny_unknown_fields`). Breaking in a request,
    /// additive in a response.
    ///
    /// ## Why it matters
    ///
    /// Clients send members of newer and older versions, and extras of their own.
    ///
    /// ## Example
    ///
    /// `#[serde(deny_unknown_fields)]` was added.
    ///
    /// ## Instead
    ///
    /// Leave it open within the major version.
    "FXD045" "object-closed" [Breaking, Additive, Undecided]
    cells &[(Area::Contract, "additionalProperties", Action::Tighten)];
    consequence "Callers that send something more are refused.";
    fix "Keep the object open.";
    check check;
}

fn check(cx: &Cx<'_>, sink: &mut Sink) {
    super::shapes::report(cx, RULE.id, sink);
}
