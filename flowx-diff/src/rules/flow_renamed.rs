//! See the rule's page.

use flowx_manifest::Json;

use super::{Action, Area, Cx, Sink, rule};

rule! {
    /// # A flow was renamed
    ///
    /// ## What it catches
    ///
    /// A flow that is gone and one that says `renamed_from` of it, or that is the same in everything but its name: one finding
    /// instead of a removal and an addition. Everything else about the pair is compared as if the id had stayed.
    ///
    /// ## Why it matters
    ///
    /// A rename is the change that callers were hurt by most: nothing was lost, and still nothing works.
    ///
    /// ## Example
    ///
    /// `ticket.close@1` became `ticket.resolve@1` with `renamed_from = "ticket.close"`.
    ///
    /// ## Instead
    ///
    /// Publish both for a while.
    "FXD036" "flow-renamed" [Breaking]
    cells &[(Area::Flow, "id", Action::Change)];
    consequence "Whoever calls it by the old id is refused.";
    fix "Keep the old id as a flow of its own for as long as somebody calls it.";
    check check;
}

fn check(cx: &Cx<'_>, sink: &mut Sink) {
    for (old, new, _, _) in &cx.flows.renamed {
        sink.add(
            RULE.finding(format!("flow {new}"), "/id")
                .says(format!("`{old}` is called `{new}` now"))
                .change(Json::from(old.as_str()), Json::from(new.as_str())),
        );
    }
}
