use super::{Sink, View, bodies};

rule! {
    /// ## What it catches
    ///
    /// A capability, a flow, or a helper that one of them calls names a `static` or a thread-local of the package.
    ///
    /// ## Why it matters
    ///
    /// What is kept in a static is reached by whoever names it, declared or not: a client kept there is an effect that no reviewer sees, a counter
    /// kept there makes two instances of the program answer differently.
    ///
    /// ## Example
    ///
    /// ```rust,ignore
    /// static CLIENT: OnceLock<Client> = OnceLock::new();
    ///
    /// async fn pay(cx: &Cx<pay>, order: Order) -> Result<Receipt, No> {
    ///     CLIENT.get().unwrap().charge(order).await
    /// }
    /// ```
    ///
    /// ## Instead
    ///
    /// Make it an effect: `#[effect(id = "…", class = …)]` on its type, `App::effect(client)` at start, `cx.effect::<Client>()` in the body. What is
    /// read only may be a `const`.
    FLOWX1009, "a body reaches into state of the process", Error, check
}

fn check(view: &View<'_, '_>, sink: &mut Sink<'_>) {
    bodies::report(
        view,
        &RULE,
        sink,
        |named| named.state,
        |kind, what| format!("this {kind} reaches into state of the process: `{what}`"),
        "make what it holds an `#[effect]` and declare it, or a `const` where it never changes",
    );
}
