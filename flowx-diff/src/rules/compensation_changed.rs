//! See the rule's page.

use flowx_manifest::Json;

use super::{Action, Area, Cx, Sink, rule};

rule! {
    /// # A step is undone by something else
    ///
    /// ## What it catches
    ///
    /// A step whose compensation is another capability or version.
    ///
    /// ## Why it matters
    ///
    /// A compensation is a promise that nothing half done stays. What it can reach counts as what the flow can reach
    /// (FXD030).
    ///
    /// ## Example
    ///
    /// `payment.reverse@1.0.0` became `payment.void@1.0.0`.
    ///
    /// ## Instead
    ///
    /// Nothing, if that is meant.
    "FXD082" "compensation-changed" [Neutral]
    cells &[(Area::Flow, "compensation", Action::Change)];
    consequence "A failure later in the flow is undone in another way.";
    fix "Nothing, if that is meant.";
    check check;
}

fn check(cx: &Cx<'_>, sink: &mut Sink) {
    for (subject, before, after) in cx.flows_changed() {
        for (b, a) in super::steps(before, after) {
            match (&b.compensation, &a.compensation) {
                (Some(was), Some(is)) if was != is => sink.add(
                    RULE.finding(&subject, format!("/steps/{}/compensation", a.name))
                        .says(format!("`{}` is undone by {is}, and was by {was}", a.name))
                        .change(Json::from(was.to_string()), Json::from(is.to_string())),
                ),
                _ => {}
            }
        }
    }
}
