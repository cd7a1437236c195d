//! See the rule's page.

use flowx_manifest::Json;

use super::{Action, Area, Cx, Sink, rule};

rule! {
    /// # A step is not undone any more
    ///
    /// ## What it catches
    ///
    /// A step that had a compensation and has none.
    ///
    /// ## Why it matters
    ///
    /// A compensation is a promise that nothing half done stays. What it can reach counts as what the flow can reach
    /// (FXD030).
    ///
    /// ## Example
    ///
    /// `pay: payment::refund { compensate = payment::reverse }` became `pay: payment::refund`.
    ///
    /// ## Instead
    ///
    /// Keep it.
    "FXD081" "compensation-removed" [Breaking]
    cells &[(Area::Flow, "compensation", Action::Remove)];
    consequence "A failure later in the flow leaves it done.";
    fix "Keep the compensation.";
    check check;
}

fn check(cx: &Cx<'_>, sink: &mut Sink) {
    for (subject, before, after) in cx.flows_changed() {
        for (b, a) in super::steps(before, after) {
            if let (Some(was), None) = (&b.compensation, &a.compensation) {
                sink.add(
                    RULE.finding(&subject, format!("/steps/{}/compensation", a.name))
                        .says(format!(
                            "`{}` is not undone any more; it was by {was}",
                            a.name
                        ))
                        .change(Json::from(was.to_string()), None),
                );
            }
        }
    }
}
