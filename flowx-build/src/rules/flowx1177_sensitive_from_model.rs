use super::view::quoted;
use super::{Sink, View};

rule! {
    /// ## What it catches
    ///
    /// A flow with an `agent` trigger whose input holds sensitive members. (A sensitive member in an answer is FLOWX1310, an error on every
    /// transport.)
    ///
    /// ## Why it matters
    ///
    /// A model can only say what it has read: the value goes through its context, its provider and its transcripts on the way here, where
    /// `Sensitive<T>` can no longer keep it from anybody.
    ///
    /// ## Example
    ///
    /// ```rust,ignore
    /// struct Pay { card_number: Sensitive<String> }
    /// #[flow(id = "order.pay", …, agent, …)]
    /// async fn pay(cx: &FlowCx<pay>, input: Pay) -> Result<Receipt, No>
    /// ```
    ///
    /// ## Instead
    ///
    /// Take a reference that the application resolves (`card_id`), and let the value come in by a route that people use.
    FLOWX1177, "a model has to say a sensitive value", Note, check
}

fn check(view: &View<'_, '_>, sink: &mut Sink<'_>) {
    for (declared, flow) in view.flows() {
        let Some(agent) = &declared.decl.agent else { continue };
        if !flow.input.sensitive.is_empty() {
            let message = format!("a model has to say {} to call this tool, and that is sensitive", quoted(&flow.input.sensitive));
            let help = "take a reference that the application resolves";
            sink(declared.error(RULE.code(), agent.span, message).help(help).into());
        }
    }
}
