//! Where sensitive values stand in a type.

use std::collections::BTreeSet;

use flowx_manifest::{Direction, Json, contract_of_ref};

use super::read::Graph;
use super::wire::{Body, Content, DefId, Field, Record, Tagging, Ty};

/// JSON pointers of the sensitive members, `*` for any element or key. A recursive type is followed once round.
pub(crate) fn pointers(graph: &Graph<'_>, ty: &Ty, direction: Direction) -> BTreeSet<String> {
    let mut walk = Walk {
        graph,
        direction,
        out: BTreeSet::new(),
        open: Vec::new(),
    };
    walk.ty(ty, String::new());
    walk.out
}

struct Walk<'g, 'a> {
    graph: &'g Graph<'a>,
    direction: Direction,
    out: BTreeSet<String>,
    open: Vec<DefId>,
}

impl Walk<'_, '_> {
    fn ty(&mut self, ty: &Ty, at: String) {
        match ty {
            Ty::Sensitive(_) => drop(self.out.insert(at)),
            Ty::Option(t) | Ty::Checked(t) => self.ty(t, at),
            Ty::Seq { item: t, .. }
            | Ty::Array(t, _)
            | Ty::AtMost(t, _)
            | Ty::Map { value: t, .. } => self.ty(t, at + "/*"),
            Ty::Tuple(all) => {
                for (i, t) in all.iter().enumerate() {
                    self.ty(t, format!("{at}/{i}"));
                }
            }
            Ty::Split { de, ser } => self.ty(
                if self.direction == Direction::Request {
                    de
                } else {
                    ser
                },
                at,
            ),
            Ty::Named(id) => {
                if self.open.contains(id) {
                    return;
                }
                self.open.push(*id);
                let def = self.graph.def(*id);
                self.body(&def.body, at);
                self.open.pop();
            }
            Ty::Inline(def) => self.body(&def.body.clone(), at),
            _ => {}
        }
    }

    fn body(&mut self, body: &Body, at: String) {
        match body {
            Body::Same(ty) => self.ty(ty, at),
            Body::Newtype(field) => self.ty(&field.ty, at),
            Body::Tuple(fields) => self.tuple(fields, &at),
            Body::Struct(record) => self.record(record, &at),
            Body::Enum(e) => {
                for variant in &e.variants {
                    let tagging = if variant.untagged {
                        &Tagging::Untagged
                    } else {
                        &e.tagging
                    };
                    let names = if self.direction == Direction::Request {
                        variant.read.clone()
                    } else {
                        vec![variant.written.clone()]
                    };
                    let places: Vec<String> = match tagging {
                        Tagging::External => {
                            names.iter().map(|n| format!("{at}/{}", token(n))).collect()
                        }
                        Tagging::Internal(_) | Tagging::Untagged => vec![at.clone()],
                        Tagging::Adjacent(_, content) => vec![format!("{at}/{}", token(content))],
                    };
                    for place in places {
                        match &variant.content {
                            Content::Unit => {}
                            Content::Newtype(field) => self.ty(&field.ty, place),
                            Content::Tuple(fields) => self.tuple(fields, &place),
                            Content::Struct(record) => self.record(record, &place),
                        }
                    }
                }
            }
            Body::Unit => {}
            Body::Registered { request, response } => {
                let schema = if self.direction == Direction::Request {
                    request
                } else {
                    response
                };
                self.schema(&schema.clone(), &at, &mut BTreeSet::new());
            }
        }
    }

    /// The members of a registered type that its schema marks as `Sensitive<T>` does.
    fn schema(&mut self, schema: &Json, at: &str, open: &mut BTreeSet<String>) {
        let Json::Object(map) = schema else { return };
        if map.get("writeOnly") == Some(&Json::Bool(true)) {
            self.out.insert(at.to_owned());
            return;
        }
        for (key, value) in map {
            match (key.as_str(), value) {
                ("properties", Json::Object(members)) => {
                    for (name, member) in members {
                        self.schema(member, &format!("{at}/{}", token(name)), open);
                    }
                }
                ("prefixItems", Json::Array(items)) => {
                    for (i, item) in items.iter().enumerate() {
                        self.schema(item, &format!("{at}/{i}"), open);
                    }
                }
                ("patternProperties", Json::Object(members)) => {
                    for member in members.values() {
                        self.schema(member, &format!("{at}/*"), open);
                    }
                }
                ("items" | "additionalProperties" | "unevaluatedProperties", value) => {
                    self.schema(value, &format!("{at}/*"), open);
                }
                ("anyOf" | "oneOf" | "allOf", Json::Array(all)) => {
                    all.iter().for_each(|s| self.schema(s, at, open));
                }
                ("$ref", Json::String(target)) => {
                    let Some(name) = contract_of_ref(target) else {
                        continue;
                    };
                    if open.insert(name.clone()) {
                        if let Some(part) = self.graph.registered_schema(&name, self.direction) {
                            self.schema(&part, at, open);
                        }
                        open.remove(&name);
                    }
                }
                _ => {}
            }
        }
    }

    fn tuple(&mut self, fields: &[Field], at: &str) {
        let request = self.direction == Direction::Request;
        let there = fields
            .iter()
            .filter(|f| if request { !f.skip_de } else { !f.skip_ser });
        for (i, field) in there.enumerate() {
            self.ty(&field.ty, format!("{at}/{i}"));
        }
    }

    fn record(&mut self, record: &Record, at: &str) {
        let request = self.direction == Direction::Request;
        for field in &record.fields {
            if if request {
                field.skip_de
            } else {
                field.skip_ser
            } {
                continue;
            }
            if field.flatten {
                self.ty(&field.ty, at.to_owned());
                continue;
            }
            let names = if request {
                field.read.clone()
            } else {
                vec![field.written.clone()]
            };
            for name in names {
                self.ty(&field.ty, format!("{at}/{}", token(&name)));
            }
        }
    }
}

fn token(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}
