use flowx_manifest::StepTarget;

use super::{Sink, View};

rule! {
    /// ## What it catches
    ///
    /// A step with `attempts = 2` or more over a capability that is not declared `idempotent`.
    ///
    /// ## Why it matters
    ///
    /// An attempt that timed out may have done its work. The next one does it again: a second payment, a second letter.
    ///
    /// ## Example
    ///
    /// ```rust,ignore
    /// #[capability(id = "payment.charge", …, effects(Gateway), idempotent = false)]
    /// #[flow(…, steps(charge: charge { attempts = 3 }))]
    /// ```
    ///
    /// ## Instead
    ///
    /// Make the capability idempotent (hand `cx.idempotency_key()` on to what it calls) and say so, or take `attempts` away.
    FLOWX1014, "a step retries what is not safe to repeat", Error firm, check
}

fn check(view: &View<'_, '_>, sink: &mut Sink<'_>) {
    for (declared, flow) in view.flows() {
        for (step, built) in declared.decl.steps.iter().filter_map(|s| {
            let built = flow.steps.iter().find(|b| b.name == s.name.value)?;
            Some((s, built))
        }) {
            let Some(attempts) = step.attempts.as_ref().filter(|a| a.value > 1) else { continue };
            let StepTarget::Capability(id) = &built.calls else { continue };
            if view.capability(id).is_some_and(|c| !c.idempotent) {
                let message = format!(
                    "step `{}` may run `{id}` {} times, and that capability is not idempotent",
                    step.name.value, attempts.value
                );
                let help = format!("declare `idempotent = true` on `{}` and keep it, or take `attempts` away", id.id);
                sink(declared.error(RULE.code(), attempts.span, message).help(help).into());
            }
        }
    }
}
