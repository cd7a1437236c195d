//! See the rule's page.

use super::{Action, Area, Cx, Sink, rule};

rule! {
    /// # An event was removed
    ///
    /// ## What it catches
    ///
    /// An event of one major version that is gone, or was replaced by another major.
    ///
    /// ## Why it matters
    ///
    /// Nobody tells a consumer that nothing will come.
    ///
    /// ## Example
    ///
    /// `order.placed@1` became `order.placed@2`.
    ///
    /// ## Instead
    ///
    /// Emit `@1` beside `@2`.
    "FXD020" "event-removed" [Breaking]
    cells &[(Area::Event, "event", Action::Remove)];
    consequence "Whoever waits for it waits in vain.";
    fix "Emit both majors for a while.";
    check check;
}

fn check(cx: &Cx<'_>, sink: &mut Sink) {
    for (key, _) in &cx.events.removed {
        sink.add(
            RULE.finding(format!("event {key}"), "")
                .says("the event was removed"),
        );
    }
}
