//! See the rule's page.

use super::cx::reached_from;
use flowx_manifest::Json;

use super::{Action, Area, Cx, Sink, rule};

rule! {
    /// # A capability lets fewer callers in
    ///
    /// ## What it catches
    ///
    /// The stance became stricter, or another permission is demanded. Of two different permissions neither is the
    /// stricter; whoever holds only the old one is refused.
    ///
    /// ## Why it matters
    ///
    /// Callers get "permission denied" from one release to the next.
    ///
    /// ## Example
    ///
    /// `authenticated` became `permission("payment.refund")`.
    ///
    /// ## Instead
    ///
    /// Hand the permission out first, then demand it.
    "FXD015" "authorization-tightened" [Breaking]
    cells &[(Area::Capability, "authorization", Action::Tighten)];
    consequence "Callers who were let in are refused.";
    fix "Give them the permission before you demand it.";
    check check;
}

fn check(cx: &Cx<'_>, sink: &mut Sink) {
    for (key, before, after) in &cx.capabilities.both {
        let (was, is) = (
            super::stance(&before.authorization),
            super::stance(&after.authorization),
        );
        let (low, high) = (
            super::barrier(&before.authorization),
            super::barrier(&after.authorization),
        );
        if high > low || (high == low && high == 2 && was != is) {
            sink.add(
                RULE.finding(format!("capability {key}"), "/authorization")
                    .says(format!("{was} became {is}"))
                    .change(Json::from(was), Json::from(is))
                    .through(reached_from(cx.new, key)),
            );
        }
    }
}
