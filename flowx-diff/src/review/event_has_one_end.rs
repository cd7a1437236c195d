//! See the rule's page.

use flowx_manifest::Manifest;

use super::{ReviewFinding, review_rule};

review_rule! {
    /// # An event has one end
    ///
    /// ## What it catches
    ///
    /// An event type that flows emit and none consumes, or that flows wait for and none emits. Both ends may also lie in
    /// other applications; then the note can be left.
    ///
    /// ## Why it matters
    ///
    /// An event that nobody reads is work for nobody; a flow that waits for one that nobody emits never starts.
    ///
    /// ## Example
    ///
    /// `order.placed` is produced by `order.place`, and no flow has a trigger on it.
    ///
    /// ## Instead
    ///
    /// Add the flow at the other end, or remove the event.
    "ai.event_has_one_end" "event-has-one-end" Note check
}

fn check(manifest: &Manifest, out: &mut Vec<ReviewFinding>) {
    for event in &manifest.events {
        let message = match (event.produced_by.is_empty(), event.consumed_by.is_empty()) {
            (false, true) => "flows emit it and none of this application consumes it",
            (true, false) => "flows wait for it and none of this application emits it",
            _ => continue,
        };
        let subject = format!("event {}@{}", event.id, event.version.major);
        out.push(RULE.finding(
            subject,
            message,
            "Add the other end, or leave this note if it lies in another application.",
        ));
    }
}
