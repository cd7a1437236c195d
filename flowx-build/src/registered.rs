//! Types whose schema only the compiler knows: their crate is a build dependency as well, and schemars says what they are.

use std::cell::RefCell;
use std::collections::BTreeMap;

use flowx_manifest::Json;

thread_local! {
    /// By the path that the compiler gives the type: what is accepted and what is written.
    static REGISTERED: RefCell<BTreeMap<String, (Json, Json)>> = const { RefCell::new(BTreeMap::new()) };
}

/// Takes the schema of `T` from schemars, for a type that the scan refuses: one with a hand-written impl, `schema_with`, or of
/// another crate. Called in `build.rs` before [`emit`](crate::emit); the crate of `T` is a dependency and a build dependency.
///
/// The command does not run build scripts: it goes on refusing the type, with the same code.
///
/// # Panics
/// When the schema of `T` is recursive: it stands in line in the contracts that use it.
#[cfg(any(test, feature = "schemars"))]
pub fn contract<T: schemars::JsonSchema>() {
    let settings = schemars::generate::SchemaSettings::draft2020_12();
    let of = |settings: schemars::generate::SchemaSettings| {
        let schema = Json::from_value(
            &settings
                .into_generator()
                .into_root_schema_for::<T>()
                .to_value(),
        );
        standing_alone(&schema).unwrap_or_else(|| {
            panic!(
                "the schema of `{}` is recursive, and cannot stand in line",
                std::any::type_name::<T>()
            )
        })
    };
    let both = (
        of(settings.clone().for_deserialize()),
        of(settings.for_serialize()),
    );
    REGISTERED.with_borrow_mut(|all| all.insert(std::any::type_name::<T>().to_owned(), both));
}

/// The schemas of a registered type, by the path that the source names it with. The compiler's own path may lead through
/// private modules that a re-export hides, so crate and name decide, when they name one.
pub(crate) fn registered(name: &str) -> Option<(Json, Json)> {
    REGISTERED.with_borrow(|all| {
        if let Some(both) = all.get(name) {
            return Some(both.clone());
        }
        let ends = |path: &str| {
            Some((
                path.split("::").next()?.to_owned(),
                path.rsplit("::").next()?.to_owned(),
            ))
        };
        let mut found = all.iter().filter(|(path, _)| ends(path) == ends(name));
        match (found.next(), found.next()) {
            (Some((_, both)), None) => Some(both.clone()),
            _ => None,
        }
    })
}

/// With every reference replaced by what it names. `None` when that has no end.
#[cfg(any(test, feature = "schemars"))]
fn standing_alone(root: &Json) -> Option<Json> {
    fn go(schema: &Json, root: &Json, depth: usize) -> Option<Json> {
        if depth > 24 {
            return None;
        }
        Some(match schema {
            Json::Object(map) => {
                let mut out = BTreeMap::new();
                for (key, value) in map {
                    match (key.as_str(), value) {
                        ("$defs" | "$schema", _) => {}
                        ("$ref", Json::String(target)) => {
                            let found =
                                go(root.pointer(target.strip_prefix('#')?)?, root, depth + 1)?;
                            for (k, v) in found.as_object()? {
                                out.entry(k.clone()).or_insert_with(|| v.clone());
                            }
                        }
                        ("const" | "enum" | "default" | "examples", _) => {
                            drop(out.insert(key.clone(), value.clone()))
                        }
                        _ => drop(out.insert(key.clone(), go(value, root, depth)?)),
                    }
                }
                Json::Object(out)
            }
            Json::Array(all) => Json::Array(
                all.iter()
                    .map(|s| go(s, root, depth))
                    .collect::<Option<_>>()?,
            ),
            other => other.clone(),
        })
    }
    go(root, root, 0)
}

#[cfg(test)]
mod tests {
    use super::{contract, registered};

    #[derive(schemars::JsonSchema)]
    #[allow(dead_code)]
    struct Money {
        #[schemars(schema_with = "cents")]
        cents: u64,
        currency: Currency,
    }
    #[derive(schemars::JsonSchema)]
    #[allow(dead_code)]
    enum Currency {
        Eur,
    }
    #[derive(schemars::JsonSchema)]
    #[allow(dead_code)]
    struct Endless {
        next: Option<Box<Endless>>,
    }
    fn cents(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "integer", "multipleOf": 5 })
    }

    #[test]
    fn a_registered_type_has_the_schema_that_the_compiler_knows() {
        contract::<Money>();
        let (request, _) = registered(std::any::type_name::<Money>()).unwrap();
        let text = request.to_canonical();
        assert!(
            text.contains("\"multipleOf\":5") && text.contains("Eur") && !text.contains("$ref"),
            "{text}"
        );
        assert!(registered("crate::Nothing").is_none());
    }

    #[test]
    #[should_panic(expected = "recursive")]
    fn a_recursive_type_cannot_be_registered() {
        contract::<Endless>();
    }
}
