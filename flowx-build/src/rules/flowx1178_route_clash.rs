use std::collections::BTreeMap;

use flowx_manifest::Trigger;

use super::{Sink, View};

rule! {
    /// ## What it catches
    ///
    /// Two flows, or one flow twice, on the same method and route. The names of parameters do not tell routes apart.
    ///
    /// ## Why it matters
    ///
    /// One of the two would never be called, and which one would be decided by the order in which they happen to be registered.
    ///
    /// ## Example
    ///
    /// ```rust,ignore
    /// #[flow(id = "order.show", …, http(GET, "/orders/{id}"), …)]
    /// #[flow(id = "order.find", …, http(GET, "/orders/{name}"), …)]
    /// ```
    ///
    /// ## Instead
    ///
    /// Give one of them another route.
    FLOWX1178, "two flows have one route", Error firm, check
}

fn check(view: &View<'_, '_>, sink: &mut Sink<'_>) {
    let mut first: BTreeMap<(String, String), String> = BTreeMap::new();
    let own: Vec<String> = view.flows().map(|(d, _)| d.anchor().id).collect();
    for flow in view.manifest.flows.iter().filter(|f| !own.contains(&f.key())) {
        for trigger in &flow.triggers {
            if let Trigger::Http { method, route, .. } = trigger {
                first.entry((method.clone(), shape(route))).or_insert_with(|| format!("flow `{}` of a library", flow.key()));
            }
        }
    }
    for (declared, _) in view.flows() {
        for http in &declared.decl.http {
            let key = (http.method.value.clone(), shape(&http.route.value));
            let start = http.route.span.start();
            let file = &declared.on.tree.source(declared.on.module).shown;
            let here = format!("flow `{}` ({file}:{}:{})", declared.anchor().id, start.line, start.column + 1);
            match first.get(&key) {
                Some(other) => {
                    let message = format!("`{} {}` leads to {here}, and to {other} as well", http.method.value, http.route.value);
                    sink(declared.error(RULE.code(), http.route.span, message).help("give one of them another route").into());
                }
                None => {
                    first.insert(key, here);
                }
            }
        }
    }
}

/// The route without the names of its parameters.
fn shape(route: &str) -> String {
    route.split('/').map(|s| if s.starts_with('{') { "{}" } else { s }).collect::<Vec<_>>().join("/")
}
