use flowx_manifest::{EffectClass, Leave};

use super::{Sink, View};

rule! {
    /// ## What it catches
    ///
    /// An agent with `spends = alone`, or with a flow that can spend in its `alone(…)` list.
    ///
    /// ## Why it matters
    ///
    /// Money is then spent by whatever the agent was last told. A standing rule with a limit, given at run time by somebody who answers for it,
    /// does the same job and ends.
    ///
    /// ## Example
    ///
    /// ```rust,ignore
    /// #[agent(id = "clerk", …, spends = alone)]
    /// ```
    ///
    /// ## Instead
    ///
    /// `spends = propose`, and standing rules for what is small.
    FLOWX1192, "an agent may spend by itself", Warning, check
}

fn check(view: &View<'_, '_>, sink: &mut Sink<'_>) {
    for declared in view.agents() {
        let decl = &declared.decl;
        let help = "say `propose`, and let standing rules widen it where it is small";
        if decl.spends == Leave::Alone {
            let message = format!("agent `{}` may spend by itself", decl.id.value);
            sink(declared.error(RULE.code(), decl.id.span, message).help(help).into());
        }
        let Some(agent) = view.manifest.agents.iter().find(|a| a.id == decl.id.value) else { continue };
        for id in agent.tools.iter().filter(|(_, leave)| **leave == Leave::Alone).map(|(id, _)| id) {
            let flow = view.manifest.flows.iter().find(|f| f.id == *id);
            if flow.is_some_and(|f| view.any_of(&f.effects, &[EffectClass::Spends])) {
                let span = decl.tools.iter().find(|(l, _)| l.value == Leave::Alone).map_or(decl.id.span, |(l, _)| l.span);
                let message = format!("agent `{}` may spend by itself, through `{id}`", decl.id.value);
                sink(declared.error(RULE.code(), span, message).help(help).into());
            }
        }
    }
}
