//! See the rule's page.

use super::{Action, Area, Cx, Sink, rule};

rule! {
    /// # Words in a tool's schema changed
    ///
    /// ## What it catches
    ///
    /// Titles, descriptions, examples and the order of values inside the input or output schema of a tool. Defaults are
    /// FXD062.
    ///
    /// ## Why it matters
    ///
    /// Models read parameter descriptions like the tool's own.
    ///
    /// ## Example
    ///
    /// The description of `limit` was edited.
    ///
    /// ## Instead
    ///
    /// Nothing, if that is meant.
    "FXD073" "tool-schema-words-changed" [Neutral]
    cells &[(Area::Tool, "schema words", Action::Change)];
    consequence "A model reads something else, and may fill in other values.";
    fix "Read the new text as the model will.";
    check check;
}

fn check(cx: &Cx<'_>, sink: &mut Sink) {
    super::tools::report(cx, RULE.id, sink);
}
