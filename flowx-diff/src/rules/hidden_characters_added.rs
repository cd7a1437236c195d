//! See the rule's page.

use super::{Action, Area, Cx, Sink, rule};

rule! {
    /// # Hidden characters were added
    ///
    /// ## What it catches
    ///
    /// A title, description or other text that holds a zero-width, bidirectional, tag or otherwise invisible character
    /// which it did not hold. They are written out in the finding (`⟨U+200B⟩`).
    ///
    /// ## Why it matters
    ///
    /// It is the way to hide an instruction from a review.
    ///
    /// ## Example
    ///
    /// U+200B in the middle of a word of a description.
    ///
    /// ## Instead
    ///
    /// Remove them; there is no honest use of them in a description.
    "FXD071" "hidden-characters-added" [Security]
    cells &[(Area::Tool, "hidden characters", Action::Add)];
    consequence "A model reads what a reviewer cannot see.";
    fix "Remove the characters.";
    check check;
}

fn check(cx: &Cx<'_>, sink: &mut Sink) {
    super::tools::report(cx, RULE.id, sink);
}
