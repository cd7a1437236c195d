//! See the rule's page.

use super::cx::tool_name;

use super::{Action, Area, Cx, Sink, rule};

rule! {
    /// # A flow was added
    ///
    /// ## What it catches
    ///
    /// A flow of a major version that the base does not have. Its routes and its tool came with it and are not reported
    /// again; a tool that asks nobody before a side effect is reported by FXD077 too.
    ///
    /// ## Why it matters
    ///
    /// A reviewer should see what can be asked for from now on, and by whom.
    ///
    /// ## Example
    ///
    /// `ticket.merge@1` is new.
    ///
    /// ## Instead
    ///
    /// Nothing, if that is meant.
    "FXD100" "flow-added" [Additive]
    cells &[(Area::Flow, "flow", Action::Add)];
    consequence "More can be asked for.";
    fix "Nothing, if that is meant.";
    check check;
}

fn check(cx: &Cx<'_>, sink: &mut Sink) {
    for (key, flow) in &cx.flows.added {
        let effects: Vec<&str> = flow.effects.iter().map(|e| e.as_str()).collect();
        let reach = if effects.is_empty() {
            "no effects".to_owned()
        } else {
            effects.join(", ")
        };
        let needs: Vec<&str> = flow.permissions.iter().map(|p| p.as_str()).collect();
        let needs = if needs.is_empty() {
            "no permission".to_owned()
        } else {
            needs.join(", ")
        };
        let tool =
            tool_name(flow).map_or_else(String::new, |t| format!("; agents see it as `{t}`"));
        sink.add(RULE.finding(format!("flow {key}"), "").says(format!(
            "the flow was added: reaches {reach}, needs {needs}{tool}"
        )));
    }
}
