//! See the rule's page.

use flowx_manifest::Json;

use super::{Action, Area, Cx, Sink, rule};

rule! {
    /// # A route does not demand an idempotency key any more
    ///
    /// ## What it catches
    ///
    /// A route of a flow that demanded an `Idempotency-Key` and does not any more.
    ///
    /// ## Why it matters
    ///
    /// Callers relied on a repeated call running once.
    ///
    /// ## Example
    ///
    /// `idempotent` was taken out of the trigger.
    ///
    /// ## Instead
    ///
    /// Keep it.
    "FXD008" "idempotency-key-dropped" [Breaking]
    cells &[(Area::Flow, "idempotency key", Action::Loosen)];
    consequence "A call that is repeated after a lost answer runs twice.";
    fix "Go on demanding the key.";
    check check;
}

fn check(cx: &Cx<'_>, sink: &mut Sink) {
    for (subject, before, after) in cx.flows_changed() {
        for (method, route, was, is) in super::kept_routes(before, after) {
            if (was, is) == (true, false) {
                sink.add(
                    RULE.finding(
                        &subject,
                        format!(
                            "/triggers/{method} {}",
                            route.replace('~', "~0").replace('/', "~1")
                        ),
                    )
                    .says(format!(
                        "{method} {route} does not demand an idempotency key any more"
                    ))
                    .change(Json::from(was), Json::from(is)),
                );
            }
        }
    }
}
