//! See the rule's page.

use flowx_manifest::Json;

use super::{Action, Area, Cx, Sink, rule};

rule! {
    /// # A step is undone now
    ///
    /// ## What it catches
    ///
    /// A step that had no compensation and has one.
    ///
    /// ## Why it matters
    ///
    /// A compensation is a promise that nothing half done stays. What it can reach counts as what the flow can reach
    /// (FXD030).
    ///
    /// ## Example
    ///
    /// `compensate = payment::reverse` was added.
    ///
    /// ## Instead
    ///
    /// Nothing, if that is meant.
    "FXD111" "compensation-added" [Additive]
    cells &[(Area::Flow, "compensation", Action::Add)];
    consequence "A failure later in the flow undoes it.";
    fix "Nothing, if that is meant.";
    check check;
}

fn check(cx: &Cx<'_>, sink: &mut Sink) {
    for (subject, before, after) in cx.flows_changed() {
        for (b, a) in super::steps(before, after) {
            if let (None, Some(is)) = (&b.compensation, &a.compensation) {
                sink.add(
                    RULE.finding(&subject, format!("/steps/{}/compensation", a.name))
                        .says(format!("`{}` is undone by {is} now", a.name))
                        .change(None, Json::from(is.to_string())),
                );
            }
        }
    }
}
