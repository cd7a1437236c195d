//! Values of a schema: small ones, varied ones, and ones that are nearly right.
//!
//! Everything is a function of a seed, so that a failing property test can be run again.

use flowx_manifest::Json;
use regex_syntax::hir::{Class, Hir, HirKind};

use crate::schema::admit::{admits, in_range};
use crate::schema::shape::compare;
use crate::schema::{Doc, Kind, Shape, Side, Term};

/// Members and elements inside one another; deeper values are not made.
const DEPTH: usize = 24;
/// Beyond this depth only what must be there is made.
const LUSH: usize = 3;
/// Characters of a text that varies, and steps that writing one may take.
const MAX_TEXT: usize = 4096;
/// Characters of a text that is just longer than a limit.
const MAX_LENGTH: u64 = 1 << 20;
/// Elements of an array that is just longer than a limit.
pub(crate) const MAX_ITEMS: usize = 1 << 16;

/// Values that one seed may take in hand: an array of as many elements as a witness may have, and some more. Schemas stand
/// inside one another, and each may be tried again for the next, so that no limit of a single one bounds the whole.
const WORK: u32 = 70_000;
/// Values that are made of one side of a question, for all seeds together.
pub(crate) const WORK_OF_A_SIDE: u32 = 150_000;

/// Numbers that look random and are not (SplitMix64).
#[derive(Clone, Debug)]
pub struct Seed {
    state: u64,
    work: u32,
}

impl Seed {
    /// The smallest choice everywhere.
    pub fn least() -> Seed {
        Seed::new(0)
    }

    /// A seed; `0` is [`Seed::least`].
    pub fn new(seed: u64) -> Seed {
        Seed {
            state: seed,
            work: WORK,
        }
    }

    /// Whether it makes choices at all.
    fn varied(&self) -> bool {
        self.state != 0
    }

    /// Another seed's choices on this one's work.
    fn other<T>(&mut self, seed: u64, with: impl FnOnce(&mut Seed) -> T) -> T {
        let mut other = Seed {
            state: seed,
            work: self.work,
        };
        let out = with(&mut other);
        self.work = other.work;
        out
    }

    fn spend(&mut self) -> Option<()> {
        self.work = self.work.checked_sub(1)?;
        Some(())
    }

    fn below(&mut self, n: usize) -> usize {
        if !self.varied() || n < 2 {
            return 0;
        }
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) % n as u64) as usize
    }

    fn coin(&mut self) -> bool {
        self.below(2) == 1
    }
}

/// Values that fit the schema, at most `count`, without repetitions; the first is a small one. What they fit is what
/// the schema says by 2020-12, references inside `#` included; for schemas with keywords that this crate does not take
/// apart some may not fit, so check them with a validator where that matters.
pub fn values(schema: &Json, seed: u64, count: usize) -> Vec<Json> {
    let mut side = Side::new(Doc::alone(schema), "sample");
    let root = side.root();
    let mut out: Vec<Json> = make(&mut side, root, &mut Seed::least(), 0)
        .into_iter()
        .collect();
    for i in 0..count as u64 * 4 {
        if out.len() >= count {
            break;
        }
        let mut seed = Seed::new(
            seed.wrapping_mul(0x2545_F491_4F6C_DD1D)
                .wrapping_add(i)
                .max(1),
        );
        if let Some(value) = make(&mut side, root, &mut seed, 0)
            && !out.contains(&value)
        {
            out.push(value);
        }
    }
    out
}

/// Values one step away from a given one: a member dropped, added or of another type, a number moved, a text longer or
/// empty, an element more or fewer. Whether they fit is not said.
pub fn neighbours(value: &Json) -> Vec<Json> {
    let mut out: Vec<Json> = [
        Json::Null,
        Json::from(true),
        Json::from(0),
        Json::from("x"),
        Json::Array(vec![]),
        Json::empty(),
    ]
    .into_iter()
    .filter(|v| Kind::of(v) != Kind::of(value))
    .collect();
    match value {
        Json::Null | Json::Bool(_) => {}
        Json::Number(n) => {
            if let Some(i) = n.as_i128() {
                out.extend(
                    [
                        i.saturating_add(1),
                        i.saturating_sub(1),
                        -1,
                        i128::from(u64::MAX),
                    ]
                    .map(Json::from),
                );
            }
            out.push(Json::from_f64(n.as_f64() + 0.5));
        }
        Json::String(s) => {
            out.extend(
                [
                    String::new(),
                    format!("{s}x"),
                    format!("{s}{s}{s}{s}"),
                    " ".to_owned(),
                ]
                .map(Json::from),
            );
        }
        Json::Array(items) => {
            out.push(Json::Array(items.iter().skip(1).cloned().collect()));
            out.push(Json::Array(
                items.iter().chain(items.first()).cloned().collect(),
            ));
            for (i, item) in items.iter().enumerate() {
                for next in neighbours(item) {
                    let mut changed = items.clone();
                    changed[i] = next;
                    out.push(Json::Array(changed));
                }
            }
        }
        Json::Object(map) => {
            let mut more = map.clone();
            more.insert("undeclared".to_owned(), Json::from(0));
            out.push(Json::Object(more));
            for (key, member) in map {
                let mut fewer = map.clone();
                fewer.remove(key);
                out.push(Json::Object(fewer));
                for next in neighbours(member) {
                    let mut changed = map.clone();
                    changed.insert(key.clone(), next);
                    out.push(Json::Object(changed));
                }
            }
        }
    }
    out
}

/// A value of the term; tries the shapes from one that the seed picks.
pub(crate) fn make<'a>(
    side: &mut Side<'a>,
    term: Term,
    seed: &mut Seed,
    depth: usize,
) -> Option<Json> {
    if depth > DEPTH {
        return None;
    }
    seed.spend()?;
    side.making = side.making.checked_sub(1)?;
    let flat = side.flat(term);
    side.steps += 1;
    let n = flat.shapes.len();
    let mut order: Vec<usize> = (0..n).collect();
    if seed.varied() && depth <= LUSH {
        order.rotate_left(seed.below(n));
    } else {
        // Scalars first: the way out of a recursive type.
        order.sort_by_key(|i| flat.shapes[*i].kind >= Kind::Array);
    }
    order
        .into_iter()
        .find_map(|i| make_shape(side, &flat.shapes[i], seed, depth))
}

/// A value of the shape.
pub(crate) fn make_shape<'a>(
    side: &mut Side<'a>,
    shape: &Shape<'a>,
    seed: &mut Seed,
    depth: usize,
) -> Option<Json> {
    if let Some(values) = &shape.values {
        let from = seed.below(values.len());
        let mut turned = values.iter().cycle().skip(from).take(values.len());
        return turned
            .find(|v| admits(side, shape, v) != Some(false))
            .cloned();
    }
    let candidates = match shape.kind {
        Kind::Null => vec![Json::Null],
        Kind::Bool => vec![Json::from(seed.coin()), Json::from(true), Json::from(false)],
        Kind::Number => numbers(shape, seed),
        Kind::String => strings(shape, seed),
        Kind::Array => return array(side, shape, seed, depth),
        Kind::Object => return object(side, shape, seed, depth, &[]),
    };
    candidates
        .into_iter()
        .find(|v| admits(side, shape, v) != Some(false))
}

/// Numbers at and around the bounds.
pub(crate) fn numbers(shape: &Shape<'_>, seed: &mut Seed) -> Vec<Json> {
    let mut out: Vec<Json> = Vec::new();
    let around = |n: &flowx_manifest::json::Number| -> Vec<Json> {
        match n.as_i128() {
            Some(i) => vec![
                Json::from(i),
                Json::from(i.saturating_add(1)),
                Json::from(i.saturating_sub(1)),
            ],
            None => {
                let f = n.as_f64();
                vec![
                    Json::from_f64(f),
                    Json::from(f.ceil() as i128),
                    Json::from(f.floor() as i128),
                    Json::from_f64(f + 0.5),
                ]
            }
        }
    };
    for bound in [&shape.min, &shape.max].into_iter().flatten() {
        out.extend(around(&bound.at));
    }
    for m in &shape.multiples {
        out.push(Json::Number(m.clone()));
        if let (Some(m), Some(low)) = (
            m.as_i128().filter(|m| *m != 0),
            shape.min.as_ref().and_then(|b| b.at.as_i128()),
        ) {
            out.push(Json::from((low / m).saturating_add(1).saturating_mul(m)));
        }
    }
    out.push(Json::from(0));
    out.push(Json::from(1));
    if let (Some(a), Some(b)) = (&shape.min, &shape.max) {
        out.push(Json::from_f64(f64::midpoint(a.at.as_f64(), b.at.as_f64())));
    }
    if !shape.integer {
        out.push(Json::from_f64(0.5));
    }
    if seed.varied() {
        out.insert(0, Json::from(seed.below(1000)));
        let at = seed.below(out.len());
        out.rotate_left(at);
    }
    out.retain(|v| v.as_number().is_some_and(|n| in_range(shape, n)));
    out
}

/// Texts of the shortest, the longest and other lengths, or of its pattern or format.
pub(crate) fn strings(shape: &Shape<'_>, seed: &mut Seed) -> Vec<Json> {
    let mut out: Vec<String> = Vec::new();
    for pattern in &shape.patterns {
        let translated = crate::schema::side::ecma(pattern);
        if let Some(hir) = translated.and_then(|p| regex_syntax::parse(&p).ok()) {
            for extra in [0, 1, 2, 3, 8, 40, 200] {
                let mut text = String::new();
                let mut work = MAX_TEXT;
                write(&hir, extra, seed, &mut text, &mut work);
                out.push(text);
            }
        }
    }
    match shape.format {
        Some("date-time") => out.push("2026-01-31T12:00:00Z".into()),
        Some("date") => out.push("2026-01-31".into()),
        Some("time") => out.push("12:00:00Z".into()),
        Some("duration") => out.push("PT30S".into()),
        Some("uuid") => out.push("9f3c1a70-0000-4000-8000-000000000001".into()),
        Some("email") => out.push("ada@example.org".into()),
        Some("uri" | "uri-reference") => out.push("https://example.org/".into()),
        Some("ipv4" | "ip") => out.push("192.0.2.1".into()),
        Some("ipv6") => out.push("2001:db8::1".into()),
        Some("hostname") => out.push("example.org".into()),
        _ => {}
    }
    let longest = MAX_TEXT as u64;
    let most = shape
        .size_max
        .unwrap_or(shape.size_min.saturating_add(8))
        .min(longest);
    let mut lengths = vec![shape.size_min.max(1).min(most), shape.size_min, most];
    if seed.varied() {
        lengths.insert(
            0,
            shape.size_min + seed.below((most.saturating_sub(shape.size_min) + 1) as usize) as u64,
        );
    }
    for n in lengths.into_iter().filter(|n| *n <= longest) {
        let letter = ["a", "b", "Z", "0", "é"][seed.below(5)];
        out.push(letter.repeat(n as usize));
    }
    out.into_iter().map(Json::from).collect()
}

/// A text of a regular expression: `extra` repetitions beyond the least. Repetitions stand inside one another, so what bounds
/// each of them bounds nothing: `work` counts them all, and a text that is cut short merely fails to match.
fn write(hir: &Hir, extra: u32, seed: &mut Seed, out: &mut String, work: &mut usize) {
    if *work == 0 {
        return;
    }
    *work -= 1;
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => {}
        HirKind::Literal(l) => out.push_str(&String::from_utf8_lossy(&l.0)),
        HirKind::Class(Class::Unicode(class)) => {
            let ranges = class.ranges();
            // A letter or digit where the class has one: control characters make poor witnesses.
            let good = ['a', '0', 'A', '-', '_', ' ']
                .into_iter()
                .find(|c| ranges.iter().any(|r| r.start() <= *c && *c <= r.end()));
            if let (0, Some(c)) = (seed.below(2), good) {
                out.push(c);
            } else if !ranges.is_empty() {
                out.push(ranges[seed.below(ranges.len())].start());
            }
        }
        HirKind::Class(Class::Bytes(class)) => {
            out.extend(class.ranges().first().map(|r| r.start() as char));
        }
        HirKind::Repetition(r) => {
            let n = (r.min.saturating_add(extra))
                .min(r.max.unwrap_or(u32::MAX))
                .min(r.min.max(256));
            for _ in 0..n {
                if *work == 0 {
                    return;
                }
                write(&r.sub, extra, seed, out, work);
            }
        }
        HirKind::Capture(c) => write(&c.sub, extra, seed, out, work),
        HirKind::Concat(parts) => parts.iter().for_each(|p| write(p, extra, seed, out, work)),
        HirKind::Alternation(parts) => {
            write(&parts[seed.below(parts.len())], extra, seed, out, work);
        }
    }
}

fn array<'a>(
    side: &mut Side<'a>,
    shape: &Shape<'a>,
    seed: &mut Seed,
    depth: usize,
) -> Option<Json> {
    // Elements that must differ are compared with one another.
    let most = if shape.unique { 1 << 10 } else { MAX_ITEMS };
    let least = usize::try_from(shape.size_min)
        .ok()
        .filter(|n| *n <= most)?;
    let mut n = least;
    if seed.varied() && depth <= LUSH {
        n += seed.below(3);
    }
    let n = shape
        .size_max
        .map_or(n, |m| n.min(usize::try_from(m).unwrap_or(n)));
    let mut items: Vec<Json> = Vec::new();
    for i in 0..n {
        let term = side.element(shape, i);
        match make(side, term, seed, depth + 1) {
            Some(item) if shape.unique && items.contains(&item) => {
                let other = (1..32).find_map(|s| {
                    seed.other(s, |seed| make(side, term, seed, depth + 1))
                        .filter(|v| !items.contains(v))
                });
                match other {
                    Some(other) => items.push(other),
                    None if i >= least => break,
                    None => return None,
                }
            }
            Some(item) => items.push(item),
            None if i >= least => break,
            None => return None,
        }
    }
    Some(Json::Array(items))
}

/// An object of the shape; the members given are put in as they are.
pub(crate) fn object<'a>(
    side: &mut Side<'a>,
    shape: &Shape<'a>,
    seed: &mut Seed,
    depth: usize,
    given: &[(&str, Option<Json>)],
) -> Option<Json> {
    let mut map = std::collections::BTreeMap::new();
    for (key, value) in given {
        if let Some(value) = value {
            map.insert((*key).to_owned(), value.clone());
        }
    }
    let is_given = |key: &str| given.iter().any(|(k, _)| *k == key);
    for key in shape.required.iter().copied().filter(|k| !is_given(k)) {
        let (term, _) = side.member(shape, key)?;
        map.insert(key.to_owned(), make(side, term, seed, depth + 1)?);
    }
    let room = |map: &std::collections::BTreeMap<String, Json>| {
        shape.size_max.is_none_or(|m| (map.len() as u64) < m)
    };
    for key in shape.declared() {
        let wanted =
            (map.len() as u64) < shape.size_min || (seed.varied() && depth <= LUSH && seed.coin());
        if !wanted || map.contains_key(key) || is_given(key) || !room(&map) {
            continue;
        }
        let (term, _) = side.member(shape, key)?;
        if let Some(value) = make(side, term, seed, depth + 1) {
            map.insert(key.to_owned(), value);
        }
    }
    let names = side.names(shape);
    let more = if seed.varied() && depth <= LUSH {
        seed.below(2) as u64
    } else {
        0
    };
    let mut tries = 0;
    while ((map.len() as u64) < shape.size_min || tries < more) && room(&map) && tries < 64 {
        tries += 1;
        let key = fresh(side, names, &map, tries, seed)?;
        let (term, declared) = side.member(shape, &key)?;
        if declared {
            continue;
        }
        // Only maps have members that nobody declared; an open record has none that anybody writes.
        let value = if side.is_any(term) && (map.len() as u64) >= shape.size_min {
            None
        } else {
            make(side, term, seed, depth + 1)
        };
        match value {
            Some(value) => {
                map.insert(key, value);
            }
            None if (map.len() as u64) < shape.size_min => return None,
            None => break,
        }
    }
    Some(Json::Object(map))
}

/// A name that is not there yet.
fn fresh<'a>(
    side: &mut Side<'a>,
    names: Term,
    map: &std::collections::BTreeMap<String, Json>,
    i: u64,
    seed: &mut Seed,
) -> Option<String> {
    let plain = format!("key{i}");
    if !map.contains_key(&plain)
        && crate::schema::admit::accepts(side, names, &Json::from(plain.as_str())) == Some(true)
    {
        return Some(plain);
    }
    (1..16).find_map(
        |s| match seed.other(s * 7919 + i, |seed| make(side, names, seed, 1)) {
            Some(Json::String(name)) if !map.contains_key(&name) => Some(name),
            _ => None,
        },
    )
}

/// Scalars at the edges of two shapes of one kind: what is in one and not in the other is among them, as a rule.
pub(crate) fn edges<'a>(side: &mut Side<'a>, sub: &Shape<'a>, sup: &Shape<'_>) -> Vec<Json> {
    let mut out: Vec<Json> = Vec::new();
    match sub.kind {
        Kind::Null => out.push(Json::Null),
        Kind::Bool => out.extend([Json::from(false), Json::from(true)]),
        Kind::Number => {
            out.extend(numbers(sub, &mut Seed::least()));
            let step = |n: &flowx_manifest::json::Number, d: i128| match n.as_i128() {
                Some(i) => Json::from(i.saturating_add(d)),
                None => Json::from_f64(n.as_f64() + d as f64),
            };
            for bound in [&sup.min, &sup.max].into_iter().flatten() {
                out.extend([0, -1, 1].map(|d| step(&bound.at, d)));
                out.push(Json::from_f64(bound.at.as_f64() + 0.5));
                out.push(Json::from_f64(bound.at.as_f64() - 0.5));
            }
            out.extend(sup.excluded.iter().cloned());
            out.extend([0.5, 1.5, -0.5].map(Json::from_f64));
            out.extend([0, 1, -1, 2, 3, 5, 7].map(Json::from));
            out.retain(|v| v.as_number().is_some_and(|n| compare(n, n).is_eq()));
        }
        Kind::String => {
            out.extend(strings(sub, &mut Seed::least()));
            for seed in 1..6 {
                out.extend(strings(sub, &mut Seed::new(seed)));
            }
            for n in [
                sup.size_min.saturating_sub(1),
                sup.size_max.map_or(0, |m| m.saturating_add(1)),
            ] {
                if n <= MAX_LENGTH {
                    out.push(Json::from("a".repeat(n as usize)));
                }
            }
            out.extend(sup.excluded.iter().cloned());
            out.push(Json::from(""));
        }
        Kind::Array | Kind::Object => {}
    }
    out.retain(|v| admits(side, sub, v) != Some(false));
    out
}
