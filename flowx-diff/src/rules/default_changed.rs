//! See the rule's page.

use super::{Action, Area, Cx, Sink, rule};

rule! {
    /// # A default changed
    ///
    /// ## What it catches
    ///
    /// The `default` of a member in a contract or a tool. No value is refused, so it is not breaking; but what a call
    /// means when the member is left out has changed.
    ///
    /// ## Why it matters
    ///
    /// `default: 10` became `default: 1000`: the same call now asks for a hundred times as much.
    ///
    /// ## Example
    ///
    /// `#[serde(default = "ten")]` became `#[serde(default = "thousand")]`.
    ///
    /// ## Instead
    ///
    /// Keep it within the major version.
    "FXD062" "default-changed" [Neutral]
    cells &[(Area::Contract, "default", Action::Change)];
    consequence "Calls that leave the member out mean something else.";
    fix "Keep the default, or make it a new member.";
    check check;
}

fn check(cx: &Cx<'_>, sink: &mut Sink) {
    super::shapes::report(cx, RULE.id, sink);
}
