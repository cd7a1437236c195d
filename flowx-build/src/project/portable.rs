//! The portable profile: from the exact schema, mechanically.
//!
//! References are inlined and recursion is cut; every part has one `type`; alternatives are laid over each other; what
//! may be absent is absent, never null. An input that the profile cannot say is not offered, an output that it cannot say
//! is not described (and its object left open), since clients hold answers against the schema.

use std::collections::{BTreeMap, BTreeSet};

use flowx_manifest::{Contract, Direction, Json, contract_of_ref};

use super::pattern::is_portable;

/// How often a type may stand inside itself before it is cut to a plain object.
pub const DEPTH: usize = 2;

/// A descriptor with more parts than this is cut as well.
const LARGEST: usize = 4000;

macro_rules! kinds {
    ($($(#[$doc:meta])* $name:ident = $id:literal,)*) => {
        /// What kind of loss.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum LossKind {
            $($(#[$doc])* $name,)*
        }

        impl LossKind {
            /// Every kind.
            pub const ALL: &'static [LossKind] = &[$(LossKind::$name),*];

            /// `FLOWX139x`.
            pub const fn id(self) -> &'static str {
                match self {
                    $(LossKind::$name => $id,)*
                }
            }
        }
    };
}

kinds! {
    /// The contract takes more than the descriptor offers. Nothing breaks.
    NotOffered = "FLOWX1390",
    /// The descriptor offers more than the contract takes; the server refuses the rest with `input.invalid`.
    Wider = "FLOWX1391",
    /// A recursive or very large type is cut to a plain object.
    Cut = "FLOWX1392",
    /// An input cannot be called as described: a member that is needed cannot be told. An error.
    Untellable = "FLOWX1393",
    /// A part of the output is not described.
    NotDescribed = "FLOWX1394",
    /// The input or output is no object, which every host demands. An error.
    NoObject = "FLOWX1395",
}

/// Something that the descriptor does not say as the contract does.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Loss {
    /// What kind.
    pub kind: LossKind,
    /// Input or output.
    pub direction: Direction,
    /// Where, as a pointer by member names; `*` for elements.
    pub pointer: String,
    /// What is lost.
    pub message: String,
}

impl Loss {
    /// Whether the tool cannot be published like that.
    pub fn is_error(&self) -> bool {
        matches!(self.kind, LossKind::Untellable | LossKind::NoObject)
    }
}

/// The portable schema of a contract in one direction; `()` is the empty object.
pub(crate) fn root(contracts: &[Contract], id: &str, direction: Direction) -> (Json, Vec<Loss>) {
    let empty = || {
        Json::object([
            ("type", Json::from("object")),
            ("properties", Json::empty()),
            ("required", Json::Array(Vec::new())),
            ("additionalProperties", false.into()),
        ])
    };
    let mut projection = Projection {
        contracts,
        direction,
        open: Vec::new(),
        parts: 0,
        losses: BTreeSet::new(),
    };
    let schema = if id == "()" {
        None
    } else {
        projection.contract(id).cloned()
    };
    let Some(schema) = schema else {
        return (empty(), Vec::new());
    };
    projection.open.push(id.to_owned());
    let told = projection.tell(&schema, "");
    // An answer that may be null as a whole is no object either.
    let told = if direction == Direction::Response && projection.null_within(&schema) {
        Told::Nothing
    } else {
        told
    };
    let out = match told {
        Told::Schema(json) if json.get("type").and_then(Json::as_str) == Some("object") => {
            projection.close(json)
        }
        _ => {
            projection.lose(
                LossKind::NoObject,
                "",
                "is no object: put it into a struct with a named field".to_owned(),
            );
            empty()
        }
    };
    (out, projection.losses.into_iter().collect())
}

/// What the profile forbids in a descriptor's schema; empty when it keeps to it.
pub fn complaints(schema: &Json) -> Vec<String> {
    let mut out = Vec::new();
    if schema.get("type").and_then(Json::as_str) != Some("object") {
        out.push("the root is no object".to_owned());
    }
    for key in ["properties", "required"] {
        if schema.get(key).is_none() {
            out.push(format!("the root has no `{key}`"));
        }
    }
    lint(schema, "", &mut out);
    out
}

const KEYWORDS: &[&str] = &[
    "type",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "enum",
    "title",
    "description",
    "format",
    "pattern",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
];

/// Conditions that an author can put into a schema (`extend`, a registered type) and that no descriptor carries.
const UNTOLD: &[&str] = &[
    "multipleOf",
    "uniqueItems",
    "contains",
    "minContains",
    "maxContains",
    "minProperties",
    "maxProperties",
    "patternProperties",
    "dependentRequired",
    "dependentSchemas",
    "dependencies",
    "if",
    "unevaluatedItems",
    "unevaluatedProperties",
    "$dynamicRef",
];

fn lint(schema: &Json, at: &str, out: &mut Vec<String>) {
    let Some(map) = schema.as_object() else {
        out.push(format!("{at}: a boolean schema"));
        return;
    };
    for key in map.keys().filter(|k| !KEYWORDS.contains(&k.as_str())) {
        out.push(format!("{at}: the keyword `{key}`"));
    }
    let kind = map.get("type").and_then(Json::as_str);
    if !matches!(
        kind,
        Some("object" | "array" | "string" | "integer" | "number" | "boolean")
    ) {
        out.push(format!("{at}: no single type"));
    }
    if kind == Some("array") && map.get("items").and_then(Json::as_object).is_none() {
        out.push(format!("{at}: an array without items"));
    }
    if kind == Some("object") && map.get("properties").and_then(Json::as_object).is_none() {
        out.push(format!("{at}: an object without properties"));
    }
    if let Some(words) = map.get("enum")
        && (kind != Some("string")
            || !words
                .as_array()
                .is_some_and(|w| !w.is_empty() && w.iter().all(|w| w.as_str().is_some())))
    {
        out.push(format!("{at}: an enum of other than strings"));
    }
    if map
        .get("format")
        .is_some_and(|f| f.as_str() != Some("date-time"))
    {
        out.push(format!("{at}: a format other than date-time"));
    }
    if map
        .get("pattern")
        .is_some_and(|p| !p.as_str().is_some_and(is_portable))
    {
        out.push(format!("{at}: a pattern that is no ECMAScript"));
    }
    for (key, value) in map {
        let right = match key.as_str() {
            "title" | "description" => value.as_str().is_some(),
            "minLength" | "maxLength" | "minItems" | "maxItems" => {
                value.as_number().is_some_and(|n| n.as_u128().is_some())
            }
            "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" => {
                value.as_number().is_some()
            }
            _ => true,
        };
        if !right {
            out.push(format!("{at}: `{key}` is {value}"));
        }
    }
    let members = map.get("properties").and_then(Json::as_object);
    for name in map.get("required").and_then(Json::as_array).unwrap_or(&[]) {
        if !name
            .as_str()
            .is_some_and(|n| members.is_some_and(|m| m.contains_key(n)))
        {
            out.push(format!("{at}: `{name}` is required and not described"));
        }
    }
    for (name, schema) in members.into_iter().flatten() {
        if !is_key(name) {
            out.push(format!("{at}: the member name `{name}`"));
        }
        lint(schema, &format!("{at}/{name}"), out);
    }
    if let Some(items) = map.get("items") {
        lint(items, &format!("{at}/*"), out);
    }
    match map.get("additionalProperties") {
        None | Some(Json::Bool(false)) => {}
        Some(schema) => lint(schema, &format!("{at}/*"), out),
    }
}

fn is_key(name: &str) -> bool {
    (1..=64).contains(&name.len())
        && name
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
}

/// A part of a schema in the profile, or why there is none.
#[derive(Clone, Debug, PartialEq)]
enum Told {
    Schema(Json),
    /// Only null.
    Nothing,
    /// The profile has no words for it.
    Untold(String),
}

struct Projection<'c> {
    contracts: &'c [Contract],
    direction: Direction,
    /// Contracts being inlined.
    open: Vec<String>,
    parts: usize,
    losses: BTreeSet<Loss>,
}

type Map = BTreeMap<String, Json>;

impl<'c> Projection<'c> {
    fn contract(&self, id: &str) -> Option<&'c Json> {
        self.contracts
            .iter()
            .find(|c| c.id == id)?
            .in_direction(self.direction)
    }

    fn input(&self) -> bool {
        self.direction == Direction::Request
    }

    fn lose(&mut self, kind: LossKind, at: &str, message: String) {
        self.losses.insert(Loss {
            kind,
            direction: self.direction,
            pointer: at.to_owned(),
            message,
        });
    }

    /// A descriptor may say more than the contract for an input (the server refuses), and for an output always may.
    fn wider(&mut self, at: &str, what: &str) {
        if self.input() {
            self.lose(LossKind::Wider, at, what.to_owned());
        }
    }

    fn tell(&mut self, schema: &Json, at: &str) -> Told {
        self.parts += 1;
        if self.parts > LARGEST {
            self.lose(
                LossKind::Cut,
                at,
                "the descriptor grows too large: from here on it is a plain object".to_owned(),
            );
            return Told::Schema(plain_object());
        }
        let Some(map) = schema.as_object() else {
            return self.anything(at);
        };
        if let Some(id) = map
            .get("$ref")
            .and_then(Json::as_str)
            .and_then(contract_of_ref)
        {
            return self.inline(&id, map, at);
        }
        if let Some(joined) = self.join(map, at) {
            return joined;
        }
        let told = self.plain(map, at);
        match told {
            Told::Schema(json) => Told::Schema(described(json, map)),
            other => other,
        }
    }

    fn inline(&mut self, id: &str, map: &Map, at: &str) -> Told {
        let Some(target) = self.contract(id) else {
            return self.anything(at);
        };
        if self.open.iter().filter(|o| *o == id).count() >= DEPTH {
            self.lose(
                LossKind::Cut,
                at,
                format!("`{id}` stands inside itself; from here on it is a plain object"),
            );
            return match shape(target) {
                "object" => Told::Schema(described(plain_object(), map)),
                "array" => Told::Schema(Json::object([
                    ("type", Json::from("array")),
                    ("items", plain_object()),
                ])),
                _ if self.input() => Told::Schema(plain_object()),
                _ => Told::Untold(format!("`{id}` stands inside itself")),
            };
        }
        self.open.push(id.to_owned());
        let mut merged = target.clone();
        if let Some(over) = merged.as_object_mut() {
            for (key, value) in map.iter().filter(|(k, _)| *k != "$ref") {
                over.insert(key.clone(), value.clone());
            }
        }
        let told = self.tell(&merged, at);
        self.open.pop();
        told
    }

    /// `allOf`, `anyOf` and `oneOf`: laid over each other.
    fn join(&mut self, map: &Map, at: &str) -> Option<Told> {
        let mut base = map.clone();
        let mut conditions = Vec::new();
        let mut choices = Vec::new();
        if let Some(Json::Array(all)) = base.remove("allOf") {
            conditions.extend(all);
        }
        for key in ["anyOf", "oneOf"] {
            if let Some(Json::Array(all)) = base.remove(key) {
                choices.push(all);
            }
        }
        if let Some(not) = base.remove("not") {
            conditions.push(Json::object([("not", not)]));
        }
        if conditions.is_empty() && choices.is_empty() {
            return None;
        }
        // Names that exclude each other: the first is the field's own, the others are spellings of old.
        let mut rest = Vec::new();
        for condition in conditions {
            if let Some(pair) = excluded(&condition) {
                self.without(&mut base, &pair[1], at);
            } else if let Some(Json::Array(all)) =
                condition.get("oneOf").or_else(|| condition.get("anyOf"))
            {
                choices.push(all.clone());
            } else if condition.get("not").is_some() {
                self.wider(at, "values that are left out by `not` are not told");
            } else {
                rest.push(condition);
            }
        }
        let mut forms = Vec::new();
        for all in choices {
            match all.iter().map(single_need).collect::<Option<Vec<_>>>() {
                Some(names) => {
                    if let Some((own, others)) = names.split_first() {
                        others.iter().for_each(|n| self.without(&mut base, n, at));
                        need(&mut base, own);
                    }
                }
                None => forms.push(all),
            }
        }
        let mut told = if base.contains_key("type")
            || base.contains_key("properties")
            || (forms.is_empty() && rest.is_empty())
        {
            Some(self.plain(&base, at))
        } else {
            None
        };
        for condition in rest {
            let next = self.tell(&condition, at);
            told = Some(match told {
                Some(first) => self.both(first, next, at),
                None => next,
            });
        }
        for all in forms {
            let next = self.one_of(&all, at);
            told = Some(match told {
                Some(first) => self.both(first, next, at),
                None => next,
            });
        }
        Some(match told.unwrap_or_else(|| self.anything(at)) {
            Told::Schema(json) => Told::Schema(described(json, map)),
            other => other,
        })
    }

    /// An old spelling is not offered.
    fn without(&mut self, base: &mut Map, name: &str, at: &str) {
        if let Some(Json::Object(members)) = base.get_mut("properties")
            && members.remove(name).is_some()
        {
            self.lose(
                LossKind::NotOffered,
                &format!("{at}/{name}"),
                "another name of the same member is not offered".to_owned(),
            );
        }
    }

    /// Two descriptions of one object that both hold.
    fn both(&mut self, a: Told, b: Told, at: &str) -> Told {
        match (a, b) {
            (Told::Schema(Json::Object(mut a)), Told::Schema(Json::Object(b)))
                if a.get("type") == b.get("type") =>
            {
                if a.get("type") != Some(&"object".into()) {
                    return Told::Schema(Json::Object(a));
                }
                let mut members = a
                    .remove("properties")
                    .and_then(into_map)
                    .unwrap_or_default();
                for (name, schema) in b
                    .get("properties")
                    .and_then(Json::as_object)
                    .into_iter()
                    .flatten()
                {
                    members
                        .entry(name.clone())
                        .or_insert_with(|| schema.clone());
                }
                a.insert("properties".to_owned(), Json::Object(members));
                for name in b
                    .get("required")
                    .and_then(Json::as_array)
                    .unwrap_or(&[])
                    .iter()
                    .filter_map(Json::as_str)
                {
                    need(&mut a, name);
                }
                if !b.contains_key("additionalProperties")
                    || !a.contains_key("additionalProperties")
                {
                    a.remove("additionalProperties");
                }
                Told::Schema(Json::Object(a))
            }
            (Told::Schema(a), _) if self.input() => {
                self.wider(at, "a further condition is not told");
                Told::Schema(a)
            }
            (Told::Schema(a), Told::Schema(_)) => Told::Schema(a),
            (Told::Schema(a), _) => Told::Schema(a),
            (Told::Untold(_), Told::Schema(b)) => Told::Schema(b),
            (other, _) => other,
        }
    }

    /// Alternatives as one.
    fn one_of(&mut self, all: &[Json], at: &str) -> Told {
        let mut told: Vec<Json> = Vec::new();
        let mut untold = None;
        for form in all {
            match self.tell(form, at) {
                Told::Schema(json) if !told.contains(&json) => told.push(json),
                Told::Schema(_) | Told::Nothing => {}
                Told::Untold(why) => untold = Some(why),
            }
        }
        if let (Some(why), false) = (&untold, self.input()) {
            return Told::Untold(why.clone());
        }
        if untold.is_some() && !told.is_empty() {
            self.lose(
                LossKind::NotOffered,
                at,
                "an alternative that cannot be told is not offered".to_owned(),
            );
        }
        let kinds: BTreeSet<&str> = told.iter().map(kind_of).collect();
        match (told.len(), kinds.len()) {
            (0, _) => untold.map_or(Told::Nothing, Told::Untold),
            (1, _) => Told::Schema(told.remove(0)),
            (_, 1) => self.same_kind(told, at),
            _ if kinds.iter().all(|k| matches!(*k, "integer" | "number")) => {
                let maps: Vec<Map> = told.into_iter().filter_map(into_map).collect();
                Told::Schema(self.numbers("number", &maps, at))
            }
            _ if !self.input() => Told::Untold("it has alternatives of several types".to_owned()),
            _ => {
                // The alternative that says most; text last, since nearly anything can be written as text.
                let best = ["object", "array", "boolean", "integer", "number", "string"]
                    .into_iter()
                    .find(|k| kinds.contains(k))
                    .unwrap_or("string")
                    .to_owned();
                let best = if kinds.contains("object") {
                    best
                } else if kinds.contains("string") {
                    "string".to_owned()
                } else {
                    best
                };
                self.lose(
                    LossKind::NotOffered,
                    at,
                    format!("of its alternatives only those of the type {best} are offered"),
                );
                let kept: Vec<Json> = told.into_iter().filter(|t| kind_of(t) == best).collect();
                if kept.len() == 1 {
                    Told::Schema(kept.into_iter().next().unwrap_or_default())
                } else {
                    self.same_kind(kept, at)
                }
            }
        }
    }

    /// Alternatives of one type.
    fn same_kind(&mut self, all: Vec<Json>, at: &str) -> Told {
        let maps: Vec<Map> = all.iter().filter_map(|j| j.as_object().cloned()).collect();
        let Some(first) = maps.first() else {
            return Told::Nothing;
        };
        match kind_of(&all[0]) {
            "object" => self.objects(&maps, at),
            "string" => {
                let words: Option<Vec<&[Json]>> = maps
                    .iter()
                    .map(|m| m.get("enum").and_then(Json::as_array))
                    .collect();
                let mut out = Json::object([("type", Json::from("string"))]);
                if let Some(words) = words {
                    let mut joined: Vec<Json> = Vec::new();
                    words.concat().into_iter().for_each(|w| {
                        if !joined.contains(&w) {
                            joined.push(w);
                        }
                    });
                    set(&mut out, "enum", Json::Array(joined));
                } else {
                    self.wider(at, "of several forms of text none is told");
                }
                let said: Vec<&str> = maps
                    .iter()
                    .filter_map(|m| m.get("description").and_then(Json::as_str))
                    .collect();
                if !said.is_empty() {
                    set(&mut out, "description", said.join("\n").into());
                }
                Told::Schema(out)
            }
            "array" => {
                let items: Vec<Json> = maps
                    .iter()
                    .filter_map(|m| m.get("items").cloned())
                    .collect();
                match self.one_of_told(items, &format!("{at}/*")) {
                    Told::Schema(items) => {
                        self.wider(at, "of several forms of list the lengths are not told");
                        Told::Schema(Json::object([
                            ("type", Json::from("array")),
                            ("items", items),
                        ]))
                    }
                    other => other,
                }
            }
            "boolean" => Told::Schema(Json::Object(first.clone())),
            kind => Told::Schema(self.numbers(kind, &maps, at)),
        }
    }

    /// Numbers of several ranges, told as the range that spans them all.
    fn numbers(&mut self, kind: &str, all: &[Map], at: &str) -> Json {
        let mut out = Json::object([("type", Json::from(kind))]);
        for (key, low) in [("minimum", true), ("maximum", false)] {
            let bounds: Option<Vec<&Json>> = all.iter().map(|m| m.get(key)).collect();
            let value = |j: &&Json| j.as_number().map_or(0.0, |n| n.as_f64());
            let widest = bounds.and_then(|b| {
                b.into_iter().reduce(|a, c| {
                    if (value(&a) <= value(&c)) == low {
                        a
                    } else {
                        c
                    }
                })
            });
            if let Some(bound) = widest {
                set(&mut out, key, bound.clone());
            }
        }
        if !one_range(kind, all) {
            self.wider(at, "of several ranges of numbers the span is told");
        }
        out
    }

    /// Alternatives that are in the profile already.
    fn one_of_told(&mut self, mut all: Vec<Json>, at: &str) -> Told {
        let mut seen = Vec::new();
        all.retain(|j| {
            let new = !seen.contains(j);
            seen.push(j.clone());
            new
        });
        let kinds: BTreeSet<&str> = all.iter().map(kind_of).collect();
        match (all.len(), kinds.len()) {
            (0, _) => Told::Nothing,
            (1, _) => Told::Schema(all.remove(0)),
            (_, 1) => self.same_kind(all, at),
            _ if kinds.iter().all(|k| matches!(*k, "integer" | "number")) => {
                let maps: Vec<Map> = all.into_iter().filter_map(into_map).collect();
                Told::Schema(self.numbers("number", &maps, at))
            }
            _ => Told::Untold("it has several types".to_owned()),
        }
    }

    /// Objects as one: every member of any, needed where all need it.
    fn objects(&mut self, all: &[Map], at: &str) -> Told {
        let empty = Map::new();
        let members = |m: &Map| {
            m.get("properties")
                .and_then(Json::as_object)
                .cloned()
                .unwrap_or_default()
        };
        let needed = |m: &Map| -> BTreeSet<String> {
            m.get("required")
                .and_then(Json::as_array)
                .unwrap_or(&[])
                .iter()
                .filter_map(Json::as_str)
                .map(str::to_owned)
                .collect()
        };
        let mut names: Vec<String> = Vec::new();
        for map in all {
            for name in members(map).into_keys() {
                if !names.contains(&name) {
                    names.push(name);
                }
            }
        }
        let required: BTreeSet<String> = all
            .iter()
            .map(needed)
            .reduce(|a, b| a.intersection(&b).cloned().collect())
            .unwrap_or_default();
        let mut out = Map::new();
        let closed = |m: &Map| m.get("additionalProperties") == Some(&Json::Bool(false));
        let mut open = !all.iter().all(closed);
        for name in names {
            let place = format!("{at}/{name}");
            let schemas: Vec<Json> = all
                .iter()
                .filter_map(|m| members(m).get(&name).cloned())
                .collect();
            // An alternative that is open may carry a member of that name in another form.
            let elsewhere = all
                .iter()
                .any(|m| !closed(m) && !members(m).contains_key(&name));
            if elsewhere && !self.input() {
                self.lose(
                    LossKind::NotDescribed,
                    &place,
                    "another alternative may have it in another form".to_owned(),
                );
                continue;
            }
            match self.one_of_told(schemas.clone(), &place) {
                Told::Schema(schema) => drop(out.insert(name, schema)),
                Told::Nothing => {}
                Told::Untold(why) if self.input() => {
                    self.lose(
                        LossKind::NotOffered,
                        &place,
                        format!("{why}; only the first is offered"),
                    );
                    out.insert(name, schemas.into_iter().next().unwrap_or_default());
                }
                Told::Untold(why) => {
                    self.lose(LossKind::NotDescribed, &place, why);
                    open = true;
                }
            }
        }
        let required: Vec<String> = required
            .into_iter()
            .filter(|n| out.contains_key(n))
            .collect();
        let alternatives: Vec<String> = all
            .iter()
            .map(|m| {
                let own: Vec<String> = needed(m)
                    .into_iter()
                    .filter(|n| !required.contains(n))
                    .collect();
                match tag_of(m, &required) {
                    Some(tag) if own.is_empty() => tag,
                    Some(tag) => format!("{tag}: {}", own.join(", ")),
                    None => own.join(", "),
                }
            })
            .filter(|s| !s.is_empty())
            .collect();
        self.wider(at, "alternatives are told as one object; which members go together stands in the description only");
        let _ = empty;
        let mut json = Json::object([
            ("type", Json::from("object")),
            ("properties", Json::Object(out)),
            ("required", required.into()),
        ]);
        if !open {
            set(&mut json, "additionalProperties", false.into());
        }
        let mut said: Vec<String> = all
            .iter()
            .filter_map(|m| m.get("description").and_then(Json::as_str))
            .map(str::to_owned)
            .collect();
        if !alternatives.is_empty() {
            said.push(format!("One of these: {}.", alternatives.join("; ")));
        }
        if !said.is_empty() {
            set(&mut json, "description", said.join("\n").into());
        }
        Told::Schema(json)
    }

    fn anything(&mut self, at: &str) -> Told {
        if !self.input() {
            return Told::Untold("it can be any JSON value".to_owned());
        }
        self.lose(
            LossKind::NotOffered,
            at,
            "any JSON value is taken, only objects are offered".to_owned(),
        );
        Told::Schema(plain_object())
    }

    /// A schema without references and combinators.
    fn plain(&mut self, map: &Map, at: &str) -> Told {
        for key in UNTOLD.iter().filter(|k| map.contains_key(**k)) {
            self.wider(at, &format!("the condition `{key}` is not told"));
        }
        if let Some(value) = map.get("const") {
            return match value {
                Json::String(_) => Told::Schema(Json::object([
                    ("type", Json::from("string")),
                    ("enum", Json::Array(vec![value.clone()])),
                ])),
                Json::Null => Told::Nothing,
                _ => Told::Untold("it is a constant that is no text".to_owned()),
            };
        }
        const KINDS: [&str; 7] = [
            "null", "boolean", "integer", "number", "string", "array", "object",
        ];
        let kinds: Vec<&str> = match map.get("type") {
            Some(Json::String(kind)) => vec![kind],
            Some(Json::Array(all)) => all.iter().filter_map(Json::as_str).collect(),
            _ if map.contains_key("properties") || map.contains_key("required") => vec!["object"],
            _ if map.contains_key("enum") => vec!["string"],
            _ => return self.anything(at),
        };
        if let Some(unknown) = kinds.iter().find(|k| !KINDS.contains(*k)) {
            return Told::Untold(format!("`{unknown}` is no type of JSON"));
        }
        let kinds: Vec<&str> = kinds.into_iter().filter(|k| *k != "null").collect();
        match kinds.as_slice() {
            [] => Told::Nothing,
            ["object"] => self.object(map, at),
            ["array"] => self.array(map, at),
            ["string"] => self.string(map, at),
            [kind @ ("integer" | "number")] => self.number(kind, map, at),
            ["boolean"] => Told::Schema(Json::object([("type", Json::from("boolean"))])),
            several => {
                let forms: Vec<Json> = several
                    .iter()
                    .map(|k| {
                        let mut one = map.clone();
                        one.insert("type".to_owned(), Json::from(*k));
                        Json::Object(one)
                    })
                    .collect();
                self.one_of(&forms, at)
            }
        }
    }

    fn string(&mut self, map: &Map, at: &str) -> Told {
        let mut out = Json::object([("type", Json::from("string"))]);
        if let Some(Json::Array(words)) = map.get("enum") {
            let words: Vec<Json> = words
                .iter()
                .filter(|w| w.as_str().is_some())
                .cloned()
                .collect();
            if words.is_empty() {
                return Told::Untold("none of its values is text".to_owned());
            }
            set(&mut out, "enum", Json::Array(words));
            return Told::Schema(out);
        }
        counts(map, &mut out, ["minLength", "maxLength"]);
        match map.get("format").and_then(Json::as_str) {
            Some("date-time") => set(&mut out, "format", "date-time".into()),
            Some(format) => {
                self.wider(at, "the format is told in words only");
                set(&mut out, "description", format!("Format: {format}.").into());
            }
            None => {}
        }
        match map.get("pattern").and_then(Json::as_str) {
            Some(pattern) if is_portable(pattern) => set(&mut out, "pattern", pattern.into()),
            Some(_) => self.wider(at, "the pattern is no ECMAScript, and not told"),
            None => {}
        }
        Told::Schema(out)
    }

    fn number(&mut self, kind: &str, map: &Map, at: &str) -> Told {
        let mut out = Json::object([("type", Json::from(kind))]);
        for key in ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"] {
            match map.get(key).and_then(Json::as_number) {
                Some(n) if fits_64_bits(n) => set(&mut out, key, Json::Number(n.clone())),
                Some(_) => self.wider(at, "a bound beyond 64 bits is not told"),
                None => {}
            }
        }
        Told::Schema(out)
    }

    fn array(&mut self, map: &Map, at: &str) -> Told {
        let place = format!("{at}/*");
        let items = match (map.get("prefixItems"), map.get("items")) {
            (Some(Json::Array(all)), _) => {
                let mut told = Vec::new();
                for (i, item) in all.iter().enumerate() {
                    match self.tell(item, &format!("{at}/{i}")) {
                        Told::Schema(json) => told.push(json),
                        Told::Nothing => {
                            return Told::Untold("a place of the tuple is null".to_owned());
                        }
                        Told::Untold(why) => return Told::Untold(why),
                    }
                    if nullable(item) && !self.input() {
                        return Told::Untold("a place of the tuple may be null".to_owned());
                    }
                }
                if all.is_empty() {
                    Told::Schema(plain_object())
                } else {
                    if told.windows(2).any(|pair| pair[0] != pair[1]) {
                        self.wider(at, "the places of a tuple are told as one");
                    }
                    self.one_of_told(told, &place)
                }
            }
            (_, Some(items)) => {
                if self.null_within(items) && !self.input() {
                    return Told::Untold("its elements may be null".to_owned());
                }
                self.tell(items, &place)
            }
            (_, None) => self.anything(&place),
        };
        let items = match items {
            Told::Schema(items) => items,
            Told::Nothing => return Told::Untold("its elements are null".to_owned()),
            Told::Untold(why) => {
                return Told::Untold(format!("its elements cannot be told: {why}"));
            }
        };
        let mut out = Json::object([("type", Json::from("array")), ("items", items)]);
        counts(map, &mut out, ["minItems", "maxItems"]);
        Told::Schema(out)
    }

    /// Whether a value of the schema may be null, through references.
    fn null_within(&self, schema: &Json) -> bool {
        let mut at = schema;
        for _ in 0..32 {
            match at
                .get("$ref")
                .and_then(Json::as_str)
                .and_then(contract_of_ref)
                .and_then(|id| self.contract(&id))
            {
                Some(next) => at = next,
                None => break,
            }
        }
        nullable(at)
    }

    fn object(&mut self, map: &Map, at: &str) -> Told {
        let mut members = Map::new();
        let mut required: BTreeSet<String> = map
            .get("required")
            .and_then(Json::as_array)
            .unwrap_or(&[])
            .iter()
            .filter_map(Json::as_str)
            .map(str::to_owned)
            .collect();
        let mut open = !self.input()
            && map.get("additionalProperties").is_none()
            && map.get("properties").is_none();
        for (name, schema) in map
            .get("properties")
            .and_then(Json::as_object)
            .into_iter()
            .flatten()
        {
            let place = format!("{at}/{}", name.replace('~', "~0").replace('/', "~1"));
            let told = if is_key(name) {
                // A member that may be null when written is left out then: it is not needed.
                if !self.input() && self.null_within(schema) {
                    required.remove(name);
                }
                self.tell(schema, &place)
            } else {
                Told::Untold("hosts refuse its name".to_owned())
            };
            match told {
                Told::Schema(json) => drop(members.insert(name.clone(), json)),
                Told::Nothing | Told::Untold(_) if !self.input() => {
                    required.remove(name);
                    open = true;
                    if let Told::Untold(why) = told {
                        self.lose(LossKind::NotDescribed, &place, why);
                    }
                }
                Told::Nothing if !required.contains(name) => {}
                Told::Nothing => self.lose(
                    LossKind::Untellable,
                    &place,
                    "it is needed, and can only be null".to_owned(),
                ),
                Told::Untold(why) if required.remove(name) => self.lose(
                    LossKind::Untellable,
                    &place,
                    format!("it is needed, and {why}"),
                ),
                Told::Untold(why) => self.lose(LossKind::NotOffered, &place, why),
            }
        }
        // Names that are needed and not spoken of.
        required.retain(|n| members.contains_key(n));
        let rest = match map.get("additionalProperties") {
            Some(Json::Bool(false)) => Some(Json::Bool(false)),
            Some(Json::Bool(true)) | None if map.get("propertyNames").is_some() => None,
            None if self.input() && !members.is_empty() => Some(Json::Bool(false)),
            // What the program writes is what is described; clients that check would refuse nothing more.
            None if !open && !members.is_empty() => Some(Json::Bool(false)),
            None | Some(Json::Bool(true)) => None,
            Some(schema) => {
                let nulls = self.null_within(schema) && !self.input();
                match self.tell(schema, &format!("{at}/*")) {
                    Told::Schema(json) if !nulls => Some(json),
                    _ => None,
                }
            }
        };
        if map.get("propertyNames").is_some() {
            self.wider(at, "which names its members may have is not told");
        }
        let mut out = Json::object([
            ("type", Json::from("object")),
            ("properties", Json::Object(members)),
            ("required", required.into_iter().collect::<Vec<_>>().into()),
        ]);
        if let Some(rest) = rest
            && !(open && rest == Json::Bool(false))
        {
            set(&mut out, "additionalProperties", rest);
        }
        Told::Schema(out)
    }

    /// The root of an input is closed whatever the contract says.
    fn close(&mut self, mut json: Json) -> Json {
        if self.input() {
            match json.get("additionalProperties") {
                Some(Json::Bool(false)) => {}
                rest => {
                    if rest.is_some()
                        || json
                            .get("properties")
                            .and_then(Json::as_object)
                            .is_some_and(Map::is_empty)
                    {
                        self.lose(
                            LossKind::NotOffered,
                            "",
                            "members of other names are taken, and not offered".to_owned(),
                        );
                    }
                    set(&mut json, "additionalProperties", false.into());
                }
            }
        }
        json
    }
}

/// The description and title that a schema carries.
fn described(mut json: Json, map: &Map) -> Json {
    if let Some(title) = map.get("title").and_then(Json::as_str) {
        set(&mut json, "title", title.into());
    }
    let own = json
        .get("description")
        .and_then(Json::as_str)
        .map(str::to_owned);
    let deprecated = map.get("deprecated").and_then(Json::as_bool) == Some(true);
    let mut parts: Vec<String> = Vec::new();
    parts.extend(
        map.get("description")
            .and_then(Json::as_str)
            .map(str::to_owned),
    );
    parts.extend(own.filter(|o| !parts.contains(o)));
    if deprecated {
        parts.push("Deprecated.".to_owned());
    }
    if !parts.is_empty() {
        set(&mut json, "description", parts.join("\n").into());
    }
    json
}

/// How many there may be: whole numbers only, whatever a hand has written.
fn counts(map: &Map, out: &mut Json, keys: [&str; 2]) {
    for key in keys {
        if let Some(bound) = map.get(key)
            && bound.as_number().is_some_and(|n| n.as_u128().is_some())
        {
            set(out, key, bound.clone());
        }
    }
}

fn plain_object() -> Json {
    Json::object([
        ("type", Json::from("object")),
        ("properties", Json::empty()),
        ("required", Json::Array(Vec::new())),
    ])
}

fn set(json: &mut Json, key: &str, value: Json) {
    if let Some(map) = json.as_object_mut() {
        map.insert(key.to_owned(), value);
    }
}

fn need(map: &mut Map, name: &str) {
    let list = map
        .entry("required".to_owned())
        .or_insert_with(|| Json::Array(Vec::new()));
    if let Json::Array(names) = list
        && !names.iter().any(|n| n.as_str() == Some(name))
    {
        names.push(name.into());
        names.sort();
    }
}

fn into_map(json: Json) -> Option<Map> {
    match json {
        Json::Object(map) => Some(map),
        _ => None,
    }
}

fn kind_of(json: &Json) -> &str {
    json.get("type").and_then(Json::as_str).unwrap_or_default()
}

/// Whether every host reads the number: not when it is whole and neither an `i64` nor a `u64`.
fn fits_64_bits(n: &flowx_manifest::json::Number) -> bool {
    match (n.as_i128(), n.as_u128()) {
        (None, None) => true,
        (Some(i), _) => i64::try_from(i).is_ok() || u64::try_from(i).is_ok(),
        (None, Some(_)) => false,
    }
}

/// Whether the numbers of these ranges are all of those between the least and the greatest.
fn one_range(kind: &str, all: &[Map]) -> bool {
    let bound = |m: &Map, key: &str| m.get(key).and_then(Json::as_number).map(|n| n.as_f64());
    let mut spans: Vec<(f64, f64)> = all
        .iter()
        .filter(|m| kind == "integer" || m.get("type").and_then(Json::as_str) == Some("number"))
        .map(|m| {
            let low = bound(m, "minimum").unwrap_or(f64::NEG_INFINITY);
            (low, bound(m, "maximum").unwrap_or(f64::INFINITY))
        })
        .collect();
    let exclusive = ["exclusiveMinimum", "exclusiveMaximum"];
    if all
        .iter()
        .any(|m| exclusive.iter().any(|k| m.contains_key(*k)))
    {
        return false;
    }
    if spans.len() < all.len() {
        // Whole numbers beside numbers: only those without a bound leave nothing out.
        return spans.contains(&(f64::NEG_INFINITY, f64::INFINITY));
    }
    spans.sort_by(|a, b| a.0.total_cmp(&b.0));
    let step = if kind == "integer" { 1.0 } else { 0.0 };
    let mut reached = f64::NEG_INFINITY;
    spans.iter().enumerate().all(|(i, (low, high))| {
        let joined = i == 0 || *low <= reached + step;
        reached = reached.max(*high);
        joined
    })
}

/// What a schema mainly is, without looking far.
fn shape(schema: &Json) -> &'static str {
    match schema.get("type") {
        Some(Json::String(t)) if t == "object" => "object",
        Some(Json::String(t)) if t == "array" => "array",
        _ if schema.get("properties").is_some() => "object",
        _ => match schema.get("oneOf").or_else(|| schema.get("anyOf")) {
            Some(Json::Array(all))
                if !all.is_empty() && all.iter().all(|s| shape(s) == "object") =>
            {
                "object"
            }
            _ => "other",
        },
    }
}

fn nullable(schema: &Json) -> bool {
    match schema.get("type") {
        Some(Json::String(t)) => t == "null",
        Some(Json::Array(all)) => all.contains(&"null".into()),
        _ => match schema.get("anyOf").or_else(|| schema.get("oneOf")) {
            Some(Json::Array(all)) => all.iter().any(nullable),
            _ => false,
        },
    }
}

/// `{"not": {"required": [a, b]}}`.
fn excluded(condition: &Json) -> Option<[String; 2]> {
    let names = condition.get("not")?.get("required")?.as_array()?;
    match names {
        [Json::String(a), Json::String(b)] => Some([a.clone(), b.clone()]),
        _ => None,
    }
}

/// `{"required": [a]}` and nothing else.
fn single_need(form: &Json) -> Option<String> {
    let map = form.as_object()?;
    match (map.len(), map.get("required")?.as_array()?) {
        (1, [Json::String(name)]) => Some(name.clone()),
        _ => None,
    }
}

/// `kind "a"`: the member of one word that tells this alternative from the others.
fn tag_of(map: &Map, shared: &[String]) -> Option<String> {
    let members = map.get("properties")?.as_object()?;
    shared
        .iter()
        .find_map(|name| match members.get(name)?.get("enum")?.as_array()? {
            [Json::String(word)] => Some(format!("{name} \"{word}\"")),
            _ => None,
        })
}
