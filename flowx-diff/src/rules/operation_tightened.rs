//! See the rule's page.

use super::{Action, Area, Cx, Sink, rule};

rule! {
    /// # An operation is guarded more strictly
    ///
    /// ## What it catches
    ///
    /// It may not start from a state that it could start from, a rule more must hold, or a permission is demanded that
    /// was not.
    ///
    /// ## Why it matters
    ///
    /// Callers that were right are refused.
    ///
    /// ## Example
    ///
    /// `close` lost `blocked` from its `from`.
    ///
    /// ## Instead
    ///
    /// Publish the stricter operation under another name.
    "FXD127" "operation-tightened" [Breaking]
    cells &[(Area::Entity, "operation guard", Action::Tighten)];
    consequence "Operations that worked are refused.";
    fix "Keep the looser guard within the major version.";
    check check;
}

fn check(cx: &Cx<'_>, sink: &mut Sink) {
    for (subject, change) in super::operations(cx) {
        if change.breaks {
            sink.add(
                RULE.finding(&subject, &change.pointer)
                    .says(change.message)
                    .change(change.before, change.after),
            );
        }
    }
}
