//! See the rule's page.

use crate::report::Class;

use super::{Action, Area, Cx, Sink, rule};

rule! {
    /// # An approval became harder
    ///
    /// ## What it catches
    ///
    /// The same the other way round. Breaking when a flow needs an approval on every transport and did not: its callers
    /// get `approval.required`.
    ///
    /// ## Why it matters
    ///
    /// Callers that ran at once have to wait for a person.
    ///
    /// ## Example
    ///
    /// `approval(required)` was added to a flow.
    ///
    /// ## Instead
    ///
    /// Announce it; let agents propose first.
    "FXD112" "approval-tightened" [Additive, Breaking]
    cells &[(Area::Flow, "approval", Action::Tighten)];
    consequence "Calls need more of a yes than before.";
    fix "Announce it to those who call.";
    check check;
}

fn check(cx: &Cx<'_>, sink: &mut Sink) {
    for (subject, change) in super::approvals(cx) {
        if !change.loosens && !change.neutral {
            let class = if change.breaks {
                Class::Breaking
            } else {
                Class::Additive
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
