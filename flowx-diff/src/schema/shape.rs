//! A set of JSON values of one type.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use flowx_manifest::Json;
use flowx_manifest::json::Number;

use super::decimal::Decimal;

/// The type of a value. `integer` is a number without a fraction, as the standard says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Kind {
    Null,
    Bool,
    Number,
    String,
    Array,
    Object,
}

impl Kind {
    pub(crate) const ALL: [Kind; 6] = [
        Kind::Null,
        Kind::Bool,
        Kind::Number,
        Kind::String,
        Kind::Array,
        Kind::Object,
    ];

    pub(crate) fn of(value: &Json) -> Kind {
        match value {
            Json::Null => Kind::Null,
            Json::Bool(_) => Kind::Bool,
            Json::Number(_) => Kind::Number,
            Json::String(_) => Kind::String,
            Json::Array(_) => Kind::Array,
            Json::Object(_) => Kind::Object,
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Kind::Null => "null",
            Kind::Bool => "boolean",
            Kind::Number => "number",
            Kind::String => "string",
            Kind::Array => "array",
            Kind::Object => "object",
        }
    }
}

/// One end of an interval.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Bound {
    pub(crate) at: Number,
    pub(crate) exclusive: bool,
}

/// What one object schema says of members. Layers stay apart, since `additionalProperties` sees the `properties` of its
/// own schema only.
#[derive(Clone, Debug)]
pub(crate) struct Layer<'a> {
    pub(crate) props: BTreeMap<&'a str, &'a Json>,
    pub(crate) patterns: Vec<(&'a str, &'a Json)>,
    pub(crate) rest: &'a Json,
    /// Whether `additionalProperties` stands there, be it `true`.
    pub(crate) says_rest: bool,
}

/// What one array schema says of elements.
#[derive(Clone, Debug)]
pub(crate) struct Row<'a> {
    pub(crate) prefix: Vec<&'a Json>,
    pub(crate) items: &'a Json,
}

/// One member of the union: every value of the kind that satisfies all of it.
#[derive(Clone, Debug)]
pub(crate) struct Shape<'a> {
    pub(crate) kind: Kind,
    /// The only values, where they are listed.
    pub(crate) values: Option<Vec<Json>>,
    /// Values that `not` takes out.
    pub(crate) excluded: Vec<Json>,
    pub(crate) integer: bool,
    pub(crate) min: Option<Bound>,
    pub(crate) max: Option<Bound>,
    pub(crate) multiples: Vec<Number>,
    /// Characters, elements or members.
    pub(crate) size_min: u64,
    pub(crate) size_max: Option<u64>,
    pub(crate) patterns: BTreeSet<&'a str>,
    pub(crate) format: Option<&'a str>,
    pub(crate) rows: Vec<Row<'a>>,
    pub(crate) unique: bool,
    pub(crate) layers: Vec<Layer<'a>>,
    pub(crate) required: BTreeSet<&'a str>,
    pub(crate) names: Vec<&'a Json>,
    /// Keywords that this model does not take apart, and every `oneOf` whose branches may overlap (a value may be refused
    /// for fitting two): equal ones are equal, others undecided.
    pub(crate) opaque: BTreeSet<String>,
    /// The references that led here, outermost first.
    pub(crate) refs: Vec<String>,
}

impl<'a> Shape<'a> {
    /// Every value of the kind.
    pub(crate) fn any(kind: Kind) -> Shape<'a> {
        Shape {
            kind,
            values: None,
            excluded: Vec::new(),
            integer: false,
            min: None,
            max: None,
            multiples: Vec::new(),
            size_min: 0,
            size_max: None,
            patterns: BTreeSet::new(),
            format: None,
            rows: Vec::new(),
            unique: false,
            layers: Vec::new(),
            required: BTreeSet::new(),
            names: Vec::new(),
            opaque: BTreeSet::new(),
            refs: Vec::new(),
        }
    }

    /// The values in both; `None` when the kinds differ or nothing can be in both.
    pub(crate) fn and(&self, other: &Shape<'a>) -> Option<Shape<'a>> {
        if self.kind != other.kind {
            return None;
        }
        let mut out = self.clone();
        out.values = match (&self.values, &other.values) {
            (Some(a), Some(b)) => Some(a.iter().filter(|v| b.contains(v)).cloned().collect()),
            (a, b) => a.clone().or_else(|| b.clone()),
        };
        for e in &other.excluded {
            if !out.excluded.contains(e) {
                out.excluded.push(e.clone());
            }
        }
        out.integer |= other.integer;
        out.min = tighter(&self.min, &other.min, Ordering::Greater);
        out.max = tighter(&self.max, &other.max, Ordering::Less);
        for m in &other.multiples {
            if !out.multiples.contains(m) {
                out.multiples.push(m.clone());
            }
        }
        out.size_min = self.size_min.max(other.size_min);
        out.size_max = match (self.size_max, other.size_max) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        out.patterns.extend(&other.patterns);
        out.format = self.format.or(other.format);
        out.rows.extend(other.rows.iter().cloned());
        out.unique |= other.unique;
        out.layers.extend(other.layers.iter().cloned());
        out.required.extend(&other.required);
        out.names.extend(&other.names);
        out.opaque.extend(other.opaque.iter().cloned());
        out.refs.extend(other.refs.iter().cloned());
        (!out.is_void()).then_some(out)
    }

    /// Whether the numbers alone leave nothing.
    pub(crate) fn is_void(&self) -> bool {
        if self.values.as_ref().is_some_and(Vec::is_empty)
            || self.size_max.is_some_and(|m| m < self.size_min)
        {
            return true;
        }
        match (&self.min, &self.max) {
            (Some(a), Some(b)) => match compare(&a.at, &b.at) {
                Ordering::Greater => true,
                Ordering::Equal => a.exclusive || b.exclusive,
                Ordering::Less => false,
            },
            _ => false,
        }
    }

    /// Whether nothing narrows the kind.
    pub(crate) fn is_any(&self) -> bool {
        self.values.is_none()
            && self.excluded.is_empty()
            && !self.integer
            && self.min.is_none()
            && self.max.is_none()
            && self.multiples.is_empty()
            && self.size_min == 0
            && self.size_max.is_none()
            && self.patterns.is_empty()
            && self.rows.is_empty()
            && !self.unique
            && self.layers.is_empty()
            && self.required.is_empty()
            && self.names.is_empty()
            && self.opaque.is_empty()
    }

    /// Names of members that are declared by `properties`.
    pub(crate) fn declared(&self) -> BTreeSet<&'a str> {
        self.layers
            .iter()
            .flat_map(|l| l.props.keys().copied())
            .collect()
    }

    /// The word for people.
    pub(crate) fn word(&self) -> &'static str {
        if self.integer {
            "integer"
        } else {
            self.kind.name()
        }
    }
}

fn tighter(a: &Option<Bound>, b: &Option<Bound>, wins: Ordering) -> Option<Bound> {
    match (a, b) {
        (Some(x), Some(y)) => {
            let order = compare(&x.at, &y.at);
            Some(
                if order == wins || (order == Ordering::Equal && x.exclusive) {
                    x.clone()
                } else {
                    y.clone()
                },
            )
        }
        (x, y) => x.clone().or_else(|| y.clone()),
    }
}

/// Exact, but for numbers of more digits than 128 bits hold.
pub(crate) fn compare(a: &Number, b: &Number) -> Ordering {
    let exact = || Decimal::of(a)?.compare(Decimal::of(b)?);
    let rounded = || {
        a.as_f64()
            .partial_cmp(&b.as_f64())
            .unwrap_or(Ordering::Equal)
    };
    exact().unwrap_or_else(rounded)
}
