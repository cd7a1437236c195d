use super::{Sink, View};

rule! {
    /// ## What it catches
    ///
    /// A compensation that is not declared `idempotent`.
    ///
    /// ## Why it matters
    ///
    /// An undo is tried again while what it needs is unavailable, but only when it is safe to repeat. One that is not is tried once, and when that
    /// fails the flow stays undone in part.
    ///
    /// ## Example
    ///
    /// ```rust,ignore
    /// steps(pay: pay { compensate = reverse })     // and `reverse` has `idempotent = false`
    /// ```
    ///
    /// ## Instead
    ///
    /// Make the compensation idempotent: `cx.idempotency_key()` is the same for every attempt of one undo.
    FLOWX1194, "an undo is tried once only", Warning, check
}

fn check(view: &View<'_, '_>, sink: &mut Sink<'_>) {
    for (declared, flow) in view.flows() {
        for step in &declared.decl.steps {
            let Some(path) = &step.compensate else { continue };
            let id = flow.steps.iter().find(|s| s.name == step.name.value).and_then(|s| s.compensation.as_ref());
            if let Some(id) = id.filter(|id| view.capability(id).is_some_and(|c| !c.idempotent)) {
                let message = format!("`{id}` undoes the step `{}` and is not idempotent, so it is tried once only", step.name.value);
                let span = syn::spanned::Spanned::span(path);
                sink(declared.error(RULE.code(), span, message).help("declare `idempotent = true` there, and keep it").into());
            }
        }
    }
}
