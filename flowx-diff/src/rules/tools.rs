//! Tools: what their descriptors say, and what their flows reach.
//!
//! In a manifest a descriptor is derived from its flow, so most of what changes in it is told by the flow, the
//! capability or the contract. What they explain is not told again; what nothing explains is.

use std::collections::BTreeSet;

use flowx_manifest::{Direction, Flow, Json, PermissionName, Tool};

use super::cx::{effect_class, tool_name};
use super::foreign::{Descriptors, Known};
use super::{Cx, Sink};
use crate::report::{Class, Finding};
use crate::surface::descriptor;

/// What one flow or tool reaches on both sides.
pub(crate) struct Reach<'a> {
    pub(crate) subject: String,
    pub(crate) flow_before: Option<&'a Flow>,
    pub(crate) flow_after: Option<&'a Flow>,
    pub(crate) through: Vec<String>,
    facts: Vec<Facts>,
}

/// One document's word about it: the flow, the annotations, or the `_meta`.
struct Facts {
    place: &'static str,
    effects: (BTreeSet<String>, BTreeSet<String>),
    permissions_place: &'static str,
    permissions: (BTreeSet<String>, BTreeSet<String>),
}

impl Reach<'_> {
    fn new_in(
        &self,
        pick: impl Fn(&Facts) -> (&BTreeSet<String>, &BTreeSet<String>, &'static str),
    ) -> Vec<(String, &'static str)> {
        let mut out: Vec<(String, &'static str)> = Vec::new();
        for facts in &self.facts {
            let (from, to, place) = pick(facts);
            for item in to.difference(from) {
                if !out.iter().any(|(i, _)| i == item) {
                    out.push((item.clone(), place));
                }
            }
        }
        out
    }

    /// Effects that were not reached, and where that is said.
    pub(crate) fn effects_added(&self) -> Vec<(String, &'static str)> {
        self.new_in(|f| (&f.effects.0, &f.effects.1, f.place))
    }

    /// Effects that are not reached any more.
    pub(crate) fn effects_removed(&self) -> Vec<(String, &'static str)> {
        self.new_in(|f| (&f.effects.1, &f.effects.0, f.place))
    }

    /// Permissions that were not needed.
    pub(crate) fn permissions_added(&self) -> Vec<(PermissionName, &'static str)> {
        permissions(self.new_in(|f| (&f.permissions.0, &f.permissions.1, f.permissions_place)))
    }

    /// Permissions that are not needed any more.
    pub(crate) fn permissions_removed(&self) -> Vec<(PermissionName, &'static str)> {
        permissions(self.new_in(|f| (&f.permissions.1, &f.permissions.0, f.permissions_place)))
    }
}

fn permissions(list: Vec<(String, &'static str)>) -> Vec<(PermissionName, &'static str)> {
    list.into_iter()
        .filter_map(|(p, place)| Some((PermissionName::new(p).ok()?, place)))
        .collect()
}

fn names<T: ToString>(set: &BTreeSet<T>) -> BTreeSet<String> {
    set.iter().map(ToString::to_string).collect()
}

/// What every flow and tool on both sides reaches; a flow that is a tool on both sides is told as the tool.
pub(crate) fn reaches<'a>(cx: &Cx<'a>) -> Vec<Reach<'a>> {
    let mut out: Vec<Reach<'a>> = Vec::new();
    let tools: BTreeSet<&str> = cx
        .tools_changed()
        .map(|(_, _, t)| t.name.as_str())
        .collect();
    for (subject, before, after) in cx.flows_kept() {
        if before == after && tool_name(after).is_none_or(|t| !tools.contains(t)) {
            continue;
        }
        let tool = tool_name(after).filter(|_| tool_name(before).is_some());
        out.push(Reach {
            subject: tool.map_or_else(|| subject.clone(), |t| format!("tool {t}")),
            flow_before: Some(before),
            flow_after: Some(after),
            through: if tool.is_some() {
                vec![subject]
            } else {
                Vec::new()
            },
            facts: vec![Facts {
                place: "/effects",
                effects: (names(&before.effects), names(&after.effects)),
                permissions_place: "/permissions",
                permissions: (names(&before.permissions), names(&after.permissions)),
            }],
        });
    }
    for (subject, before, after) in cx.tools_changed() {
        let said = [
            Facts {
                place: "/annotations/sideEffects",
                effects: (
                    names(&before.annotations.side_effects),
                    names(&after.annotations.side_effects),
                ),
                permissions_place: "/annotations/requiredPermissions",
                permissions: (
                    names(&before.annotations.required_permissions),
                    names(&after.annotations.required_permissions),
                ),
            },
            Facts {
                place: "/_meta/dev.flowx~1sideEffects",
                effects: (
                    names(&before.meta.side_effects),
                    names(&after.meta.side_effects),
                ),
                permissions_place: "/_meta/dev.flowx~1requiredPermissions",
                permissions: (
                    names(&before.meta.required_permissions),
                    names(&after.meta.required_permissions),
                ),
            },
        ];
        match out.iter_mut().find(|r| r.subject == subject) {
            Some(reach) => {
                for mut facts in said {
                    // An effect whose class changed comes into, or leaves, the list of side effects by itself.
                    let reclassed = |e: &String| effect_class(cx.old, e) != effect_class(cx.new, e);
                    let kept = |e: &String, f: Option<&Flow>| {
                        f.is_some_and(|f| f.effects.iter().any(|x| x.as_str() == e))
                    };
                    let explained = |e: &String| {
                        reclassed(e) && kept(e, reach.flow_before) && kept(e, reach.flow_after)
                    };
                    facts.effects.0.retain(|e| !explained(e));
                    facts.effects.1.retain(|e| !explained(e));
                    reach.facts.push(facts);
                }
            }
            None => out.push(Reach {
                subject,
                flow_before: None,
                flow_after: None,
                through: Vec::new(),
                facts: said.into(),
            }),
        }
    }
    out
}

/// Whether something that hints and confirmation are derived from is another: the effects, their classes, idempotence,
/// or how the flow is confirmed.
pub(crate) fn reach_changed(cx: &Cx<'_>, before: &Tool, after: &Tool) -> bool {
    let flow = |m: &'_ flowx_manifest::Manifest, t: &Tool| {
        m.flows
            .iter()
            .rfind(|f| tool_name(f) == Some(t.name.as_str()))
            .map(|f| {
                let classes: Vec<_> = f
                    .effects
                    .iter()
                    .map(|e| (e.to_string(), effect_class(m, e.as_str())))
                    .collect();
                let confirmation = f.agent_trigger().and_then(|t| match t {
                    flowx_manifest::Trigger::Agent { confirmation, .. } => Some(*confirmation),
                    flowx_manifest::Trigger::Http { .. } => None,
                });
                (classes, confirmation)
            })
    };
    flow(cx.old, before) != flow(cx.new, after)
        || before.annotations.idempotent != after.annotations.idempotent
        || before.annotations.side_effects != after.annotations.side_effects
}

/// Every finding that comes from the descriptors of a manifest's tools.
pub(crate) fn compare(cx: &Cx<'_>, contracts: &[Finding]) -> Vec<Finding> {
    let mut out = Vec::new();
    for (subject, before, after) in cx.tools_changed() {
        if before == after {
            continue;
        }
        let (b, a) = (descriptor(before), descriptor(after));
        let known = Known {
            flowx: true,
            hints_explained: reach_changed(cx, before, after),
        };
        let pair = Descriptors {
            subject: &subject,
            before: &b,
            after: &a,
            known,
            budget: cx.budget,
        };
        let flows: Vec<String> = cx
            .flows_kept()
            .filter(|(_, _, f)| tool_name(f) == Some(after.name.as_str()))
            .map(|(s, _, _)| s)
            .collect();
        for finding in pair.findings() {
            let direction = if finding.pointer.starts_with("/inputSchema") {
                Some(Direction::Request)
            } else if finding.pointer.starts_with("/outputSchema") {
                Some(Direction::Response)
            } else {
                None
            };
            let word = matches!(finding.id, "FXD062" | "FXD063" | "FXD071" | "FXD073");
            let explained = direction.is_some_and(|d| {
                let end = if d == Direction::Request {
                    " input"
                } else {
                    " output"
                };
                contracts.iter().any(|c| {
                    let ours = c
                        .reached_by
                        .iter()
                        .any(|r| flows.iter().any(|f| *r == format!("{f}{end}")));
                    ours && !word && (c.class != Class::Neutral || c.id == finding.id)
                })
            });
            if !explained {
                out.push(finding);
            }
        }
    }
    out
}

/// The contract findings that a tool does not tell better: a word that a model reads is told on the tool.
pub(crate) fn without_echoes(contracts: Vec<Finding>, tools: &[Finding]) -> Vec<Finding> {
    let field = |f: &Finding| f.pointer.rsplit('/').next().unwrap_or_default().to_owned();
    contracts
        .into_iter()
        .filter(|c| {
            let word = matches!(c.id, "FXD061" | "FXD062" | "FXD063" | "FXD071");
            !(word
                && tools
                    .iter()
                    .any(|t| t.before == c.before && t.after == c.after && field(t) == field(c)))
        })
        .collect()
}

/// Reports the tool findings of one rule.
pub(crate) fn report(cx: &Cx<'_>, id: &str, sink: &mut Sink) {
    for finding in cx.shapes().iter().filter(|f| f.id == id) {
        sink.add(finding.clone());
    }
}

/// `{}` where a schema is missing.
pub(crate) fn schema_of(descriptor: &Json, key: &str) -> Option<Json> {
    descriptor.get(key).filter(|s| **s != Json::Null).cloned()
}
