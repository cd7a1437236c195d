//! See the rule's page.

use super::{Action, Area, Cx, Sink, rule};

rule! {
    /// # A format changed
    ///
    /// ## What it catches
    ///
    /// `format` and the `content…` keywords, which are annotations by the standard.
    ///
    /// ## Why it matters
    ///
    /// Generated clients choose types by it.
    ///
    /// ## Example
    ///
    /// `format: date` became `format: date-time`.
    ///
    /// ## Instead
    ///
    /// Nothing, if both sides parse both.
    "FXD063" "format-changed" [Neutral]
    cells &[(Area::Contract, "format", Action::Change)];
    consequence "Nothing is refused by the schema; readers may parse differently.";
    fix "Nothing, if that is meant.";
    check check;
}

fn check(cx: &Cx<'_>, sink: &mut Sink) {
    super::shapes::report(cx, RULE.id, sink);
}
