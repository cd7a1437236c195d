//! See the rule's page.

use super::cx::through_permission;
use flowx_manifest::Json;

use super::{Action, Area, Cx, Sink, rule};

rule! {
    /// # A flow or tool needs one permission fewer
    ///
    /// ## What it catches
    ///
    /// A permission that a call needed and does not need any more: the step that demanded it is gone or calls something
    /// else, or a stance was relaxed.
    ///
    /// ## Why it matters
    ///
    /// Somebody who was refused is let in, and a tool appears to agents that did not see it.
    ///
    /// ## Example
    ///
    /// The step `pay` calls `payment.try@1` (authenticated) instead of `payment.refund@1`.
    ///
    /// ## Instead
    ///
    /// Demand the permission on what is called instead.
    "FXD033" "reach-permission-removed" [Security]
    cells &[(Area::Flow, "permission", Action::Remove)];
    consequence "Callers without it are let in.";
    fix "Keep the step, or the stance, that demanded it.";
    check check;
}

fn check(cx: &Cx<'_>, sink: &mut Sink) {
    for reach in super::tools::reaches(cx) {
        for (permission, place) in reach.permissions_removed() {
            let how = reach
                .flow_before
                .map_or_else(String::new, |f| through_permission(cx.old, f, &permission));
            sink.add(
                RULE.finding(&reach.subject, format!("{place}/{permission}"))
                    .says(format!(
                        "does not need `{permission}` any more; it was needed{how}"
                    ))
                    .change(Json::from(permission.as_str()), None)
                    .through(reach.through.clone()),
            );
        }
    }
}
