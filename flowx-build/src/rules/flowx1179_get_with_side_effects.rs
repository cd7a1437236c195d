use super::view::quoted;
use super::{Sink, View};

rule! {
    /// ## What it catches
    ///
    /// `http(GET, …)` on a flow that can reach effects beyond reading.
    ///
    /// ## Why it matters
    ///
    /// Browsers prefetch, proxies cache and repeat, crawlers follow: a GET is made by machines that nobody asked (RFC 9110, section 9.2.1).
    ///
    /// ## Example
    ///
    /// ```rust,ignore
    /// #[flow(id = "order.cancel", …, http(GET, "/orders/{id}/cancel"), steps(cancel: cancel))]
    /// ```
    ///
    /// ## Instead
    ///
    /// `http(POST, …)`, or `DELETE` where it takes something away.
    FLOWX1179, "a GET has side effects", Error, check
}

fn check(view: &View<'_, '_>, sink: &mut Sink<'_>) {
    for (declared, flow) in view.flows() {
        let effects = view.side_effects(&flow.effects);
        for http in declared.decl.http.iter().filter(|h| h.method.value == "GET" && !effects.is_empty()) {
            let message = format!("a GET is made by machines that nobody asked, and this flow reaches {}", quoted(&effects));
            sink(declared.error(RULE.code(), http.method.span, message).help("make it a POST").into());
        }
    }
}
