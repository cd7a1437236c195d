//! Two descriptors, and two lists of them: what any MCP server publishes.

use std::collections::{BTreeMap, BTreeSet};

use flowx_manifest::{Direction, Json};

use super::shapes::{Comparison, tool_findings};
use super::text::{hidden, visible};
use super::tools::schema_of;
use super::{ALL, Rule, Sink};
use crate::inclusion::Budget;
use crate::report::{Class, Finding};
use crate::schema::Doc;
use crate::surface::{ForeignTool, ToolList};

/// What is known about the tool besides its descriptor.
#[derive(Clone, Copy)]
pub(crate) struct Known {
    /// FlowX's own facts are told elsewhere.
    pub(crate) flowx: bool,
    /// Something else tells why the hints changed.
    pub(crate) hints_explained: bool,
}

/// One tool on both sides.
pub(crate) struct Descriptors<'a> {
    pub(crate) subject: &'a str,
    pub(crate) before: &'a Json,
    pub(crate) after: &'a Json,
    pub(crate) known: Known,
    pub(crate) budget: Budget,
}

/// The standard's hints and what a missing one means.
const HINTS: [(&str, bool); 4] = [
    ("readOnlyHint", false),
    ("destructiveHint", true),
    ("idempotentHint", false),
    ("openWorldHint", true),
];
/// FlowX's own facts.
const OWN: [&str; 5] = [
    "flowId",
    "idempotent",
    "confirmationRequired",
    "sideEffects",
    "requiredPermissions",
];

fn rule(id: &str) -> &'static Rule {
    ALL.iter()
        .find(|r| r.id == id)
        .expect("the ids in this file are ids of rules; the registry's test says so")
}

impl Descriptors<'_> {
    /// Everything that differs.
    pub(crate) fn findings(&self) -> Vec<Finding> {
        let mut out = Vec::new();
        self.text("FXD070", "/description", "description", &mut out);
        self.text("FXD072", "/title", "title", &mut out);
        self.schema("inputSchema", Direction::Request, &mut out);
        self.schema("outputSchema", Direction::Response, &mut out);
        self.annotations(&mut out);
        self.rest(&mut out);
        out
    }

    fn text(&self, id: &'static str, pointer: &str, key: &str, out: &mut Vec<Finding>) {
        let (before, after) = (self.before.get(key), self.after.get(key));
        if before != after {
            out.push(text_finding(id, self.subject, pointer, before, after));
        }
    }

    fn schema(&self, key: &'static str, direction: Direction, out: &mut Vec<Finding>) {
        let (before, after) = (schema_of(self.before, key), schema_of(self.after, key));
        let (before, after) = match (before, after) {
            (Some(b), Some(a)) => (b, a),
            (None, None) => return,
            (b, a) if direction == Direction::Response => {
                let id = if a.is_none() { "FXD064" } else { "FXD114" };
                let word = if a.is_none() { "removed" } else { "added" };
                out.push(
                    rule(id)
                        .finding(self.subject, format!("/{key}"))
                        .says(format!("the {key} was {word}"))
                        .change(
                            b.map(|_| Json::from("schema")),
                            a.map(|_| Json::from("schema")),
                        ),
                );
                return;
            }
            // Without a schema an input may be anything.
            (b, a) => (b.unwrap_or_else(Json::empty), a.unwrap_or_else(Json::empty)),
        };
        if before == after {
            return;
        }
        let comparison = Comparison {
            old: Doc::alone(&before),
            new: Doc::alone(&after),
            direction,
            budget: self.budget,
        };
        let (shapes, words) = tool_findings(&comparison, self.subject, key);
        out.extend(shapes);
        out.extend(words);
    }

    fn annotations(&self, out: &mut Vec<Finding>) {
        let empty = BTreeMap::new();
        let of = |d: &'_ Json| {
            d.get("annotations")
                .and_then(Json::as_object)
                .cloned()
                .unwrap_or_default()
        };
        let (before, after) = (of(self.before), of(self.after));
        for (hint, default) in HINTS {
            let read =
                |m: &BTreeMap<String, Json>| m.get(hint).and_then(Json::as_bool).unwrap_or(default);
            let (was, is) = (read(&before), read(&after));
            if was != is && !self.known.hints_explained {
                let safer = is == matches!(hint, "readOnlyHint" | "idempotentHint");
                let note = if safer {
                    "; it claims to be safer than before"
                } else {
                    ""
                };
                out.push(
                    rule("FXD074")
                        .finding(self.subject, format!("/annotations/{hint}"))
                        .says(format!("{hint}: {was} → {is}{note}"))
                        .change(Json::from(was), Json::from(is)),
                );
            }
        }
        if before.get("title") != after.get("title") {
            out.push(text_finding(
                "FXD072",
                self.subject,
                "/annotations/title",
                before.get("title"),
                after.get("title"),
            ));
        }
        let skip = |key: &str| {
            key == "title"
                || HINTS.iter().any(|(h, _)| *h == key)
                || (self.known.flowx && OWN.contains(&key))
        };
        facts(self.subject, "/annotations", &before, &after, &skip, out);
        let meta = |d: &Json| {
            d.get("_meta")
                .and_then(Json::as_object)
                .cloned()
                .unwrap_or_else(|| empty.clone())
        };
        let skip = |key: &str| {
            self.known.flowx
                && key
                    .strip_prefix("dev.flowx/")
                    .is_some_and(|k| OWN.contains(&k))
        };
        facts(
            self.subject,
            "/_meta",
            &meta(self.before),
            &meta(self.after),
            &skip,
            out,
        );
    }

    fn rest(&self, out: &mut Vec<Finding>) {
        let empty = BTreeMap::new();
        let skip = |key: &str| {
            matches!(
                key,
                "name"
                    | "title"
                    | "description"
                    | "inputSchema"
                    | "outputSchema"
                    | "annotations"
                    | "_meta"
            )
        };
        let (before, after) = (
            self.before.as_object().unwrap_or(&empty),
            self.after.as_object().unwrap_or(&empty),
        );
        facts(self.subject, "", before, after, &skip, out);
    }
}

/// Members that no schema of ours knows: told by name.
fn facts(
    subject: &str,
    place: &str,
    before: &BTreeMap<String, Json>,
    after: &BTreeMap<String, Json>,
    skip: &dyn Fn(&str) -> bool,
    out: &mut Vec<Finding>,
) {
    let keys: BTreeSet<&String> = before
        .keys()
        .chain(after.keys())
        .filter(|k| !skip(k))
        .collect();
    for key in keys {
        let (was, is) = (before.get(key), after.get(key));
        if was == is {
            continue;
        }
        let text =
            |v: Option<&Json>| v.map_or_else(|| "none".to_owned(), |v| visible(&v.to_canonical()));
        let class = if guards(key, was) || guards(key, is) {
            Class::Security
        } else {
            Class::Neutral
        };
        out.push(
            rule("FXD075")
                .finding(
                    subject,
                    format!("{place}/{}", key.replace('~', "~0").replace('/', "~1")),
                )
                .class(class)
                .says(format!("{key}: {} → {}", text(was), text(is)))
                .change(was.cloned(), is.cloned()),
        );
    }
}

/// Whether a name, or a name inside the value, speaks of what guards or of what is done.
fn guards(key: &str, value: Option<&Json>) -> bool {
    const WORDS: [&str; 9] = [
        "permission",
        "scope",
        "effect",
        "confirm",
        "approv",
        "role",
        "authoriz",
        "destructive",
        "readonly",
    ];
    let lower = key.to_lowercase();
    let own = WORDS.iter().any(|w| lower.contains(w));
    own || value
        .and_then(Json::as_object)
        .is_some_and(|m| m.iter().any(|(k, v)| guards(k, Some(v))))
}

/// A text that changed; hidden characters that came in are the graver finding.
fn text_finding(
    id: &'static str,
    subject: &str,
    pointer: &str,
    before: Option<&Json>,
    after: Option<&Json>,
) -> Finding {
    let text = |v: Option<&Json>| match v {
        Some(Json::String(s)) => s.clone(),
        Some(v) => v.to_canonical(),
        None => String::new(),
    };
    let (was, is) = (text(before), text(after));
    let known: Vec<char> = hidden(&was).collect();
    let came: Vec<char> = hidden(&is).filter(|c| !known.contains(c)).collect();
    let id = if came.is_empty() { id } else { "FXD071" };
    let show = |v: Option<&Json>, t: &str| {
        v.map_or_else(|| "none".to_owned(), |_| format!("\"{}\"", visible(t)))
    };
    let field = pointer.trim_start_matches('/');
    rule(id)
        .finding(subject, pointer)
        .says(format!(
            "{field}: {} → {}",
            show(before, &was),
            show(after, &is)
        ))
        .change(before.cloned(), after.cloned())
}

/// Compares two lists of tools.
pub(crate) fn compare(base: &ToolList, head: &ToolList, budget: Budget, sink: &mut Sink) {
    let first = |list: &'_ ToolList| -> BTreeMap<String, ForeignTool> {
        let mut out = BTreeMap::new();
        for tool in &list.tools {
            out.entry(tool.name.clone()).or_insert_with(|| tool.clone());
        }
        out
    };
    let twice = |list: &ToolList| -> BTreeMap<String, Vec<Json>> {
        let mut all: BTreeMap<String, Vec<Json>> = BTreeMap::new();
        for tool in &list.tools {
            all.entry(tool.name.clone())
                .or_default()
                .push(tool.descriptor.clone());
        }
        all.retain(|_, v| v.len() > 1);
        all
    };
    let (before, after) = (first(base), first(head));
    let had = twice(base);
    for (name, descriptors) in twice(head) {
        if had.get(&name) != Some(&descriptors) {
            sink.add(
                rule("FXD079")
                    .finding(format!("tool {name}"), "/name")
                    .says(format!("{} tools are called `{name}`", descriptors.len()))
                    .change(
                        had.get(&name).map(|d| Json::from(d.len())),
                        Json::from(descriptors.len()),
                    ),
            );
        }
    }
    let mut gone: Vec<&ForeignTool> = before
        .values()
        .filter(|t| !after.contains_key(&t.name))
        .collect();
    let mut come: Vec<&ForeignTool> = after
        .values()
        .filter(|t| !before.contains_key(&t.name))
        .collect();
    let nameless = |t: &ForeignTool| {
        let mut d = t.descriptor.clone();
        if let Some(m) = d.as_object_mut() {
            m.remove("name");
        }
        d
    };
    let mut renamed = Vec::new();
    gone.retain(|g| {
        let fits: Vec<usize> = (0..come.len())
            .filter(|i| nameless(come[*i]) == nameless(g))
            .collect();
        match fits.as_slice() {
            [i] => {
                renamed.push((*g, come.remove(*i)));
                false
            }
            _ => true,
        }
    });
    for (old, new) in renamed {
        sink.add(
            rule("FXD034")
                .finding(format!("tool {}", new.name), "/name")
                .says(format!("`{}` is called `{}` now", old.name, new.name))
                .change(Json::from(old.name.as_str()), Json::from(new.name.as_str())),
        );
    }
    for tool in gone {
        sink.add(
            rule("FXD005")
                .finding(format!("tool {}", tool.name), "")
                .says("the tool was removed"),
        );
    }
    for tool in come {
        let subject = format!("tool {}", tool.name);
        sink.add(
            rule("FXD103")
                .finding(&subject, "")
                .says("the tool was added"),
        );
        let hint = |h: &str| {
            tool.descriptor
                .get("annotations")
                .and_then(|a| a.get(h))
                .and_then(Json::as_bool)
        };
        if hint("destructiveHint") == Some(true) && hint("readOnlyHint") != Some(true) {
            sink.add(
                rule("FXD077")
                    .finding(&subject, "/annotations/destructiveHint")
                    .says("the new tool says that it destroys")
                    .change(None, Json::from(true)),
            );
        }
        let text = tool.descriptor.to_canonical();
        if hidden(&text).next().is_some() {
            sink.add(
                rule("FXD071")
                    .finding(&subject, "/description")
                    .says(format!(
                        "the new tool's descriptor hides characters: {}",
                        visible(&text)
                    )),
            );
        }
    }
    for (name, old) in &before {
        let Some(new) = after.get(name) else { continue };
        let subject = format!("tool {name}");
        let known = Known {
            flowx: false,
            hints_explained: false,
        };
        let pair = Descriptors {
            subject: &subject,
            before: &old.descriptor,
            after: &new.descriptor,
            known,
            budget,
        };
        pair.findings().into_iter().for_each(|f| sink.add(f));
    }
}
