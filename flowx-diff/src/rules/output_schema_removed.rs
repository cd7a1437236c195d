//! See the rule's page.

use super::{Action, Area, Cx, Sink, rule};

rule! {
    /// # A tool's output schema was removed
    ///
    /// ## What it catches
    ///
    /// A tool that promised a shape for its result and promises none now.
    ///
    /// ## Why it matters
    ///
    /// Clients validate and parse by it.
    ///
    /// ## Example
    ///
    /// `outputSchema` is gone from `search`.
    ///
    /// ## Instead
    ///
    /// Keep it.
    "FXD064" "output-schema-removed" [Breaking]
    cells &[(Area::Tool, "outputSchema", Action::Remove)];
    consequence "Callers that read structured results have no promise any more.";
    fix "Keep the schema.";
    check check;
}

fn check(cx: &Cx<'_>, sink: &mut Sink) {
    super::tools::report(cx, RULE.id, sink);
}
