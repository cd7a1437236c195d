use super::{Sink, View, uses};

rule! {
    /// ## What it catches
    ///
    /// `cx.effect::<E>()` in a capability whose `effects(…)` does not list `E`.
    ///
    /// ## Why it matters
    ///
    /// What a capability touches is part of what a reviewer reads, and what an agent's tool is annotated with. The types refuse it as well
    /// (`Declares<E>`); this says it once, at the call, before they do.
    ///
    /// ## Example
    ///
    /// ```rust,ignore
    /// #[capability(…, effects(Ledger))]
    /// async fn refund(cx: &Cx<refund>, order: Order) -> Result<Receipt, No> {
    ///     cx.effect::<Mail>().send(…).await
    /// }
    /// ```
    ///
    /// ## Instead
    ///
    /// Add it: `effects(Ledger, Mail)`; or do without it.
    FLOWX1101, "a capability uses an effect that it does not declare", Error firm, check
}

fn check(view: &View<'_, '_>, sink: &mut Sink<'_>) {
    for declared in &view.own.capabilities {
        let used = uses::of(declared.on);
        for call in used.calls.iter().filter(|c| c.method == "effect") {
            let Some(target) = &call.target else { continue };
            let listed = declared.decl.effects.iter().any(|p| uses::same(declared.on, p, target));
            if !listed {
                let message = format!("capability `{}` does not declare the effect `{}`", declared.decl.id.value, call.shown);
                let help = format!("add `{}` to its `effects(…)`, or do without it", call.shown);
                sink(declared.error(RULE.code(), call.span, message).help(help).into());
            }
        }
    }
}
