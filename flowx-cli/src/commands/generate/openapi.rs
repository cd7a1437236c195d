//! OpenAPI 3.1 of the HTTP routes. Its schemas are JSON Schema 2020-12, as the contracts are, so they go in as they are;
//! only the references are spelt for the place they stand in.

use std::collections::BTreeMap;

use flowx_manifest::{
    Category, Contract, Direction, Flow, Json, Manifest, Trigger, contract_of_ref,
};

pub(super) fn render(manifest: &Manifest) -> String {
    let names = Names::of(manifest);
    let mut paths: BTreeMap<String, Json> = BTreeMap::new();
    for flow in &manifest.flows {
        for trigger in &flow.triggers {
            if let Trigger::Http {
                method,
                route,
                idempotent,
            } = trigger
            {
                let item = paths.entry(route.clone()).or_insert_with(Json::empty);
                if let Some(item) = item.as_object_mut() {
                    item.insert(
                        method.to_lowercase(),
                        operation(manifest, flow, method, route, *idempotent, &names),
                    );
                }
            }
        }
    }
    let document = object([
        ("openapi", "3.1.0".into()),
        (
            "jsonSchemaDialect",
            "https://json-schema.org/draft/2020-12/schema".into(),
        ),
        (
            "info",
            object([
                ("title", manifest.application.name.as_str().into()),
                ("version", manifest.application.version.as_str().into()),
            ]),
        ),
        ("paths", Json::Object(paths)),
        (
            "components",
            object([
                ("schemas", schemas(manifest, &names)),
                (
                    "securitySchemes",
                    object([(
                        "bearer",
                        object([("type", "http".into()), ("scheme", "bearer".into())]),
                    )]),
                ),
            ]),
        ),
    ]);
    format!("{}\n", document.to_pretty().trim_end())
}

fn object<const N: usize>(members: [(&str, Json); N]) -> Json {
    Json::object(members)
}

/// Contracts by name and direction, as keys of `components/schemas`, which allow few characters.
struct Names(BTreeMap<(String, bool), String>);

impl Names {
    fn of(manifest: &Manifest) -> Names {
        let mut taken: BTreeMap<String, usize> = BTreeMap::from([(PROBLEM.to_owned(), 1)]);
        let mut names = BTreeMap::new();
        for contract in &manifest.contracts {
            let short = |text: &str| -> String {
                let text = text
                    .strip_prefix("crate::")
                    .unwrap_or(text)
                    .replace("::", ".");
                text.chars()
                    .map(|c| {
                        if c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-') {
                            c
                        } else {
                            '_'
                        }
                    })
                    .collect()
            };
            let mut unique = |name: String| {
                let count = taken.entry(name.clone()).or_default();
                *count += 1;
                // Only names that differ in characters that are not allowed here can meet.
                if *count == 1 {
                    name
                } else {
                    format!("{name}-{count}")
                }
            };
            let base = short(&contract.id);
            if differs(contract) {
                names.insert(
                    (contract.id.clone(), true),
                    unique(format!("{base}.request")),
                );
                names.insert(
                    (contract.id.clone(), false),
                    unique(format!("{base}.response")),
                );
            } else {
                let name = unique(base);
                names.insert((contract.id.clone(), true), name.clone());
                names.insert((contract.id.clone(), false), name);
            }
        }
        Names(names)
    }

    fn reference(&self, contract: &str, direction: Direction) -> Option<String> {
        let name = self
            .0
            .get(&(contract.to_owned(), direction == Direction::Request))?;
        Some(format!("#/components/schemas/{name}"))
    }

    /// A schema of a contract, with its references spelt for this document.
    fn spelt(&self, schema: &Json, direction: Direction) -> Json {
        match schema {
            Json::Object(map) => Json::Object(
                map.iter()
                    .map(|(key, value)| {
                        let value = match (key.as_str(), value) {
                            ("$ref", Json::String(text)) => contract_of_ref(text)
                                .and_then(|contract| self.reference(&contract, direction))
                                .map_or_else(|| value.clone(), Json::from),
                            // These hold data, not schemas.
                            ("const" | "enum" | "default" | "examples", _) => value.clone(),
                            _ => self.spelt(value, direction),
                        };
                        (key.clone(), value)
                    })
                    .collect(),
            ),
            Json::Array(items) => Json::Array(
                items
                    .iter()
                    .map(|item| self.spelt(item, direction))
                    .collect(),
            ),
            other => other.clone(),
        }
    }
}

/// Whether the two directions need two schemas. A contract that reaches such a one needs two as well, since its references
/// differ; that is closed over in [`schemas`] by writing both wherever either the schema or a reference differs.
fn differs(contract: &Contract) -> bool {
    contract.request.is_some()
        || contract.response.is_some()
        || contract.schema.as_ref().is_some_and(has_reference)
}

fn has_reference(schema: &Json) -> bool {
    let mut found = std::collections::BTreeSet::new();
    flowx_manifest::references(schema, &mut found);
    !found.is_empty()
}

const PROBLEM: &str = "Problem";

fn schemas(manifest: &Manifest, names: &Names) -> Json {
    let mut all: BTreeMap<String, Json> = BTreeMap::new();
    for contract in &manifest.contracts {
        for direction in [Direction::Request, Direction::Response] {
            let name = names
                .0
                .get(&(contract.id.clone(), direction == Direction::Request));
            if let (Some(name), Some(schema)) = (name, contract.in_direction(direction)) {
                all.entry(name.clone())
                    .or_insert_with(|| names.spelt(schema, direction));
            }
        }
    }
    let text = || object([("type", "string".into())]);
    all.insert(
        PROBLEM.to_owned(),
        object([
            ("type", "object".into()),
            ("description", "RFC 9457".into()),
            (
                "properties",
                object([
                    ("type", text()),
                    ("title", text()),
                    ("status", object([("type", "integer".into())])),
                    ("detail", text()),
                    ("code", text()),
                    (
                        "category",
                        object([(
                            "enum",
                            Json::Array(Category::ALL.iter().map(|c| c.as_str().into()).collect()),
                        )]),
                    ),
                    ("correlationId", text()),
                ]),
            ),
            (
                "required",
                vec!["title", "status", "code", "category", "correlationId"].into(),
            ),
        ]),
    );
    Json::Object(all)
}

fn operation(
    manifest: &Manifest,
    flow: &Flow,
    method: &str,
    route: &str,
    idempotent: bool,
    names: &Names,
) -> Json {
    let mut operation = BTreeMap::new();
    // Two majors of one flow are two operations.
    operation.insert(
        "operationId".to_owned(),
        Json::from(format!(
            "{}.v{}.{}",
            flow.id,
            flow.version.major,
            method.to_lowercase()
        )),
    );
    if let Some(title) = &flow.title {
        operation.insert("summary".to_owned(), title.as_str().into());
    }
    if let Some(description) = &flow.description {
        operation.insert("description".to_owned(), description.as_str().into());
    }
    if flow.deprecated.is_some() {
        operation.insert("deprecated".to_owned(), true.into());
    }
    let input = manifest
        .contracts
        .iter()
        .find(|c| c.id == flow.input.name)
        .and_then(|c| c.in_direction(Direction::Request));
    let in_path: Vec<&str> = route
        .split('/')
        .filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
        .collect();
    let in_query = matches!(method, "GET" | "DELETE" | "HEAD");
    let mut parameters = Vec::new();
    let required: Vec<&str> = input
        .and_then(|i| i.get("required"))
        .and_then(Json::as_array)
        .into_iter()
        .flatten()
        .filter_map(Json::as_str)
        .collect();
    let properties = input
        .and_then(|i| i.get("properties"))
        .and_then(Json::as_object);
    for name in &in_path {
        let schema = properties
            .and_then(|p| p.get(*name))
            .map_or_else(Json::empty, |s| names.spelt(s, Direction::Request));
        parameters.push(object([
            ("name", (*name).into()),
            ("in", "path".into()),
            ("required", true.into()),
            ("schema", schema),
        ]));
    }
    if in_query {
        for (name, schema) in properties
            .into_iter()
            .flatten()
            .filter(|(name, _)| !in_path.contains(&name.as_str()))
        {
            parameters.push(object([
                ("name", name.as_str().into()),
                ("in", "query".into()),
                ("required", required.contains(&name.as_str()).into()),
                ("schema", names.spelt(schema, Direction::Request)),
            ]));
        }
    }
    if idempotent {
        parameters.push(object([
            ("name", "Idempotency-Key".into()),
            ("in", "header".into()),
            ("required", true.into()),
            (
                "description",
                "The same key and input: the recorded answer. The same key and another input: 422."
                    .into(),
            ),
            ("schema", object([("type", "string".into())])),
        ]));
    }
    if !parameters.is_empty() {
        operation.insert("parameters".to_owned(), Json::Array(parameters));
    }
    let has_body = !in_query && input.is_some();
    if has_body {
        let schema = body_schema(flow, input, &in_path, names);
        operation.insert(
            "requestBody".to_owned(),
            object([
                ("required", true.into()),
                (
                    "content",
                    object([("application/json", object([("schema", schema)]))]),
                ),
            ]),
        );
    }
    operation.insert(
        "responses".to_owned(),
        responses(manifest, flow, idempotent, names),
    );
    let open = flow.permissions.is_empty() && !needs_identity(manifest, flow);
    operation.insert(
        "security".to_owned(),
        if open {
            Json::Array(vec![])
        } else {
            Json::Array(vec![object([("bearer", Json::Array(vec![]))])])
        },
    );
    let list = |items: Vec<String>| Json::Array(items.into_iter().map(Json::from).collect());
    operation.insert(
        "x-flowx-flow".to_owned(),
        flow.reference().to_string().into(),
    );
    operation.insert(
        "x-flowx-effects".to_owned(),
        list(flow.effects.iter().map(ToString::to_string).collect()),
    );
    operation.insert(
        "x-flowx-permissions".to_owned(),
        list(flow.permissions.iter().map(ToString::to_string).collect()),
    );
    Json::Object(operation)
}

/// The input's contract, or what is left of it when some of its members stand in the path.
fn body_schema(flow: &Flow, input: Option<&Json>, in_path: &[&str], names: &Names) -> Json {
    if in_path.is_empty()
        && let Some(reference) = names.reference(&flow.input.name, Direction::Request)
    {
        return object([("$ref", reference.into())]);
    }
    let mut schema = input.map_or_else(Json::empty, |input| names.spelt(input, Direction::Request));
    if let Some(map) = schema.as_object_mut() {
        if let Some(Json::Object(properties)) = map.get_mut("properties") {
            properties.retain(|name, _| !in_path.contains(&name.as_str()));
        }
        if let Some(Json::Array(required)) = map.get_mut("required") {
            required.retain(|name| name.as_str().is_none_or(|name| !in_path.contains(&name)));
        }
    }
    schema
}

/// Whether some step refuses a caller who is nobody.
fn needs_identity(manifest: &Manifest, flow: &Flow) -> bool {
    use flowx_manifest::{Authorization, StepTarget};
    flow.steps.iter().any(|step| match &step.calls {
        StepTarget::Capability(target) => manifest
            .capabilities
            .iter()
            .find(|c| c.reference() == *target)
            .is_none_or(|c| {
                !matches!(
                    c.authorization,
                    Authorization::Public { .. } | Authorization::Internal {}
                )
            }),
        StepTarget::Flow(target) => manifest
            .flows
            .iter()
            .find(|f| f.reference() == *target)
            .is_none_or(|f| needs_identity(manifest, f)),
    })
}

fn responses(manifest: &Manifest, flow: &Flow, idempotent: bool, names: &Names) -> Json {
    let mut all: BTreeMap<String, Json> = BTreeMap::new();
    let content = names
        .reference(&flow.output.name, Direction::Response)
        .map(|reference| {
            object([(
                "application/json",
                object([("schema", object([("$ref", reference.into())]))]),
            )])
        });
    let mut success = BTreeMap::from([("description".to_owned(), Json::from("Done"))]);
    if let Some(content) = content {
        success.insert("content".to_owned(), content);
    }
    all.insert("200".to_owned(), Json::Object(success));
    let mut problems: BTreeMap<u16, Vec<String>> = BTreeMap::new();
    let mut add = |status: u16, code: &str| {
        let codes = problems.entry(status).or_default();
        if !codes.iter().any(|known| known == code) {
            codes.push(code.to_owned());
        }
    };
    add(400, "input.invalid");
    add(500, "internal");
    if needs_identity(manifest, flow) {
        add(401, "authorization.not_authenticated");
    }
    if !flow.permissions.is_empty() {
        add(403, "authorization.permission_denied");
    }
    if flow
        .approval
        .as_ref()
        .is_some_and(|approval| approval.required)
    {
        add(428, "approval.required");
    }
    if idempotent {
        add(422, "the key was used with another input");
    }
    if flow.deadline.is_some() {
        add(504, "flow.deadline_exceeded");
    }
    for error in flow.errors.iter().flatten() {
        let status = match error.category {
            Category::Validation => 400,
            Category::NotFound => 404,
            Category::Conflict => 409,
            Category::Forbidden => 403,
            Category::Unavailable => 503,
            Category::Internal => 500,
        };
        add(status, error.code.as_str());
    }
    for (status, codes) in problems {
        let schema = object([("$ref", format!("#/components/schemas/{PROBLEM}").into())]);
        all.insert(
            status.to_string(),
            object([
                ("description", codes.join(", ").into()),
                (
                    "content",
                    object([("application/problem+json", object([("schema", schema)]))]),
                ),
            ]),
        );
    }
    Json::Object(all)
}
