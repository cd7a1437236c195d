//! See the rule's page.

use super::{Action, Area, Cx, Sink, rule};

rule! {
    /// # A step's timeout changed
    ///
    /// ## What it catches
    ///
    /// The timeout of one attempt of a step.
    ///
    /// ## Why it matters
    ///
    /// It decides how long a caller waits and when a retry begins; against the deadline it is checked by `flowx
    /// review`.
    ///
    /// ## Example
    ///
    /// `timeout = "PT2S"` became `"PT10S"`.
    ///
    /// ## Instead
    ///
    /// Nothing, if that is meant.
    "FXD083" "timeout-changed" [Neutral]
    cells &[(Area::Flow, "timeout", Action::Change)];
    consequence "A slow step fails sooner or later than before.";
    fix "Nothing, if that is meant.";
    check check;
}

fn check(cx: &Cx<'_>, sink: &mut Sink) {
    for (subject, before, after) in cx.flows_changed() {
        for (b, a) in super::steps(before, after) {
            if b.timeout != a.timeout {
                let (was, is) = (
                    b.timeout.as_ref().map(|t| t.as_str()),
                    a.timeout.as_ref().map(|t| t.as_str()),
                );
                sink.add(super::text_change(
                    &RULE,
                    subject.clone(),
                    &format!("/steps/{}/timeout", a.name),
                    was,
                    is,
                ));
            }
        }
    }
}
