//! See the rule's page.

use super::{Action, Area, Cx, Sink, rule};

rule! {
    /// # An event carries another type
    ///
    /// ## What it catches
    ///
    /// The name of the type is another. When the manifest holds both schemas they are compared member by member, and
    /// the name by itself is neutral.
    ///
    /// ## Why it matters
    ///
    /// Consumers parse what they are given.
    ///
    /// ## Example
    ///
    /// `contract: crate::OrderPlaced` became `crate::Order`.
    ///
    /// ## Instead
    ///
    /// `order.placed@2`.
    "FXD130" "event-contract-changed" [Breaking, Neutral]
    cells &[(Area::Event, "contract", Action::Change)];
    consequence "Consumers read something else.";
    fix "Publish a new major of the event.";
    check check;
}

fn check(cx: &Cx<'_>, sink: &mut Sink) {
    for (key, before, after) in &cx.events.both {
        let subject = format!("event {key}");
        let (was, is) = (&before.contract.name, &after.contract.name);
        if let Some(finding) = super::type_change(&RULE, cx, subject, "contract", was, is) {
            sink.add(finding);
        }
    }
}
