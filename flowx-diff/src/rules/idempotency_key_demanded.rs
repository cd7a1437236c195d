//! See the rule's page.

use flowx_manifest::Json;

use super::{Action, Area, Cx, Sink, rule};

rule! {
    /// # A route demands an idempotency key now
    ///
    /// ## What it catches
    ///
    /// A route of a flow that did not demand an `Idempotency-Key` and does now.
    ///
    /// ## Why it matters
    ///
    /// Callers that send none are refused.
    ///
    /// ## Example
    ///
    /// `http(POST, "/refunds")` became `http(POST, "/refunds", idempotent)`.
    ///
    /// ## Instead
    ///
    /// Add a second route that demands it, and retire the first.
    "FXD007" "idempotency-key-demanded" [Breaking]
    cells &[(Area::Flow, "idempotency key", Action::Tighten)];
    consequence "Calls without an `Idempotency-Key` are refused.";
    fix "Demand it on a new route.";
    check check;
}

fn check(cx: &Cx<'_>, sink: &mut Sink) {
    for (subject, before, after) in cx.flows_changed() {
        for (method, route, was, is) in super::kept_routes(before, after) {
            if (was, is) == (false, true) {
                sink.add(
                    RULE.finding(
                        &subject,
                        format!(
                            "/triggers/{method} {}",
                            route.replace('~', "~0").replace('/', "~1")
                        ),
                    )
                    .says(format!("{method} {route} demands an idempotency key now"))
                    .change(Json::from(was), Json::from(is)),
                );
            }
        }
    }
}
