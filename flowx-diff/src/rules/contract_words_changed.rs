//! See the rule's page.

use super::{Action, Area, Cx, Sink, rule};

rule! {
    /// # Words in a contract changed
    ///
    /// ## What it catches
    ///
    /// A title, description, example, or another keyword that constrains nothing, in a contract that no tool shows.
    /// What a model reads is FXD073.
    ///
    /// ## Why it matters
    ///
    /// Documentation is generated from it.
    ///
    /// ## Example
    ///
    /// A doc comment of a member was edited.
    ///
    /// ## Instead
    ///
    /// Nothing, if that is meant.
    "FXD061" "contract-words-changed" [Neutral]
    cells &[(Area::Contract, "words", Action::Change)];
    consequence "Callers read something else; nothing is refused.";
    fix "Nothing, if that is meant.";
    check check;
}

fn check(cx: &Cx<'_>, sink: &mut Sink) {
    super::shapes::report(cx, RULE.id, sink);
}
