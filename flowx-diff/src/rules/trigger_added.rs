//! See the rule's page.

use super::cx::tool_name;
use flowx_manifest::Json;

use super::{Action, Area, Cx, Sink, rule};

rule! {
    /// # A way to reach a flow was added
    ///
    /// ## What it catches
    ///
    /// A route or a tool that a flow did not have; of a server that is not FlowX, a tool that is new.
    ///
    /// ## Why it matters
    ///
    /// A new way in is a new door. A tool that asks nobody is FXD077 as well.
    ///
    /// ## Example
    ///
    /// A flow that only had a route became a tool.
    ///
    /// ## Instead
    ///
    /// Nothing, if that is meant.
    "FXD103" "trigger-added" [Additive]
    cells &[(Area::Flow, "trigger", Action::Add), (Area::Tool, "tool", Action::Add)];
    consequence "It can be reached in one more way.";
    fix "Nothing, if that is meant.";
    check check;
}

fn check(cx: &Cx<'_>, sink: &mut Sink) {
    for (subject, before, after) in cx.flows_changed() {
        let (gone, come) = super::routes(before, after);
        for (method, route, _) in come.iter().skip(if gone.len() == come.len() {
            come.len()
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
                .says(format!("the route {method} {route} was added"))
                .change(None, Json::from(format!("{method} {route}"))),
            );
        }
        if let (None, Some(name)) = (tool_name(before), tool_name(after)) {
            sink.add(
                RULE.finding(format!("tool {name}"), "")
                    .says(format!("agents can call {subject} from now on"))
                    .change(None, Json::from(name)),
            );
        }
    }
    // A descriptor that came or went although its flow says nothing about it.
    let told = |name: &str| {
        cx.flows
            .added
            .iter()
            .any(|(_, f)| tool_name(f) == Some(name))
            || cx
                .flows_changed()
                .any(|(_, b, a)| tool_name(a) == Some(name) && tool_name(b) != tool_name(a))
    };
    for (name, _) in cx.tools.added.iter().filter(|(n, _)| !told(n)) {
        sink.add(
            RULE.finding(format!("tool {name}"), "")
                .says("the tool's descriptor was added")
                .change(None, Json::from(name.as_str())),
        );
    }
    super::tools::report(cx, RULE.id, sink);
}
