//! Types whose schema only the compiler knows: their crate is a build dependency as well, and schemars says what they are.

use std::cell::RefCell;
#[cfg(any(test, feature = "schemars"))]
use std::collections::{BTreeMap, BTreeSet};

#[cfg(any(test, feature = "schemars"))]
use flowx_manifest::{Json, contract_of_ref, contract_ref, references};

use crate::contracts_file::ContractsFile;
#[cfg(any(test, feature = "schemars"))]
use crate::contracts_file::Known;

thread_local! {
    static REGISTERED: RefCell<Registered> = const { RefCell::new(Registered { file: ContractsFile::empty(), wrong: Vec::new() }) };
}

/// What a build script has registered.
#[derive(Clone, Debug)]
pub(crate) struct Registered {
    pub(crate) file: ContractsFile,
    /// What of it cannot be a contract, in words.
    pub(crate) wrong: Vec<String>,
}

/// Takes the schema of `T` from schemars, for a type that the scan refuses: one with a hand-written impl, `schema_with`, or of
/// another crate. Called in `build.rs` before [`emit`](crate::emit); the crate of `T` is a dependency and a build dependency.
///
/// The schemas stand in `flowx.contracts.json`, beside `Cargo.toml`, which is committed: the command and git revisions read it,
/// since they run no build script. A build holds the file against what is registered, and fails where they differ (FLOWX1156);
/// `FLOWX_CONTRACTS=write cargo build` writes it.
#[cfg(any(test, feature = "schemars"))]
pub fn contract<T: schemars::JsonSchema>() {
    let name = std::any::type_name::<T>();
    let settings = schemars::generate::SchemaSettings::draft2020_12();
    let of = |settings: schemars::generate::SchemaSettings| {
        Json::from_value(
            &settings
                .into_generator()
                .into_root_schema_for::<T>()
                .to_value(),
        )
    };
    let both = [
        of(settings.clone().for_deserialize()),
        of(settings.for_serialize()),
    ];
    if let Some(target) = both.iter().find_map(|s| leads_away(s, s)) {
        let wrong = format!("the schema of `{name}` refers to `{target}`, which is no part of it");
        return REGISTERED.with_borrow_mut(|all| all.wrong.push(wrong));
    }
    let [request, mut response] = both.map(|schema| parts(name, &schema));
    REGISTERED.with_borrow_mut(|all| {
        let all = &mut all.file;
        // A part that only one direction refers to has no other.
        for (part, request) in request {
            let response = response.remove(&part).unwrap_or_else(|| request.clone());
            all.types.insert(part, Known { request, response });
        }
        for (part, response) in response {
            let request = response.clone();
            all.types.insert(part, Known { request, response });
        }
    });
}

/// What this build script has registered so far.
pub(crate) fn registered() -> Registered {
    REGISTERED.with_borrow(Clone::clone)
}

/// Above this many schemas a type is not written in line wherever it is referred to.
#[cfg(any(test, feature = "schemars"))]
const IN_LINE: usize = 4096;

/// The schema as contracts: what is referred to stands in line, and what refers to itself under a name of its own,
/// `crate::Type.Part`, so that no two types' parts ever meet.
#[cfg(any(test, feature = "schemars"))]
fn parts(name: &str, root: &Json) -> BTreeMap<String, Json> {
    let empty = BTreeMap::new();
    let defs = root
        .get("$defs")
        .and_then(Json::as_object)
        .unwrap_or(&empty);
    let refers: BTreeMap<&str, BTreeSet<String>> = defs
        .iter()
        .map(|(def, schema)| {
            let mut out = BTreeSet::new();
            references(schema, &mut out);
            (def.as_str(), out)
        })
        .collect();
    let reaches_itself = |def: &str| {
        let mut seen = BTreeSet::new();
        let mut todo: Vec<&str> = vec![def];
        while let Some(at) = todo.pop() {
            for next in refers.get(at).into_iter().flatten() {
                if next == def {
                    return true;
                }
                if seen.insert(next.as_str()) {
                    todo.push(next);
                }
            }
        }
        false
    };
    let recursive: BTreeSet<&str> = defs
        .keys()
        .map(String::as_str)
        .filter(|def| reaches_itself(def))
        .collect();
    let render = |named: &BTreeSet<&str>, mut budget: usize| {
        let mut of = Parts {
            name,
            defs,
            named,
            budget: &mut budget,
        };
        let mut out = BTreeMap::from([(name.to_owned(), of.render(root)?)]);
        for def in named {
            out.insert(format!("{name}.{def}"), of.render(&defs[*def])?);
        }
        Some(out)
    };
    let all = defs.keys().map(String::as_str).collect();
    render(&recursive, IN_LINE)
        .or_else(|| render(&all, usize::MAX))
        .expect("no document has as many schemas as a usize can count")
}

#[cfg(any(test, feature = "schemars"))]
struct Parts<'a> {
    name: &'a str,
    defs: &'a BTreeMap<String, Json>,
    named: &'a BTreeSet<&'a str>,
    budget: &'a mut usize,
}

#[cfg(any(test, feature = "schemars"))]
impl Parts<'_> {
    /// `None` when the budget does not suffice.
    fn render(&mut self, schema: &Json) -> Option<Json> {
        *self.budget = self.budget.checked_sub(1)?;
        Some(match schema {
            Json::Object(map) => {
                let mut out = BTreeMap::new();
                for (key, value) in map {
                    match (key.as_str(), value) {
                        ("$defs" | "$schema", _) => {}
                        ("$ref", Json::String(target)) => match contract_of_ref(target) {
                            Some(def) if !self.named.contains(def.as_str()) => {
                                let found = self.defs.get(&def).cloned().unwrap_or_default();
                                // What stands beside a reference has its say as well.
                                if let Json::Object(found) = self.render(&found)? {
                                    for (k, v) in found {
                                        out.entry(k).or_insert(v);
                                    }
                                }
                            }
                            Some(def) => {
                                let name = format!("{}.{def}", self.name);
                                out.insert(key.clone(), contract_ref(&name).into());
                            }
                            None => {
                                out.insert(key.clone(), contract_ref(self.name).into());
                            }
                        },
                        // A set, which the order of fields is not to show in.
                        ("required", Json::Array(names)) => {
                            let mut names = names.clone();
                            names.sort();
                            out.insert(key.clone(), Json::Array(names));
                        }
                        ("const" | "enum" | "default" | "examples", _) => {
                            drop(out.insert(key.clone(), value.clone()))
                        }
                        _ => drop(out.insert(key.clone(), self.render(value)?)),
                    }
                }
                Json::Object(out)
            }
            Json::Array(all) => {
                Json::Array(all.iter().map(|s| self.render(s)).collect::<Option<_>>()?)
            }
            other => other.clone(),
        })
    }
}

/// The first reference that names neither the document (`#`) nor one of its definitions.
#[cfg(any(test, feature = "schemars"))]
fn leads_away(schema: &Json, root: &Json) -> Option<String> {
    match schema {
        Json::Object(map) => map
            .iter()
            .find_map(|(key, value)| match (key.as_str(), value) {
                ("$ref", Json::String(target)) => {
                    let known = target == "#"
                        || contract_of_ref(target).is_some_and(|def| {
                            root.get("$defs").is_some_and(|d| d.get(&def).is_some())
                        });
                    (!known).then(|| target.clone())
                }
                ("const" | "enum" | "default" | "examples", _) => None,
                _ => leads_away(value, root),
            }),
        Json::Array(all) => all.iter().find_map(|s| leads_away(s, root)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{contract, registered};
    use crate::contracts_file::ContractsFile;

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
    /// Its parts refer to each other, and not to it.
    #[derive(schemars::JsonSchema)]
    #[allow(dead_code)]
    struct Forest {
        tree: Tree,
        currency: Currency,
    }
    #[derive(schemars::JsonSchema)]
    #[allow(dead_code)]
    struct Tree {
        leaves: Vec<Leaf>,
    }
    #[derive(schemars::JsonSchema)]
    #[allow(dead_code)]
    struct Leaf {
        grown: Option<Box<Tree>>,
    }
    fn cents(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "integer", "multipleOf": 5 })
    }

    #[test]
    fn a_schema_that_refers_elsewhere_is_said_to_be_wrong() {
        struct Remote;
        impl schemars::JsonSchema for Remote {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                "Remote".into()
            }
            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({ "$ref": "https://example.com/remote.json" })
            }
        }
        contract::<Remote>();
        let all = registered();
        assert!(all.file.types.is_empty());
        assert!(all.wrong[0].contains("https://example.com/remote.json"));
    }

    fn text<T>(all: &ContractsFile, part: &str) -> String {
        let name = format!("{}{part}", std::any::type_name::<T>());
        all.types[&name].request.to_canonical()
    }

    #[test]
    fn a_registered_type_has_the_schema_that_the_compiler_knows() {
        contract::<Money>();
        let text = text::<Money>(&registered().file, "");
        assert!(
            text.contains("\"multipleOf\":5") && text.contains("Eur") && !text.contains("$ref"),
            "{text}"
        );
    }

    #[test]
    fn what_is_recursive_refers_to_contracts_and_the_rest_stands_in_line() {
        contract::<Endless>();
        contract::<Forest>();
        let all = registered().file;
        let name = std::any::type_name::<Endless>();
        assert!(text::<Endless>(&all, "").contains(&flowx_manifest::contract_ref(name)));
        let forest = text::<Forest>(&all, "");
        assert!(
            forest.contains("Forest.Tree") && forest.contains("Eur"),
            "{forest}"
        );
        assert!(text::<Forest>(&all, ".Tree").contains("Forest.Leaf"));
        assert!(text::<Forest>(&all, ".Leaf").contains("Forest.Tree"));
        // Nothing refers to what is not there.
        let mut named = std::collections::BTreeSet::new();
        for known in all.types.values() {
            flowx_manifest::references(&known.request, &mut named);
            flowx_manifest::references(&known.response, &mut named);
        }
        assert!(named.iter().all(|n| all.types.contains_key(n)), "{named:?}");
    }
}
