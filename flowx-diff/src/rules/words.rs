//! Two schemas side by side, as they are written: words that changed, members that came, went or were renamed.

use std::collections::{BTreeMap, BTreeSet};

use flowx_manifest::Json;

use super::text::{hidden, visible};
use crate::inclusion::{Seg, pointer};
use crate::report::Finding;
use crate::schema::{ANNOTATIONS, Doc};

/// One annotation that changed.
#[derive(Clone, Debug)]
pub(crate) struct Word {
    path: Vec<Seg>,
    key: String,
    before: Option<Json>,
    after: Option<Json>,
}

/// Renamed members: where, from, to.
#[derive(Default)]
pub(crate) struct Renames {
    pub(crate) list: Vec<(Vec<Seg>, String, String)>,
}

impl Renames {
    /// The rename that the member is part of.
    pub(crate) fn of(&self, path: &[Seg], key: &str) -> Option<(String, String)> {
        let fits =
            |(p, from, to): &&(Vec<Seg>, String, String)| p == path && (from == key || to == key);
        self.list
            .iter()
            .find(fits)
            .map(|(_, from, to)| (from.clone(), to.clone()))
    }
}

/// What the walk found.
#[derive(Default)]
pub(crate) struct Walk {
    pub(crate) words: Vec<Word>,
    pub(crate) renames: Renames,
    /// Where, which member, whether it must be there.
    pub(crate) added: Vec<(Vec<Seg>, String, bool)>,
    pub(crate) removed: Vec<(Vec<Seg>, String, bool)>,
}

/// Keywords that hold schemas, constrain values, or name: everything else is a word.
const NOT_WORDS: &[&str] = &[
    "$id",
    "$schema",
    "$defs",
    "definitions",
    "$anchor",
    "$ref",
    "$dynamicRef",
    "type",
    "enum",
    "const",
    "properties",
    "required",
    "additionalProperties",
    "patternProperties",
    "propertyNames",
    "minProperties",
    "maxProperties",
    "items",
    "prefixItems",
    "additionalItems",
    "minItems",
    "maxItems",
    "uniqueItems",
    "contains",
    "minContains",
    "maxContains",
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "if",
    "then",
    "else",
    "dependentRequired",
    "dependentSchemas",
    "dependencies",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "pattern",
    "unevaluatedProperties",
    "unevaluatedItems",
];

pub(crate) fn walk(old: Doc<'_>, new: Doc<'_>) -> Walk {
    let mut out = Walk::default();
    let mut seen = BTreeSet::new();
    step(
        old,
        new,
        old.root,
        new.root,
        &mut Vec::new(),
        &mut seen,
        &mut out,
    );
    out
}

fn address(node: &Json) -> usize {
    std::ptr::from_ref(node) as usize
}

fn step<'a, 'b>(
    old: Doc<'a>,
    new: Doc<'b>,
    a: &'a Json,
    b: &'b Json,
    path: &mut Vec<Seg>,
    seen: &mut BTreeSet<(usize, usize)>,
    out: &mut Walk,
) {
    if !seen.insert((address(a), address(b))) || path.len() > 256 {
        return;
    }
    let (Json::Object(x), Json::Object(y)) = (a, b) else {
        return;
    };
    let keys: BTreeSet<&String> = x
        .keys()
        .chain(y.keys())
        .filter(|k| !NOT_WORDS.contains(&k.as_str()))
        .collect();
    for key in keys {
        if x.get(key) != y.get(key) {
            out.words.push(Word {
                path: path.clone(),
                key: key.clone(),
                before: x.get(key).cloned(),
                after: y.get(key).cloned(),
            });
        }
    }
    if let (Some(Json::Array(p)), Some(Json::Array(q))) = (x.get("enum"), y.get("enum")) {
        // A model reads the order too.
        let set = |l: &[Json]| l.iter().cloned().collect::<BTreeSet<_>>();
        if p != q && set(p) == set(q) {
            out.words.push(Word {
                path: path.clone(),
                key: "enum".to_owned(),
                before: x.get("enum").cloned(),
                after: y.get("enum").cloned(),
            });
        }
    }
    // A reference on one side stands for what it leads to.
    let follow_old = x
        .get("$ref")
        .and_then(Json::as_str)
        .and_then(|r| old.resolve(r));
    let follow_new = y
        .get("$ref")
        .and_then(Json::as_str)
        .and_then(|r| new.resolve(r));
    if follow_old.is_some() || follow_new.is_some() {
        let entered = match (&follow_old, &follow_new) {
            (Some((_, Some(p))), Some((_, Some(q)))) if p == q => Some(Seg::Ref(p.clone())),
            _ => None,
        };
        let pushed = entered.is_some();
        path.extend(entered);
        step(
            old,
            new,
            follow_old.map_or(a, |f| f.0),
            follow_new.map_or(b, |f| f.0),
            path,
            seen,
            out,
        );
        if pushed {
            path.pop();
        }
    }
    members(old, new, x, y, path, seen, out);
    let mut into = |seg: Option<Seg>, p: &'a Json, q: &'b Json, out: &mut Walk| {
        let pushed = seg.is_some();
        path.extend(seg);
        step(old, new, p, q, path, seen, out);
        if pushed {
            path.pop();
        }
    };
    for (key, seg) in [
        ("items", Seg::Items),
        ("additionalProperties", Seg::Rest),
        ("propertyNames", Seg::Names),
    ] {
        if let (Some(p), Some(q)) = (x.get(key), y.get(key)) {
            into(Some(seg), p, q, out);
        }
    }
    if let (Some(Json::Object(p)), Some(Json::Object(q))) =
        (x.get("patternProperties"), y.get("patternProperties"))
    {
        for (key, p) in p {
            if let Some(q) = q.get(key) {
                into(Some(Seg::Pattern(key.clone())), p, q, out);
            }
        }
    }
    if let (Some(Json::Array(p)), Some(Json::Array(q))) =
        (x.get("prefixItems"), y.get("prefixItems"))
    {
        for (i, (p, q)) in p.iter().zip(q).enumerate() {
            into(Some(Seg::Item(i)), p, q, out);
        }
    }
    for key in ["allOf", "anyOf", "oneOf"] {
        let (Some(Json::Array(p)), Some(Json::Array(q))) = (x.get(key), y.get(key)) else {
            continue;
        };
        for (i, p) in p.iter().enumerate() {
            // The branch that it is meant to be: by what tells it apart, or by its place.
            let q = match label(p) {
                Some(l) => q.iter().find(|q| label(q).as_ref() == Some(&l)),
                None => q.get(i).filter(|q| label(q).is_none()),
            };
            if let Some(q) = q {
                into(None, p, q, out);
            }
        }
    }
}

/// What tells a branch apart: its reference, its tag, its one member, its type.
fn label(branch: &Json) -> Option<String> {
    if let Some(r) = branch.get("$ref").and_then(Json::as_str) {
        return Some(r.to_owned());
    }
    if let Some(props) = branch.get("properties").and_then(Json::as_object) {
        for (key, schema) in props {
            if let Some(c) = schema.get("const").or_else(|| match schema.get("enum") {
                Some(Json::Array(one)) if one.len() == 1 => one.first(),
                _ => None,
            }) {
                return Some(format!("{key}={c}"));
            }
        }
        if let [only] = props.keys().collect::<Vec<_>>().as_slice() {
            return Some((*only).clone());
        }
    }
    branch
        .get("const")
        .or_else(|| branch.get("type"))
        .map(Json::to_canonical)
}

fn members<'a, 'b>(
    old: Doc<'a>,
    new: Doc<'b>,
    x: &'a BTreeMap<String, Json>,
    y: &'b BTreeMap<String, Json>,
    path: &mut Vec<Seg>,
    seen: &mut BTreeSet<(usize, usize)>,
    out: &mut Walk,
) {
    let (Some(Json::Object(p)), Some(Json::Object(q))) = (x.get("properties"), y.get("properties"))
    else {
        return;
    };
    let required = |m: &BTreeMap<String, Json>, key: &str| {
        m.get("required")
            .and_then(Json::as_array)
            .is_some_and(|r| r.iter().any(|k| k.as_str() == Some(key)))
    };
    let gone: Vec<&String> = p.keys().filter(|k| !q.contains_key(*k)).collect();
    let come: Vec<&String> = q.keys().filter(|k| !p.contains_key(*k)).collect();
    let alike =
        |g: &String, c: &String| bare(&p[g]) == bare(&q[c]) && required(x, g) == required(y, c);
    let mut joined: BTreeSet<&String> = BTreeSet::new();
    for g in &gone {
        let fits: Vec<&&String> = come.iter().filter(|c| alike(g, c)).collect();
        if let [c] = fits.as_slice()
            && gone.iter().filter(|h| alike(h, c)).count() == 1
        {
            joined.insert(g);
            joined.insert(c);
            out.renames
                .list
                .push((path.clone(), (*g).clone(), (**c).clone()));
            path.push(Seg::Prop((**c).clone()));
            step(old, new, &p[*g], &q[**c], path, seen, out);
            path.pop();
        }
    }
    for g in gone.iter().filter(|g| !joined.contains(*g)) {
        out.removed
            .push((path.clone(), (*g).clone(), required(x, g)));
    }
    for c in come.iter().filter(|c| !joined.contains(*c)) {
        out.added.push((path.clone(), (*c).clone(), required(y, c)));
    }
    for (key, a) in p {
        if let Some(b) = q.get(key) {
            path.push(Seg::Prop(key.clone()));
            step(old, new, a, b, path, seen, out);
            path.pop();
        }
    }
}

/// The schema without the words of its own level and below.
pub(crate) fn bare(node: &Json) -> Json {
    match node {
        Json::Object(map) => Json::Object(
            map.iter()
                .filter(|(k, _)| !ANNOTATIONS.contains(&k.as_str()) || k.as_str() == "format")
                .map(|(k, v)| {
                    let v = match k.as_str() {
                        "const" | "enum" | "required" => v.clone(),
                        "properties" | "patternProperties" => match v {
                            Json::Object(m) => {
                                Json::Object(m.iter().map(|(k, v)| (k.clone(), bare(v))).collect())
                            }
                            other => other.clone(),
                        },
                        _ => bare(v),
                    };
                    (k.clone(), v)
                })
                .collect(),
        ),
        Json::Array(items) => Json::Array(items.iter().map(bare).collect()),
        other => other.clone(),
    }
}

/// The schema at a path, where it is written plainly enough to be pointed at.
pub(crate) fn at<'a>(doc: Doc<'a>, path: &[Seg]) -> Option<&'a Json> {
    path.iter().try_fold(doc.root, |node, seg| match seg {
        Seg::Ref(name) => doc
            .contracts
            .and_then(|c| c.get(name).copied())
            .or_else(|| doc.root.get("$defs").and_then(|d| d.get(name))),
        _ => inside(doc, node, seg, 0),
    })
}

fn inside<'a>(doc: Doc<'a>, node: &'a Json, seg: &Seg, depth: usize) -> Option<&'a Json> {
    if depth > 16 {
        return None;
    }
    let direct = match seg {
        Seg::Prop(key) => node.get("properties").and_then(|p| p.get(key)),
        Seg::Pattern(pattern) => node.get("patternProperties").and_then(|p| p.get(pattern)),
        Seg::Rest => node.get("additionalProperties"),
        Seg::Names => node.get("propertyNames"),
        Seg::Item(i) => node
            .get("prefixItems")
            .and_then(Json::as_array)
            .and_then(|p| p.get(*i)),
        Seg::Items => node.get("items"),
        Seg::Ref(_) => None,
    };
    if direct.is_some() {
        return direct;
    }
    if let Some((target, _)) = node
        .get("$ref")
        .and_then(Json::as_str)
        .and_then(|r| doc.resolve(r))
    {
        return inside(doc, target, seg, depth + 1);
    }
    ["allOf", "anyOf", "oneOf"]
        .iter()
        .filter_map(|k| node.get(k)?.as_array())
        .flatten()
        .find_map(|part| inside(doc, part, seg, depth + 1))
}

/// Whether the schema, or a part of it, declares the member.
pub(crate) fn declares(node: Option<&Json>, key: &str) -> bool {
    node.is_some_and(|n| {
        n.get("properties").is_some_and(|p| p.get(key).is_some())
            || ["allOf", "anyOf", "oneOf"]
                .iter()
                .filter_map(|k| n.get(k)?.as_array())
                .flatten()
                .any(|part| declares(Some(part), key))
    })
}

/// Whether the schema, or a part that always holds, requires the member.
pub(crate) fn requires(node: Option<&Json>, key: &str) -> bool {
    node.is_some_and(|n| {
        n.get("required")
            .and_then(Json::as_array)
            .is_some_and(|r| r.iter().any(|k| k.as_str() == Some(key)))
            || n.get("allOf")
                .and_then(Json::as_array)
                .is_some_and(|p| p.iter().any(|p| requires(Some(p), key)))
    })
}

impl Word {
    /// The innermost contract on the way.
    pub(crate) fn contract(&self) -> Option<&str> {
        self.path.iter().rev().find_map(|s| match s {
            Seg::Ref(name) => Some(name.as_str()),
            _ => None,
        })
    }

    /// The pointer inside that contract.
    pub(crate) fn pointer(&self) -> String {
        let from = self
            .path
            .iter()
            .rposition(|s| matches!(s, Seg::Ref(_)))
            .map_or(0, |i| i + 1);
        format!("{}/{}", pointer(&self.path[from..]), self.key)
    }

    /// The pointer from the root.
    pub(crate) fn whole_pointer(&self) -> String {
        format!("{}/{}", pointer(&self.path), self.key)
    }

    fn message(&self) -> String {
        let show = |v: &Option<Json>| match v {
            None => "none".to_owned(),
            Some(Json::String(s)) => format!("\"{}\"", visible(s)),
            Some(v) => visible(&v.to_canonical()),
        };
        format!(
            "{}: {} → {}",
            self.key,
            show(&self.before),
            show(&self.after)
        )
    }

    fn rule(&self, tool: bool) -> &'static str {
        let text = |v: &Option<Json>| {
            v.as_ref().map_or_else(String::new, |v| match v {
                Json::String(s) => s.clone(),
                v => v.to_canonical(),
            })
        };
        let (before, after) = (text(&self.before), text(&self.after));
        let known: Vec<char> = hidden(&before).collect();
        if hidden(&after).any(|c| !known.contains(&c)) {
            return "FXD071";
        }
        match self.key.as_str() {
            "default" => "FXD062",
            "format" | "contentEncoding" | "contentMediaType" | "contentSchema" => "FXD063",
            _ if tool => "FXD073",
            _ => "FXD061",
        }
    }

    /// As a finding on a contract.
    pub(crate) fn finding(
        &self,
        subject: String,
        pointer: String,
        who: &[String],
    ) -> Option<Finding> {
        let rule = super::ALL.iter().find(|r| r.id == self.rule(false))?;
        Some(
            rule.finding(subject, pointer)
                .says(self.message())
                .change(self.before.clone(), self.after.clone())
                .through(who.iter().cloned()),
        )
    }

    /// As a finding on a tool.
    pub(crate) fn tool_finding(&self, subject: String, pointer: String) -> Option<Finding> {
        let rule = super::ALL.iter().find(|r| r.id == self.rule(true))?;
        Some(
            rule.finding(subject, pointer)
                .says(self.message())
                .change(self.before.clone(), self.after.clone()),
        )
    }
}
