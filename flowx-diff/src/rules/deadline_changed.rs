//! See the rule's page.

use flowx_manifest::IsoDuration;

use super::{Action, Area, Cx, Sink, rule};

rule! {
    /// # A flow's deadline changed
    ///
    /// ## What it catches
    ///
    /// The deadline of a flow, added, removed or another.
    ///
    /// ## Why it matters
    ///
    /// A call that took longer than the new deadline is cut off with `flow.deadline_exceeded`.
    ///
    /// ## Example
    ///
    /// `deadline = "PT30S"` became `"PT5S"`.
    ///
    /// ## Instead
    ///
    /// Nothing, if that is meant.
    "FXD203" "deadline-changed" [Neutral]
    cells &[(Area::Flow, "deadline", Action::Change)];
    consequence "Slow calls end sooner or later than before.";
    fix "Nothing, if that is meant.";
    check check;
}

fn check(cx: &Cx<'_>, sink: &mut Sink) {
    for (subject, before, after) in cx.flows_changed() {
        if before.deadline != after.deadline {
            let text = |d: &Option<IsoDuration>| d.as_ref().map(|d| d.as_str().to_owned());
            sink.add(super::text_change(
                &RULE,
                subject,
                "/deadline",
                text(&before.deadline).as_deref(),
                text(&after.deadline).as_deref(),
            ));
        }
    }
}
