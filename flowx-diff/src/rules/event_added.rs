//! See the rule's page.

use super::{Action, Area, Cx, Sink, rule};

rule! {
    /// # An event was added
    ///
    /// ## What it catches
    ///
    /// An event of a major version that the base does not have.
    ///
    /// ## Why it matters
    ///
    /// Its contract is a promise from now on.
    ///
    /// ## Example
    ///
    /// `order.cancelled@1` is new.
    ///
    /// ## Instead
    ///
    /// Nothing, if that is meant.
    "FXD102" "event-added" [Additive]
    cells &[(Area::Event, "event", Action::Add)];
    consequence "There is more to listen to.";
    fix "Nothing, if that is meant.";
    check check;
}

fn check(cx: &Cx<'_>, sink: &mut Sink) {
    for (key, _) in &cx.events.added {
        sink.add(
            RULE.finding(format!("event {key}"), "")
                .says("the event was added"),
        );
    }
}
