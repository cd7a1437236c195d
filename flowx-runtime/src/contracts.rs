//! Values against their contracts: every failing place at once, in words that a model can act on.

use std::sync::OnceLock;

use flowx_manifest::{Direction, Json, Manifest, closure};
use jsonschema::error::{TypeKind, ValidationErrorKind};
use jsonschema::{JsonType, ValidationError};

use crate::input::InputError;

/// The exact schema of one contract in one direction, compiled when it is first needed.
pub struct Validator {
    schema: Json,
    compiled: OnceLock<Result<jsonschema::Validator, String>>,
}

impl Validator {
    /// Of a contract in a manifest, with all that it refers to. `None` when there is no such contract.
    pub fn of(manifest: &Manifest, contract: &str, direction: Direction) -> Option<Validator> {
        closure(manifest, contract, direction).map(Validator::new)
    }

    /// Of a schema that stands alone.
    pub fn new(schema: Json) -> Validator {
        Validator {
            schema,
            compiled: OnceLock::new(),
        }
    }

    /// Compiles the schema, if that has not been done. Never fetches one that is referred to.
    ///
    /// # Errors
    /// When it is no JSON Schema.
    pub fn prepare(&self) -> Result<(), &str> {
        self.compiled().map(drop)
    }

    fn compiled(&self) -> Result<&jsonschema::Validator, &str> {
        self.compiled
            .get_or_init(|| {
                jsonschema::draft202012::new(&self.schema.to_value()).map_err(|e| e.to_string())
            })
            .as_ref()
            .map_err(String::as_str)
    }

    /// Everything that is wrong with a value, in the order of its places; empty when it meets the contract. The texts name
    /// members and limits, and never repeat a value: it may be a secret.
    pub fn errors(&self, value: &Json) -> Vec<InputError> {
        let validator = match self.compiled() {
            Ok(validator) => validator,
            Err(why) => {
                return vec![InputError {
                    path: String::new(),
                    message: format!("the contract cannot be used: {why}"),
                }];
            }
        };
        let value = value.to_value();
        let mut out = Vec::new();
        for error in validator.iter_errors(&value) {
            self.explain(&error, &mut out);
        }
        out.sort_by(|a, b| a.path.cmp(&b.path));
        out.dedup();
        out
    }

    fn explain(&self, error: &ValidationError<'_>, out: &mut Vec<InputError>) {
        let path = error.instance_path().to_string();
        let here = |message: String| InputError {
            path: path.clone(),
            message,
        };
        match error.kind() {
            ValidationErrorKind::Required { property } => {
                let name = property.as_str().unwrap_or_default();
                out.push(InputError {
                    path: format!("{path}/{}", token(name)),
                    message: format!("`{name}` is missing, and needed"),
                });
            }
            ValidationErrorKind::AdditionalProperties { unexpected }
            | ValidationErrorKind::UnevaluatedProperties { unexpected } => {
                let known = self.members(error);
                for name in unexpected {
                    let meant = closest(name, &known);
                    let hint = match (&meant, known.is_empty()) {
                        (Some(meant), _) => format!("; did you mean `{meant}`?"),
                        (None, false) => format!("; known are {}", listed(&known)),
                        (None, true) => "; there are none".to_owned(),
                    };
                    out.push(InputError {
                        path: format!("{path}/{}", token(name)),
                        message: format!("there is no member `{name}`{hint}"),
                    });
                }
            }
            ValidationErrorKind::OneOfNotValid { context }
            | ValidationErrorKind::AnyOf { context } => self.nearest(error, context, out),
            kind => out.push(here(said(kind, error))),
        }
    }

    /// Of alternatives that all fail: those of the one that was meant, by its tag or by how little is wrong with it.
    fn nearest(
        &self,
        error: &ValidationError<'_>,
        context: &[Vec<ValidationError<'static>>],
        out: &mut Vec<InputError>,
    ) {
        // Alternatives of another type, or with another tag, were not meant.
        let at = error.instance_path().to_string();
        let meant = |branch: &&Vec<ValidationError<'static>>| {
            !branch.iter().any(|e| match e.kind() {
                ValidationErrorKind::Type { .. } => e.instance_path().to_string() == at,
                ValidationErrorKind::Constant { .. } => true,
                ValidationErrorKind::Enum { .. } => e.instance_path().to_string() != at,
                _ => false,
            })
        };
        let candidates: Vec<&Vec<ValidationError<'static>>> =
            context.iter().filter(meant).collect();
        if let [only] = candidates.as_slice() {
            only.iter().for_each(|e| self.explain(e, out));
            return;
        }
        let tags: Vec<(String, String)> = context
            .iter()
            .flatten()
            .filter_map(|e| match e.kind() {
                ValidationErrorKind::Constant { expected_value } => Some((
                    e.instance_path().to_string(),
                    expected_value.as_str()?.to_owned(),
                )),
                _ => None,
            })
            .collect();
        match tags.first() {
            Some((path, _)) if candidates.is_empty() => {
                let mut words: Vec<String> = tags
                    .iter()
                    .filter(|(p, _)| p == path)
                    .map(|(_, w)| w.clone())
                    .collect();
                words.dedup();
                out.push(InputError {
                    path: path.clone(),
                    message: format!("it must be one of {}", listed(&words)),
                });
            }
            _ => {
                let forms: Vec<String> = context
                    .iter()
                    .map(|branch| {
                        let parts: Vec<String> =
                            branch.iter().map(|e| said(e.kind(), e)).take(2).collect();
                        parts.join(" and ")
                    })
                    .filter(|s| !s.is_empty())
                    .take(6)
                    .collect();
                out.push(InputError {
                    path: at,
                    message: format!(
                        "it has none of the forms that are taken: {}",
                        forms.join("; or ")
                    ),
                });
            }
        }
    }

    /// The names of the members that the schema of the failing keyword knows.
    fn members(&self, error: &ValidationError<'_>) -> Vec<String> {
        let schema_path = error.schema_path().to_string();
        let parent = schema_path.rsplit_once('/').map_or("", |(p, _)| p);
        let found = self
            .schema
            .pointer(parent)
            .and_then(|s| s.get("properties"))
            .and_then(Json::as_object);
        found
            .map(|m| m.keys().cloned().collect())
            .unwrap_or_default()
    }
}

fn said(kind: &ValidationErrorKind, error: &ValidationError<'_>) -> String {
    match kind {
        ValidationErrorKind::Type { kind } => format!("it must be {}", wanted(kind)),
        ValidationErrorKind::Required { property } => {
            format!("`{}` is missing", property.as_str().unwrap_or_default())
        }
        ValidationErrorKind::Enum { options } => {
            let words: Vec<String> = options
                .as_array()
                .into_iter()
                .flatten()
                .map(|o| o.as_str().map_or_else(|| o.to_string(), str::to_owned))
                .collect();
            format!("it must be one of {}", listed(&words))
        }
        ValidationErrorKind::Constant { expected_value } => format!("it must be {expected_value}"),
        ValidationErrorKind::Minimum { limit } => format!("it must be at least {limit}"),
        ValidationErrorKind::Maximum { limit } => format!("it must be at most {limit}"),
        ValidationErrorKind::ExclusiveMinimum { limit } => format!("it must be more than {limit}"),
        ValidationErrorKind::ExclusiveMaximum { limit } => format!("it must be less than {limit}"),
        ValidationErrorKind::MinLength { limit } => {
            format!("it must have at least {limit} characters")
        }
        ValidationErrorKind::MaxLength { limit } => {
            format!("it must have at most {limit} characters")
        }
        ValidationErrorKind::MinItems { limit } => {
            format!("it must have at least {limit} elements")
        }
        ValidationErrorKind::MaxItems { limit } => format!("it must have at most {limit} elements"),
        ValidationErrorKind::UniqueItems => "its elements must differ".to_owned(),
        ValidationErrorKind::Pattern { pattern } => format!("it must match the pattern {pattern}"),
        ValidationErrorKind::Format { format } => format!("it must have the format {format}"),
        ValidationErrorKind::PropertyNames { error } => {
            format!(
                "a member has a name that is not taken: {}",
                said(error.kind(), error)
            )
        }
        ValidationErrorKind::FalseSchema => "nothing is taken here".to_owned(),
        ValidationErrorKind::AdditionalProperties { unexpected } => {
            format!("it has no member {}", listed(unexpected))
        }
        ValidationErrorKind::Not { .. } => {
            "it has members that exclude each other, or a value that is left out".to_owned()
        }
        ValidationErrorKind::OneOfMultipleValid { .. } => {
            "it has members that exclude each other: give one of them".to_owned()
        }
        _ => error.masked().to_string(),
    }
}

fn wanted(kind: &TypeKind) -> String {
    let name = |t: JsonType| match t {
        JsonType::Array => "an array",
        JsonType::Boolean => "true or false",
        JsonType::Integer => "an integer",
        JsonType::Null => "null",
        JsonType::Number => "a number",
        JsonType::Object => "an object",
        JsonType::String => "a string",
    };
    match kind {
        TypeKind::Single(t) => name(*t).to_owned(),
        TypeKind::Multiple(all) => all.iter().map(name).collect::<Vec<_>>().join(" or "),
    }
}

fn listed(words: &[String]) -> String {
    let shown: Vec<String> = words.iter().take(12).map(|w| format!("`{w}`")).collect();
    match words.len() {
        0 => "none".to_owned(),
        n if n > 12 => format!("{} and {} more", shown.join(", "), n - 12),
        _ => shown.join(", "),
    }
}

/// The known name that differs by the fewest edits, when that is few.
fn closest(name: &str, known: &[String]) -> Option<String> {
    let limit = 1 + name.chars().count() / 4;
    known
        .iter()
        .map(|k| (edits(name, k), k))
        .filter(|(n, _)| *n <= limit)
        .min_by_key(|(n, _)| *n)
        .map(|(_, k)| k.clone())
}

fn edits(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut corner = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let next = (corner + usize::from(x != *y))
                .min(row[j] + 1)
                .min(row[j + 1] + 1);
            corner = row[j + 1];
            row[j + 1] = next;
        }
    }
    row[b.len()]
}

pub(crate) fn token(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

#[cfg(test)]
mod tests {
    use flowx_manifest::json::{Limits, parse};

    use super::*;

    fn json(text: &str) -> Json {
        parse(text.as_bytes(), Limits::DOCUMENT).expect("the test's own JSON")
    }

    fn errors(schema: &str, value: &str) -> Vec<(String, String)> {
        let validator = Validator::new(json(schema));
        let found = validator.errors(&json(value));
        found.into_iter().map(|e| (e.path, e.message)).collect()
    }

    const REFUND: &str = r#"{"type":"object","additionalProperties":false,"required":["ticket_id","amount_cents"],
        "properties":{"ticket_id":{"type":"string","minLength":1},"amount_cents":{"type":"integer","minimum":1},"card":{"type":"string","writeOnly":true}}}"#;

    #[test]
    fn every_failing_place_is_named_at_once_and_no_value_is_repeated() {
        let found = errors(
            REFUND,
            r#"{"ticket_id":"","amount_cent":-7,"card":4242424242424242}"#,
        );
        let paths: Vec<&str> = found.iter().map(|(p, _)| p.as_str()).collect();
        assert_eq!(
            paths,
            ["/amount_cent", "/amount_cents", "/card", "/ticket_id"]
        );
        assert_eq!(
            found[0].1,
            "there is no member `amount_cent`; did you mean `amount_cents`?"
        );
        assert_eq!(found[1].1, "`amount_cents` is missing, and needed");
        assert_eq!(found[2].1, "it must be a string");
        assert!(found.iter().all(|(_, m)| !m.contains("4242")), "{found:?}");
    }

    #[test]
    fn a_value_that_meets_the_contract_has_no_errors() {
        assert!(errors(REFUND, r#"{"ticket_id":"T-1","amount_cents":5}"#).is_empty());
    }

    #[test]
    fn of_tagged_alternatives_only_the_meant_one_is_explained() {
        let schema = r#"{"oneOf":[
            {"type":"object","properties":{"t":{"const":"a"},"x":{"type":"integer"}},"required":["t","x"]},
            {"type":"object","properties":{"t":{"const":"b"},"y":{"type":"string"}},"required":["t","y"]}]}"#;
        assert_eq!(
            errors(schema, r#"{"t":"b","y":1}"#),
            [("/y".to_owned(), "it must be a string".to_owned())]
        );
        assert_eq!(
            errors(schema, r#"{"t":"c"}"#),
            [("/t".to_owned(), "it must be one of `a`, `b`".to_owned())]
        );
    }

    #[test]
    fn an_unusable_schema_is_said_and_never_passes() {
        let validator = Validator::new(json(r#"{"type":"nothing"}"#));
        assert!(validator.prepare().is_err());
        assert_eq!(validator.errors(&Json::Null).len(), 1);
    }
}
