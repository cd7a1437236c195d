use super::{Sink, View};

rule! {
    /// ## What it catches
    ///
    /// A flow with an `agent` trigger that has neither a doc comment nor `agent(description = "…")`, or one whose description is shorter than a
    /// sentence or longer than 1,024 characters.
    ///
    /// ## Why it matters
    ///
    /// The description is all that a model knows of a tool. Without one it guesses from the name; hosts cut a long one off, and what is cut off
    /// was reviewed and never read.
    ///
    /// ## Example
    ///
    /// ```rust,ignore
    /// #[flow(id = "ticket.refund", …, agent, …)]
    /// async fn refund(…) …
    /// ```
    ///
    /// ## Instead
    ///
    /// ```rust,ignore
    /// /// Issue a refund against a support ticket. Find the ticket with `ticket_search` first.
    /// #[flow(id = "ticket.refund", …, agent, …)]
    /// ```
    FLOWX1173, "a tool without a description that a model can work with", Error, check
}

/// What hosts show of a description.
const LONGEST: usize = 1024;
const SHORTEST: usize = 10;

fn check(view: &View<'_, '_>, sink: &mut Sink<'_>) {
    for (declared, flow) in view.flows() {
        let Some(agent) = &declared.decl.agent else { continue };
        let text = agent.description.as_ref().map(|d| d.value.as_str()).or(flow.description.as_deref()).unwrap_or_default();
        let length = text.trim().chars().count();
        let message = match length {
            0 => "an agent's model would read nothing about this tool".to_owned(),
            n if n < SHORTEST => format!("{text:?} tells a model nothing about this tool"),
            n if n > LONGEST => format!("this description has {n} characters, and hosts cut it off after {LONGEST}"),
            _ => continue,
        };
        let span = agent.description.as_ref().map_or(agent.span, |d| d.span);
        let help = "write a doc comment that says what the flow does and what to do before it, or `agent(description = \"…\")`";
        sink(declared.error(RULE.code(), span, message).help(help).into());
    }
}
