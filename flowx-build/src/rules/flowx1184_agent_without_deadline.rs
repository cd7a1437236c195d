use super::{Sink, View};

rule! {
    /// ## What it catches
    ///
    /// A flow with an `agent` trigger, side effects and no deadline.
    ///
    /// ## Why it matters
    ///
    /// A host gives a tool up after a while, and the model is told that it failed. A flow that goes on after that does what its caller has already
    /// worked around.
    ///
    /// ## Example
    ///
    /// ```rust,ignore
    /// #[flow(id = "ticket.refund", …, agent, steps(pay: refund))]
    /// ```
    ///
    /// ## Instead
    ///
    /// `deadline = "PT30S"`: what is not done by then is undone.
    FLOWX1184, "a tool with side effects may run for ever", Warning, check
}

fn check(view: &View<'_, '_>, sink: &mut Sink<'_>) {
    for (declared, flow) in view.flows() {
        let Some(agent) = &declared.decl.agent else { continue };
        if declared.decl.deadline.is_none() && !view.side_effects(&flow.effects).is_empty() {
            let message = "this tool has side effects and no deadline: it may go on after its caller has given up";
            sink(declared.error(RULE.code(), agent.span, message).help("say one: `deadline = \"PT30S\"`").into());
        }
    }
}
