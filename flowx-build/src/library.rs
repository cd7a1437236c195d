//! What a library tells the crates that depend on it, and what they read.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use flowx_manifest::{Contract, ErrorSpec, Json, Manifest, TypeRef, contract_of_ref, contract_ref};
use serde::{Deserialize, Serialize};

use crate::assemble::Entry;
use crate::declare::Declarations;
use crate::package::{Package, Target};
use crate::scan::{ItemRef, Ns, Resolved, Tree};

/// A library's manifest and its names.
#[derive(Clone, Debug)]
pub struct Library {
    /// Its manifest, names already qualified by the library's.
    pub manifest: Manifest,
    /// Its names.
    pub exports: Exports,
    /// The path to it in generated code: `::name`, or through another library.
    pub path: String,
    /// Contracts of its public types.
    pub contracts: Vec<Contract>,
    /// The folder in which it told, when it has been built.
    pub told_in: Option<PathBuf>,
}

/// Written beside a library's manifest.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Exports {
    /// The version of this format: that of FlowX.
    pub version: String,
    /// The package.
    pub package: String,
    /// The crate.
    pub krate: String,
    /// What the compiler has to confirm.
    pub entries: Vec<ExportedEntry>,
    /// What a path of another crate to one of its declarations means: `lib::payment::refund`.
    pub names: BTreeMap<String, Exported>,
    /// The catalogue of each error type, code to category, by path.
    pub errors: BTreeMap<String, BTreeMap<String, String>>,
    /// The one name of each type that has a contract, by every path to it.
    pub types: BTreeMap<String, String>,
    /// The contracts of its public types, flows or no flows.
    pub contracts: Vec<Contract>,
    /// The folders in which the libraries that it is built on told; it re-exports the n-th as `__flowx_library_n`.
    pub libraries: Vec<String>,
}

/// One entry, as in [`crate::assemble::Entry`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ExportedEntry {
    /// `effect`, `capability`, `flow` or `agent`.
    pub kind: String,
    /// What KEY is made of.
    pub id: String,
    /// The digest, in hexadecimal.
    pub digest: String,
    /// Its effects, sorted.
    pub effects: Vec<String>,
}

/// What a path means.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Exported {
    /// `effect`, `capability`, `flow`.
    pub kind: String,
    /// `id@version`; of an effect the id.
    pub id: String,
}

impl Library {
    /// From what a library has told: its manifest speaks of `crate::…`, which here is the library's name.
    pub fn new(exports: Exports, manifest: &Manifest, path: String) -> Self {
        let mut all = manifest.clone();
        all.contracts.extend(exports.contracts.iter().cloned());
        let mut all = requalify(&all, &exports.krate);
        let contracts = all.contracts.split_off(manifest.contracts.len());
        Self {
            manifest: all,
            exports,
            path,
            contracts,
            told_in: None,
        }
    }

    /// Adds everything the library declares to a manifest.
    pub(crate) fn merge_into(&self, all: &mut Manifest) {
        let theirs = self.manifest.clone();
        all.effects.extend(theirs.effects);
        all.capabilities.extend(theirs.capabilities);
        all.flows.extend(theirs.flows);
        all.events.extend(theirs.events);
        all.agents.extend(theirs.agents);
        all.entities.extend(theirs.entities);
        // The application may have taken some of them in already, for types of its own that hold them.
        let have: BTreeSet<String> = all.contracts.iter().map(|c| c.id.clone()).collect();
        all.contracts.extend(
            theirs
                .contracts
                .into_iter()
                .filter(|c| !have.contains(&c.id)),
        );
    }
}

/// A manifest with `crate::` replaced by the library's name, in type names and references.
fn requalify(manifest: &Manifest, krate: &str) -> Manifest {
    let mut out = manifest.clone();
    let rename = |name: &str| rename(name, krate);
    let on = |r: &mut TypeRef| r.name = rename(&r.name);
    for c in &mut out.capabilities {
        on(&mut c.input);
        on(&mut c.output);
    }
    for f in &mut out.flows {
        on(&mut f.input);
        on(&mut f.output);
    }
    for e in &mut out.events {
        on(&mut e.contract);
    }
    for c in &mut out.contracts {
        c.id = rename(&c.id);
        for schema in [&mut c.schema, &mut c.request, &mut c.response]
            .into_iter()
            .flatten()
        {
            refs(schema, &rename);
        }
    }
    // Tools stand alone: whoever merges projects them anew.
    out.tools.clear();
    out
}

/// `crate::` at the start of a path, wherever the path stands in the name of an instantiation.
fn rename(name: &str, krate: &str) -> String {
    let mut out = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(at) = rest.find("crate::") {
        let free = !rest[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':');
        out.push_str(&rest[..at]);
        out.push_str(if free { krate } else { "crate" });
        rest = &rest[at + "crate".len()..];
    }
    out.push_str(rest);
    out
}

fn refs(schema: &mut Json, rename: &impl Fn(&str) -> String) {
    match schema {
        Json::Object(map) => {
            for (key, value) in map {
                match (key.as_str(), value) {
                    ("$ref", Json::String(r)) => {
                        if let Some(id) = contract_of_ref(r) {
                            *r = contract_ref(&rename(&id));
                        }
                    }
                    // These hold data, where a member named `$ref` is no reference.
                    ("const" | "enum" | "default" | "examples", _) => {}
                    (_, value) => refs(value, rename),
                }
            }
        }
        Json::Array(items) => items.iter_mut().for_each(|i| refs(i, rename)),
        _ => {}
    }
}

/// What a library tells: its entries, and what every path that leads to one of its declarations, errors or contracts means.
pub(crate) fn export<'t>(
    package: &Package,
    target: &Target,
    tree: &'t Tree,
    declared: &Declarations<'t>,
    entries: &[Entry],
    errors_of: &dyn Fn(ItemRef<'t>) -> Option<Vec<ErrorSpec>>,
    contracts_of: &dyn Fn(&[ItemRef<'t>]) -> Vec<Contract>,
) -> Exports {
    let krate = &target.krate;
    let mut exports = Exports {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        package: package.name.clone(),
        krate: krate.clone(),
        ..Exports::default()
    };
    for entry in entries {
        exports.entries.push(ExportedEntry {
            kind: entry.kind.to_owned(),
            id: entry.id.clone(),
            digest: format!("{:#018x}", entry.digest),
            effects: entry.effects.clone(),
        });
    }
    // Without `links` it cannot tell, and what it has is nobody's but its own.
    if entries.is_empty() && package.links.is_none() {
        return exports;
    }
    let mut types = Vec::new();
    let mut qualified_types = BTreeSet::new();
    for module in tree.modules().filter(|m| tree.is_public(*m)) {
        for (name, resolved) in tree.resolver().public_names(module) {
            let Resolved::Item(item) = resolved else {
                continue;
            };
            let item = behind_aliases(item);
            let path = rename(&format!("{}::{name}", tree.module(module).path), krate);
            let by = |kind: &str, id: String| Exported {
                kind: kind.to_owned(),
                id,
            };
            if let Some(d) = declared.effects.iter().find(|d| d.on == item) {
                exports
                    .names
                    .insert(path, by("effect", d.decl.id.value.to_string()));
            } else if let Some(d) = declared.capabilities.iter().find(|d| d.on == item) {
                let id = format!("{}@{}", d.decl.id.value, d.decl.version.value);
                exports.names.insert(path, by("capability", id));
            } else if let Some(d) = declared.flows.iter().find(|d| d.on == item) {
                let id = format!("{}@{}", d.decl.id.value, d.decl.version.value);
                exports.names.insert(path, by("flow", id));
            } else {
                if let Some(errors) = errors_of(item) {
                    let errors = errors
                        .iter()
                        .map(|e| (e.code.to_string(), e.category.to_string()))
                        .collect();
                    exports.errors.insert(path.clone(), errors);
                }
                let qualified = item.qualified();
                if qualified_types.insert(qualified.clone()) {
                    types.push(item);
                }
                exports.types.insert(path, rename(&qualified, krate));
            }
        }
    }
    exports.contracts = contracts_of(&types);
    exports
}

/// What a type alias without parameters stands for, where that is an item of the library; the alias itself otherwise.
fn behind_aliases(item: ItemRef<'_>) -> ItemRef<'_> {
    let mut at = item;
    for _ in 0..64 {
        let syn::Item::Type(alias) = at.item else {
            return at;
        };
        let syn::Type::Path(path) = &*alias.ty else {
            break;
        };
        let plain = |s: &syn::PathSegment| s.arguments.is_none();
        if path.qself.is_some() || !path.path.segments.iter().all(plain) {
            break;
        }
        match at.tree.resolver().resolve(at.module, &path.path, Ns::Type) {
            Ok(Resolved::Item(next)) => at = next,
            _ => break,
        }
    }
    item
}

#[cfg(test)]
mod tests {
    use super::rename;

    #[test]
    fn only_the_crate_at_the_start_of_a_path_is_renamed() {
        assert_eq!(rename("crate::a::B", "lib"), "lib::a::B");
        assert_eq!(
            rename("crate::Page<crate::Item>", "lib"),
            "lib::Page<lib::Item>"
        );
        assert_eq!(rename("other::my_crate::B", "lib"), "other::my_crate::B");
        assert_eq!(rename("()", "lib"), "()");
    }
}
