//! See the rule's page.

use super::cx::reached_from;
use flowx_manifest::Json;

use super::{Action, Area, Cx, Sink, rule};

rule! {
    /// # A capability is not idempotent any more
    ///
    /// ## What it catches
    ///
    /// `idempotent` of a capability went from `true` to `false`, or what a tool publishes of it did and no capability
    /// explains it.
    ///
    /// ## Why it matters
    ///
    /// Retries, approvals after a crash and callers rely on it.
    ///
    /// ## Example
    ///
    /// `idempotent = true` became `idempotent = false`.
    ///
    /// ## Instead
    ///
    /// Keep the key and the record of what was done.
    "FXD013" "idempotence-withdrawn" [Breaking]
    cells &[(Area::Capability, "idempotent", Action::Loosen), (Area::Tool, "idempotent", Action::Loosen)];
    consequence "A repeated call can happen twice.";
    fix "Keep it idempotent.";
    check check;
}

fn check(cx: &Cx<'_>, sink: &mut Sink) {
    let mut explained = Vec::new();
    for (key, before, after) in &cx.capabilities.both {
        if before.idempotent != after.idempotent {
            explained.extend(reached_from(cx.new, key));
        }
        if (before.idempotent, after.idempotent) == (true, false) {
            sink.add(
                RULE.finding(format!("capability {key}"), "/idempotent")
                    .says("idempotent: true → false")
                    .change(Json::from(true), Json::from(false))
                    .through(reached_from(cx.new, key)),
            );
        }
    }
    for (subject, before, after) in cx.tools_changed() {
        if explained.contains(&subject) {
            continue;
        }
        for (place, was, is) in [
            (
                "/annotations/idempotent",
                before.annotations.idempotent,
                after.annotations.idempotent,
            ),
            (
                "/_meta/dev.flowx~1idempotent",
                before.meta.idempotent,
                after.meta.idempotent,
            ),
        ] {
            if (was, is) == (true, false) {
                sink.add(
                    RULE.finding(&subject, place)
                        .says(format!("idempotent: {was} → {is}"))
                        .change(Json::from(was), Json::from(is)),
                );
            }
        }
    }
}
