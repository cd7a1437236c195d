//! See the rule's page.

use super::{Action, Area, Cx, Sink, rule};

rule! {
    /// # A pattern changed
    ///
    /// ## What it catches
    ///
    /// A `pattern` that is another one. Whether one regular expression contains another is not decided here; the
    /// finding shows a text that matches one and not the other, where one was found. A pattern where none was is a
    /// break with an example.
    ///
    /// ## Why it matters
    ///
    /// What cannot be decided is never reported as compatible.
    ///
    /// ## Example
    ///
    /// `^[a-z]+$` became `^[a-z0-9]+$`.
    ///
    /// ## Instead
    ///
    /// Allow it with a reason, once somebody has looked.
    "FXD056" "pattern-changed" [Undecided, Breaking, Additive]
    cells &[(Area::Contract, "pattern", Action::Change)];
    consequence "Texts that matched may not match now, or the other way round.";
    fix "Compare the two patterns by hand, then allow the finding with a reason.";
    check check;
}

fn check(cx: &Cx<'_>, sink: &mut Sink) {
    super::shapes::report(cx, RULE.id, sink);
}
