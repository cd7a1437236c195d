//! schemars' own test types beside ours: its sources and snapshots come with its package, at exactly this version.
//!
//! serde is the first judge (`corpus.rs`), schemars the second. Each pair is equal, equivalent on every value tried, refused
//! with the code that is expected, or differs for a reason that stands here; anything else is wrong.
#![allow(clippy::unwrap_used)]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use flowx_build::contracts::{
    Attributes, Contracts, ModuleKey, Resolved, SingleFile, Types, Unresolved,
};
use flowx_manifest::{Direction, Json, Manifest, closure};
use flowx_verify::Sampler;

const VERSION: &str = "1.2.3";

/// Pairs that only the compiler can tell, with the code that says so.
const REFUSED: &[(&str, &str)] = &[
    ("attr_order.rs~attributes_applied_in_order", "FLOWX1304"),
    ("bound.rs~manual_bound_set", "FLOWX1317"),
    ("enums.rs~externally_tagged_enum", "FLOWX1304"),
    ("enums.rs~adjacently_tagged_enum", "FLOWX1304"),
    ("enums.rs~untagged_enum", "FLOWX1304"),
    ("enums.rs~no_variants", "FLOWX1311"),
    ("enums_ref_variants.rs~externally_tagged_enum", "FLOWX1304"),
    ("enums_ref_variants.rs~adjacently_tagged_enum", "FLOWX1304"),
    ("enums_ref_variants.rs~untagged_enum", "FLOWX1304"),
    ("enums_ref_variants.rs~no_variants", "FLOWX1311"),
    ("docs.rs~doc_comments_override", "FLOWX1304"),
    ("enum_repr.rs~enum_repr", "FLOWX1302"),
    (
        "enums_option_flattened.rs~external_enums_flattened_deny_unknown_fields",
        "FLOWX1315",
    ),
    ("schema_with.rs~container_with_metadata", "FLOWX1304"),
    ("examples.rs~examples", "FLOWX1304"),
    ("extend.rs~extend_struct", "FLOWX1304"),
    ("extend.rs~extend_tuple_struct", "FLOWX1304"),
    ("map.rs~maps", "FLOWX1309"),
    ("schema_with.rs~field_schema_with", "FLOWX1304"),
    ("schema_with.rs~container_schema_with", "FLOWX1304"),
    ("structs.rs~property_order", "FLOWX1304"),
    ("transform.rs~transform_struct", "FLOWX1304"),
    ("transform.rs~transform_enum", "FLOWX1304"),
    ("unset.rs~unset_attributes", "FLOWX1301"),
];

/// Pairs where the two differ, and why ours is right.
const DIFFERS: &[(&str, &str)] = &[
    (
        "contract.rs~adjacently_tagged_enum",
        "serde reads a unit's content as null and refuses any other",
    ),
    (
        "enums.rs~internally_tagged_enum",
        "serde reads a unit struct behind a tag from nothing but the tag",
    ),
    (
        "enums_deny_unknown_fields.rs~adjacently_tagged_enum",
        "serde reads a unit's content as null and refuses any other",
    ),
    (
        "enums_deny_unknown_fields.rs~internally_tagged_enum",
        "serde lets a unit variant behind a tag have any other members",
    ),
    (
        "enums_flattened.rs~adjacent_enums_flattened",
        "serde reads a unit's content as null and refuses any other",
    ),
    (
        "enums_ref_variants.rs~internally_tagged_enum",
        "serde reads a unit struct behind a tag from nothing but the tag",
    ),
    (
        "enums_untagged_variant.rs~adjacently_tagged_enum",
        "serde reads a unit's content as null and refuses any other",
    ),
    (
        "extend.rs~extend_adjacently_tagged_enum",
        "serde reads a unit's content as null and refuses any other",
    ),
    (
        "flatten.rs~flattened_struct",
        "serde reads a flattened Option whose members are wrong as None",
    ),
    (
        "garde.rs~garde_attrs",
        "the constraints of garde and validator are checked by their own call, never by serde",
    ),
    (
        "garde.rs~garde_attrs_newtype",
        "the constraints of garde and validator are checked by their own call, never by serde",
    ),
    (
        "garde.rs~garde_attrs_tuple",
        "the constraints of garde and validator are checked by their own call, never by serde",
    ),
    (
        "uuid.rs~uuid",
        "ours says the four spellings that uuid reads, schemars a format that validators pass over",
    ),
    (
        "validator.rs~validate_attrs",
        "the constraints of garde and validator are checked by their own call, never by serde",
    ),
];

#[test]
fn schemars_own_types_have_the_same_schemas_or_are_refused_with_the_right_code() {
    let Some(package) = package() else {
        println!("skipped: schemars {VERSION} is not in the cargo registry of this machine");
        return;
    };
    let only = std::env::var("PAIR").ok();
    let mut board: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    let mut wrong = Vec::new();
    let mut seen = BTreeSet::new();
    for pair in pairs(&package) {
        if only.as_ref().is_some_and(|o| *o != pair.name) {
            continue;
        }
        seen.insert(pair.name.clone());
        let outcome = compare(&pair, only.is_some());
        let differs = DIFFERS.iter().any(|(n, _)| *n == pair.name);
        let refused = REFUSED.iter().find(|(n, _)| *n == pair.name);
        let place = match (&outcome, refused, differs) {
            (Outcome::Equal, None, false) => "equal",
            (Outcome::Equivalent, None, false) => "equivalent",
            (Outcome::Refused(codes), Some((_, code)), _) if codes.contains(*code) => {
                "refused as expected"
            }
            (Outcome::Differs(_), None, true) => "differs for a reason",
            _ => "wrong",
        };
        if place == "wrong" {
            wrong.push(format!("{}: {outcome:?}", pair.name));
        }
        board.entry(place).or_default().push(pair.name);
    }
    for (place, names) in &board {
        println!("{place}: {}", names.len());
    }
    println!("{} pairs", seen.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    if only.is_none() {
        let right =
            board.get("equal").map_or(0, Vec::len) + board.get("equivalent").map_or(0, Vec::len);
        assert!(right >= 50, "{right} equal or equivalent");
        for (name, _) in REFUSED.iter().chain(DIFFERS) {
            assert!(seen.contains(*name), "{name} is no pair any more");
        }
    }
}

/// The folder of the package, from cargo itself.
fn package() -> Option<PathBuf> {
    let cargo = |extra: &[&str]| {
        std::process::Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
            .args([
                "metadata",
                "--format-version",
                "1",
                "--filter-platform",
                "x86_64-unknown-linux-gnu",
            ])
            .args(extra)
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .output()
            .ok()
            .filter(|out| out.status.success())
    };
    // What is only needed elsewhere may not be on this machine; then cargo fetches what it must.
    let out = cargo(&["--offline"]).or_else(|| cargo(&[]))?;
    let all: serde_json::Value = serde_json::from_slice(&out.stdout).ok()?;
    let package = all["packages"]
        .as_array()?
        .iter()
        .find(|p| p["name"] == "schemars" && p["version"] == VERSION)?;
    let folder = Path::new(package["manifest_path"].as_str()?)
        .parent()?
        .to_owned();
    folder
        .join("tests/integration/snapshots")
        .is_dir()
        .then_some(folder)
}

/// The file, with the names of its crate's prelude; other crates without the version in their local names; and what
/// derives schemars' trait only taken as if it derived serde's, as schemars does.
struct Prelude(SingleFile);

impl Types for Prelude {
    fn resolve(&self, module: ModuleKey, path: &syn::Path) -> Result<Resolved, Unresolved> {
        let unversioned = |mut names: Vec<String>| {
            let krate = names[0]
                .trim_end_matches(|c: char| c.is_ascii_digit())
                .to_owned();
            names[0] = krate;
            Ok(Resolved::External(names))
        };
        match self.0.resolve(module, path) {
            Ok(Resolved::External(names)) => unversioned(names),
            Err(Unresolved::NotFound) if path.is_ident("Value") => {
                unversioned(vec!["serde_json".to_owned(), "Value".to_owned()])
            }
            Err(Unresolved::NotFound) if path.segments.len() > 1 => {
                unversioned(path.segments.iter().map(|s| s.ident.to_string()).collect())
            }
            other => other,
        }
    }

    fn attributes(&self, module: ModuleKey, attrs: &[syn::Attribute]) -> Attributes {
        let mut out = self.0.attributes(module, attrs);
        let derives = |what: &str| {
            attrs.iter().any(|a| {
                a.path().is_ident("derive")
                    && quote::ToTokens::to_token_stream(a)
                        .to_string()
                        .contains(what)
            })
        };
        if derives("JsonSchema") && !derives("JsonSchema_repr") && !derives("Serialize") {
            out.attrs
                .push(syn::parse_quote!(#[derive(Serialize, Deserialize)]));
            for attr in attrs.iter().filter(|a| a.path().is_ident("schemars")) {
                // schemars' own spelling of the tagging, where there is no serde.
                let _ = attr.parse_nested_meta(|meta| {
                    if meta.path.is_ident("untagged") {
                        out.attrs.push(syn::parse_quote!(#[serde(untagged)]));
                    } else if meta.path.is_ident("tag") || meta.path.is_ident("content") {
                        let (word, value) =
                            (meta.path.clone(), meta.value()?.parse::<syn::LitStr>()?);
                        out.attrs.push(syn::parse_quote!(#[serde(#word = #value)]));
                    } else {
                        meta.input.parse::<proc_macro2::TokenStream>()?;
                    }
                    Ok(())
                });
            }
        }
        out
    }

    fn file(&self, module: ModuleKey) -> String {
        self.0.file(module)
    }

    fn constant(&self, module: ModuleKey, path: &syn::Path) -> Option<u64> {
        self.0.constant(module, path)
    }
}

struct Pair {
    /// `enums.rs~externally_tagged_enum`.
    name: String,
    source: String,
    ty: String,
    /// What schemars says in each direction.
    snapshots: BTreeMap<&'static str, serde_json::Value>,
}

/// Every test function of one `test!(T)` with default settings and a snapshot.
fn pairs(package: &Path) -> Vec<Pair> {
    let folder = package.join("tests/integration");
    let snapshots = folder.join("snapshots/schemars/tests/integration");
    let mut files: Vec<PathBuf> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|e| e.unwrap().path())
        .collect();
    files.sort();
    let mut out = Vec::new();
    for path in files
        .iter()
        .filter(|p| p.extension().is_some_and(|e| e == "rs"))
    {
        let file = path.file_name().unwrap().to_string_lossy().into_owned();
        let source = std::fs::read_to_string(path).unwrap();
        for item in syn::parse_file(&source).unwrap().items {
            let syn::Item::Fn(function) = item else {
                continue;
            };
            if !function.attrs.iter().any(|a| a.path().is_ident("test")) {
                continue;
            }
            let mut calls = Vec::new();
            let mut asserted = 0;
            look(quote_tokens(&function.block), &mut calls, &mut asserted);
            let [ty] = calls.as_slice() else { continue };
            if asserted != 1 || syn::parse_str::<syn::Type>(ty).is_err() {
                continue;
            }
            let name = format!("{file}~{}", function.sig.ident);
            let read = |suffix: &str| -> Option<serde_json::Value> {
                let text =
                    std::fs::read_to_string(snapshots.join(format!("{name}{suffix}.json"))).ok()?;
                serde_json::from_str(&text).ok()
            };
            let mut found = BTreeMap::new();
            match (read(""), read(".de"), read(".ser")) {
                (Some(both), ..) => {
                    found.insert("de", both.clone());
                    found.insert("ser", both);
                }
                (None, Some(de), Some(ser)) => {
                    found.insert("de", de);
                    found.insert("ser", ser);
                }
                _ => continue,
            }
            out.push(Pair {
                name,
                source: source.clone(),
                ty: ty.clone(),
                snapshots: found,
            });
        }
    }
    out
}

fn quote_tokens(block: &syn::Block) -> proc_macro2::TokenStream {
    use quote::ToTokens as _;
    block.to_token_stream()
}

/// The arguments of every `test!(…)`, and how often a snapshot is asserted.
fn look(tokens: proc_macro2::TokenStream, calls: &mut Vec<String>, asserted: &mut usize) {
    let all: Vec<proc_macro2::TokenTree> = tokens.into_iter().collect();
    for (i, token) in all.iter().enumerate() {
        match token {
            proc_macro2::TokenTree::Ident(ident) if ident == "assert_snapshot" => *asserted += 1,
            proc_macro2::TokenTree::Ident(ident) if ident == "test" => {
                if let (
                    Some(proc_macro2::TokenTree::Punct(bang)),
                    Some(proc_macro2::TokenTree::Group(group)),
                ) = (all.get(i + 1), all.get(i + 2))
                    && bang.as_char() == '!'
                {
                    calls.push(group.stream().to_string());
                }
            }
            proc_macro2::TokenTree::Group(group) => look(group.stream(), calls, asserted),
            _ => {}
        }
    }
}

#[derive(Debug)]
enum Outcome {
    Equal,
    Equivalent,
    Refused(BTreeSet<String>),
    /// With what differs, for the printed board.
    #[allow(dead_code, reason = "read through Debug")]
    Differs(Vec<String>),
}

fn compare(pair: &Pair, loud: bool) -> Outcome {
    let file = Prelude(SingleFile::parse(&pair.name, &pair.source).unwrap());
    let ty: syn::Type = syn::parse_str(&pair.ty).unwrap();
    let contracts = Contracts::new(&file);
    let mut id = String::new();
    for direction in [Direction::Request, Direction::Response] {
        id = contracts.contract(SingleFile::ROOT, &ty, direction).name;
    }
    let (contracts, findings) = contracts.finish();
    if !findings.is_empty() {
        if loud {
            findings
                .iter()
                .for_each(|f| println!("{} {}", f.code, f.message));
        }
        return Outcome::Refused(findings.iter().map(|f| f.code.id().to_owned()).collect());
    }
    let manifest = Manifest {
        contracts,
        ..serde_json::from_value(serde_json::json!({
            "$schema": "", "schemaVersion": "1.0.0", "application": { "name": "x", "version": "1.0.0" }, "effects": [], "capabilities": [],
            "flows": [], "events": [], "agents": [], "entities": [], "contracts": [], "tools": []
        }))
        .unwrap()
    };
    let mut equal = true;
    let mut differences = Vec::new();
    for (direction, key) in [(Direction::Request, "de"), (Direction::Response, "ser")] {
        let ours = closure(&manifest, &id, direction)
            .unwrap_or_else(|| Json::object([("type", Json::from("null"))]));
        let theirs = normal(&Json::from_value(&pair.snapshots[key]), direction);
        if loud {
            println!(
                "{key} ours {}\n{key} theirs {}",
                ours.to_pretty(),
                theirs.to_pretty()
            );
        }
        equal &= plain(&ours) == plain(&theirs);
        let build = |s: &Json| {
            jsonschema::draft202012::options()
                .build(&s.to_value())
                .unwrap()
        };
        let (our_validator, their_validator) = (build(&ours), build(&theirs));
        let mut values = Sampler::anything();
        for schema in [&ours, &theirs] {
            let mut sampler = Sampler::new(schema, 11);
            for _ in 0..150 {
                let value = sampler.value();
                values.push(sampler.changed(&value));
                values.push(value);
            }
        }
        for value in values {
            let plain = value.to_value();
            let (we, they) = (
                our_validator.is_valid(&plain),
                their_validator.is_valid(&plain),
            );
            if we != they && differences.len() < 3 {
                differences.push(format!("{key}: {value} ours {we}, theirs {they}"));
            }
        }
    }
    match (equal, differences.is_empty()) {
        (true, _) => Outcome::Equal,
        (false, true) => Outcome::Equivalent,
        (false, false) => Outcome::Differs(differences),
    }
}

/// schemars gives the width of a number in `format`, which validators ignore; and writes NaN as a number, where serde
/// writes null.
fn normal(schema: &Json, direction: Direction) -> Json {
    match schema {
        Json::Object(map) => {
            let mut out: BTreeMap<String, Json> = map
                .iter()
                .map(|(k, v)| {
                    (
                        k.clone(),
                        if matches!(k.as_str(), "const" | "enum" | "default" | "examples") {
                            v.clone()
                        } else {
                            normal(v, direction)
                        },
                    )
                })
                .collect();
            let format = map.get("format").and_then(Json::as_str).unwrap_or_default();
            let bounds: Option<(Json, Json)> = match format {
                "int8" => Some((i8::MIN.into(), i8::MAX.into())),
                "int16" => Some((i16::MIN.into(), i16::MAX.into())),
                "int32" => Some((i32::MIN.into(), i32::MAX.into())),
                "int64" | "int" => Some((i64::MIN.into(), i64::MAX.into())),
                "int128" => Some((i128::MIN.into(), i128::MAX.into())),
                "uint8" => Some((0u8.into(), u8::MAX.into())),
                "uint16" => Some((0u8.into(), u16::MAX.into())),
                "uint32" => Some((0u8.into(), u32::MAX.into())),
                "uint64" | "uint" => Some((0u8.into(), u64::MAX.into())),
                "uint128" => Some((0u8.into(), u128::MAX.into())),
                _ => None,
            };
            if let Some((low, high)) = bounds {
                out.entry("minimum".to_owned()).or_insert(low);
                out.entry("maximum".to_owned()).or_insert(high);
            }
            if matches!(format, "float" | "double") && direction == Direction::Response {
                let with_null = match map.get("type") {
                    Some(Json::String(t)) => Json::Array(vec![t.as_str().into(), "null".into()]),
                    Some(other) => other.clone(),
                    None => Json::Null,
                };
                out.insert("type".to_owned(), with_null);
            }
            Json::Object(out)
        }
        Json::Array(all) => Json::Array(all.iter().map(|s| normal(s, direction)).collect()),
        other => other.clone(),
    }
}

/// Without what validates nothing, and with `const` as an `enum` of one.
fn plain(schema: &Json) -> Json {
    fn go(schema: &Json, root: &Json, depth: usize) -> Json {
        match schema {
            Json::Object(map) => {
                if let (Some(target), true) = (map.get("$ref").and_then(Json::as_str), depth < 6) {
                    let id = flowx_manifest::contract_of_ref(target);
                    let found =
                        id.and_then(|id| root.get("$defs").and_then(|d| d.get(&id)).cloned());
                    if let Some(found) = found {
                        return go(&found, root, depth + 1);
                    }
                }
                let mut out = BTreeMap::new();
                for (key, value) in map {
                    match key.as_str() {
                        "title" | "description" | "format" | "$schema" | "$defs" | "default"
                        | "examples" | "deprecated" | "writeOnly" | "$comment" => {}
                        "const" => {
                            drop(out.insert("enum".to_owned(), Json::Array(vec![value.clone()])))
                        }
                        "required" | "enum" => {
                            let mut sorted = value.clone();
                            if let Json::Array(all) = &mut sorted {
                                all.sort();
                            }
                            out.insert(key.clone(), sorted);
                        }
                        _ => drop(out.insert(key.clone(), go(value, root, depth))),
                    }
                }
                Json::Object(out)
            }
            Json::Array(all) => Json::Array(all.iter().map(|s| go(s, root, depth)).collect()),
            other => other.clone(),
        }
    }
    go(schema, schema, 0)
}
