use flowx_manifest::StepTarget;

use super::{Sink, View};

rule! {
    /// ## What it catches
    ///
    /// A flow in which some step has a compensation, and another step with side effects has none although a later step may still fail. The last
    /// step with side effects needs none: after it nothing is left to fail.
    ///
    /// ## Why it matters
    ///
    /// Somebody decided that this flow is undone when it fails. Undone in part, it leaves a state that nobody planned.
    ///
    /// ## Example
    ///
    /// ```rust,ignore
    /// steps(reserve: reserve { compensate = release }, charge: charge, ship: ship)
    /// // `ship` fails: the reservation is released, the money is gone
    /// ```
    ///
    /// ## Instead
    ///
    /// `charge: charge { compensate = refund }`, or move the step that cannot be undone to the end.
    FLOWX1176, "a flow is undone in part", Warning, check
}

fn check(view: &View<'_, '_>, sink: &mut Sink<'_>) {
    for (declared, flow) in view.flows() {
        if flow.steps.iter().all(|s| s.compensation.is_none()) {
            continue;
        }
        let effectful: Vec<bool> = flow
            .steps
            .iter()
            .map(|s| match &s.calls {
                StepTarget::Capability(id) => view.capability(id).is_some_and(|c| !view.side_effects(&c.effects).is_empty()),
                // A sub-flow undoes itself.
                StepTarget::Flow(_) => false,
            })
            .collect();
        for (i, step) in flow.steps.iter().enumerate() {
            let later = flow.steps.len() > i + 1;
            if step.compensation.is_some() || !effectful[i] || !later {
                continue;
            }
            let span = declared
                .decl
                .steps
                .iter()
                .find(|s| s.name.value == step.name)
                .map_or(declared.decl.id.span, |s| s.name.span);
            let message = format!(
                "step `{}` has side effects and no compensation, while others of this flow are undone when `{}` fails",
                step.name,
                flow.steps.last().map(|s| s.name.to_string()).unwrap_or_default()
            );
            let help = "give it `compensate = …`, or make it the last step";
            sink(declared.error(RULE.code(), span, message).help(help).into());
        }
    }
}
