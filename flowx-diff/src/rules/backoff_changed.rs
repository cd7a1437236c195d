//! See the rule's page.

use super::{Action, Area, Cx, Sink, rule};

rule! {
    /// # A step waits longer or shorter before a retry
    ///
    /// ## What it catches
    ///
    /// The backoff of a step.
    ///
    /// ## Why it matters
    ///
    /// Short waits hammer what is down, long ones use up the deadline.
    ///
    /// ## Example
    ///
    /// `backoff = "PT0.2S"` became `"PT5S"`.
    ///
    /// ## Instead
    ///
    /// Nothing, if that is meant.
    "FXD086" "backoff-changed" [Neutral]
    cells &[(Area::Flow, "backoff", Action::Change)];
    consequence "The wait before a retry is another.";
    fix "Nothing, if that is meant.";
    check check;
}

fn check(cx: &Cx<'_>, sink: &mut Sink) {
    for (subject, before, after) in cx.flows_changed() {
        for (b, a) in super::steps(before, after) {
            if b.backoff != a.backoff {
                let (was, is) = (
                    b.backoff.as_ref().map(|t| t.as_str()),
                    a.backoff.as_ref().map(|t| t.as_str()),
                );
                sink.add(super::text_change(
                    &RULE,
                    subject.clone(),
                    &format!("/steps/{}/backoff", a.name),
                    was,
                    is,
                ));
            }
        }
    }
}
