use super::{Sink, View, uses};

rule! {
    /// ## What it catches
    ///
    /// `cx.step::<C>(…)` or `cx.call::<F>(…)` in a flow whose `steps(…)` does not list `C` or `F`.
    ///
    /// ## Why it matters
    ///
    /// The steps of a flow are what its effects and permissions are computed from. The types refuse an unlisted one as well (`HasStep<C>`); this says
    /// it once, at the call, before they do.
    ///
    /// ## Example
    ///
    /// ```rust,ignore
    /// #[flow(…, steps(find: find))]
    /// async fn refund(cx: &FlowCx<refund>, input: Refund) -> Result<Done, No> {
    ///     cx.step::<pay>(input).await
    /// }
    /// ```
    ///
    /// ## Instead
    ///
    /// List it: `steps(find: find, pay: pay)`.
    FLOWX1102, "a flow calls a step that it does not declare", Error firm, check
}

fn check(view: &View<'_, '_>, sink: &mut Sink<'_>) {
    for declared in &view.own.flows {
        let used = uses::of(declared.on);
        for call in used.calls.iter().filter(|c| c.method == "step" || c.method == "call") {
            let Some(target) = &call.target else { continue };
            let sub = call.method == "call";
            let listed = declared.decl.steps.iter().any(|s| s.is_flow == sub && uses::same(declared.on, &s.target, target));
            if !listed {
                let message = format!("flow `{}` declares no step that calls `{}`", declared.decl.id.value, call.shown);
                let flow = if sub { "flow " } else { "" };
                let help = format!("add `name: {flow}{}` to its `steps(…)`", call.shown);
                sink(declared.error(RULE.code(), call.span, message).help(help).into());
            }
        }
    }
}
