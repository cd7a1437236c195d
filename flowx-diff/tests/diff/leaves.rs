//! Every field of the manifest is read by a rule, or listed here as silent with a reason: both ways.

use std::collections::{BTreeMap, BTreeSet};

use flowx_diff::{DiffOptions, diff};
use flowx_manifest::{Json, Manifest};

use crate::{base, manifest};

/// Fields whose change is no finding, and why.
const SILENT: &[(&str, &str)] = &[
    (
        "/contracts/*/schema/properties/status/type",
        "beside an `enum` of texts it says nothing more",
    ),
    (
        "/tools/*/inputSchema/properties/status/type",
        "beside an `enum` of texts it says nothing more",
    ),
    (
        "/$schema",
        "where the format is described; the format's version is what is read",
    ),
    (
        "/flows/*/profile",
        "the format has one value; FXD004 and FXD202 are kept for the day it has two",
    ),
];

/// The pointer of every leaf, list and optional object.
fn leaves(value: &Json, at: &str, out: &mut Vec<String>) {
    match value {
        Json::Object(map) => {
            if !at.is_empty() && !at.ends_with("/properties") {
                out.push(at.to_owned());
            }
            for (key, child) in map {
                leaves(
                    child,
                    &format!("{at}/{}", key.replace('~', "~0").replace('/', "~1")),
                    out,
                );
            }
        }
        Json::Array(items) => {
            out.push(at.to_owned());
            for (i, child) in items.iter().enumerate() {
                leaves(child, &format!("{at}/{i}"), out);
            }
        }
        _ => out.push(at.to_owned()),
    }
}

/// The field that a pointer belongs to, list positions and map keys left out.
pub(crate) fn field(pointer: &str) -> String {
    let tokens: Vec<&str> = pointer.split('/').collect();
    let mut out: Vec<&str> = Vec::new();
    for token in tokens {
        out.push(if token.parse::<usize>().is_ok() {
            "*"
        } else {
            token
        });
    }
    out.join("/")
}

/// Other values for a leaf, likely ones first; some will not be of the field's form.
fn others(value: &Json) -> Vec<Json> {
    const WORDS: &[&str] = &[
        "never",
        "always",
        "required_for_side_effects",
        "normal",
        "high",
        "alone",
        "propose",
        "propose_every_time",
        "reads",
        "changes",
        "sends",
        "spends",
        "reaches_out",
        "validation",
        "not_found",
        "conflict",
        "run",
        "redeem",
        "Requester",
        "Sponsor",
        "internal",
        "authenticated",
        "PT7S",
        "7.8.9",
        "other.name",
        "other-name",
        "other.name@1.0.0",
        "other_name",
        "waiting",
    ];
    match value {
        Json::Null => vec![Json::from("x")],
        Json::Bool(b) => vec![Json::from(!b)],
        Json::Number(n) => vec![Json::from(n.as_i128().unwrap_or(0) + 1)],
        Json::String(s) => {
            let mut out = vec![Json::from(format!("{s}x"))];
            out.extend(WORDS.iter().filter(|w| *w != s).map(|w| Json::from(*w)));
            out
        }
        Json::Array(items) => vec![Json::Array(items.iter().skip(1).cloned().collect())],
        Json::Object(_) => Vec::new(),
    }
}

fn set(root: &mut Json, pointer: &str, value: Option<Json>) {
    let tokens: Vec<String> = pointer[1..]
        .split('/')
        .map(|t| t.replace("~1", "/").replace("~0", "~"))
        .collect();
    let (last, way) = tokens.split_last().expect("a pointer has a token");
    let mut at = root;
    for token in way {
        at = match at {
            Json::Object(map) => map.get_mut(token).expect("a leaf's own path"),
            Json::Array(items) => &mut items[token.parse::<usize>().expect("an index")],
            _ => unreachable!("a path leads through objects and lists"),
        };
    }
    match (at, value) {
        (Json::Object(map), Some(value)) => {
            map.insert(last.clone(), value);
        }
        (Json::Object(map), None) => {
            map.remove(last);
        }
        (Json::Array(items), Some(value)) => {
            items[last.parse::<usize>().expect("an index")] = value
        }
        (Json::Array(items), None) => {
            items.remove(last.parse::<usize>().expect("an index"));
        }
        _ => {}
    }
}

/// Every edit of one leaf that is still a manifest.
pub(crate) fn mutants(root: &Json) -> Vec<(String, Manifest)> {
    let mut all = Vec::new();
    leaves(root, "", &mut all);
    let mut out = Vec::new();
    for pointer in all {
        let value = root.pointer(&pointer).expect("a leaf's own path").clone();
        let mut tried = 0;
        for other in others(&value).into_iter().map(Some).chain([None]) {
            if other.as_ref() == Some(&value) {
                continue;
            }
            let removed = other.is_none();
            if !removed && tried > 0 {
                continue;
            }
            let mut changed = root.clone();
            set(&mut changed, &pointer, other);
            if let Ok(m) = Manifest::read(changed.to_canonical().as_bytes())
                && m != manifest(root)
            {
                // One changed value per leaf is enough, and its absence where that is allowed.
                tried += usize::from(!removed);
                out.push((pointer.clone(), m));
            }
        }
    }
    out
}

#[test]
fn every_field_of_the_manifest_is_read_by_a_rule_or_listed_as_silent_with_a_reason() {
    let root = base();
    let before = manifest(&root);
    let mut unheard: BTreeMap<String, String> = BTreeMap::new();
    let mut heard: BTreeSet<String> = BTreeSet::new();
    let mut count = 0;
    for (pointer, after) in mutants(&root) {
        count += 1;
        let report = diff(&before, &after, &DiffOptions::default());
        if report.findings.is_empty() {
            unheard.insert(field(&pointer), pointer);
        } else {
            heard.insert(field(&pointer));
        }
    }
    assert!(
        count > 400,
        "only {count} edits were possible; the base is poorer than it was"
    );
    let silent: BTreeSet<&str> = SILENT.iter().map(|(f, _)| *f).collect();
    let unlisted: Vec<_> = unheard
        .iter()
        .filter(|(f, _)| !heard.contains(*f) && !silent.contains(f.as_str()))
        .collect();
    assert!(unlisted.is_empty(), "no rule reads: {unlisted:#?}");
    for (field, reason) in SILENT {
        // One schema keyword may be silent in one place of the base and heard in another.
        let spoken = heard.contains(*field) && !field.ends_with("/type");
        assert!(!spoken, "{field} is read by a rule and listed as silent");
        assert!(!reason.is_empty());
    }
    // The profile cannot be edited while it has one value; everything else on the list must have been tried.
    assert_eq!(
        flowx_manifest::Profile::ALL.len(),
        1,
        "a second profile exists: write FXD004 and FXD202"
    );
    assert!(unheard.contains_key("/$schema"));
}

#[test]
fn the_base_has_every_field_that_the_format_has() {
    let schema = schemars::schema_for!(Manifest).to_value();
    let mut wanted = BTreeSet::new();
    collect(&flowx_manifest::Json::from_value(&schema), &mut wanted);
    let mut found = BTreeSet::new();
    keys(&base(), &mut found);
    // Values of enums, and hints that fixtures add.
    let hint = ["renamedFrom", "capability", "flow", "person", "queue"];
    let missing: Vec<_> = wanted
        .iter()
        .filter(|k| !found.contains(*k) && !hint.contains(&k.as_str()))
        .collect();
    assert!(missing.is_empty(), "fixtures/base.json lacks {missing:?}");
}

fn collect(schema: &Json, out: &mut BTreeSet<String>) {
    match schema {
        Json::Object(map) => {
            if let Some(Json::Object(props)) = map.get("properties") {
                out.extend(props.keys().cloned());
            }
            map.values().for_each(|v| collect(v, out));
        }
        Json::Array(items) => items.iter().for_each(|v| collect(v, out)),
        _ => {}
    }
}

fn keys(value: &Json, out: &mut BTreeSet<String>) {
    match value {
        Json::Object(map) => {
            for (key, child) in map {
                out.insert(key.clone());
                keys(child, out);
            }
        }
        Json::Array(items) => items.iter().for_each(|v| keys(v, out)),
        _ => {}
    }
}
