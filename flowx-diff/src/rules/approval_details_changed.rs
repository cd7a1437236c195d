//! See the rule's page.

use crate::report::Class;

use super::{Action, Area, Cx, Sink, rule};

rule! {
    /// # How approvals are handled changed
    ///
    /// ## What it catches
    ///
    /// How long a request waits undecided (neutral), what is declared about approvals that are not demanded of
    /// everybody (neutral), or whether an approved call runs at the yes or when the caller repeats it (breaking: a
    /// caller that waits, or repeats, is wrong).
    ///
    /// ## Why it matters
    ///
    /// Callers follow the one protocol or the other.
    ///
    /// ## Example
    ///
    /// `finish = run` became `finish = redeem`.
    ///
    /// ## Instead
    ///
    /// Keep it within the major version.
    "FXD210" "approval-details-changed" [Neutral, Breaking]
    cells &[(Area::Flow, "approval details", Action::Change)];
    consequence "Approvals go another way.";
    fix "Nothing, if that is meant.";
    check check;
}

fn check(cx: &Cx<'_>, sink: &mut Sink) {
    for (subject, change) in super::approvals(cx) {
        if change.neutral {
            let class = if change.breaks {
                Class::Breaking
            } else {
                Class::Neutral
            };
            sink.add(
                RULE.finding(&subject, format!("/approval{}", change.pointer))
                    .class(class)
                    .says(change.message)
                    .change(change.before, change.after),
            );
        }
    }
}
