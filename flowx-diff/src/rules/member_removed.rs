//! See the rule's page.

use super::{Action, Area, Cx, Sink, rule};

rule! {
    /// # A member was removed
    ///
    /// ## What it catches
    ///
    /// A member that the schema does not declare any more. In a request it breaks when the new schema is closed; in a
    /// response when the old one promised it, or when the object is open, so that anything may stand there now.
    ///
    /// ## Why it matters
    ///
    /// What is still sent is refused or silently dropped; what was read is gone.
    ///
    /// ## Example
    ///
    /// `id` was taken out of the output.
    ///
    /// ## Instead
    ///
    /// Keep it, marked deprecated in its doc comment.
    "FXD041" "member-removed" [Breaking, Neutral, Additive, Undecided]
    cells &[(Area::Contract, "member", Action::Remove)];
    consequence "Callers that send it are refused or ignored; callers that read it find nothing.";
    fix "Keep it, and go on filling it.";
    check check;
}

fn check(cx: &Cx<'_>, sink: &mut Sink) {
    super::shapes::report(cx, RULE.id, sink);
}
