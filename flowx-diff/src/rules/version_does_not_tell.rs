//! See the rule's page.

use super::{Action, Area, Cx, Sink, rule};

rule! {
    /// # A version does not tell what changed
    ///
    /// ## What it catches
    ///
    /// A flow or capability that changed and kept its version, or changed more than its version says; an application
    /// whose version was raised by less than its changes ask for; a version that went down. Within one major version of
    /// a flow a break stays a break whatever the version says; the way out is a new major beside the old one.
    ///
    /// ## Why it matters
    ///
    /// People read versions, not reports.
    ///
    /// ## Example
    ///
    /// `ticket.refund 1.0.0` gained an optional member and is still `1.0.0`: `1.1.0` is asked for.
    ///
    /// ## Instead
    ///
    /// Raise it in the same commit.
    "FXD220" "version-does-not-tell" [Neutral]
    cells &[(Area::Document, "version", Action::Change)];
    consequence "Callers cannot see from the version that something changed.";
    fix "Raise the version.";
    check check;
}

fn check(cx: &Cx<'_>, sink: &mut Sink) {
    super::bump::check(&RULE, cx, sink);
}
