//! Once decided: where it fails, why, and a value that shows it.

use std::collections::BTreeSet;
use std::fmt;

use flowx_manifest::Json;

use super::Tri;
use super::decide::{Engine, Need, Req, finite};
use crate::sample::{self, Seed};
use crate::schema::admit::admits;
use crate::schema::side::Flat;
use crate::schema::{Kind, Shape, Term};

/// Findings of one question; a change of everything is told by its first parts.
const MAX_FAILS: usize = 256;

/// One step from a schema to a schema inside it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Seg {
    /// A member.
    Prop(String),
    /// Members whose name matches.
    Pattern(String),
    /// Any other member.
    Rest,
    /// Names of members.
    Names,
    /// The element at an index.
    Item(usize),
    /// Any other element.
    Items,
    /// Into a named contract; what follows is relative to it.
    Ref(String),
}

/// What refuses.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Reason {
    /// The requirement is inside; never reported by itself.
    Inside,
    /// A member that must be there.
    Required(String),
    /// A member that must not.
    Member(String),
    /// Any member that is not declared.
    Closed,
    /// A value that is not among those listed.
    Value(Json),
    /// Anything that is not listed.
    Listed,
    /// A value that is excluded.
    Excluded(Json),
    /// `null`.
    Null,
    /// A type.
    Type(&'static str),
    /// A limit, by its keyword.
    Limit(&'static str),
    /// A pattern: another one than before, or one where none was.
    Pattern { pattern: String, changed: bool },
    /// One alternative of a union, named for people.
    Variant(String),
    /// A keyword that is taken as a whole.
    Opaque(String),
    /// Something in the schema that cannot be read.
    Unread(String),
    /// The work was more than the budget.
    Budget,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Inside => write!(f, "something inside"),
            Reason::Required(k) => write!(f, "the member `{k}` must be there"),
            Reason::Member(k) => write!(f, "the member `{k}` is refused"),
            Reason::Closed => write!(f, "undeclared members are refused"),
            Reason::Value(v) => write!(f, "the value {v} is refused"),
            Reason::Listed => write!(f, "only listed values are accepted"),
            Reason::Excluded(v) => write!(f, "the value {v} is excluded"),
            Reason::Null => write!(f, "null is refused"),
            Reason::Type(t) => write!(f, "a value of type {t} is refused"),
            Reason::Limit(k) => write!(f, "{k} is stricter"),
            Reason::Pattern { pattern, .. } => write!(f, "the pattern {pattern} must match"),
            Reason::Variant(v) => write!(f, "the alternative {v} is refused"),
            Reason::Opaque(k) => write!(f, "not taken apart: {k}"),
            Reason::Unread(why) => write!(f, "cannot be read: {why}"),
            Reason::Budget => write!(f, "the comparison took more work than its budget"),
        }
    }
}

/// One obstacle.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Fail {
    pub(crate) path: Vec<Seg>,
    pub(crate) reason: Reason,
    pub(crate) tri: Tri,
    pub(crate) witness: Option<Json>,
}

impl Fail {
    /// The whole pointer, references left out.
    pub(crate) fn pointer(&self) -> String {
        pointer(&self.path)
    }

    /// The innermost contract on the way and the pointer inside it.
    pub(crate) fn place(&self) -> (Option<&str>, String) {
        let last = self.path.iter().rposition(|s| matches!(s, Seg::Ref(_)));
        match last {
            Some(i) => {
                let name = match &self.path[i] {
                    Seg::Ref(name) => Some(name.as_str()),
                    _ => None,
                };
                (name, pointer(&self.path[i + 1..]))
            }
            None => (None, self.pointer()),
        }
    }
}

pub(crate) fn pointer(path: &[Seg]) -> String {
    let escape = |s: &str| s.replace('~', "~0").replace('/', "~1");
    path.iter()
        .map(|seg| match seg {
            Seg::Prop(k) => format!("/properties/{}", escape(k)),
            Seg::Pattern(p) => format!("/patternProperties/{}", escape(p)),
            Seg::Rest => "/additionalProperties".to_owned(),
            Seg::Names => "/propertyNames".to_owned(),
            Seg::Item(i) => format!("/prefixItems/{i}"),
            Seg::Items => "/items".to_owned(),
            Seg::Ref(_) => String::new(),
        })
        .collect()
}

impl<'a> Engine<'a> {
    /// Every obstacle between the roots, whose answer is `root`.
    pub(super) fn explain(&mut self, root: Tri) -> Vec<Fail> {
        let fail = |reason| {
            vec![Fail {
                path: Vec::new(),
                reason,
                tri: Tri::Maybe,
                witness: None,
            }]
        };
        if self.exhausted {
            return fail(Reason::Budget);
        }
        let (a, b) = self.roots();
        let mut fails = self.terms(a, b, &mut BTreeSet::new());
        fails.truncate(MAX_FAILS);
        if fails.is_empty() {
            let mut rest = fail(Reason::Unread(
                "several alternatives that may overlap".into(),
            ));
            rest[0].tri = root.min(Tri::Maybe);
            return rest;
        }
        fails
    }

    fn terms(&mut self, a: Term, b: Term, seen: &mut BTreeSet<(Term, Term)>) -> Vec<Fail> {
        if !seen.insert((a, b)) || seen.len() > 4 * MAX_FAILS {
            return Vec::new();
        }
        let (sub, sup) = self.flats(a, b);
        if let Some(why) = sub.gave_up.clone().or_else(|| sup.gave_up.clone()) {
            return vec![Fail {
                path: Vec::new(),
                reason: Reason::Unread(why),
                tri: Tri::Maybe,
                witness: None,
            }];
        }
        let mut out = Vec::new();
        let mut types = BTreeSet::new();
        for (i, s) in sub.shapes.iter().enumerate() {
            let tri = self.covered(s, &sup);
            if tri == Tri::Yes {
                continue;
            }
            let here = |reason, witness| Fail {
                path: Vec::new(),
                reason,
                tri,
                witness,
            };
            let fits: Vec<&Shape<'a>> = sup.shapes.iter().filter(|t| t.kind == s.kind).collect();
            if s.kind == Kind::Null {
                out.push(here(Reason::Null, Some(Json::Null)));
            } else if fits.is_empty() {
                if types.insert(s.kind) {
                    let witness = sample::make_shape(&mut self.sub, s, &mut Seed::least(), 0);
                    out.push(here(Reason::Type(s.word()), witness));
                }
            } else if let Some(values) = finite(s) {
                let path = common_ref(s, &fits)
                    .map(Seg::Ref)
                    .into_iter()
                    .collect::<Vec<_>>();
                for value in values {
                    if admits(&mut self.sub, s, &value) == Some(false) {
                        continue;
                    }
                    let answers: Vec<Tri> = fits
                        .iter()
                        .map(|t| Tri::from(admits(&mut self.sup, t, &value)))
                        .collect();
                    let tri = answers.into_iter().min().unwrap_or(Tri::No);
                    if tri != Tri::Yes {
                        out.push(Fail {
                            path: path.clone(),
                            reason: Reason::Value(value.clone()),
                            tri,
                            witness: Some(value),
                        });
                    }
                }
            } else {
                match self.partner(s, &sub, &fits) {
                    Some(t) => out.extend(self.shapes(s, t, seen)),
                    None => {
                        let witness = sample::make_shape(&mut self.sub, s, &mut Seed::least(), 0);
                        let name = self.name_of(s, i);
                        let mut fail = here(Reason::Variant(name), witness);
                        fail.path.extend(common_ref(s, &fits).map(Seg::Ref));
                        out.push(fail);
                    }
                }
            }
        }
        out
    }

    /// The shape of the other side that this one is meant to be: of the same contract, of the same tag, or the only one.
    fn partner<'b>(
        &mut self,
        s: &Shape<'a>,
        sub: &Flat<'a>,
        fits: &[&'b Shape<'a>],
    ) -> Option<&'b Shape<'a>> {
        if let [only] = fits
            && sub.shapes.iter().filter(|x| x.kind == s.kind).count() == 1
        {
            return Some(only);
        }
        let tag = self.tag_of(s);
        if let Some((key, value)) = &tag {
            return fits.iter().copied().find(|t| {
                self.sup.member(t, key).is_some_and(|(term, _)| {
                    let flat = self.sup.flat(term);
                    !flat.shapes.is_empty()
                        && flat
                            .shapes
                            .iter()
                            .all(|x| finite(x).is_some_and(|v| v.contains(value)))
                })
            });
        }
        let last = |x: &Shape<'_>| x.refs.last().cloned();
        let alone = sub
            .shapes
            .iter()
            .filter(|x| x.kind == s.kind && last(x) == last(s))
            .count()
            == 1;
        let mut same = fits
            .iter()
            .filter(|t| last(s).is_some() && last(t) == last(s));
        if let (true, Some(t), None) = (alone, same.next(), same.next()) {
            return Some(t);
        }
        // Externally tagged: one member that must be there.
        let mut required = s.required.iter();
        if let (Some(key), None) = (required.next(), required.next()) {
            return fits
                .iter()
                .copied()
                .find(|t| t.required.len() == 1 && t.required.contains(key));
        }
        None
    }

    /// The member that tells an alternative apart, and its one value.
    fn tag_of(&mut self, s: &Shape<'a>) -> Option<(String, Json)> {
        for key in s.required.iter().copied().collect::<Vec<_>>() {
            let (term, _) = self.sub.member(s, key)?;
            let flat = self.sub.flat(term);
            if let [only] = flat.shapes.as_slice()
                && let Some([value]) = finite(only).as_deref()
            {
                return Some((key.to_owned(), value.clone()));
            }
        }
        None
    }

    fn name_of(&mut self, s: &Shape<'a>, index: usize) -> String {
        if let Some((key, value)) = self.tag_of(s) {
            return format!("`{key}`: {value}");
        }
        let mut required = s.required.iter();
        match (s.refs.last(), required.next(), required.next()) {
            (Some(name), ..) => format!("`{name}`"),
            (None, Some(key), None) => format!("`{key}`"),
            _ => format!("number {}", index + 1),
        }
    }

    /// The obstacles between two shapes of one kind.
    fn shapes(
        &mut self,
        s: &Shape<'a>,
        t: &Shape<'a>,

        seen: &mut BTreeSet<(Term, Term)>,
    ) -> Vec<Fail> {
        let mut out = Vec::new();
        for Req { seg, reason, need } in self.requirements(s, t, None) {
            match need {
                Need::Now(Tri::Yes) => {}
                Need::Now(own) => {
                    let witness = self.witness(s, t, &reason);
                    let path = seg.into_iter().collect();
                    // A witness found by the algebra settles it: the limits of both sides were looked at.
                    out.push(Fail {
                        path,
                        reason,
                        tri: own,
                        witness,
                    });
                }
                Need::Child(a, b) | Need::Perhaps(a, b) => {
                    if self.state(a, b) == Tri::Yes {
                        continue;
                    }
                    let Some(seg) = seg else { continue };
                    for mut fail in self.terms(a, b, seen) {
                        if matches!(need, Need::Perhaps(..)) {
                            fail.tri = fail.tri.min(Tri::Maybe);
                        }
                        fail.witness = fail.witness.and_then(|w| self.wrap(s, t, &seg, w));
                        fail.path.insert(0, seg.clone());
                        out.push(fail);
                    }
                }
            }
        }
        if let Some(name) = common_ref(s, &[t]) {
            for fail in &mut out {
                fail.path.insert(0, Seg::Ref(name.clone()));
            }
        }
        out
    }

    /// A value of the inner shape that the reason refuses.
    fn witness(&mut self, s: &Shape<'a>, t: &Shape<'a>, reason: &Reason) -> Option<Json> {
        let least = &mut Seed::least();
        match (s.kind, reason) {
            (_, Reason::Required(key)) => {
                sample::object(&mut self.sub, s, least, 0, &[(key.as_str(), None)])
            }
            (_, Reason::Member(key)) => {
                let (term, _) = self.sub.member(s, key)?;
                let value = sample::make(&mut self.sub, term, least, 1)?;
                sample::object(&mut self.sub, s, least, 0, &[(key.as_str(), Some(value))])
            }
            (_, Reason::Closed) => {
                let term = self.sub.rest(s);
                let value = sample::make(&mut self.sub, term, least, 1)?;
                let key = undeclared(s, t);
                sample::object(&mut self.sub, s, least, 0, &[(key.as_str(), Some(value))])
            }
            (_, Reason::Excluded(value)) => Some(value.clone()),
            (Kind::Array | Kind::Object, Reason::Limit(keyword)) => {
                let mut narrowed = s.clone();
                match *keyword {
                    "minItems" | "minProperties" => {
                        narrowed.size_max = Some(t.size_min.saturating_sub(1))
                    }
                    "maxItems" | "maxProperties" => {
                        narrowed.size_min = t.size_max?.saturating_add(1)
                    }
                    _ => {
                        let term = self.sub.element(s, 0);
                        let one = sample::make(&mut self.sub, term, least, 1)?;
                        let n = usize::try_from(s.size_min.max(2))
                            .ok()
                            .filter(|n| *n <= sample::MAX_ITEMS)?;
                        return Some(Json::Array(vec![one; n]));
                    }
                }
                sample::make_shape(&mut self.sub, &narrowed, least, 0)
            }
            (Kind::Array | Kind::Object, _) => None,
            _ => {
                let edges = sample::edges(&mut self.sub, s, t);
                edges.into_iter().find(|v| {
                    admits(&mut self.sub, s, v) == Some(true)
                        && admits(&mut self.sup, t, v) == Some(false)
                })
            }
        }
    }

    /// A value of the shape that holds the inner value at the place.
    fn wrap(&mut self, s: &Shape<'a>, t: &Shape<'a>, seg: &Seg, inner: Json) -> Option<Json> {
        let least = &mut Seed::least();
        match seg {
            Seg::Prop(key) => {
                sample::object(&mut self.sub, s, least, 0, &[(key.as_str(), Some(inner))])
            }
            Seg::Rest => {
                let key = undeclared(s, t);
                sample::object(&mut self.sub, s, least, 0, &[(key.as_str(), Some(inner))])
            }
            Seg::Pattern(pattern) => {
                let mut named = Shape::any(Kind::String);
                let pattern = pattern.clone();
                named.patterns.insert(&pattern);
                let key = sample::strings(&named, least).into_iter().next()?;
                sample::object(&mut self.sub, s, least, 0, &[(key.as_str()?, Some(inner))])
            }
            Seg::Names => {
                let key = inner.as_str()?.to_owned();
                let (term, _) = self.sub.member(s, &key)?;
                let value = sample::make(&mut self.sub, term, least, 1)?;
                sample::object(&mut self.sub, s, least, 0, &[(key.as_str(), Some(value))])
            }
            Seg::Item(_) | Seg::Items => {
                let prefix =
                    |x: &Shape<'_>| x.rows.iter().map(|r| r.prefix.len()).max().unwrap_or(0);
                let at = if let Seg::Item(i) = seg {
                    *i
                } else {
                    prefix(s).max(prefix(t))
                };
                let n = (at + 1).max(
                    usize::try_from(s.size_min)
                        .ok()
                        .filter(|n| *n <= sample::MAX_ITEMS)?,
                );
                let mut items = Vec::new();
                for i in 0..n {
                    let term = self.sub.element(s, i);
                    items.push(if i == at {
                        inner.clone()
                    } else {
                        sample::make(&mut self.sub, term, least, 1)?
                    });
                }
                Some(Json::Array(items))
            }
            Seg::Ref(_) => Some(inner),
        }
    }
}

/// A name that neither side declares.
fn undeclared(s: &Shape<'_>, t: &Shape<'_>) -> String {
    let known: BTreeSet<&str> = s.declared().into_iter().chain(t.declared()).collect();
    let mut name = "undeclared".to_owned();
    while known.contains(name.as_str()) {
        name.push('_');
    }
    name
}

/// The innermost reference that both sides came through.
fn common_ref(s: &Shape<'_>, fits: &[&Shape<'_>]) -> Option<String> {
    s.refs
        .iter()
        .rev()
        .find(|r| fits.iter().any(|t| t.refs.contains(r)))
        .cloned()
}
