//! See the rule's page.

use super::{Action, Area, Cx, Sink, rule};

rule! {
    /// # A tool's title changed
    ///
    /// ## What it catches
    ///
    /// The title, or the title among the annotations.
    ///
    /// ## Why it matters
    ///
    /// It is what a person sees in the question whether a call may run.
    ///
    /// ## Example
    ///
    /// "Issue refund" became "Check ticket".
    ///
    /// ## Instead
    ///
    /// Let the title say the gravest thing the tool does.
    "FXD072" "tool-title-changed" [Neutral]
    cells &[(Area::Tool, "title", Action::Change)];
    consequence "People are shown another name when they are asked.";
    fix "Nothing, if that is meant.";
    check check;
}

fn check(cx: &Cx<'_>, sink: &mut Sink) {
    super::tools::report(cx, RULE.id, sink);
}
