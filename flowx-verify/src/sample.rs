//! Values from a schema: valid ones, and valid ones with one thing changed.
//!
//! What comes out is a suggestion: whoever asks checks it with a validator. The generator only has to hit often.

use std::collections::{BTreeMap, BTreeSet};

use flowx_manifest::Json;
use regex_syntax::hir::{Hir, HirKind};

/// A stream of values that is the same for the same seed.
pub struct Sampler<'s> {
    root: &'s Json,
    state: u64,
    /// How many parts the value may still have, and how deep its making is: a schema may ask for more than fits, or for itself.
    parts: usize,
    nested: usize,
    /// Names that the schema speaks of, for members that are added.
    names: Vec<String>,
    /// Strings that the schema speaks of.
    words: Vec<String>,
}

const DEEPEST: usize = 7;
/// Bounds of what one value is made of. No schema of a type comes near; one that a hand wrote may say `minItems: 4000000000`.
const MOST_PARTS: usize = 20_000;
const MOST_NESTED: usize = 48;
const LONGEST: usize = 1024;

impl<'s> Sampler<'s> {
    /// A stream for a schema that stands alone (`$defs` at its root).
    pub fn new(root: &'s Json, seed: u64) -> Self {
        let (mut names, mut words) = (BTreeSet::new(), BTreeSet::new());
        vocabulary(root, &mut names, &mut words);
        let state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
        Sampler {
            root,
            state,
            parts: MOST_PARTS,
            nested: 0,
            names: names.into_iter().collect(),
            words: words.into_iter().collect(),
        }
    }

    /// The next random number.
    pub fn draw(&mut self) -> u64 {
        // xorshift64*: no dependency, and the same everywhere.
        self.state ^= self.state >> 12;
        self.state ^= self.state << 25;
        self.state ^= self.state >> 27;
        self.state.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    fn below(&mut self, n: usize) -> usize {
        if n == 0 {
            0
        } else {
            (self.draw() % n as u64) as usize
        }
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    fn pick<'a, T>(&mut self, all: &'a [T]) -> Option<&'a T> {
        all.get(self.below(all.len()))
    }

    /// A value that the schema should accept.
    pub fn value(&mut self) -> Json {
        let root = self.root;
        self.parts = MOST_PARTS;
        self.of(root, 0)
    }

    /// Values of every kind that have nothing to do with the schema.
    pub fn anything() -> Vec<Json> {
        let texts = [
            "null",
            "true",
            "false",
            "0",
            "1",
            "-1",
            "255",
            "256",
            "-129",
            "65536",
            "4294967296",
            "9223372036854775808",
            "18446744073709551615",
            "18446744073709551616",
            "-9223372036854775809",
            "0.5",
            "1.0",
            "-0",
            "1e3",
            "-1.5e-7",
            "\"\"",
            "\"a\"",
            "\"ab\"",
            "\"ä\"",
            "\"0\"",
            "\"true\"",
            "\"null\"",
            "[]",
            "[null]",
            "[0]",
            "[1,2]",
            "[1,2,3]",
            "[\"a\"]",
            "[\"a\",1]",
            "[[]]",
            "[{}]",
            "{}",
            "{\"a\":1}",
            "{\"a\":null}",
            "{\"\":0}",
            "{\"0\":0}",
            "{\"a\":{}}",
            "{\"secs\":1,\"nanos\":2}",
            "{\"start\":1,\"end\":2}",
        ];
        texts
            .iter()
            .filter_map(|t| {
                flowx_manifest::json::parse(t.as_bytes(), flowx_manifest::json::Limits::DOCUMENT)
                    .ok()
            })
            .collect()
    }

    fn of(&mut self, schema: &Json, depth: usize) -> Json {
        if self.parts == 0 || self.nested > MOST_NESTED {
            return Json::Null;
        }
        self.parts -= 1;
        self.nested += 1;
        let value = self.made(schema, depth);
        self.nested -= 1;
        value
    }

    fn made(&mut self, schema: &Json, depth: usize) -> Json {
        let map = match schema {
            Json::Object(map) => map,
            _ => return self.free(depth),
        };
        if let Some(target) = map.get("$ref").and_then(Json::as_str) {
            let root = self.root;
            let Some(found) = resolve(root, target) else {
                return Json::Null;
            };
            return self.of(found, depth);
        }
        if let Some(value) = map.get("const") {
            return value.clone();
        }
        if let Some(Json::Array(values)) = map.get("enum") {
            return self.pick(values).cloned().unwrap_or(Json::Null);
        }
        if let Some(merged) = self.choose(map, depth) {
            return self.of(&merged, depth);
        }
        let kind = match map.get("type") {
            Some(Json::String(kind)) => kind.clone(),
            Some(Json::Array(kinds)) => {
                let kinds: Vec<&str> = kinds.iter().filter_map(Json::as_str).collect();
                let deep = depth > DEEPEST && kinds.contains(&"null");
                if deep {
                    "null".to_owned()
                } else {
                    self.pick(&kinds)
                        .map_or_else(String::new, |k| (*k).to_owned())
                }
            }
            _ if map.contains_key("properties") || map.contains_key("required") => {
                "object".to_owned()
            }
            _ if map.contains_key("pattern") => "string".to_owned(),
            _ => return self.free(depth),
        };
        match kind.as_str() {
            "null" => Json::Null,
            "boolean" => (self.one_in(2)).into(),
            "integer" => self.integer(map),
            "number" => self.number(map),
            "string" => self.string(map).into(),
            "array" => self.array(map, depth),
            _ => self.object(map, depth),
        }
    }

    /// One branch of each combinator, laid over the rest.
    fn choose(&mut self, map: &BTreeMap<String, Json>, depth: usize) -> Option<Json> {
        let mut base = map.clone();
        let mut branches = Vec::new();
        for key in ["anyOf", "oneOf"] {
            if let Some(Json::Array(all)) = base.remove(key) {
                // Deep down, the shortest branch is the likeliest to end.
                let branch = if depth > DEEPEST {
                    all.iter()
                        .min_by_key(|b| {
                            b.to_canonical().matches("$ref").count() * 1000 + b.to_canonical().len()
                        })
                        .cloned()
                } else {
                    self.pick(&all).cloned()
                };
                branches.extend(branch);
            }
        }
        if let Some(Json::Array(all)) = base.remove("allOf") {
            branches.extend(all);
        }
        if branches.is_empty() {
            return None;
        }
        let mut out = Json::Object(base);
        for branch in branches {
            let branch = match branch.get("$ref").and_then(Json::as_str) {
                Some(target) => resolve(self.root, target).cloned().unwrap_or(branch),
                None => branch,
            };
            overlay(&mut out, &branch);
        }
        Some(out)
    }

    fn free(&mut self, depth: usize) -> Json {
        let all = Self::anything();
        if depth > DEEPEST {
            Json::Null
        } else {
            self.pick(&all).cloned().unwrap_or(Json::Null)
        }
    }

    fn integer(&mut self, map: &BTreeMap<String, Json>) -> Json {
        let bound = |key: &str| map.get(key).and_then(Json::as_number);
        let low = bound("minimum")
            .and_then(|n| n.as_i128().or(Some(n.as_f64().ceil() as i128)))
            .or(bound("exclusiveMinimum").map(|n| (n.as_f64() as i128).saturating_add(1)));
        let high = bound("maximum")
            .map(|n| {
                n.as_u128().map_or_else(
                    || n.as_i128().map_or(n.as_f64() as i128, |v| v),
                    |v| i128::try_from(v).unwrap_or(i128::MAX),
                )
            })
            .or(bound("exclusiveMaximum").map(|n| (n.as_f64() as i128).saturating_sub(1)));
        let (low, high) = (low.unwrap_or(-1000), high.unwrap_or(1000));
        let near = i128::from(self.draw() % 100);
        let choice = match self.below(6) {
            0 => low,
            1 => high,
            2 => 0,
            3 => near,
            4 => -near,
            _ => low.saturating_add(near),
        };
        choice.clamp(low, high.max(low)).into()
    }

    fn number(&mut self, map: &BTreeMap<String, Json>) -> Json {
        let low = map
            .get("minimum")
            .and_then(Json::as_number)
            .map_or(-1e6, |n| n.as_f64());
        let high = map
            .get("maximum")
            .and_then(Json::as_number)
            .map_or(1e6, |n| n.as_f64());
        let share = (self.draw() % 1_000_001) as f64 / 1e6;
        match self.below(4) {
            0 => Json::from_f64(0f64.clamp(low, high.max(low))),
            1 => Json::from_f64(
                (low + (high - low) * share)
                    .round()
                    .clamp(low, high.max(low)),
            ),
            _ => Json::from_f64(low + (high - low) * share),
        }
    }

    fn string(&mut self, map: &BTreeMap<String, Json>) -> String {
        if let Some(pattern) = map.get("pattern").and_then(Json::as_str)
            && let Ok(hir) = regex_syntax::Parser::new().parse(pattern)
        {
            let mut out = String::new();
            self.regex(&hir, &mut out);
            return out;
        }
        if let Some(format) = map.get("format").and_then(Json::as_str) {
            let all = formatted(format);
            if !all.is_empty() {
                return self.pick(all).map_or_else(String::new, |s| (*s).to_owned());
            }
        }
        let least = map
            .get("minLength")
            .and_then(Json::as_number)
            .map_or(0, |n| n.as_f64() as usize);
        let most = map
            .get("maxLength")
            .and_then(Json::as_number)
            .map_or(least.saturating_add(8), |n| n.as_f64() as usize);
        const LETTERS: [char; 12] = [
            'a',
            'b',
            'Z',
            '0',
            '9',
            '_',
            '-',
            ' ',
            'ä',
            '\u{1F600}',
            '"',
            '\n',
        ];
        let words = self.words.clone();
        if least == 0
            && self.one_in(6)
            && let Some(word) = self.pick(&words)
        {
            return word.clone();
        }
        let length = least.saturating_add(self.below(most.saturating_sub(least).min(8) + 1));
        (0..length.min(LONGEST))
            .map(|_| self.pick(&LETTERS).copied().unwrap_or('a'))
            .collect()
    }

    fn regex(&mut self, hir: &Hir, out: &mut String) {
        match hir.kind() {
            HirKind::Empty | HirKind::Look(_) => {}
            HirKind::Literal(lit) => out.push_str(&String::from_utf8_lossy(&lit.0)),
            HirKind::Class(regex_syntax::hir::Class::Unicode(class)) => {
                if let Some(range) = self.pick(class.ranges()).copied() {
                    let span = range.end() as u32 - range.start() as u32 + 1;
                    let at = range.start() as u32 + (self.draw() % u64::from(span)) as u32;
                    out.push(char::from_u32(at).unwrap_or(range.start()));
                }
            }
            HirKind::Class(regex_syntax::hir::Class::Bytes(_)) => {}
            HirKind::Repetition(rep) => {
                let extra = rep.max.map_or(3, |m| m.saturating_sub(rep.min).min(3)) as usize;
                let times = (rep.min as usize).saturating_add(self.below(extra + 1));
                for _ in 0..times.min(LONGEST) {
                    if out.len() > LONGEST {
                        break;
                    }
                    self.regex(&rep.sub, out);
                }
            }
            HirKind::Capture(c) => self.regex(&c.sub, out),
            HirKind::Concat(all) => all.iter().for_each(|h| self.regex(h, out)),
            HirKind::Alternation(all) => {
                let at = self.below(all.len());
                if let Some(one) = all.get(at) {
                    self.regex(one, out);
                }
            }
        }
    }

    fn array(&mut self, map: &BTreeMap<String, Json>, depth: usize) -> Json {
        let number = |key: &str| {
            map.get(key)
                .and_then(Json::as_number)
                .map(|n| n.as_f64() as usize)
        };
        let least = number("minItems").unwrap_or(0);
        let prefix = map
            .get("prefixItems")
            .and_then(Json::as_array)
            .unwrap_or(&[]);
        let most = number("maxItems").unwrap_or_else(|| least.max(prefix.len()).saturating_add(3));
        let length = if depth > DEEPEST {
            least
        } else {
            least.saturating_add(self.below(most.saturating_sub(least).min(4) + 1))
        };
        let rest = map.get("items").cloned().unwrap_or_default();
        let mut out = Vec::new();
        for i in 0..length.min(most).min(self.parts) {
            let schema = prefix.get(i).unwrap_or(&rest);
            out.push(self.of(schema, depth + 1));
        }
        if map.get("uniqueItems").and_then(Json::as_bool) == Some(true) {
            let mut seen = BTreeSet::new();
            out.retain(|v| seen.insert(v.clone()));
        }
        Json::Array(out)
    }

    fn object(&mut self, map: &BTreeMap<String, Json>, depth: usize) -> Json {
        let empty = BTreeMap::new();
        let members = map
            .get("properties")
            .and_then(Json::as_object)
            .unwrap_or(&empty);
        let required: Vec<&str> = map
            .get("required")
            .and_then(Json::as_array)
            .unwrap_or(&[])
            .iter()
            .filter_map(Json::as_str)
            .collect();
        let mut out = BTreeMap::new();
        for (name, schema) in members {
            let wanted = required.contains(&name.as_str());
            if wanted || (depth <= DEEPEST && self.one_in(2)) {
                out.insert(name.clone(), self.of(schema, depth + 1));
            }
        }
        for name in required {
            if !out.contains_key(name) {
                let value = self.free(depth + 1);
                out.insert(name.to_owned(), value);
            }
        }
        let rest = map.get("additionalProperties");
        let extra = match rest {
            Some(Json::Bool(false)) => 0,
            Some(Json::Object(_)) if depth <= DEEPEST => self.below(3),
            _ => usize::from(self.one_in(4)),
        };
        for _ in 0..extra {
            let name = match map.get("propertyNames") {
                Some(names) => {
                    let names = names.clone();
                    match self.of_name(&names) {
                        Json::String(name) => name,
                        _ => continue,
                    }
                }
                None => self.string(&empty),
            };
            out.entry(name).or_insert_with(|| match rest {
                Some(schema @ Json::Object(_)) => self.of(schema, depth + 1),
                _ => self.free(depth + 1),
            });
        }
        Json::Object(out)
    }

    /// A name: what says nothing of its type is a string.
    fn of_name(&mut self, schema: &Json) -> Json {
        let mut schema = schema.clone();
        if let Some(map) = schema.as_object_mut()
            && !map.contains_key("enum")
            && !map.contains_key("anyOf")
        {
            map.entry("type".to_owned())
                .or_insert_with(|| "string".into());
        }
        self.of(&schema, 0)
    }

    /// The value with one thing changed, somewhere in it.
    pub fn changed(&mut self, value: &Json) -> Json {
        let places = count(value);
        let mut at = self.below(places);
        let mut out = value.clone();
        self.change(&mut out, &mut at);
        out
    }

    fn change(&mut self, value: &mut Json, at: &mut usize) -> bool {
        if *at == 0 {
            *value = self.mutant(value);
            return true;
        }
        *at -= 1;
        match value {
            Json::Array(items) => items.iter_mut().any(|v| self.change(v, at)),
            Json::Object(map) => map.values_mut().any(|v| self.change(v, at)),
            _ => false,
        }
    }

    fn mutant(&mut self, value: &Json) -> Json {
        let pool = Self::anything();
        if self.one_in(4) {
            return self.pick(&pool).cloned().unwrap_or(Json::Null);
        }
        match value {
            Json::Object(map) => {
                let mut map = map.clone();
                let keys: Vec<String> = map.keys().cloned().collect();
                match (self.below(4), self.pick(&keys).cloned()) {
                    (0, Some(key)) => drop(map.remove(&key)),
                    (1, Some(key)) => {
                        if let Some(v) = map.remove(&key) {
                            let name = match self.below(3) {
                                0 => key.to_uppercase(),
                                1 => format!("{key}_"),
                                _ => {
                                    let names = self.names.clone();
                                    self.pick(&names).cloned().unwrap_or(key)
                                }
                            };
                            map.insert(name, v);
                        }
                    }
                    (2, Some(key)) => drop(map.insert(key, Json::Null)),
                    _ => {
                        let names = self.names.clone();
                        let name = if self.one_in(3) {
                            Some("unknown".to_owned())
                        } else {
                            self.pick(&names).cloned()
                        };
                        let donor = self.pick(&keys).and_then(|k| map.get(k)).cloned();
                        let value = match donor {
                            Some(v) if self.one_in(2) => v,
                            _ => self.pick(&pool).cloned().unwrap_or(Json::Null),
                        };
                        map.insert(name.unwrap_or_else(|| "unknown".to_owned()), value);
                    }
                }
                Json::Object(map)
            }
            Json::Array(items) => {
                let mut items = items.clone();
                match self.below(3) {
                    0 => drop(items.pop()),
                    1 if !items.is_empty() => {
                        let at = self.below(items.len());
                        items.push(items[at].clone());
                    }
                    _ => items.push(self.pick(&pool).cloned().unwrap_or(Json::Null)),
                }
                Json::Array(items)
            }
            Json::String(text) => {
                let words = self.words.clone();
                match self.below(6) {
                    0 => format!("{text}x").into(),
                    1 => text.to_uppercase().into(),
                    2 => text.chars().skip(1).collect::<String>().into(),
                    3 => Json::Array(vec![text.as_str().into()]),
                    4 => Json::object([(text.as_str(), Json::Null)]),
                    _ => self.pick(&words).map_or(Json::Null, |w| w.as_str().into()),
                }
            }
            Json::Number(n) => {
                let as_int = n.as_i128();
                match (self.below(5), as_int) {
                    (0, Some(i)) => i.saturating_add(1).into(),
                    (1, Some(i)) => i.saturating_sub(1).into(),
                    (2, Some(i)) => i.saturating_neg().into(),
                    (3, _) => n.as_str().into(),
                    _ => Json::from_f64(n.as_f64() + 0.5),
                }
            }
            Json::Bool(b) => (!b).into(),
            Json::Null => self.pick(&pool).cloned().unwrap_or(Json::Null),
        }
    }
}

/// The schema at a `#/…` reference.
pub(crate) fn resolve<'s>(root: &'s Json, target: &str) -> Option<&'s Json> {
    if let Some(id) = flowx_manifest::contract_of_ref(target)
        && let Some(found) = root.get("$defs").and_then(|d| d.get(&id))
    {
        return Some(found);
    }
    root.pointer(target.strip_prefix('#')?)
}

fn overlay(base: &mut Json, over: &Json) {
    let (Json::Object(base), Json::Object(over)) = (base, over) else {
        return;
    };
    for (key, value) in over {
        match (key.as_str(), base.get_mut(key)) {
            ("properties", Some(Json::Object(members))) => {
                if let Json::Object(more) = value {
                    for (name, schema) in more {
                        // Of two schemas of one member the one that says more.
                        match members.get(name) {
                            Some(old) if old != &Json::empty() && schema == &Json::empty() => {}
                            _ => drop(members.insert(name.clone(), schema.clone())),
                        }
                    }
                }
            }
            ("required", Some(Json::Array(names))) => {
                if let Json::Array(more) = value {
                    names.extend(more.iter().cloned());
                }
            }
            ("allOf", Some(Json::Array(all))) => {
                if let Json::Array(more) = value {
                    all.extend(more.iter().cloned());
                }
            }
            // A second combinator stands beside the first.
            ("anyOf" | "oneOf", Some(_)) => {
                let one = Json::object([(key.as_str(), value.clone())]);
                match base
                    .entry("allOf".to_owned())
                    .or_insert_with(|| Json::Array(Vec::new()))
                {
                    Json::Array(all) => all.push(one),
                    other => *other = Json::Array(vec![one]),
                }
            }
            ("not", Some(_)) => {}
            _ => drop(base.insert(key.clone(), value.clone())),
        }
    }
}

fn vocabulary(schema: &Json, names: &mut BTreeSet<String>, words: &mut BTreeSet<String>) {
    match schema {
        Json::Object(map) => {
            for (key, value) in map {
                match (key.as_str(), value) {
                    ("properties", Json::Object(members)) => names.extend(members.keys().cloned()),
                    ("const", Json::String(word)) => drop(words.insert(word.clone())),
                    ("enum", Json::Array(all)) => {
                        words.extend(all.iter().filter_map(Json::as_str).map(str::to_owned))
                    }
                    _ => {}
                }
                vocabulary(value, names, words);
            }
        }
        Json::Array(all) => all.iter().for_each(|s| vocabulary(s, names, words)),
        _ => {}
    }
}

fn count(value: &Json) -> usize {
    1 + match value {
        Json::Array(items) => items.iter().map(count).sum(),
        Json::Object(map) => map.values().map(count).sum(),
        _ => 0,
    }
}

fn formatted(format: &str) -> &'static [&'static str] {
    match format {
        "date-time" => &[
            "2024-02-29T12:30:00Z",
            "1999-12-31T23:59:59.123+02:00",
            "2026-11-30T00:00:00-05:00",
        ],
        "date" => &["2024-02-29", "1970-01-01"],
        "partial-date-time" => &["2024-02-29T12:30:00", "1999-12-31T23:59:59.5"],
        "partial-time" => &["12:30:00", "23:59:59.25"],
        "zoned-date-time" => &["2024-02-29T12:30:00+00:00[UTC]"],
        "duration" => &["PT1H", "P1DT2H", "PT0S", "PT12.5S"],
        "uuid" => &[
            "67e55044-10b1-426f-9247-bb680e5fe0c8",
            "00000000-0000-0000-0000-000000000000",
        ],
        "uri" => &[
            "https://example.com/",
            "https://example.com/a?b=c#d",
            "mailto:a@example.com",
        ],
        "email" => &["a@example.com"],
        "ipv4" => &["127.0.0.1", "255.255.255.255"],
        "ipv6" => &["::1", "2001:db8::8a2e:370:7334"],
        "ip-network" => &["10.0.0.0/8", "::/0"],
        "socket-address" => &["127.0.0.1:80", "[::1]:8080"],
        "semver" => &["1.2.3", "0.1.0-alpha.1+build.5"],
        "semver-requirement" => &["^1.2", ">=1, <2", "*"],
        "decimal" => &["1.5", "-0.25", "100"],
        "weekday" => &["Mon", "Sunday"],
        "month" => &["January", "December"],
        _ => &[],
    }
}
