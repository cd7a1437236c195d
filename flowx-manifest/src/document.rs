//! Reading and writing the document: one canonical form, every entry on a line of its own.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::json::{self, Json, JsonError, Limits, ShapeError};
use crate::model::{Direction, Manifest, SCHEMA_VERSION};

/// The section an entry stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// `effects`.
    Effect,
    /// `capabilities`.
    Capability,
    /// `flows`.
    Flow,
    /// `events`.
    Event,
    /// `agents`.
    Agent,
    /// `entities`.
    Entity,
    /// `contracts`.
    Contract,
    /// `tools`.
    Tool,
}

impl Kind {
    /// All, in the order of the document.
    pub const ALL: [Kind; 8] = [
        Kind::Effect,
        Kind::Capability,
        Kind::Flow,
        Kind::Event,
        Kind::Agent,
        Kind::Entity,
        Kind::Contract,
        Kind::Tool,
    ];
}

/// Where one entry's bytes stand in the document: from its `{` to its `}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexEntry {
    /// The section.
    pub kind: Kind,
    /// `id@version` for capabilities, flows and events; the id or name otherwise.
    pub id: String,
    /// The byte range.
    pub range: Range<usize>,
}

/// The canonical document and where its entries stand.
#[derive(Clone, Debug)]
pub struct Document {
    /// The text, ending in a newline.
    pub text: String,
    /// Sorted by kind, then in document order.
    pub index: Vec<IndexEntry>,
}

/// Why a manifest could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// Not strict JSON.
    #[error("not a JSON document that can be trusted: {0}")]
    Json(#[from] JsonError),
    /// Another major of the format.
    #[error(
        "manifest format {found}, but this program reads {SCHEMA_VERSION}; use a matching version of FlowX"
    )]
    Version {
        /// The version that was found.
        found: String,
    },
    /// JSON of another shape.
    #[error("not a FlowX manifest: {0}")]
    Shape(#[from] ShapeError),
}

impl Manifest {
    /// Reads a manifest, in canonical form or not.
    ///
    /// # Errors
    /// When the bytes are not strict JSON, not this format's major, or not a manifest.
    pub fn read(bytes: &[u8]) -> Result<Manifest, ReadError> {
        let value = json::parse(bytes, Limits::DOCUMENT)?;
        if let Some(found) = value.get("schemaVersion").and_then(Json::as_str) {
            let major = |v: &str| v.split('.').next().map(str::to_owned);
            if major(found) != major(SCHEMA_VERSION) {
                return Err(ReadError::Version {
                    found: found.to_owned(),
                });
            }
        }
        Ok(Manifest::deserialize(value)?)
    }

    /// Sorts every section and list whose order carries no meaning, so that [`Manifest::write`] gives the canonical form.
    pub fn canonicalise(&mut self) {
        self.effects.sort_by(|a, b| a.id.cmp(&b.id));
        self.capabilities
            .sort_by(|a, b| (&a.id, a.version).cmp(&(&b.id, b.version)));
        self.flows
            .sort_by(|a, b| (&a.id, a.version).cmp(&(&b.id, b.version)));
        self.events
            .sort_by(|a, b| (&a.id, a.version).cmp(&(&b.id, b.version)));
        self.agents.sort_by(|a, b| a.id.cmp(&b.id));
        self.entities.sort_by(|a, b| a.id.cmp(&b.id));
        self.contracts.sort_by(|a, b| a.id.cmp(&b.id));
        self.tools.sort_by(|a, b| a.name.cmp(&b.name));
        for capability in &mut self.capabilities {
            if let Some(errors) = &mut capability.errors {
                errors.sort();
                errors.dedup();
            }
        }
        for flow in &mut self.flows {
            if let Some(errors) = &mut flow.errors {
                errors.sort();
                errors.dedup();
            }
            flow.triggers.sort_by_cached_key(line);
        }
        for agent in &mut self.agents {
            agent.skills.sort_by(|a, b| a.name.cmp(&b.name));
        }
        for entity in &mut self.entities {
            entity.operations.sort_by(|a, b| a.name.cmp(&b.name));
        }
    }

    /// The canonical document. Call [`Manifest::canonicalise`] before, once, where entries were put together.
    pub fn write(&self) -> Document {
        let mut w = Writer {
            text: String::from("{\n"),
            index: Vec::new(),
        };
        w.field("$schema", &self.schema);
        w.field("schemaVersion", &self.schema_version);
        w.field("application", &self.application);
        w.section("effects", Kind::Effect, &self.effects, |e| e.id.to_string());
        w.section("capabilities", Kind::Capability, &self.capabilities, |c| {
            c.reference().to_string()
        });
        w.section("flows", Kind::Flow, &self.flows, |f| {
            f.reference().to_string()
        });
        w.section("events", Kind::Event, &self.events, |e| {
            format!("{}@{}", e.id, e.version)
        });
        w.section("agents", Kind::Agent, &self.agents, |a| a.id.to_string());
        w.section("entities", Kind::Entity, &self.entities, |e| {
            e.id.to_string()
        });
        w.section("contracts", Kind::Contract, &self.contracts, |c| {
            c.id.clone()
        });
        w.section("tools", Kind::Tool, &self.tools, |t| t.name.to_string());
        w.text.truncate(w.text.len() - 2);
        w.text.push_str("\n}\n");
        Document {
            text: w.text,
            index: w.index,
        }
    }
}

struct Writer {
    text: String,
    index: Vec<IndexEntry>,
}

impl Writer {
    fn field(&mut self, name: &str, value: &impl Serialize) {
        json::write_string(name, &mut self.text);
        self.text.push(':');
        self.text.push_str(&line(value));
        self.text.push_str(",\n");
    }

    fn section<T: Serialize>(
        &mut self,
        name: &str,
        kind: Kind,
        entries: &[T],
        id: impl Fn(&T) -> String,
    ) {
        json::write_string(name, &mut self.text);
        self.text.push_str(":[");
        for (i, entry) in entries.iter().enumerate() {
            self.text.push_str(if i == 0 { "\n" } else { ",\n" });
            let start = self.text.len();
            self.text.push_str(&line(entry));
            self.index.push(IndexEntry {
                kind,
                id: id(entry),
                range: start..self.text.len(),
            });
        }
        self.text
            .push_str(if entries.is_empty() { "],\n" } else { "\n],\n" });
    }
}

/// One value, compact. Struct fields come in declaration order and maps sorted, whatever features `serde_json` has,
/// because no `serde_json::Value` is involved.
fn line(value: &impl Serialize) -> String {
    serde_json::to_string(value)
        .expect("the model has string keys only, and nothing in it fails to serialise")
}

/// The blake3 digest of a document's bytes, as 64 hexadecimal digits.
pub fn digest(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().to_string()
}

/// What a request schema says in `$comment` where the type checks more than the form (`try_from`, sums that overflow).
pub const CONVERTED: &str = "converted when read, which may refuse more";

/// What a request schema says in `$comment` of an enum's words where any other word is read as well (`#[serde(other)]`).
pub const ANY_WORD: &str = "any other word is read as well";

/// The `$ref` to another contract.
pub fn contract_ref(id: &str) -> String {
    let mut out = String::from("#/$defs/");
    for b in id.bytes() {
        match b {
            b'~' => out.push_str("~0"),
            b'/' => out.push_str("~1"),
            b if b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.' | b':') => {
                out.push(b as char)
            }
            b => out.push_str(&format!("%{b:02X}")),
        }
    }
    out
}

/// The contract that a `$ref` of [`contract_ref`] names.
pub fn contract_of_ref(reference: &str) -> Option<String> {
    let encoded = reference.strip_prefix("#/$defs/")?;
    let mut bytes = Vec::with_capacity(encoded.len());
    let mut rest = encoded.as_bytes();
    while let Some((&b, tail)) = rest.split_first() {
        rest = tail;
        if b == b'%' {
            let hex = std::str::from_utf8(rest.get(..2)?).ok()?;
            bytes.push(u8::from_str_radix(hex, 16).ok()?);
            rest = &rest[2..];
        } else {
            bytes.push(b);
        }
    }
    Some(
        String::from_utf8(bytes)
            .ok()?
            .replace("~1", "/")
            .replace("~0", "~"),
    )
}

/// A JSON Schema document of one contract that stands alone: its schema, and under `$defs` whatever it refers to in
/// that direction. `None` when the manifest has no such contract.
pub fn closure(manifest: &Manifest, id: &str, direction: Direction) -> Option<Json> {
    let find = |id: &str| {
        manifest
            .contracts
            .iter()
            .find(|c| c.id == id)?
            .in_direction(direction)
    };
    let mut root = find(id)?.clone();
    let mut defs = BTreeMap::new();
    let mut todo = BTreeSet::new();
    references(&root, &mut todo);
    while let Some(next) = todo.pop_first() {
        if defs.contains_key(&next) {
            continue;
        }
        if let Some(schema) = find(&next) {
            references(schema, &mut todo);
            defs.insert(next, schema.clone());
        }
    }
    if let (false, Json::Object(map)) = (defs.is_empty(), &mut root) {
        map.insert("$defs".to_owned(), Json::Object(defs));
    }
    Some(root)
}

/// Adds every contract that the schema refers to directly.
pub fn references(schema: &Json, out: &mut BTreeSet<String>) {
    match schema {
        Json::Object(map) => {
            for (key, value) in map {
                match (key.as_str(), value) {
                    ("$ref", Json::String(r)) => out.extend(contract_of_ref(r)),
                    // These hold data, where a member named `$ref` is no reference.
                    ("const" | "enum" | "default" | "examples", _) => {}
                    _ => references(value, out),
                }
            }
        }
        Json::Array(items) => items.iter().for_each(|i| references(i, out)),
        _ => {}
    }
}
