//! See the rule's page.

use super::cx::reached_from;
use flowx_manifest::Json;

use super::{Action, Area, Cx, Sink, rule};

rule! {
    /// # A capability lets more callers in
    ///
    /// ## What it catches
    ///
    /// The stance of a capability became weaker: a permission became `authenticated`, `public` or `internal`, or
    /// `authenticated` became `public` or `internal`. The finding names every flow and tool that reaches it, through
    /// steps, compensations and inner flows.
    ///
    /// ## Why it matters
    ///
    /// The stance is the only barrier in front of its effects.
    ///
    /// ## Example
    ///
    /// `permission("payment.refund")` became `authenticated`.
    ///
    /// ## Instead
    ///
    /// Keep it, or split off the part that anybody may use.
    "FXD014" "authorization-relaxed" [Security]
    cells &[(Area::Capability, "authorization", Action::Loosen)];
    consequence "Callers who were refused are let in.";
    fix "Keep the stance, or give the permission to those who need it.";
    check check;
}

fn check(cx: &Cx<'_>, sink: &mut Sink) {
    for (key, before, after) in &cx.capabilities.both {
        if super::barrier(&after.authorization) < super::barrier(&before.authorization) {
            let (was, is) = (
                super::stance(&before.authorization),
                super::stance(&after.authorization),
            );
            sink.add(
                RULE.finding(format!("capability {key}"), "/authorization")
                    .says(format!("{was} became {is}"))
                    .change(Json::from(was), Json::from(is))
                    .through(reached_from(cx.new, key)),
            );
        }
    }
}
