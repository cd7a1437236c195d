use super::{Sink, View, uses};

rule! {
    /// ## What it catches
    ///
    /// A capability that declares an effect and never asks its context for it. Quiet where the context is handed on to a helper or a macro.
    ///
    /// ## Why it matters
    ///
    /// Every declared effect makes a tool look more dangerous than it is, and a person is asked for what cannot happen. People who are asked for
    /// nothing learn to say yes.
    ///
    /// ## Example
    ///
    /// ```rust,ignore
    /// #[capability(…, effects(Ledger, Mail))]
    /// async fn book(cx: &Cx<book>, order: Order) -> Result<Receipt, No> {
    ///     cx.effect::<Ledger>().book(order).await
    /// }
    /// ```
    ///
    /// ## Instead
    ///
    /// Take it out of `effects(…)`.
    FLOWX1170, "an effect is declared and never used", Warning, check
}

fn check(view: &View<'_, '_>, sink: &mut Sink<'_>) {
    for declared in &view.own.capabilities {
        let used = uses::of(declared.on);
        if used.handed_on {
            continue;
        }
        let calls: Vec<_> = used.calls.iter().filter(|c| c.method == "effect").collect();
        if calls.iter().any(|c| c.target.is_none()) {
            continue;
        }
        for path in &declared.decl.effects {
            let any = calls.iter().any(|c| c.target.as_ref().is_some_and(|t| uses::same(declared.on, path, t)));
            if !any {
                let shown = flowx_syntax::path_text(path);
                let message = format!("capability `{}` declares the effect `{shown}` and never uses it", declared.decl.id.value);
                let span = syn::spanned::Spanned::span(path);
                sink(declared.error(RULE.code(), span, message).help("take it out of `effects(…)`").into());
            }
        }
    }
}
