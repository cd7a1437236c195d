//! What changed in schemas: the engine's obstacles as findings of the contract rules.
//!
//! Forward obstacles break somebody, backward ones mean that more is possible now. One edit is told once: a member that
//! was renamed is one finding, and what a finding explains is not reported beside it.

use std::collections::{BTreeMap, BTreeSet};

use flowx_manifest::{Contract, Direction, Json, Manifest, TypeRef};

use super::words::{self, Renames, Word};
use super::{Cx, Rule, Sink};
use crate::inclusion::{Budget, Fail, Question, Reason, Seg, Tri};
use crate::report::{Class, Finding};
use crate::schema::Doc;

/// One difference between two schemas, before it has a subject.
#[derive(Clone, Debug)]
pub(crate) struct Shift {
    pub(crate) rule: &'static str,
    pub(crate) class: Class,
    pub(crate) path: Vec<Seg>,
    /// The member that it is about, beneath the path.
    pub(crate) member: Option<String>,
    pub(crate) message: String,
    pub(crate) before: Option<Json>,
    pub(crate) after: Option<Json>,
    pub(crate) witness: Option<Json>,
}

impl Shift {
    /// The contract it is in, and the pointer there.
    pub(crate) fn place(&self) -> (Option<String>, String) {
        let fail = Fail {
            path: self.path.clone(),
            reason: Reason::Inside,
            tri: Tri::Yes,
            witness: None,
        };
        let (contract, mut pointer) = fail.place();
        let contract = contract.map(str::to_owned);
        if let Some(member) = &self.member {
            pointer.push_str(&crate::inclusion::pointer(&[Seg::Prop(member.clone())]));
        }
        (contract, pointer)
    }
}

/// Two schemas and how one reads them.
#[derive(Clone, Copy)]
pub(crate) struct Comparison<'a> {
    pub(crate) old: Doc<'a>,
    pub(crate) new: Doc<'a>,
    pub(crate) direction: Direction,
    pub(crate) budget: Budget,
}

impl Comparison<'_> {
    /// Every difference that matters to somebody, and every word that changed.
    pub(crate) fn run(&self) -> (Vec<Shift>, Vec<Word>) {
        let request = self.direction == Direction::Request;
        let (sub, sup) = if request {
            (self.old, self.new)
        } else {
            (self.new, self.old)
        };
        let forward = Question {
            sub,
            sup,
            emitted: request,
            budget: self.budget,
            witnesses: true,
        };
        let backward = Question {
            sub: sup,
            sup: sub,
            emitted: false,
            budget: self.budget,
            witnesses: false,
        };
        let walk = words::walk(self.old, self.new);
        let mut shifts = Vec::new();
        for fail in forward.ask() {
            shifts.push(self.shift(fail, request, &walk.renames, true));
        }
        let mut gains = Vec::new();
        for fail in backward.ask() {
            if fail.reason == Reason::Budget {
                continue;
            }
            gains.push(self.shift(fail, !request, &walk.renames, false));
        }
        self.structural(&walk, &mut gains);
        shifts
            .iter_mut()
            .chain(&mut gains)
            .for_each(|s| whole_member(&walk, s));
        join(&mut shifts, gains);
        (shifts, walk.words)
    }

    /// An obstacle as a difference. `new_refuses`: whether it is the new side that refuses.
    fn shift(&self, fail: Fail, new_refuses: bool, renames: &Renames, breaks: bool) -> Shift {
        let class = match (breaks, fail.tri) {
            (false, _) => Class::Additive,
            (true, Tri::Maybe) => Class::Undecided,
            (true, _) => Class::Breaking,
        };
        let (old, new) = (
            words::at(self.old, &fail.path),
            words::at(self.new, &fail.path),
        );
        let keyword = |node: Option<&Json>, key: &str| node.and_then(|n| n.get(key)).cloned();
        let has = |node: Option<&Json>, key: &str| words::declares(node, key);
        let said = |node: Option<&Json>| node.map(words::bare);
        let mut out = Shift {
            rule: "FXD059",
            class,
            path: fail.path.clone(),
            member: None,
            message: String::new(),
            before: None,
            after: None,
            witness: fail.witness.clone(),
        };
        let tell = |out: &mut Shift, tight: &'static str, loose: &'static str| {
            out.rule = if new_refuses { tight } else { loose };
        };
        match &fail.reason {
            Reason::Required(key) | Reason::Member(key) => {
                out.member = Some(key.clone());
                if let Some((from, to)) = renames.of(&fail.path, key) {
                    out.rule = "FXD042";
                    out.class = Class::Breaking;
                    out.member = Some(to.clone());
                    out.message = format!("the member `{from}` is called `{to}` now");
                    out.before = Some(Json::from(from.as_str()));
                    out.after = Some(Json::from(to.as_str()));
                    return out;
                }
                let (was, is) = (
                    has(self.whole_old(&fail.path), key),
                    has(self.whole_new(&fail.path), key),
                );
                let state = |declared: bool, node: Option<&Json>| {
                    let required = words::requires(node, key);
                    match (declared, required) {
                        (_, true) => Some(Json::from("required")),
                        (true, false) => Some(Json::from("optional")),
                        (false, false) => None,
                    }
                };
                out.before = state(was, self.whole_old(&fail.path));
                out.after = state(is, self.whole_new(&fail.path));
                let required = matches!(fail.reason, Reason::Required(_));
                (out.rule, out.message) = match (was, is) {
                    (false, _) if required => (
                        "FXD040",
                        format!("the member `{key}` was added, and must be there"),
                    ),
                    (false, _) => ("FXD040", format!("the member `{key}` was added")),
                    (true, false) => ("FXD041", format!("the member `{key}` was removed")),
                    (true, true) if required && new_refuses => {
                        ("FXD043", format!("the member `{key}` must be there now"))
                    }
                    (true, true) if required => {
                        ("FXD044", format!("the member `{key}` may be absent now"))
                    }
                    (true, true) => ("FXD053", format!("the member `{key}` is another now")),
                };
            }
            Reason::Closed => {
                tell(&mut out, "FXD045", "FXD046");
                (out.before, out.after) = (Some("open".into()), Some("closed".into()));
                if !new_refuses {
                    std::mem::swap(&mut out.before, &mut out.after);
                }
                out.message = if new_refuses {
                    "undeclared members are refused now".into()
                } else {
                    "undeclared members are possible now".into()
                };
            }
            Reason::Value(value) => {
                tell(&mut out, "FXD048", "FXD047");
                let text = format!("the value {value}");
                if new_refuses {
                    out.before = Some(value.clone());
                    out.message = format!("{text} is no longer there");
                } else {
                    out.after = Some(value.clone());
                    out.message = format!("{text} is possible now");
                }
            }
            Reason::Null => {
                tell(&mut out, "FXD050", "FXD049");
                (out.before, out.after) = (said(old), said(new));
                out.message = if new_refuses {
                    "null is no longer there".into()
                } else {
                    "null is possible now".into()
                };
            }
            Reason::Type(word) => {
                tell(&mut out, "FXD051", "FXD052");
                (out.before, out.after) = (said(old), said(new));
                out.message = if new_refuses {
                    format!(
                        "a value of type {word} is no longer there ({} → {})",
                        brief(&out.before),
                        brief(&out.after)
                    )
                } else {
                    format!(
                        "a value of type {word} is possible now ({} → {})",
                        brief(&out.before),
                        brief(&out.after)
                    )
                };
            }
            Reason::Limit(key) => {
                tell(&mut out, "FXD054", "FXD055");
                let exclusive = match *key {
                    "minimum" => "exclusiveMinimum",
                    "maximum" => "exclusiveMaximum",
                    other => other,
                };
                let read =
                    |node: Option<&Json>| keyword(node, key).or_else(|| keyword(node, exclusive));
                (out.before, out.after) = (read(old), read(new));
                out.message = format!("{key}: {} → {}", brief(&out.before), brief(&out.after));
            }
            Reason::Listed | Reason::Excluded(_) => {
                tell(&mut out, "FXD054", "FXD055");
                (out.before, out.after) = (said(old), said(new));
                out.message = if new_refuses {
                    "only some of the values are left".into()
                } else {
                    "more than the listed values are possible now".into()
                };
            }
            Reason::Pattern { .. } => {
                out.rule = "FXD056";
                (out.before, out.after) = (keyword(old, "pattern"), keyword(new, "pattern"));
                out.message = format!("pattern: {} → {}", brief(&out.before), brief(&out.after));
            }
            Reason::Variant(name) => {
                tell(&mut out, "FXD058", "FXD057");
                if new_refuses {
                    out.before = Some(Json::from(name.as_str()));
                    out.message = format!("the alternative {name} is no longer there");
                } else {
                    out.after = Some(Json::from(name.as_str()));
                    out.message = format!("the alternative {name} is possible now");
                }
            }
            Reason::Opaque(_) | Reason::Unread(_) | Reason::Budget | Reason::Inside => {
                (out.before, out.after) = (said(old), said(new));
                out.message = fail.reason.to_string();
            }
        }
        out
    }

    fn whole_old(&self, path: &[Seg]) -> Option<&Json> {
        words::at(self.old, path)
    }

    fn whole_new(&self, path: &[Seg]) -> Option<&Json> {
        words::at(self.new, path)
    }

    /// Members that came or went without anybody being refused: worth knowing all the same.
    fn structural(&self, walk: &words::Walk, gains: &mut Vec<Shift>) {
        let shift = |rule,
                     class,
                     path: &[Seg],
                     member: &str,
                     message: String,
                     before: Option<&str>,
                     after: Option<&str>| Shift {
            rule,
            class,
            path: path.to_vec(),
            member: Some(member.to_owned()),
            message,
            before: before.map(Json::from),
            after: after.map(Json::from),
            witness: None,
        };
        for (path, from, to) in &walk.renames.list {
            gains.push(shift(
                "FXD042",
                Class::Breaking,
                path,
                to,
                format!("the member `{from}` is called `{to}` now"),
                Some(from),
                Some(to),
            ));
        }
        for (path, key, required) in &walk.added {
            let word = if *required { "required" } else { "optional" };
            gains.push(shift(
                "FXD040",
                Class::Additive,
                path,
                key,
                format!("the member `{key}` was added"),
                None,
                Some(word),
            ));
        }
        for (path, key, required) in &walk.removed {
            let word = if *required { "required" } else { "optional" };
            let message = match self.direction {
                Direction::Request => {
                    format!("the member `{key}` was removed; it is ignored where it is still sent")
                }
                Direction::Response => format!("the member `{key}` was removed"),
            };
            gains.push(shift(
                "FXD041",
                Class::Neutral,
                path,
                key,
                message,
                Some(word),
                None,
            ));
        }
    }
}

/// What is found inside a member that came, went or was renamed is about the member.
fn whole_member(walk: &words::Walk, shift: &mut Shift) {
    let inside = |path: &[Seg], key: &str| {
        shift.path.len() > path.len()
            && shift.path.starts_with(path)
            && shift.path[path.len()] == Seg::Prop(key.to_owned())
    };
    let word = |required: bool| Some(Json::from(if required { "required" } else { "optional" }));
    let hit = if let Some((path, from, to)) = walk
        .renames
        .list
        .iter()
        .find(|(p, f, t)| inside(p, f) || inside(p, t))
    {
        let message = format!("the member `{from}` is called `{to}` now");
        (
            path,
            to,
            "FXD042",
            Class::Breaking,
            message,
            Some(Json::from(from.as_str())),
            Some(Json::from(to.as_str())),
        )
    } else if let Some((path, key, required)) = walk.removed.iter().find(|(p, k, _)| inside(p, k)) {
        // More being possible under a name that is gone is only what being gone means.
        let class = if shift.class == Class::Additive {
            Class::Neutral
        } else {
            shift.class
        };
        (
            path,
            key,
            "FXD041",
            class,
            format!("the member `{key}` was removed"),
            word(*required),
            None,
        )
    } else if let Some((path, key, required)) = walk.added.iter().find(|(p, k, _)| inside(p, k)) {
        (
            path,
            key,
            "FXD040",
            shift.class,
            format!("the member `{key}` was added"),
            None,
            word(*required),
        )
    } else {
        return;
    };
    let (path, member, rule, class, message, before, after) = hit;
    let (path, member) = (path.clone(), member.clone());
    *shift = Shift {
        rule,
        class,
        path,
        member: Some(member),
        message,
        before,
        after,
        witness: shift.witness.take(),
    };
}

fn brief(value: &Option<Json>) -> String {
    match value {
        None => "none".to_owned(),
        Some(v) => {
            let text = v.to_canonical();
            if text.chars().count() > 120 {
                format!("{}…", text.chars().take(117).collect::<String>())
            } else {
                text
            }
        }
    }
}

/// Adds the gains that no break explains.
fn join(shifts: &mut Vec<Shift>, gains: Vec<Shift>) {
    // A type that one side no longer has and another that it has now: one change.
    for shift in shifts.iter_mut() {
        let same =
            |g: &&Shift| g.path == shift.path && g.member == shift.member && g.rule == "FXD052";
        if matches!(shift.rule, "FXD051" | "FXD052") && shift.class == Class::Breaking {
            let other = if shift.rule == "FXD051" {
                "FXD052"
            } else {
                "FXD051"
            };
            let both = gains
                .iter()
                .any(|g| g.path == shift.path && g.rule == other)
                || (shift.rule == "FXD051" && gains.iter().any(|g| same(&g)));
            if both {
                shift.rule = "FXD053";
                shift.message = format!(
                    "the type changed: {} → {}",
                    brief(&shift.before),
                    brief(&shift.after)
                );
            }
        }
    }
    let mut kept: Vec<Shift> = Vec::new();
    for shift in shifts.drain(..) {
        if !kept.iter().any(|k| {
            k.rule == shift.rule
                && k.path == shift.path
                && k.member == shift.member
                && k.before == shift.before
                && k.after == shift.after
        }) {
            kept.push(shift);
        }
    }
    for gain in gains {
        let explained = kept.iter().any(|k| {
            let place = k.path == gain.path && k.member == gain.member;
            let whole = k.path == gain.path
                && k.member.is_none()
                && matches!(k.rule, "FXD053" | "FXD051" | "FXD052" | "FXD059" | "FXD056");
            let same = k.rule == gain.rule && k.before == gain.before && k.after == gain.after;
            place && (same || gain.member.is_some() || whole)
        });
        if !explained {
            kept.push(gain);
        }
    }
    *shifts = kept;
}

/// The schemas of a manifest in one direction, by contract.
pub(crate) fn contracts(manifest: &Manifest, direction: Direction) -> BTreeMap<String, &Json> {
    manifest
        .contracts
        .iter()
        .filter_map(|c| Some((c.id.clone(), c.in_direction(direction)?)))
        .collect()
}

/// The names whose schemas, through all that they refer to, are the same on both sides.
pub(crate) fn same(
    old: &BTreeMap<String, &Json>,
    new: &BTreeMap<String, &Json>,
) -> BTreeSet<String> {
    let mut same: BTreeSet<String> = old
        .iter()
        .filter(|(k, v)| new.get(*k) == Some(v))
        .map(|(k, _)| k.clone())
        .collect();
    let refs: BTreeMap<&String, BTreeSet<String>> = old
        .iter()
        .map(|(k, v)| {
            let mut out = BTreeSet::new();
            flowx_manifest::references(v, &mut out);
            (k, out)
        })
        .collect();
    // A name that neither side has is equally unknown on both.
    let nowhere: Vec<String> = refs
        .values()
        .flatten()
        .filter(|r| !old.contains_key(*r) && !new.contains_key(*r))
        .cloned()
        .collect();
    same.extend(nowhere);
    loop {
        let wrong: Vec<String> = same
            .iter()
            .filter(|k| {
                refs.get(k)
                    .is_some_and(|n| n.iter().any(|r| !same.contains(r)))
            })
            .cloned()
            .collect();
        if wrong.is_empty() {
            return same;
        }
        wrong.iter().for_each(|w| {
            same.remove(w);
        });
    }
}

/// A place where a contract is used: by whom, in which direction, under which name on either side.
struct Use {
    who: String,
    direction: Direction,
    old: String,
    new: String,
}

/// Every contract finding of two manifests.
pub(crate) fn compare(cx: &Cx<'_>) -> Vec<Finding> {
    let mut out = Vec::new();
    let reached = reached(cx);
    for direction in [Direction::Request, Direction::Response] {
        let (old, new) = (contracts(cx.old, direction), contracts(cx.new, direction));
        let same = same(&old, &new);
        // Each pair of names once, with everybody who uses it.
        let mut uses: BTreeMap<(String, String), Vec<String>> = BTreeMap::new();
        for one in all_uses(cx)
            .into_iter()
            .filter(|u| u.direction == direction)
        {
            uses.entry((one.old, one.new)).or_default().push(one.who);
        }
        for id in old
            .keys()
            .filter(|id| new.contains_key(*id) && !reached.contains(*id))
        {
            uses.entry((id.clone(), id.clone())).or_default();
        }
        for ((before, after), who) in uses {
            if before == after && same.contains(&before) {
                continue;
            }
            if before != after && [&before, &after].contains(&&"()".to_owned()) {
                // From something to nothing: the rule about the type itself says it.
                continue;
            }
            let (a, b) = (root(&old, &before), root(&new, &after));
            if before == after && a.is_some() != b.is_some() {
                out.extend(missing(&before, direction, a.is_some(), &who));
            }
            let (Some(a), Some(b)) = (a, b) else { continue };
            let comparison = Comparison {
                old: Doc {
                    root: a,
                    contracts: Some(&old),
                    same: Some(&same),
                },
                new: Doc {
                    root: b,
                    contracts: Some(&new),
                    same: Some(&same),
                },
                direction,
                budget: cx.budget,
            };
            let (shifts, words) = comparison.run();
            let home = if before == after {
                format!("contract {before}")
            } else {
                format!("contract {after}")
            };
            let prefix = match direction {
                Direction::Request => "/request",
                Direction::Response => "/response",
            };
            for shift in shifts {
                let (contract, pointer) = shift.place();
                let subject = contract.map_or_else(|| home.clone(), |c| format!("contract {c}"));
                out.extend(finding(
                    &shift,
                    subject,
                    format!("{prefix}{pointer}"),
                    direction,
                    &who,
                ));
            }
            for word in words {
                let subject = word
                    .contract()
                    .map_or_else(|| home.clone(), |c| format!("contract {c}"));
                let pointer = format!("{prefix}{}", word.pointer());
                out.extend(word.finding(subject, pointer, &who));
            }
        }
    }
    out
}

static UNIT: std::sync::LazyLock<Json> =
    std::sync::LazyLock::new(|| Json::object([("type", Json::from("null"))]));

fn root<'a>(contracts: &BTreeMap<String, &'a Json>, name: &str) -> Option<&'a Json> {
    if name == "()" {
        Some(&UNIT)
    } else {
        contracts.get(name).copied()
    }
}

/// A value of one contract that the other refuses, where both are known; `()` is.
pub(crate) fn counterexample(
    cx: &Cx<'_>,
    direction: Direction,
    before: &str,
    after: &str,
) -> Option<Json> {
    let (old, new) = (contracts(cx.old, direction), contracts(cx.new, direction));
    let doc = |root, contracts| Doc {
        root,
        contracts: Some(contracts),
        same: None,
    };
    let (old, new) = (
        doc(root(&old, before)?, &old),
        doc(root(&new, after)?, &new),
    );
    let request = direction == Direction::Request;
    let (sub, sup) = if request { (old, new) } else { (new, old) };
    let question = Question {
        sub,
        sup,
        emitted: request,
        budget: cx.budget,
        witnesses: true,
    };
    question.ask().into_iter().find_map(|fail| fail.witness)
}

/// Contracts that something uses, in whichever direction.
fn reached(cx: &Cx<'_>) -> BTreeSet<String> {
    let mut out = BTreeSet::new();
    for direction in [Direction::Request, Direction::Response] {
        let from = |old: bool| {
            let uses = all_uses(cx)
                .into_iter()
                .filter(move |u| u.direction == direction);
            uses.map(move |u| if old { u.old } else { u.new })
        };
        out.extend(closure(from(true), &contracts(cx.old, direction)));
        out.extend(closure(from(false), &contracts(cx.new, direction)));
    }
    out
}

/// A contract that is used and that only one document holds.
fn missing(name: &str, direction: Direction, was: bool, who: &[String]) -> Option<Finding> {
    let rule: &'static Rule = super::ALL.iter().find(|r| r.id == "FXD059")?;
    let word = if direction == Direction::Request {
        "request"
    } else {
        "response"
    };
    let there = |yes: bool| yes.then(|| Json::from("schema"));
    let side = if was { "base" } else { "head" };
    Some(
        rule.finding(format!("contract {name}"), format!("/{word}"))
            .says(format!("only the {side} holds its schema ({word})"))
            .change(there(was), there(!was))
            .through(who.iter().cloned()),
    )
}

fn closure(
    from: impl Iterator<Item = String>,
    contracts: &BTreeMap<String, &Json>,
) -> BTreeSet<String> {
    let mut seen = BTreeSet::new();
    let mut todo: BTreeSet<String> = from.collect();
    while let Some(next) = todo.pop_first() {
        if let (true, Some(schema)) = (seen.insert(next.clone()), contracts.get(&next)) {
            flowx_manifest::references(schema, &mut todo);
        }
    }
    seen
}

fn all_uses(cx: &Cx<'_>) -> Vec<Use> {
    let mut out = Vec::new();
    let mut add = |who: String, direction, old: &TypeRef, new: &TypeRef| {
        out.push(Use {
            who,
            direction,
            old: old.name.clone(),
            new: new.name.clone(),
        });
    };
    for (subject, before, after) in cx.flows_kept() {
        add(
            format!("{subject} input"),
            Direction::Request,
            &before.input,
            &after.input,
        );
        add(
            format!("{subject} output"),
            Direction::Response,
            &before.output,
            &after.output,
        );
    }
    for (key, before, after) in &cx.capabilities.both {
        add(
            format!("capability {key} input"),
            Direction::Request,
            &before.input,
            &after.input,
        );
        add(
            format!("capability {key} output"),
            Direction::Response,
            &before.output,
            &after.output,
        );
    }
    for (key, before, after) in &cx.events.both {
        add(
            format!("event {key}"),
            Direction::Response,
            &before.contract,
            &after.contract,
        );
        if !after.consumed_by.is_empty() {
            add(
                format!("event {key}"),
                Direction::Request,
                &before.contract,
                &after.contract,
            );
        }
    }
    out
}

fn finding(
    shift: &Shift,
    subject: String,
    pointer: String,
    direction: Direction,
    who: &[String],
) -> Option<Finding> {
    let rule: &'static Rule = super::ALL.iter().find(|r| r.id == shift.rule)?;
    let consequence = match (shift.class, direction) {
        (Class::Breaking, Direction::Request) => {
            "What callers send today is refused, or no longer means what it meant."
        }
        (Class::Breaking, Direction::Response) => {
            "Callers are given what the old contract did not allow."
        }
        (Class::Undecided, _) => "It is not known whether callers notice; look at it.",
        (Class::Additive, Direction::Request) => {
            "More is accepted than before; nobody has to change."
        }
        (Class::Additive, Direction::Response) => {
            "More is promised than before; nobody has to change."
        }
        _ => "Nobody is refused or surprised.",
    };
    Some(
        rule.finding(subject, pointer)
            .class(shift.class)
            .says(shift.message.clone())
            .change(shift.before.clone(), shift.after.clone())
            .so(consequence)
            .through(who.iter().cloned())
            .with_witness(shift.witness.clone()),
    )
}

/// The findings of a schema inside a tool descriptor.
pub(crate) fn tool_findings(
    comparison: &Comparison<'_>,
    subject: &str,
    section: &str,
) -> (Vec<Finding>, Vec<Finding>) {
    let (shifts, words) = comparison.run();
    let shapes = shifts
        .iter()
        .filter_map(|s| {
            let mut path = s.path.clone();
            path.retain(|seg| !matches!(seg, Seg::Ref(_)));
            path.extend(s.member.clone().map(Seg::Prop));
            let pointer = format!("/{section}{}", crate::inclusion::pointer(&path));
            finding(s, subject.to_owned(), pointer, comparison.direction, &[])
        })
        .collect();
    let words = words
        .iter()
        .filter_map(|w| {
            w.tool_finding(
                subject.to_owned(),
                format!("/{section}{}", w.whole_pointer()),
            )
        })
        .collect();
    (shapes, words)
}

/// Reports the contract findings of one rule.
pub(crate) fn report(cx: &Cx<'_>, id: &str, sink: &mut Sink) {
    for finding in cx.shapes().iter().filter(|f| f.id == id) {
        sink.add(finding.clone());
    }
}

/// Whether a contract exists in the manifest.
pub(crate) fn contract<'a>(manifest: &'a Manifest, id: &str) -> Option<&'a Contract> {
    manifest.contracts.iter().find(|c| c.id == id)
}
