use super::{Sink, View};

rule! {
    /// ## What it catches
    ///
    /// More than 128 tools in one application.
    ///
    /// ## Why it matters
    ///
    /// Hosts refuse a longer list, or cut it off without a word; and a model that chooses among so many chooses worse.
    ///
    /// ## Example
    ///
    /// An application with 129 flows that carry `agent`.
    ///
    /// ## Instead
    ///
    /// Take `agent` from flows that no agent needs, or serve two applications.
    FLOWX1180, "more tools than hosts accept", Warning, check
}

/// What clients send on to a model at most.
const MOST: usize = 128;

fn check(view: &View<'_, '_>, sink: &mut Sink<'_>) {
    let tools: Vec<_> = view.flows().filter(|(d, _)| d.decl.agent.is_some()).collect();
    let all = view.manifest.flows.iter().filter(|f| f.agent_trigger().is_some()).count();
    if let Some((declared, _)) = tools.get(MOST.saturating_sub(all.saturating_sub(tools.len()))).filter(|_| all > MOST) {
        let message = format!("this application has {all} tools; hosts accept {MOST}, and from here on nothing is sure to be seen");
        let span = declared.decl.agent.as_ref().map_or(declared.span, |a| a.span);
        sink(declared.error(RULE.code(), span, message).help("take `agent` from flows that no agent needs").into());
    }
}
