//! See the rule's page.

use super::{Action, Area, Cx, Sink, rule};

rule! {
    /// # An alternative was added
    ///
    /// ## What it catches
    ///
    /// A variant of a union (`oneOf`, `anyOf`) that was not there. Breaking in a response, additive in a request.
    ///
    /// ## Why it matters
    ///
    /// A reader that matches on the tag has no arm for it.
    ///
    /// ## Example
    ///
    /// `enum Outcome { Done, Queued }` gained `Rejected { reason }`.
    ///
    /// ## Instead
    ///
    /// Map it to a known variant for old callers.
    "FXD057" "alternative-added" [Breaking, Additive, Undecided]
    cells &[(Area::Contract, "alternative", Action::Add)];
    consequence "Readers meet an alternative that they do not know.";
    fix "Write it under a new major version only.";
    check check;
}

fn check(cx: &Cx<'_>, sink: &mut Sink) {
    super::shapes::report(cx, RULE.id, sink);
}
