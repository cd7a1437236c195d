use flowx_manifest::EffectClass;

use super::{Sink, View};

rule! {
    /// ## What it catches
    ///
    /// An HTTP route without `idempotent` on a flow that can reach an effect of class `spends` or `sends` through a capability that is not idempotent.
    ///
    /// ## Why it matters
    ///
    /// A client that got no answer asks again. Without a key the server cannot tell the second request from a second wish.
    ///
    /// ## Example
    ///
    /// ```rust,ignore
    /// #[flow(…, http(POST, "/refunds"), steps(pay: refund))]
    /// ```
    ///
    /// ## Instead
    ///
    /// `http(POST, "/refunds", idempotent)`: the `Idempotency-Key` is demanded, and a repetition gets the recorded answer.
    FLOWX1183, "a route spends or sends, and a repeated request does it again", Warning, check
}

fn check(view: &View<'_, '_>, sink: &mut Sink<'_>) {
    for (declared, flow) in view.flows() {
        let again = view
            .reached(flow)
            .into_iter()
            .find(|c| !c.idempotent && view.any_of(&c.effects, &[EffectClass::Spends, EffectClass::Sends]));
        let Some(capability) = again else { continue };
        for http in declared.decl.http.iter().filter(|h| !h.idempotent && h.method.value != "GET") {
            let message = format!("a client that repeats this request makes `{}` happen twice", capability.reference());
            let help = format!("write `http({}, {:?}, idempotent)`", http.method.value, http.route.value);
            sink(declared.error(RULE.code(), http.route.span, message).help(help).into());
        }
    }
}
