//! See the rule's page.

use flowx_manifest::{FlowId, Json};

use super::{Action, Area, Cx, Sink, rule};

rule! {
    /// # A tool leads to another flow
    ///
    /// ## What it catches
    ///
    /// A tool of the same name whose flow is another.
    ///
    /// ## Why it matters
    ///
    /// Leave, standing rules and habits are given to a name; what it does is the flow.
    ///
    /// ## Example
    ///
    /// `ticket_refund` leads to `ticket.refund_all`.
    ///
    /// ## Instead
    ///
    /// A new name.
    "FXD066" "tool-leads-elsewhere" [Security]
    cells &[(Area::Tool, "flow", Action::Change)];
    consequence "An agent that calls it by name runs another flow.";
    fix "Give the other flow a name of its own.";
    check check;
}

fn check(cx: &Cx<'_>, sink: &mut Sink) {
    for (subject, before, after) in cx.tools_changed() {
        let renamed = |old: &FlowId, new: &FlowId| {
            cx.flows
                .renamed
                .iter()
                .any(|(_, _, b, a)| b.id == *old && a.id == *new)
        };
        for (place, was, is) in [
            (
                "/annotations/flowId",
                &before.annotations.flow_id,
                &after.annotations.flow_id,
            ),
            (
                "/_meta/dev.flowx~1flowId",
                &before.meta.flow_id,
                &after.meta.flow_id,
            ),
        ] {
            if was != is && !renamed(was, is) {
                sink.add(
                    RULE.finding(&subject, place)
                        .says(format!("it led to `{was}`, and leads to `{is}` now"))
                        .change(Json::from(was.as_str()), Json::from(is.as_str())),
                );
            }
        }
    }
}
