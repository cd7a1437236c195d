//! See the rule's page.

use super::{Action, Area, Cx, Sink, rule};

rule! {
    /// # A tool's output schema was added
    ///
    /// ## What it catches
    ///
    /// A tool that promises a shape for its result now.
    ///
    /// ## Why it matters
    ///
    /// It is a promise from now on.
    ///
    /// ## Example
    ///
    /// `search` gained an `outputSchema`.
    ///
    /// ## Instead
    ///
    /// Nothing, if that is meant.
    "FXD114" "output-schema-added" [Additive]
    cells &[(Area::Tool, "outputSchema", Action::Add)];
    consequence "Callers can rely on a shape.";
    fix "Nothing, if that is meant.";
    check check;
}

fn check(cx: &Cx<'_>, sink: &mut Sink) {
    super::tools::report(cx, RULE.id, sink);
}
