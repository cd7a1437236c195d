//! See the rule's page.

use super::{Action, Area, Cx, Sink, rule};

rule! {
    /// # Two tools have one name
    ///
    /// ## What it catches
    ///
    /// A list in which a name stands twice, and did not before, or whose second tool changed. FlowX's own manifests
    /// cannot have it.
    ///
    /// ## Why it matters
    ///
    /// One client takes the first and another the last. A second, poisoned one hides behind the reviewed one.
    ///
    /// ## Example
    ///
    /// A merged server list with two `search` tools.
    ///
    /// ## Instead
    ///
    /// Prefix the names.
    "FXD079" "tool-name-twice" [Security]
    cells &[(Area::Tool, "unique name", Action::Change)];
    consequence "Which of the two a client runs is anybody's guess.";
    fix "Give every tool a name of its own.";
    check check;
}

fn check(cx: &Cx<'_>, sink: &mut Sink) {
    super::tools::report(cx, RULE.id, sink);
}
