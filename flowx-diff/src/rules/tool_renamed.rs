//! See the rule's page.

use super::cx::tool_name;
use flowx_manifest::Json;

use super::{Action, Area, Cx, Sink, rule};

rule! {
    /// # A tool was renamed
    ///
    /// ## What it catches
    ///
    /// A tool that is gone and one that leads to the same flow, or, of a server that is not FlowX, has the same
    /// descriptor but for the name: one finding instead of a removal and an addition.
    ///
    /// ## Why it matters
    ///
    /// It is the change that users of tool servers were hurt by most.
    ///
    /// ## Example
    ///
    /// `ticket_refund` became `refund_ticket`.
    ///
    /// ## Instead
    ///
    /// `agent(name = "ticket_refund")` keeps the old name.
    "FXD034" "tool-renamed" [Breaking]
    cells &[(Area::Tool, "name", Action::Change)];
    consequence "Agents, prompts, allow-lists and standing rules that name the tool do not find it.";
    fix "Keep the old name beside the new one for a while.";
    check check;
}

fn check(cx: &Cx<'_>, sink: &mut Sink) {
    for (old, new, _, _) in &cx.tools.renamed {
        sink.add(
            RULE.finding(format!("tool {new}"), "/name")
                .says(format!("`{old}` is called `{new}` now"))
                .change(Json::from(old.as_str()), Json::from(new.as_str())),
        );
    }
    for (_, before, after) in cx.flows_changed() {
        if let (Some(old), Some(new)) = (tool_name(before), tool_name(after))
            && old != new
            && !cx
                .tools
                .renamed
                .iter()
                .any(|(o, n, _, _)| o == old && n == new)
        {
            sink.add(
                RULE.finding(format!("tool {new}"), "/name")
                    .says(format!("`{old}` is called `{new}` now"))
                    .change(Json::from(old), Json::from(new)),
            );
        }
    }
}
