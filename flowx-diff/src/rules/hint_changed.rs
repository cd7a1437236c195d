//! See the rule's page.

use super::{Action, Area, Cx, Sink, rule};

rule! {
    /// # A tool's hint changed
    ///
    /// ## What it catches
    ///
    /// `readOnlyHint`, `destructiveHint`, `idempotentHint` or `openWorldHint` is another, a missing one taken as the
    /// standard's default (not read-only, destructive, not idempotent, open world). In either direction: a tool that
    /// claims to be safer is asked about less. Not reported for a FlowX tool whose effects, classes or idempotence
    /// explain it.
    ///
    /// ## Why it matters
    ///
    /// Hosts skip the question for tools that say they only read.
    ///
    /// ## Example
    ///
    /// `destructiveHint: true` became `false`.
    ///
    /// ## Instead
    ///
    /// Change what the tool does, not what it says.
    "FXD074" "hint-changed" [Security]
    cells &[(Area::Tool, "hint", Action::Change)];
    consequence "Hosts that decide by hints decide otherwise.";
    fix "Let the hint follow what the tool does.";
    check check;
}

fn check(cx: &Cx<'_>, sink: &mut Sink) {
    super::tools::report(cx, RULE.id, sink);
}
