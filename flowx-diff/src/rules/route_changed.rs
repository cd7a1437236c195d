//! See the rule's page.

use flowx_manifest::Json;

use super::{Action, Area, Cx, Sink, rule};

rule! {
    /// # A route was changed
    ///
    /// ## What it catches
    ///
    /// A flow that lost a route and gained one: one finding instead of two.
    ///
    /// ## Why it matters
    ///
    /// Callers of the old method or path get "not found".
    ///
    /// ## Example
    ///
    /// `POST /api/v1/refunds` became `POST /api/v2/refunds`.
    ///
    /// ## Instead
    ///
    /// Declare both routes for a while.
    "FXD035" "route-changed" [Breaking]
    cells &[(Area::Flow, "route", Action::Change)];
    consequence "Whoever calls the old route is refused.";
    fix "Keep the old route as a second trigger.";
    check check;
}

fn check(cx: &Cx<'_>, sink: &mut Sink) {
    for (subject, before, after) in cx.flows_changed() {
        let (gone, come) = super::routes(before, after);
        if gone.len() != come.len() {
            continue;
        }
        for ((m, r, _), (n, s, _)) in gone.iter().zip(&come) {
            sink.add(
                RULE.finding(
                    &subject,
                    format!("/triggers/{n} {}", s.replace('~', "~0").replace('/', "~1")),
                )
                .says(format!("{m} {r} is {n} {s} now"))
                .change(
                    Json::from(format!("{m} {r}")),
                    Json::from(format!("{n} {s}")),
                ),
            );
        }
    }
}
