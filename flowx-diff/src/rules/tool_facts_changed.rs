//! See the rule's page.

use super::{Action, Area, Cx, Sink, rule};

rule! {
    /// # Something else in a tool's descriptor changed
    ///
    /// ## What it catches
    ///
    /// Any other member of the descriptor, its annotations or its `_meta`. Security when its name speaks of
    /// permissions, scopes, effects, confirmation or approval; neutral otherwise.
    ///
    /// ## Why it matters
    ///
    /// Gateways and policies decide by such facts, and no schema knows them.
    ///
    /// ## Example
    ///
    /// `_meta`: `effects: [db.read]` became `[db.write, email.send]`.
    ///
    /// ## Instead
    ///
    /// Nothing, if that is meant.
    "FXD075" "tool-facts-changed" [Neutral, Security]
    cells &[(Area::Tool, "facts", Action::Change)];
    consequence "Whoever reads the fact decides otherwise.";
    fix "Nothing, if that is meant.";
    check check;
}

fn check(cx: &Cx<'_>, sink: &mut Sink) {
    super::tools::report(cx, RULE.id, sink);
}
