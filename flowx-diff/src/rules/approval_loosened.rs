//! See the rule's page.

use super::{Action, Area, Cx, Sink, rule};

rule! {
    /// # An approval became easier
    ///
    /// ## What it catches
    ///
    /// A flow needs no approval any more, somebody else decides, whoever asked may decide, a yes outlives a change of
    /// its subject, or it lasts longer unused.
    ///
    /// ## Why it matters
    ///
    /// An approval is worth what it takes to get one.
    ///
    /// ## Example
    ///
    /// `self_approval = false` became `true`; `decided_by = queue("finance")` became `requester`.
    ///
    /// ## Instead
    ///
    /// Widen by a standing rule for single agents instead.
    "FXD090" "approval-loosened" [Security]
    cells &[(Area::Flow, "approval", Action::Loosen)];
    consequence "Calls run with less of a yes than was reviewed.";
    fix "Keep the stricter route.";
    check check;
}

fn check(cx: &Cx<'_>, sink: &mut Sink) {
    for (subject, change) in super::approvals(cx) {
        if change.loosens {
            sink.add(
                RULE.finding(&subject, format!("/approval{}", change.pointer))
                    .says(change.message)
                    .change(change.before, change.after),
            );
        }
    }
}
