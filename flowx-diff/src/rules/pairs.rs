//! What several rules ask of the paired documents.

use std::collections::BTreeSet;

use flowx_manifest::{
    Approval, Authorization, DecidedBy, Direction, ErrorSpec, Finish, Flow, IsoDuration, Json,
    Leave, Skill, Step, Trigger, TypeRef,
};

use super::{Cx, Rule, cx::leave_over};
use crate::report::{Class, Finding};

/// A finding that one text became another.
pub(crate) fn text_change(
    rule: &'static Rule,
    subject: String,
    pointer: &str,
    before: Option<&str>,
    after: Option<&str>,
) -> Finding {
    let field = pointer.rsplit('/').next().unwrap_or_default();
    let show = |t: Option<&str>| {
        t.map_or_else(
            || "none".to_owned(),
            |t| format!("\"{}\"", super::text::visible(t)),
        )
    };
    rule.finding(subject, pointer)
        .says(format!("{field}: {} → {}", show(before), show(after)))
        .change(before.map(Json::from), after.map(Json::from))
}

/// Every place that names a contract: subject, place, before, after.
pub(crate) fn type_refs<'a>(cx: &Cx<'a>) -> Vec<(String, &'static str, &'a TypeRef, &'a TypeRef)> {
    let mut out = Vec::new();
    for (subject, b, a) in cx.flows_changed() {
        out.push((subject.clone(), "input", &b.input, &a.input));
        out.push((subject, "output", &b.output, &a.output));
    }
    for (key, b, a) in &cx.capabilities.both {
        out.push((format!("capability {key}"), "input", &b.input, &a.input));
        out.push((format!("capability {key}"), "output", &b.output, &a.output));
    }
    for (key, b, a) in &cx.events.both {
        out.push((format!("event {key}"), "contract", &b.contract, &a.contract));
    }
    out
}

/// Whether a sensitive member is gone, and not merely unmarked: its last name was declared in the old contract and is
/// not in the new one.
pub(crate) fn member_is_gone(
    cx: &Cx<'_>,
    before: &TypeRef,
    after: &TypeRef,
    pointer: &str,
) -> bool {
    let Some(name) = pointer.rsplit('/').find(|p| *p != "*" && !p.is_empty()) else {
        return false;
    };
    let name = name.replace("~1", "/").replace("~0", "~");
    let declares = |manifest: &flowx_manifest::Manifest, id: &str| {
        [Direction::Request, Direction::Response]
            .into_iter()
            .filter_map(|d| flowx_manifest::closure(manifest, id, d))
            .any(|schema| {
                schema
                    .to_canonical()
                    .contains(&format!("{}:{{", Json::from(name.as_str())))
            })
    };
    declares(cx.old, &before.name) && !declares(cx.new, &after.name)
}

/// A type that has another name; `None` when the name stayed, or a contract rename explains it.
pub(crate) fn type_change(
    rule: &'static Rule,
    cx: &Cx<'_>,
    subject: String,
    place: &str,
    before: &str,
    after: &str,
) -> Option<Finding> {
    if before == after {
        return None;
    }
    let old = super::shapes::contract(cx.old, before);
    let new = super::shapes::contract(cx.new, after);
    if new.is_some_and(|c| c.renamed_from.as_deref() == Some(before)) && old.is_some() {
        return None;
    }
    let class = if old.is_some() && new.is_some() {
        Class::Neutral
    } else {
        Class::Breaking
    };
    let finding = rule
        .finding(subject, format!("/{place}/type"))
        .class(class)
        .says(format!("the {place} was `{before}` and is `{after}`"))
        .change(Json::from(before), Json::from(after));
    Some(if class == Class::Neutral {
        finding.so("The shapes are compared by themselves; the name alone changes nothing.")
    } else {
        let direction = match place {
            "input" => Direction::Request,
            _ => Direction::Response,
        };
        finding.with_witness(super::shapes::counterexample(cx, direction, before, after))
    })
}

type Route = (String, String, bool);

fn all_routes(flow: &Flow) -> Vec<Route> {
    flow.triggers
        .iter()
        .filter_map(|t| match t {
            Trigger::Http {
                method,
                route,
                idempotent,
            } => Some((method.clone(), route.clone(), *idempotent)),
            Trigger::Agent { .. } => None,
        })
        .collect()
}

/// Routes that went and routes that came.
pub(crate) fn routes(before: &Flow, after: &Flow) -> (Vec<Route>, Vec<Route>) {
    let (was, is) = (all_routes(before), all_routes(after));
    let without = |list: &[Route], other: &[Route]| {
        list.iter()
            .filter(|r| !other.iter().any(|o| o.0 == r.0 && o.1 == r.1))
            .cloned()
            .collect::<Vec<_>>()
    };
    (without(&was, &is), without(&is, &was))
}

/// Routes that stayed: method, route, whether a key was and is demanded. A route that took another's place counts too.
pub(crate) fn kept_routes(before: &Flow, after: &Flow) -> Vec<(String, String, bool, bool)> {
    let (was, is) = (all_routes(before), all_routes(after));
    let mut out: Vec<_> = is
        .iter()
        .filter_map(|(m, r, now)| {
            was.iter()
                .find(|w| w.0 == *m && w.1 == *r)
                .map(|w| (m.clone(), r.clone(), w.2, *now))
        })
        .collect();
    let (gone, come) = routes(before, after);
    if gone.len() == come.len() {
        out.extend(
            gone.into_iter()
                .zip(come)
                .map(|(g, c)| (c.0, c.1, g.2, c.2)),
        );
    }
    out
}

/// How much of a barrier a stance is: none, a name, a permission.
pub(crate) fn barrier(authorization: &Authorization) -> u8 {
    match authorization {
        Authorization::Public { .. } | Authorization::Internal {} => 0,
        Authorization::Authenticated {} => 1,
        Authorization::Permission { .. } => 2,
    }
}

/// A stance as people write it.
pub(crate) fn stance(authorization: &Authorization) -> String {
    match authorization {
        Authorization::Public {
            approved_by: Some(by),
        } => format!("public(approved_by = {by:?})"),
        Authorization::Public { approved_by: None } => "public".to_owned(),
        Authorization::Authenticated {} => "authenticated".to_owned(),
        Authorization::Permission { permission } => format!("permission(\"{permission}\")"),
        Authorization::Internal {} => "internal".to_owned(),
    }
}

type Catalogue<'a> = Option<&'a [ErrorSpec]>;

/// The error catalogues of what is on both sides.
pub(crate) fn catalogues<'a>(cx: &Cx<'a>) -> Vec<(String, Catalogue<'a>, Catalogue<'a>)> {
    let mut out = Vec::new();
    for (subject, b, a) in cx.flows_changed() {
        out.push((subject, b.errors.as_deref(), a.errors.as_deref()));
    }
    for (key, b, a) in &cx.capabilities.both {
        out.push((
            format!("capability {key}"),
            b.errors.as_deref(),
            a.errors.as_deref(),
        ));
    }
    out
}

/// Steps of one name.
pub(crate) fn steps<'a>(before: &'a Flow, after: &'a Flow) -> Vec<(&'a Step, &'a Step)> {
    before
        .steps
        .iter()
        .filter_map(|b| Some((b, after.steps.iter().find(|a| a.name == b.name)?)))
        .collect()
}

/// Skills of one name.
pub(crate) fn skills<'a>(
    before: &'a flowx_manifest::Agent,
    after: &'a flowx_manifest::Agent,
) -> Vec<(&'a Skill, &'a Skill)> {
    before
        .skills
        .iter()
        .filter_map(|b| Some((b, after.skills.iter().find(|a| a.name == b.name)?)))
        .collect()
}

/// One change of how a flow's approvals are handled.
pub(crate) struct ApprovalChange {
    pub(crate) pointer: &'static str,
    pub(crate) message: String,
    pub(crate) before: Option<Json>,
    pub(crate) after: Option<Json>,
    pub(crate) loosens: bool,
    pub(crate) breaks: bool,
    pub(crate) neutral: bool,
}

/// Every change of approvals, by flow.
pub(crate) fn approvals(cx: &Cx<'_>) -> Vec<(String, ApprovalChange)> {
    let mut out = Vec::new();
    for (subject, before, after) in cx.flows_changed() {
        let change =
            |pointer, message: String, before: Option<Json>, after: Option<Json>| ApprovalChange {
                pointer,
                message,
                before,
                after,
                loosens: false,
                breaks: false,
                neutral: false,
            };
        match (&before.approval, &after.approval) {
            (None, None) => {}
            (None, Some(a)) => {
                let mut c = change(
                    "",
                    format!("approvals are declared: {}", route(a)),
                    None,
                    Some(Json::from(route(a))),
                );
                c.breaks = a.required;
                c.neutral = !a.required;
                out.push((subject, c));
            }
            (Some(b), None) => {
                let mut c = change(
                    "",
                    format!("approvals are not declared any more: {}", route(b)),
                    Some(Json::from(route(b))),
                    None,
                );
                c.loosens = b.required;
                c.neutral = !b.required;
                out.push((subject, c));
            }
            (Some(b), Some(a)) => {
                let mut changes = Vec::new();
                let flag = |pointer, word: &str, was: bool, is: bool, loose: bool| {
                    (was != is).then(|| {
                        let mut c = change(
                            pointer,
                            format!("{word}: {was} → {is}"),
                            Some(Json::from(was)),
                            Some(Json::from(is)),
                        );
                        c.loosens = is == loose;
                        c
                    })
                };
                if let Some(mut c) = flag("/required", "required", b.required, a.required, false) {
                    c.breaks = a.required;
                    changes.push(c);
                }
                changes.extend(flag(
                    "/selfApproval",
                    "self approval",
                    b.self_approval,
                    a.self_approval,
                    true,
                ));
                changes.extend(flag(
                    "/subjectVersion",
                    "a yes covers one version only",
                    b.subject_version,
                    a.subject_version,
                    false,
                ));
                if b.decided_by != a.decided_by {
                    let (was, is) = (decider(&b.decided_by), decider(&a.decided_by));
                    let mut c = change(
                        "/decidedBy",
                        format!("decided by {was} → {is}"),
                        Some(Json::from(was.as_str())),
                        Some(Json::from(is.as_str())),
                    );
                    // Another person or queue is another authority; whether it is the stricter is for people to say.
                    c.loosens = true;
                    changes.push(c);
                }
                if b.finish != a.finish {
                    let word = |f: Finish| Json::from(f.as_str());
                    let mut c = change(
                        "/finish",
                        format!("finish: {} → {}", b.finish, a.finish),
                        Some(word(b.finish)),
                        Some(word(a.finish)),
                    );
                    c.neutral = true;
                    c.breaks = true;
                    changes.push(c);
                }
                let wait = |pointer,
                            word: &str,
                            was: &Option<IsoDuration>,
                            is: &Option<IsoDuration>| {
                    let text = |d: &Option<IsoDuration>| d.as_ref().map(|d| d.as_str().to_owned());
                    let show = |d: &Option<IsoDuration>| text(d).unwrap_or_else(|| "none".into());
                    (was != is).then(|| {
                        change(
                            pointer,
                            format!("{word}: {} → {}", show(was), show(is)),
                            text(was).map(Json::from),
                            text(is).map(Json::from),
                        )
                    })
                };
                if let Some(mut c) = wait("/expires", "a request waits", &b.expires, &a.expires) {
                    c.neutral = true;
                    changes.push(c);
                }
                if let Some(mut c) = wait(
                    "/grantExpires",
                    "a yes lasts",
                    &b.grant_expires,
                    &a.grant_expires,
                ) {
                    let longest =
                        |d: &Option<IsoDuration>| d.as_ref().map_or(u64::MAX, IsoDuration::millis);
                    c.loosens = longest(&a.grant_expires) > longest(&b.grant_expires);
                    c.neutral = longest(&a.grant_expires) == longest(&b.grant_expires);
                    changes.push(c);
                }
                out.extend(changes.into_iter().map(|c| (subject.clone(), c)));
            }
        }
    }
    out
}

fn decider(by: &DecidedBy) -> String {
    match by {
        DecidedBy::Requester => "the requester".to_owned(),
        DecidedBy::Sponsor => "the sponsor".to_owned(),
        DecidedBy::Queue(role) => format!("the queue {role}"),
        DecidedBy::Person(who) => who.clone(),
    }
}

fn route(a: &Approval) -> String {
    let needed = if a.required {
        "required"
    } else {
        "where an agent needs one"
    };
    format!("{needed}, decided by {}", decider(&a.decided_by))
}

/// One change of leave.
pub(crate) struct LeaveChange {
    pub(crate) subject: String,
    pub(crate) pointer: String,
    pub(crate) what: String,
    pub(crate) before: Leave,
    pub(crate) after: Leave,
}

/// Every change of what an agent may do.
pub(crate) fn leaves(cx: &Cx<'_>) -> Vec<LeaveChange> {
    let mut out = Vec::new();
    for (id, before, after) in &cx.agents.both {
        let subject = format!("agent {id}");
        let mut tell = |pointer: String, what: String, was: Leave, is: Leave| {
            if was != is {
                out.push(LeaveChange {
                    subject: subject.clone(),
                    pointer,
                    what,
                    before: was,
                    after: is,
                });
            }
        };
        for (word, was, is) in [
            ("changes", before.changes, after.changes),
            ("sends", before.sends, after.sends),
            ("spends", before.spends, after.spends),
            ("reachesOut", before.reaches_out, after.reaches_out),
        ] {
            tell(format!("/{word}"), word.to_owned(), was, is);
        }
        let named: BTreeSet<_> = before.tools.keys().chain(after.tools.keys()).collect();
        for flow in named {
            // Without an entry of its own a tool falls under its classes; one that is not there yet under nothing.
            let over = |m: &flowx_manifest::Manifest, agent: &flowx_manifest::Agent| {
                let own = agent.tools.get(flow).copied();
                own.unwrap_or_else(|| {
                    m.flows
                        .iter()
                        .find(|f| f.id == *flow)
                        .map_or(Leave::Never, |f| leave_over(m, agent, f))
                })
            };
            tell(
                format!("/tools/{flow}"),
                format!("`{flow}`"),
                over(cx.old, before),
                over(cx.new, after),
            );
        }
        for (b, a) in skills(before, after) {
            for flow in a.uses.difference(&b.uses) {
                tell(
                    format!("/skills/{}/uses/{flow}", a.name),
                    format!("`{flow}` within `{}`", a.name),
                    Leave::Never,
                    Leave::Alone,
                );
            }
            for flow in b.uses.difference(&a.uses) {
                tell(
                    format!("/skills/{}/uses/{flow}", a.name),
                    format!("`{flow}` within `{}`", a.name),
                    Leave::Alone,
                    Leave::Never,
                );
            }
            let named: BTreeSet<_> = b.tools.keys().chain(a.tools.keys()).collect();
            for flow in named {
                // A skill only narrows: without an entry it leaves the agent's own leave as it is.
                let of = |s: &Skill| s.tools.get(flow).copied().unwrap_or(Leave::Alone);
                let what = format!("`{flow}` within `{}`", a.name);
                tell(
                    format!("/skills/{}/tools/{flow}", a.name),
                    what,
                    of(b),
                    of(a),
                );
            }
        }
    }
    out
}

/// One change of what guards an operation.
pub(crate) struct OperationChange {
    pub(crate) pointer: String,
    pub(crate) message: String,
    pub(crate) before: Option<Json>,
    pub(crate) after: Option<Json>,
    /// What worked is refused.
    pub(crate) breaks: bool,
    /// A guard is gone.
    pub(crate) loosens: bool,
}

/// Every change of guards, by entity.
pub(crate) fn operations(cx: &Cx<'_>) -> Vec<(String, OperationChange)> {
    let mut out = Vec::new();
    for (key, before, after) in &cx.entities.both {
        let subject = format!("entity {key}");
        for b in &before.operations {
            let Some(a) = after.operations.iter().find(|a| a.name == b.name) else {
                continue;
            };
            let mut tell = |place: String,
                            message: String,
                            was: Option<&str>,
                            is: Option<&str>,
                            breaks,
                            loosens| {
                let change = OperationChange {
                    pointer: format!("/operations/{}/{place}", b.name),
                    message,
                    before: was.map(Json::from),
                    after: is.map(Json::from),
                    breaks,
                    loosens,
                };
                out.push((subject.clone(), change));
            };
            for state in a.from.difference(&b.from) {
                tell(
                    format!("from/{state}"),
                    format!("`{}` may start from `{state}` now", b.name),
                    None,
                    Some(state),
                    false,
                    false,
                );
            }
            for state in b.from.difference(&a.from) {
                tell(
                    format!("from/{state}"),
                    format!("`{}` may not start from `{state}` any more", b.name),
                    Some(state),
                    None,
                    true,
                    false,
                );
            }
            for rule in a.rules.difference(&b.rules) {
                tell(
                    format!("rules/{rule}"),
                    format!("`{}` demands `{rule}` now", b.name),
                    None,
                    Some(rule),
                    true,
                    false,
                );
            }
            for rule in b.rules.difference(&a.rules) {
                tell(
                    format!("rules/{rule}"),
                    format!("`{}` does not demand `{rule}` any more", b.name),
                    Some(rule),
                    None,
                    false,
                    true,
                );
            }
            let (was, is) = (
                b.permission.as_ref().map(|p| p.as_str()),
                a.permission.as_ref().map(|p| p.as_str()),
            );
            if was != is {
                let show =
                    |p: Option<&str>| p.map_or_else(|| "nothing".to_owned(), |p| format!("`{p}`"));
                let message = format!(
                    "`{}` demands {}, and demanded {}",
                    b.name,
                    show(is),
                    show(was)
                );
                tell(
                    "permission".into(),
                    message,
                    was,
                    is,
                    is.is_some(),
                    is.is_none(),
                );
            }
        }
    }
    out
}
