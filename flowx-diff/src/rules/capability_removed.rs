//! See the rule's page.

use super::cx::reached_from;

use super::{Action, Area, Cx, Sink, rule};

rule! {
    /// # A capability was removed
    ///
    /// ## What it catches
    ///
    /// A capability of one major version that is not in the head any more.
    ///
    /// ## Why it matters
    ///
    /// A capability can be a step of flows in other packages, and standing rules and audits name it.
    ///
    /// ## Example
    ///
    /// `payment.refund@1` is gone.
    ///
    /// ## Instead
    ///
    /// Keep `@1` beside `@2`.
    "FXD010" "capability-removed" [Breaking]
    cells &[(Area::Capability, "capability", Action::Remove)];
    consequence "Flows of other packages that call it do not build any more.";
    fix "Keep it, marked `deprecated`, until the next major version.";
    check check;
}

fn check(cx: &Cx<'_>, sink: &mut Sink) {
    for (key, _) in &cx.capabilities.removed {
        sink.add(
            RULE.finding(format!("capability {key}"), "")
                .says("the capability was removed")
                .through(reached_from(cx.old, key)),
        );
    }
}
