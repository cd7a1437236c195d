//! See the rule's page.

use super::{Action, Area, Cx, Sink, rule};

rule! {
    /// # A type changed
    ///
    /// ## What it catches
    ///
    /// A place whose type is another: nothing that was right before is right now, in either direction.
    ///
    /// ## Why it matters
    ///
    /// Every caller is wrong.
    ///
    /// ## Example
    ///
    /// `query: String` became `query: i64`.
    ///
    /// ## Instead
    ///
    /// `query_id: Option<i64>` beside `query`.
    "FXD053" "type-changed" [Breaking, Undecided]
    cells &[(Area::Contract, "type", Action::Change)];
    consequence "Values of the old type are refused, or are not written any more.";
    fix "Add a member of the new type beside the old one.";
    check check;
}

fn check(cx: &Cx<'_>, sink: &mut Sink) {
    super::shapes::report(cx, RULE.id, sink);
}
