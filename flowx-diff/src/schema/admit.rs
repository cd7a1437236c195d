//! Whether a value is in a shape, and whether two shapes have none in common.

use std::cmp::Ordering;

use flowx_manifest::Json;
use flowx_manifest::json::Number;

use super::decimal::Decimal;
use super::shape::{Kind, Shape, compare};
use super::side::{Side, Term};

/// Levels of members that the search for disjointness looks into.
const LOOK: usize = 3;

/// Whether the value fits the term. `None` when this model cannot tell.
pub(crate) fn accepts<'a>(side: &mut Side<'a>, term: Term, value: &Json) -> Option<bool> {
    let flat = side.flat(term);
    if flat.gave_up.is_some() {
        return None;
    }
    side.steps += 1;
    let mut unknown = false;
    for shape in &flat.shapes {
        match admits(side, shape, value) {
            Some(true) => return Some(true),
            Some(false) => {}
            None => unknown = true,
        }
    }
    if unknown { None } else { Some(false) }
}

/// Whether the value is in the shape. `None` when this model cannot tell.
pub(crate) fn admits<'a>(side: &mut Side<'a>, shape: &Shape<'a>, value: &Json) -> Option<bool> {
    if Kind::of(value) != shape.kind {
        return Some(false);
    }
    let value = &super::side::plain(value);
    if shape.values.as_ref().is_some_and(|l| !l.contains(value)) || shape.excluded.contains(value) {
        return Some(false);
    }
    let mut unknown = !shape.opaque.is_empty();
    let mut and = |answer: Option<bool>| -> bool {
        unknown |= answer.is_none();
        answer == Some(false)
    };
    let sized =
        |n: usize| n as u64 >= shape.size_min && shape.size_max.is_none_or(|m| n as u64 <= m);
    match value {
        Json::Null | Json::Bool(_) => {}
        Json::Number(n) => {
            let whole =
                || Decimal::of(n).map_or_else(|| n.as_f64().fract() == 0.0, Decimal::is_whole);
            if !in_range(shape, n) || (shape.integer && !whole()) {
                return Some(false);
            }
            for m in &shape.multiples {
                if and(multiple(n, m)) {
                    return Some(false);
                }
            }
        }
        Json::String(text) => {
            if !sized(text.chars().count()) {
                return Some(false);
            }
            for pattern in &shape.patterns {
                if and(side.regex(pattern).map(|r| r.is_match(text))) {
                    return Some(false);
                }
            }
        }
        Json::Array(items) => {
            let twice = |items: &[Json]| {
                items
                    .iter()
                    .enumerate()
                    .any(|(i, v)| items[..i].contains(v))
            };
            if !sized(items.len()) || (shape.unique && twice(items)) {
                return Some(false);
            }
            for (i, item) in items.iter().enumerate() {
                let term = side.element(shape, i);
                if and(accepts(side, term, item)) {
                    return Some(false);
                }
            }
        }
        Json::Object(map) => {
            if !sized(map.len()) || shape.required.iter().any(|k| !map.contains_key(*k)) {
                return Some(false);
            }
            let names = side.names(shape);
            for (key, member) in map {
                let answer = match side.member(shape, key) {
                    Some((term, _)) => accepts(side, term, member),
                    None => None,
                };
                if and(answer) || and(accepts(side, names, &Json::from(key.as_str()))) {
                    return Some(false);
                }
            }
        }
    }
    if unknown { None } else { Some(true) }
}

pub(crate) fn in_range(shape: &Shape<'_>, n: &Number) -> bool {
    let above = shape.min.as_ref().is_none_or(|b| match compare(n, &b.at) {
        Ordering::Greater => true,
        Ordering::Equal => !b.exclusive,
        Ordering::Less => false,
    });
    let below = shape.max.as_ref().is_none_or(|b| match compare(n, &b.at) {
        Ordering::Less => true,
        Ordering::Equal => !b.exclusive,
        Ordering::Greater => false,
    });
    above && below
}

/// Whether `n` is a whole number of times `m`. `None` where it cannot be told exactly.
pub(crate) fn multiple(n: &Number, m: &Number) -> Option<bool> {
    Decimal::of(n)?.is_multiple_of(Decimal::of(m)?)
}

/// Whether no value can be in two of the branches.
pub(crate) fn pairwise_disjoint<'a>(side: &mut Side<'a>, branches: &[Vec<Shape<'a>>]) -> bool {
    for (i, a) in branches.iter().enumerate() {
        for b in &branches[i + 1..] {
            for x in a {
                for y in b {
                    if x.kind == y.kind && !disjoint(side, x, y, LOOK) {
                        return false;
                    }
                }
            }
        }
    }
    true
}

/// Whether the two shapes certainly have no value in common. Both are of one side.
fn disjoint<'a>(side: &mut Side<'a>, a: &Shape<'a>, b: &Shape<'a>, look: usize) -> bool {
    side.steps += 1;
    let Some(both) = a.and(b) else { return true };
    if let Some(values) = &both.values {
        return values
            .iter()
            .all(|v| admits(side, a, v) == Some(false) || admits(side, b, v) == Some(false));
    }
    if both.kind != Kind::Object || look == 0 {
        return false;
    }
    // Tags first: they decide without looking into anything that may lead back here.
    let mut keys: Vec<(bool, &str)> = both
        .required
        .iter()
        .map(|k| (!is_tag(a, k) || !is_tag(b, k), *k))
        .collect();
    keys.sort();
    for (_, key) in keys {
        let (Some((x, _)), Some((y, _))) = (side.member(a, key), side.member(b, key)) else {
            continue;
        };
        let (Some(x), Some(y)) = (side.flat_unless_busy(x), side.flat_unless_busy(y)) else {
            continue;
        };
        if x.gave_up.is_some() || y.gave_up.is_some() {
            continue;
        }
        let mut apart = true;
        'pairs: for s in &x.shapes {
            for t in &y.shapes {
                if s.kind == t.kind && !disjoint(side, s, t, look - 1) {
                    apart = false;
                    break 'pairs;
                }
            }
        }
        if apart {
            return true;
        }
    }
    false
}

/// Whether the member's values are listed where it is declared.
fn is_tag(shape: &Shape<'_>, key: &str) -> bool {
    shape.layers.iter().any(|l| {
        l.props
            .get(key)
            .is_some_and(|p| p.get("const").is_some() || p.get("enum").is_some())
            || (!l.props.contains_key(key) && *l.rest == Json::Bool(false))
    })
}
