//! See the rule's page.

use super::cx::reached_from;
use flowx_manifest::Json;

use super::{Action, Area, Cx, Sink, rule};

rule! {
    /// # A capability is idempotent now
    ///
    /// ## What it catches
    ///
    /// `idempotent` of a capability went from `false` to `true`, or what a tool publishes of it did and no capability
    /// explains it.
    ///
    /// ## Why it matters
    ///
    /// Retries and approvals after a crash may rely on it from now on.
    ///
    /// ## Example
    ///
    /// `idempotent = false` became `idempotent = true`.
    ///
    /// ## Instead
    ///
    /// Nothing; be sure that it is true.
    "FXD105" "idempotence-promised" [Additive]
    cells &[(Area::Capability, "idempotent", Action::Tighten), (Area::Tool, "idempotent", Action::Tighten)];
    consequence "Callers, retries and whoever looks after a crash take a repetition to do no harm from now on; nothing here proves it.";
    fix "Make sure that a second call with the same input changes nothing more.";
    check check;
}

fn check(cx: &Cx<'_>, sink: &mut Sink) {
    let mut explained = Vec::new();
    for (key, before, after) in &cx.capabilities.both {
        if before.idempotent != after.idempotent {
            explained.extend(reached_from(cx.new, key));
        }
        if (before.idempotent, after.idempotent) == (false, true) {
            sink.add(
                RULE.finding(format!("capability {key}"), "/idempotent")
                    .says("idempotent: false → true")
                    .change(Json::from(false), Json::from(true))
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
            if (was, is) == (false, true) {
                sink.add(
                    RULE.finding(&subject, place)
                        .says(format!("idempotent: {was} → {is}"))
                        .change(Json::from(was), Json::from(is)),
                );
            }
        }
    }
}
