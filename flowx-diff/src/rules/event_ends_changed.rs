//! See the rule's page.

use super::{Action, Area, Cx, Sink, rule};

rule! {
    /// # An event has other ends
    ///
    /// ## What it catches
    ///
    /// The flows that emit an event, or that it starts, are others.
    ///
    /// ## Why it matters
    ///
    /// A consumer that is gone leaves work undone; a producer that is gone leaves consumers waiting.
    ///
    /// ## Example
    ///
    /// `order.place` does not emit `order.placed` any more.
    ///
    /// ## Instead
    ///
    /// Nothing, if that is meant.
    "FXD207" "event-ends-changed" [Neutral]
    cells &[(Area::Event, "ends", Action::Change)];
    consequence "The event comes from, or goes to, other flows.";
    fix "Nothing, if that is meant.";
    check check;
}

fn check(cx: &Cx<'_>, sink: &mut Sink) {
    for (key, before, after) in &cx.events.both {
        for (pointer, was, is) in [
            ("/producedBy", &before.produced_by, &after.produced_by),
            ("/consumedBy", &before.consumed_by, &after.consumed_by),
        ] {
            if was != is {
                let list = |s: &std::collections::BTreeSet<flowx_manifest::FlowId>| {
                    s.iter().map(|f| f.as_str()).collect::<Vec<_>>().join(", ")
                };
                sink.add(super::text_change(
                    &RULE,
                    format!("event {key}"),
                    pointer,
                    Some(&list(was)),
                    Some(&list(is)),
                ));
            }
        }
    }
}
