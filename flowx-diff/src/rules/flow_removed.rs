//! See the rule's page.

use super::cx::tool_name;

use super::{Action, Area, Cx, Sink, rule};

rule! {
    /// # A flow was removed
    ///
    /// ## What it catches
    ///
    /// A flow of one major version that is not in the head any more. A new major beside the old one does not remove it;
    /// a new major in place of the old one does. Its routes and its tool went with it and are not reported again.
    ///
    /// ## Why it matters
    ///
    /// Programs and agents that call it get "not found" or "unknown tool", at run time.
    ///
    /// ## Example
    ///
    /// `ticket.close@1` is in the base and gone from the head.
    ///
    /// ## Instead
    ///
    /// Keep `ticket.close@1` until nobody calls it, and say so: `deprecated = "use ticket.resolve"`. If it only got
    /// another id, say `renamed_from = "ticket.close"`, so that the report joins the two.
    "FXD001" "flow-removed" [Breaking]
    cells &[(Area::Flow, "flow", Action::Remove)];
    consequence "Whoever calls it is refused.";
    fix "Keep it and mark it `deprecated`; remove it with the next major version of the application.";
    check check;
}

fn check(cx: &Cx<'_>, sink: &mut Sink) {
    for (key, flow) in &cx.flows.removed {
        let tool =
            tool_name(flow).map_or_else(String::new, |t| format!(", and the tool `{t}` with it"));
        sink.add(
            RULE.finding(format!("flow {key}"), "")
                .says(format!("the flow was removed{tool}")),
        );
    }
}
