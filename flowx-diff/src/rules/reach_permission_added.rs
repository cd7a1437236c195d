//! See the rule's page.

use super::cx::through_permission;
use flowx_manifest::Json;

use super::{Action, Area, Cx, Sink, rule};

rule! {
    /// # A flow or tool needs one more permission
    ///
    /// ## What it catches
    ///
    /// A permission that a call did not need and needs now, through any step, compensation or inner flow.
    ///
    /// ## Why it matters
    ///
    /// Callers that worked are refused, or do not see the tool any more.
    ///
    /// ## Example
    ///
    /// `ticket.search` gained a step behind `permission("payment.refund")`.
    ///
    /// ## Instead
    ///
    /// Give the permission to those who call it, then publish.
    "FXD032" "reach-permission-added" [Breaking]
    cells &[(Area::Flow, "permission", Action::Add)];
    consequence "Callers without it are refused.";
    fix "Hand the permission out before the flow needs it.";
    check check;
}

fn check(cx: &Cx<'_>, sink: &mut Sink) {
    for reach in super::tools::reaches(cx) {
        for (permission, place) in reach.permissions_added() {
            let how = reach
                .flow_after
                .map_or_else(String::new, |f| through_permission(cx.new, f, &permission));
            sink.add(
                RULE.finding(&reach.subject, format!("{place}/{permission}"))
                    .says(format!("needs `{permission}` now{how}"))
                    .change(None, Json::from(permission.as_str()))
                    .through(reach.through.clone()),
            );
        }
    }
}
