//! The fixpoint: which pairs of terms are included.

use std::cmp::Ordering;
use std::collections::{BTreeSet, HashMap, VecDeque};
use std::rc::Rc;

use flowx_manifest::Json;

use super::explain::{Reason, Seg};
use super::{Question, Tri};
use crate::sample::{self, Seed};
use crate::schema::admit::{accepts, admits};
use crate::schema::decimal::Decimal;
use crate::schema::shape::{Bound, compare};
use crate::schema::side::Flat;
use crate::schema::{Kind, Shape, Side, Term};

/// A discriminator with more values than this is not split.
const MAX_SPLIT: usize = 128;

/// Beyond as many patterns in one object it is not looked at which of them a name may match at once.
const MAX_PATTERNS: usize = 6;

struct Pair {
    sub: Term,
    sup: Term,
    state: Tri,
    dependents: BTreeSet<usize>,
    queued: bool,
}

/// One thing that must hold for a shape to be inside another.
pub(super) struct Req {
    pub(super) seg: Option<Seg>,
    pub(super) reason: Reason,
    pub(super) need: Need,
}

pub(super) enum Need {
    Now(Tri),
    Child(Term, Term),
    /// The same for values that there may be none of: a no is a perhaps.
    Perhaps(Term, Term),
}

pub(super) struct Engine<'a> {
    pub(super) sub: Side<'a>,
    pub(super) sup: Side<'a>,
    emitted: bool,
    limit: u64,
    steps: u64,
    pairs: Vec<Pair>,
    ids: HashMap<(Term, Term), usize>,
    queue: VecDeque<usize>,
    current: Option<usize>,
    pub(super) exhausted: bool,
}

impl<'a> Engine<'a> {
    pub(super) fn new(question: &Question<'a>) -> Self {
        Engine {
            sub: Side::new(question.sub, "subset"),
            sup: Side::new(question.sup, "superset"),
            emitted: question.emitted,
            limit: question.budget.steps,
            steps: 0,
            pairs: Vec::new(),
            ids: HashMap::new(),
            queue: VecDeque::new(),
            current: None,
            exhausted: false,
        }
    }

    pub(super) fn roots(&mut self) -> (Term, Term) {
        (self.sub.root(), self.sup.root())
    }

    /// Runs to the fixpoint and gives the answer for the roots.
    pub(super) fn decide(&mut self) -> Tri {
        let (a, b) = self.roots();
        self.state(a, b);
        while let Some(id) = self.queue.pop_front() {
            self.pairs[id].queued = false;
            if self.pairs[id].state == Tri::No {
                continue;
            }
            if self.spent() > self.limit {
                self.exhausted = true;
                return Tri::Maybe;
            }
            self.current = Some(id);
            let (sub, sup) = (self.pairs[id].sub, self.pairs[id].sup);
            let state = self.evaluate(sub, sup);
            self.current = None;
            if state > self.pairs[id].state {
                self.pairs[id].state = state;
                for dependent in std::mem::take(&mut self.pairs[id].dependents) {
                    self.enqueue(dependent);
                }
            }
        }
        self.state(a, b)
    }

    fn spent(&self) -> u64 {
        self.steps + self.sub.steps + self.sup.steps
    }

    fn enqueue(&mut self, id: usize) {
        if !self.pairs[id].queued {
            self.pairs[id].queued = true;
            self.queue.push_back(id);
        }
    }

    /// What is known of a pair by now; asked for the first time, it is assumed and queued.
    pub(super) fn state(&mut self, sub: Term, sup: Term) -> Tri {
        if self.sup.is_any(sup) {
            return Tri::Yes;
        }
        let id = match self.ids.get(&(sub, sup)) {
            Some(id) => *id,
            None => {
                let id = self.pairs.len();
                self.ids.insert((sub, sup), id);
                let same = self.is_same(sub, sup);
                self.pairs.push(Pair {
                    sub,
                    sup,
                    state: Tri::Yes,
                    dependents: BTreeSet::new(),
                    queued: false,
                });
                if !same {
                    self.enqueue(id);
                }
                id
            }
        };
        if let Some(current) = self.current {
            self.pairs[id].dependents.insert(current);
        }
        self.pairs[id].state
    }

    /// The same text, and the same meaning of every reference in it.
    fn is_same(&mut self, sub: Term, sup: Term) -> bool {
        let (a, b) = (self.sub.nodes(sub), self.sup.nodes(sup));
        a.len() == b.len()
            && a.iter().zip(b).all(|(x, y)| {
                (std::ptr::eq(*x, *y) || x == y)
                    && self.sub.doc.refs_are_same(x)
                    && self.sup.doc.refs_are_same(y)
            })
    }

    fn evaluate(&mut self, sub: Term, sup: Term) -> Tri {
        let (a, b) = (self.sub.flat(sub), self.sup.flat(sup));
        if a.gave_up.is_some() || b.gave_up.is_some() {
            return Tri::Maybe;
        }
        let mut worst = Tri::Yes;
        for shape in &a.shapes {
            worst = worst.max(self.covered(shape, &b));
            if worst == Tri::No {
                break;
            }
        }
        worst
    }

    /// Whether every value of the shape is in the union.
    pub(super) fn covered(&mut self, s: &Shape<'a>, union: &Flat<'a>) -> Tri {
        self.steps += 1;
        if self.is_void(s) {
            return Tri::Yes;
        }
        if let Some(values) = finite(s) {
            let mut worst = Tri::Yes;
            for value in &values {
                if admits(&mut self.sub, s, value) != Some(false) {
                    worst = worst.max(self.accepted(union, value));
                }
            }
            return worst;
        }
        let fits: Vec<&Shape<'a>> = union.shapes.iter().filter(|t| t.kind == s.kind).collect();
        let mut best = Tri::No;
        for t in &fits {
            best = best.min(self.within(s, t, None));
            if best == Tri::Yes {
                return Tri::Yes;
            }
        }
        if best == Tri::No && fits.len() > 1 {
            best = self.split(s, &fits);
        }
        best
    }

    /// Whether one of the union's shapes takes the value.
    fn accepted(&mut self, union: &Flat<'a>, value: &Json) -> Tri {
        let mut best = Tri::No;
        for t in &union.shapes {
            self.steps += 1;
            let answer = Tri::from(admits(&mut self.sup, t, value));
            best = best.min(answer);
        }
        best
    }

    /// Several shapes together may cover what none covers alone.
    fn split(&mut self, s: &Shape<'a>, fits: &[&Shape<'a>]) -> Tri {
        match s.kind {
            Kind::Object => {
                for key in s.required.iter().copied().collect::<Vec<_>>() {
                    let Some((term, _)) = self.sub.member(s, key) else {
                        continue;
                    };
                    let flat = self.sub.flat(term);
                    let values: Option<Vec<Json>> = flat
                        .shapes
                        .iter()
                        .map(finite)
                        .collect::<Option<Vec<_>>>()
                        .map(|v| v.concat());
                    let Some(values) = values.filter(|v| (2..=MAX_SPLIT).contains(&v.len())) else {
                        continue;
                    };
                    let mut worst = Tri::Yes;
                    for value in &values {
                        let best = fits
                            .iter()
                            .map(|t| self.within(s, t, Some((key, value))))
                            .min();
                        worst = worst.max(best.unwrap_or(Tri::No));
                    }
                    return worst;
                }
                Tri::Maybe
            }
            Kind::Number => {
                let plain = |t: &Shape<'_>| {
                    t.multiples.is_empty() && t.opaque.is_empty() && t.values.is_none()
                };
                let exact = plain(s) && s.excluded.is_empty();
                if fits
                    .iter()
                    .all(|t| plain(t) && t.excluded.is_empty() && (!t.integer || s.integer))
                {
                    return match (intervals_cover(s, fits), exact) {
                        (true, _) => Tri::Yes,
                        (false, true) => Tri::No,
                        (false, false) => Tri::Maybe,
                    };
                }
                Tri::Maybe
            }
            _ => Tri::Maybe,
        }
    }

    /// Whether the shape is inside the other; `pinned` fixes one member's value.
    pub(super) fn within(
        &mut self,
        s: &Shape<'a>,
        t: &Shape<'a>,
        pinned: Option<(&str, &Json)>,
    ) -> Tri {
        let mut worst = Tri::Yes;
        for req in self.requirements(s, t, pinned) {
            worst = worst.max(match req.need {
                Need::Now(tri) => tri,
                Need::Child(a, b) => self.state(a, b),
                Need::Perhaps(a, b) => self.state(a, b).min(Tri::Maybe),
            });
            if worst == Tri::No {
                break;
            }
        }
        worst
    }

    /// Everything that must hold for the shape to be inside the other. Both are of one kind.
    pub(super) fn requirements(
        &mut self,
        s: &Shape<'a>,
        t: &Shape<'a>,
        pinned: Option<(&str, &Json)>,
    ) -> Vec<Req> {
        self.steps += 1;
        let mut out = Vec::new();
        let mut now = |reason: Reason, tri: Tri| {
            if tri != Tri::Yes {
                out.push(Req {
                    seg: None,
                    reason,
                    need: Need::Now(tri),
                });
            }
        };
        if t.values.is_some() {
            now(Reason::Listed, Tri::No);
        }
        for e in &t.excluded {
            let answer = admits(&mut self.sub, s, e);
            now(
                Reason::Excluded(e.clone()),
                Tri::from(answer.map(|inside| !inside)),
            );
        }
        for o in &t.opaque {
            if !s.opaque.contains(o) {
                now(Reason::Opaque(o.clone()), Tri::Maybe);
            }
        }
        match s.kind {
            Kind::Null | Kind::Bool => {}
            Kind::Number => {
                let unit = Decimal::of(&1.into());
                let whole = s.integer
                    || s.multiples
                        .iter()
                        .any(|m| Decimal::of(m).is_some_and(Decimal::is_whole));
                if t.integer && !whole {
                    now(Reason::Type("number"), Tri::No);
                }
                if !bound_within(s.min.as_ref(), t.min.as_ref(), Ordering::Less, s.integer) {
                    now(Reason::Limit("minimum"), Tri::No);
                }
                if !bound_within(s.max.as_ref(), t.max.as_ref(), Ordering::Greater, s.integer) {
                    now(Reason::Limit("maximum"), Tri::No);
                }
                for m in &t.multiples {
                    let divides = |own: Decimal| {
                        Decimal::of(m).and_then(|m| own.is_multiple_of(m)) == Some(true)
                    };
                    let mut own: Vec<Decimal> =
                        s.multiples.iter().filter_map(Decimal::of).collect();
                    own.extend(unit.filter(|_| s.integer));
                    if !own.into_iter().any(divides) {
                        now(
                            Reason::Limit("multipleOf"),
                            if s.multiples.is_empty() {
                                Tri::No
                            } else {
                                Tri::Maybe
                            },
                        );
                    }
                }
            }
            Kind::String => {
                sizes(s, t, ["minLength", "maxLength"], &mut now);
                for pattern in &t.patterns {
                    if !s.patterns.contains(pattern) {
                        let reason = Reason::Pattern {
                            pattern: (*pattern).to_owned(),
                            changed: !s.patterns.is_empty(),
                        };
                        now(reason, Tri::Maybe);
                    }
                }
            }
            Kind::Array => {
                sizes(s, t, ["minItems", "maxItems"], &mut now);
                if t.unique && !s.unique && s.size_max.is_none_or(|m| m > 1) {
                    now(Reason::Limit("uniqueItems"), Tri::No);
                }
                self.elements(s, t, &mut out);
            }
            Kind::Object => {
                let counted = self.counted(s);
                sizes(&counted, t, ["minProperties", "maxProperties"], &mut now);
                self.members(s, t, pinned, &mut out);
            }
        }
        out
    }

    /// The object with as many members at least as must be there, and at most as can be.
    fn counted(&mut self, s: &Shape<'a>) -> Shape<'a> {
        let mut counted = s.clone();
        counted.size_min = s.size_min.max(s.required.len() as u64);
        let rest = self.sub.rest(s);
        if self.sub.is_void(rest) && s.layers.iter().all(|l| l.patterns.is_empty()) {
            let can_be = |key: &&str| {
                self.sub
                    .member(s, key)
                    .is_none_or(|(term, _)| !self.sub.is_void(term))
            };
            let most = s.declared().into_iter().filter(can_be).count() as u64;
            counted.size_max = Some(s.size_max.map_or(most, |m| m.min(most)));
        }
        counted
    }

    fn elements(&mut self, s: &Shape<'a>, t: &Shape<'a>, out: &mut Vec<Req>) {
        let prefix = |x: &Shape<'_>| x.rows.iter().map(|r| r.prefix.len()).max().unwrap_or(0);
        let n = prefix(s).max(prefix(t));
        for i in 0..=n {
            if s.size_max.is_some_and(|m| m <= i as u64) {
                break;
            }
            let (a, b) = (self.sub.element(s, i), self.sup.element(t, i));
            let seg = if i < n { Seg::Item(i) } else { Seg::Items };
            out.push(Req {
                seg: Some(seg),
                reason: Reason::Inside,
                need: Need::Child(a, b),
            });
        }
    }

    fn members(
        &mut self,
        s: &Shape<'a>,
        t: &Shape<'a>,
        pinned: Option<(&str, &Json)>,
        out: &mut Vec<Req>,
    ) {
        let mut push =
            |seg: Option<Seg>, reason: Reason, need: Need| out.push(Req { seg, reason, need });
        for key in &t.required {
            if !s.required.contains(key) {
                push(
                    None,
                    Reason::Required((*key).to_owned()),
                    Need::Now(Tri::No),
                );
            }
        }
        let keys: BTreeSet<&str> = s.declared().into_iter().chain(t.declared()).collect();
        for key in keys {
            let (Some((a, declared)), Some((b, _))) =
                (self.sub.member(s, key), self.sup.member(t, key))
            else {
                push(
                    None,
                    Reason::Opaque("patternProperties".into()),
                    Need::Now(Tri::Maybe),
                );
                continue;
            };
            if let Some((k, value)) = pinned
                && k == key
            {
                let answer = accepts(&mut self.sup, b, value);
                push(
                    Some(Seg::Prop(key.to_owned())),
                    Reason::Value(value.clone()),
                    Need::Now(Tri::from(answer)),
                );
                continue;
            }
            if self.sub.is_void(a) {
                continue;
            }
            if self.emitted && !declared && self.sub.is_any(a) && !s.required.contains(key) {
                continue;
            }
            if self.sup.is_void(b) {
                push(None, Reason::Member(key.to_owned()), Need::Now(Tri::No));
                continue;
            }
            push(
                Some(Seg::Prop(key.to_owned())),
                Reason::Inside,
                Need::Child(a, b),
            );
        }
        let mut named = false;
        let Some(sets) = matched(s, t) else {
            push(
                None,
                Reason::Opaque("patternProperties".into()),
                Need::Now(Tri::Maybe),
            );
            return;
        };
        for (matched, doubt) in sets {
            let a = self.sub.matching(s, &matched);
            let b = self.sup.matching(t, &matched);
            if self.sub.is_void(a) {
                continue;
            }
            named = true;
            let own = |p: &str| {
                s.layers
                    .iter()
                    .any(|l| l.patterns.iter().any(|(q, _)| *q == p))
            };
            let declared = matched.iter().any(|p| own(p));
            if self.emitted && !matched.is_empty() && !declared && self.sub.is_any(a) {
                continue;
            }
            let seg = match matched.first() {
                Some(pattern) => Seg::Pattern((*pattern).to_owned()),
                None if self.sup.is_void(b) => {
                    push(None, Reason::Closed, Need::Now(Tri::No));
                    continue;
                }
                None => Seg::Rest,
            };
            let need = if doubt {
                Need::Perhaps(a, b)
            } else {
                Need::Child(a, b)
            };
            push(Some(seg), Reason::Inside, need);
        }
        if named {
            let (a, b) = (self.sub.names(s), self.sup.names(t));
            let a = if self.sub.is_any(a) {
                self.sub.term(&[&ANY_STRING])
            } else {
                a
            };
            // Where patterns alone say which names there are, not every text is one.
            let rest = self.sub.rest(s);
            let need = if self.sub.is_void(rest) {
                Need::Perhaps(a, b)
            } else {
                Need::Child(a, b)
            };
            push(Some(Seg::Names), Reason::Inside, need);
        }
        if !t.names.is_empty() {
            let b = self.sup.names(t);
            for key in s.declared() {
                let answer = accepts(&mut self.sup, b, &Json::from(key));
                if answer != Some(true)
                    && self
                        .sub
                        .member(s, key)
                        .is_some_and(|(a, _)| !self.sub.is_void(a))
                {
                    push(
                        None,
                        Reason::Member(key.to_owned()),
                        Need::Now(Tri::from(answer)),
                    );
                }
            }
        }
    }

    /// Whether the shape is empty because a member that must be there cannot be.
    fn is_void(&mut self, s: &Shape<'a>) -> bool {
        if s.kind != Kind::Object {
            return s.is_void();
        }
        for key in s.required.iter().copied().collect::<Vec<_>>() {
            if let Some((term, _)) = self.sub.member(s, key)
                && self.sub.is_void(term)
            {
                return true;
            }
        }
        s.is_void()
    }

    /// Values of the subset's root.
    pub(super) fn samples(&mut self, count: u64) -> Vec<Json> {
        let root = self.sub.root();
        (0..count)
            .filter_map(|i| sample::make(&mut self.sub, root, &mut Seed::new(i), 0))
            .collect()
    }

    pub(super) fn flats(&mut self, a: Term, b: Term) -> (Rc<Flat<'a>>, Rc<Flat<'a>>) {
        (self.sub.flat(a), self.sup.flat(b))
    }
}

static ANY_STRING: std::sync::LazyLock<Json> =
    std::sync::LazyLock::new(|| Json::object([("type", Json::from("string"))]));

/// Which patterns of both sides a name that nobody declares may match at once, and whether it is doubtful that there is such a
/// name: none of them, each, and every two or more. `None` for more patterns than it is worth.
fn matched<'a>(s: &Shape<'a>, t: &Shape<'a>) -> Option<Vec<(Vec<&'a str>, bool)>> {
    let layers = s.layers.iter().chain(&t.layers);
    let all: BTreeSet<&'a str> = layers
        .flat_map(|l| l.patterns.iter().map(|(p, _)| *p))
        .collect();
    let all: Vec<&'a str> = all.into_iter().collect();
    if all.len() > MAX_PATTERNS {
        return None;
    }
    let sets = 0..1_usize << all.len();
    let mut sets: Vec<(Vec<&'a str>, bool)> = sets
        .map(|set| {
            let in_set = (0..all.len()).filter(|i| set >> i & 1 == 1);
            let matched: Vec<&'a str> = in_set.map(|i| all[i]).collect();
            let doubt = matched.len() > 1;
            (matched, doubt)
        })
        .collect();
    sets.sort_by_key(|(matched, _)| (matched.is_empty(), matched.len()));
    Some(sets)
}

/// The values of a shape that has few.
pub(super) fn finite(s: &Shape<'_>) -> Option<Vec<Json>> {
    match (&s.values, s.kind) {
        (Some(values), _) => Some(values.clone()),
        (None, Kind::Null) => Some(vec![Json::Null]),
        (None, Kind::Bool) => Some(vec![Json::from(false), Json::from(true)]),
        _ => None,
    }
}

fn sizes(
    s: &Shape<'_>,
    t: &Shape<'_>,
    words: [&'static str; 2],
    now: &mut impl FnMut(Reason, Tri),
) {
    if t.size_min > s.size_min {
        now(Reason::Limit(words[0]), Tri::No);
    }
    if let Some(most) = t.size_max
        && s.size_max.is_none_or(|m| m > most)
    {
        now(Reason::Limit(words[1]), Tri::No);
    }
}

/// Whether an end of the inner interval is within that of the outer; `beyond` is the side on which the outside lies.
fn bound_within(
    inner: Option<&Bound>,
    outer: Option<&Bound>,
    beyond: Ordering,
    integer: bool,
) -> bool {
    let Some(outer) = outer else { return true };
    let Some(inner) = inner else { return false };
    let (inner, outer) = if integer {
        (whole(inner, beyond), whole(outer, beyond))
    } else {
        (inner.clone(), outer.clone())
    };
    match compare(&inner.at, &outer.at) {
        Ordering::Equal => !outer.exclusive || inner.exclusive,
        order => order != beyond,
    }
}

/// The same end for integers: `> 3` is `>= 4`, `>= 3.5` is `>= 4`.
fn whole(bound: &Bound, beyond: Ordering) -> Bound {
    let step = if beyond == Ordering::Less { 1 } else { -1 };
    let Some(at) = Decimal::of(&bound.at) else {
        return bound.clone();
    };
    let end = match at.as_i128() {
        Some(i) if bound.exclusive => Some(i.saturating_add(step)),
        Some(i) => Some(i),
        None if beyond == Ordering::Less => at.ceil(),
        None => at.floor(),
    };
    end.map_or_else(
        || bound.clone(),
        |end| Bound {
            at: end.into(),
            exclusive: false,
        },
    )
}

/// Whether the intervals together cover the one.
fn intervals_cover(s: &Shape<'_>, fits: &[&Shape<'_>]) -> bool {
    let mut at = s.min.as_ref().map(|b| {
        if s.integer {
            whole(b, Ordering::Less)
        } else {
            b.clone()
        }
    });
    for _ in 0..=fits.len() {
        // Which interval begins at or before this point, and reaches farthest?
        let mut reach: Option<Option<Bound>> = None;
        for t in fits {
            let begins = bound_within(at.as_ref(), t.min.as_ref(), Ordering::Less, s.integer);
            if !begins {
                continue;
            }
            let ends_before = |a: &Option<Bound>, b: &Option<Bound>| match (a, b) {
                (None, _) => false,
                (Some(_), None) => true,
                (Some(a), Some(b)) => match compare(&a.at, &b.at) {
                    Ordering::Equal => a.exclusive && !b.exclusive,
                    order => order == Ordering::Less,
                },
            };
            if reach.as_ref().is_none_or(|r| ends_before(r, &t.max)) {
                reach = Some(t.max.clone());
            }
        }
        match reach {
            None => return false,
            Some(None) => return true,
            Some(Some(end)) => {
                if bound_within(s.max.as_ref(), Some(&end), Ordering::Greater, s.integer) {
                    return true;
                }
                // The next point that is not covered.
                let next = if s.integer {
                    let last = whole(&end, Ordering::Greater);
                    match last.at.as_i128() {
                        Some(i) => Bound {
                            at: i.saturating_add(1).into(),
                            exclusive: false,
                        },
                        None => return false,
                    }
                } else {
                    Bound {
                        at: end.at.clone(),
                        exclusive: !end.exclusive,
                    }
                };
                if at.as_ref() == Some(&next) {
                    return false;
                }
                at = Some(next);
            }
        }
    }
    false
}
