//! See the rule's page.

use crate::report::Class;

use super::{Action, Area, Cx, Sink, rule};

rule! {
    /// # An operation is guarded less strictly
    ///
    /// ## What it catches
    ///
    /// It may start from one more state (additive), a rule need not hold any more, or a permission is not demanded any
    /// more (security).
    ///
    /// ## Why it matters
    ///
    /// A rule or a permission that is gone protects nothing.
    ///
    /// ## Example
    ///
    /// `close` lost the rule `balance_is_zero`.
    ///
    /// ## Instead
    ///
    /// Keep it.
    "FXD128" "operation-loosened" [Additive, Security]
    cells &[(Area::Entity, "operation guard", Action::Loosen)];
    consequence "Operations that were refused work.";
    fix "Keep the guard.";
    check check;
}

fn check(cx: &Cx<'_>, sink: &mut Sink) {
    for (subject, change) in super::operations(cx) {
        if !change.breaks {
            let class = if change.loosens {
                Class::Security
            } else {
                Class::Additive
            };
            sink.add(
                RULE.finding(&subject, &change.pointer)
                    .class(class)
                    .says(change.message)
                    .change(change.before, change.after),
            );
        }
    }
}
