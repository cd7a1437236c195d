//! See the rule's page.

use super::cx::tool_name;
use flowx_manifest::Json;

use super::{Action, Area, Cx, Sink, rule};

rule! {
    /// # A way to reach a flow was removed
    ///
    /// ## What it catches
    ///
    /// A route or a tool that is gone while its flow stays; of a server that is not FlowX, a tool that is gone. One
    /// that came back under another name or path is FXD034 or FXD035.
    ///
    /// ## Why it matters
    ///
    /// Callers get "not found", agents "unknown tool".
    ///
    /// ## Example
    ///
    /// `http(POST, "/api/v1/refunds")` was taken out of a flow.
    ///
    /// ## Instead
    ///
    /// Keep the old route for as long as it is called.
    "FXD005" "trigger-removed" [Breaking]
    cells &[(Area::Flow, "trigger", Action::Remove), (Area::Tool, "tool", Action::Remove)];
    consequence "Whoever reaches it that way is refused.";
    fix "Keep the way in, or publish a new major of the flow beside this one.";
    check check;
}

fn check(cx: &Cx<'_>, sink: &mut Sink) {
    for (subject, before, after) in cx.flows_changed() {
        let (gone, come) = super::routes(before, after);
        for (method, route, _) in gone.iter().skip(if gone.len() == come.len() {
            gone.len()
        } else {
            0
        }) {
            sink.add(
                RULE.finding(
                    &subject,
                    format!(
                        "/triggers/{method} {}",
                        route.replace('~', "~0").replace('/', "~1")
                    ),
                )
                .says(format!("the route {method} {route} was removed"))
                .change(Json::from(format!("{method} {route}")), None),
            );
        }
        if let (Some(name), None) = (tool_name(before), tool_name(after)) {
            sink.add(
                RULE.finding(format!("tool {name}"), "")
                    .says(format!("agents cannot call {subject} any more"))
                    .change(Json::from(name), None),
            );
        }
    }
    // A descriptor that came or went although its flow says nothing about it.
    let told = |name: &str| {
        cx.flows
            .removed
            .iter()
            .any(|(_, f)| tool_name(f) == Some(name))
            || cx
                .flows_changed()
                .any(|(_, b, a)| tool_name(b) == Some(name) && tool_name(b) != tool_name(a))
    };
    for (name, _) in cx.tools.removed.iter().filter(|(n, _)| !told(n)) {
        sink.add(
            RULE.finding(format!("tool {name}"), "")
                .says("the tool's descriptor was removed")
                .change(Json::from(name.as_str()), None),
        );
    }
    super::tools::report(cx, RULE.id, sink);
}
