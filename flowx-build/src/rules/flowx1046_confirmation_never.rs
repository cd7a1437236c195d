use flowx_manifest::Confirmation;

use super::view::quoted;
use super::{Sink, View};

rule! {
    /// ## What it catches
    ///
    /// `agent(confirmation = never)` on a flow that can reach an effect which does more than read: through any step, compensation or sub-flow, in
    /// this crate or another.
    ///
    /// ## Why it matters
    ///
    /// An agent can be talked into anything. With `never`, what it was talked into is done before a person has seen it.
    ///
    /// ## Example
    ///
    /// ```rust,ignore
    /// #[flow(id = "ticket.refund", …, agent(confirmation = never), steps(pay: payment::refund))]
    /// ```
    ///
    /// ## Instead
    ///
    /// Leave `confirmation` out: a person is then asked whenever the flow has side effects. `never` is for flows that only read.
    FLOWX1046, "an agent would run side effects with nobody asked", Error firm, check
}

fn check(view: &View<'_, '_>, sink: &mut Sink<'_>) {
    for (declared, flow) in view.flows() {
        let Some(agent) = declared.decl.agent.as_ref().filter(|a| a.confirmation.value == Confirmation::Never) else {
            continue;
        };
        let effects = view.side_effects(&flow.effects);
        if !effects.is_empty() {
            let message = format!(
                "`confirmation = never`, and the flow reaches {}: an agent would run that with nobody asked",
                quoted(effects)
            );
            let help = "leave `confirmation` out, or say `required_for_side_effects`";
            sink(declared.error(RULE.code(), agent.confirmation.span, message).help(help).into());
        }
    }
}
