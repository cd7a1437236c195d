use flowx_manifest::{Direction, Json};

use super::{Sink, View};

rule! {
    /// ## What it catches
    ///
    /// A `{name}` in a route that is no field of the flow's input.
    ///
    /// ## Why it matters
    ///
    /// Parameters bind to fields by name. One that binds to nothing makes every call of the route fail, or go ahead without it.
    ///
    /// ## Example
    ///
    /// ```rust,ignore
    /// struct Show { order_id: String }
    /// #[flow(…, http(GET, "/orders/{id}"), …)]
    /// ```
    ///
    /// ## Instead
    ///
    /// Name the parameter as the field: `/orders/{order_id}`.
    FLOWX1181, "a route's parameter is no field of the input", Error firm, check
}

fn check(view: &View<'_, '_>, sink: &mut Sink<'_>) {
    for (declared, flow) in view.flows() {
        let mut fields = Vec::new();
        let open = if flow.input.name == "()" {
            false
        } else {
            let contract = view.manifest.contracts.iter().find(|c| c.id == flow.input.name);
            let Some(schema) = contract.and_then(|c| c.in_direction(Direction::Request)) else { continue };
            let Some(Json::Object(properties)) = schema.get("properties") else { continue };
            fields.extend(properties.keys().map(String::as_str));
            ["allOf", "anyOf", "oneOf", "$ref"].iter().any(|k| schema.get(k).is_some())
        };
        if open {
            continue;
        }
        for http in &declared.decl.http {
            for name in http.route.value.split('/').filter_map(|s| s.strip_prefix('{')?.strip_suffix('}')) {
                if !fields.contains(&name) {
                    let message = format!("`{{{name}}}` is no field of the input `{}`", flow.input.name);
                    let help = match flowx_syntax::closest(name, fields.iter().copied()) {
                        Some(near) => format!("did you mean `{{{near}}}`?"),
                        None => "a parameter binds to the field of its name".to_owned(),
                    };
                    sink(declared.error(RULE.code(), http.route.span, message).help(help).into());
                }
            }
        }
    }
}
