//! What rules look at: the two documents with their entries paired.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use flowx_manifest::{
    Capability, Effect, EffectClass, Event, Flow, Manifest, PermissionName, StepTarget, Tool,
    Trigger, VersionedId,
};

use crate::inclusion::Budget;
use crate::report::Finding;

/// Entries of one section, paired by key.
pub(crate) struct Pairs<'a, T> {
    /// Key, before, after.
    pub(crate) both: Vec<(String, &'a T, &'a T)>,
    /// Only in the base.
    pub(crate) removed: Vec<(String, &'a T)>,
    /// Only in the head.
    pub(crate) added: Vec<(String, &'a T)>,
    /// Gone under one key and back under another: old key, new key, before, after.
    pub(crate) renamed: Vec<(String, String, &'a T, &'a T)>,
}

impl<'a, T> Pairs<'a, T> {
    /// Pairs by key; of several entries of one key the last of the sorted section counts (the newest minor).
    pub(crate) fn by(old: &'a [T], new: &'a [T], key: impl Fn(&T) -> String) -> Self {
        let index = |list: &'a [T]| list.iter().map(|e| (key(e), e)).collect::<BTreeMap<_, _>>();
        let (old, mut new) = (index(old), index(new));
        let mut out = Pairs {
            both: Vec::new(),
            removed: Vec::new(),
            added: Vec::new(),
            renamed: Vec::new(),
        };
        for (k, before) in old {
            match new.remove(&k) {
                Some(after) => out.both.push((k, before, after)),
                None => out.removed.push((k, before)),
            }
        }
        out.added = new.into_iter().collect();
        out
    }

    /// Joins a removal and an addition that `same` recognises as one thing. Ambiguous ones stay apart.
    pub(crate) fn join(mut self, same: impl Fn(&T, &T) -> bool) -> Self {
        let mut i = 0;
        while i < self.removed.len() {
            let before = self.removed[i].1;
            let fits: Vec<usize> = (0..self.added.len())
                .filter(|j| same(before, self.added[*j].1))
                .collect();
            let back = |j: usize| {
                self.removed
                    .iter()
                    .filter(|r| same(r.1, self.added[j].1))
                    .count()
            };
            match fits.as_slice() {
                [j] if back(*j) == 1 => {
                    let (new_key, after) = self.added.remove(*j);
                    let (old_key, _) = self.removed.remove(i);
                    self.renamed.push((old_key, new_key, before, after));
                }
                _ => i += 1,
            }
        }
        self
    }
}

/// Both documents, paired.
pub(crate) struct Cx<'a> {
    pub(crate) old: &'a Manifest,
    pub(crate) new: &'a Manifest,
    pub(crate) flows: Pairs<'a, Flow>,
    pub(crate) capabilities: Pairs<'a, Capability>,
    pub(crate) effects: Pairs<'a, Effect>,
    pub(crate) events: Pairs<'a, Event>,
    pub(crate) agents: Pairs<'a, flowx_manifest::Agent>,
    pub(crate) entities: Pairs<'a, flowx_manifest::Entity>,
    pub(crate) tools: Pairs<'a, Tool>,
    pub(crate) budget: Budget,
    pub(crate) out_of_sight: Option<&'a crate::compare::OutOfSight>,
    flows_changed: OnceCell<Vec<(String, &'a Flow, &'a Flow)>>,
    tools_changed: OnceCell<Vec<(String, &'a Tool, &'a Tool)>>,
    shapes: OnceCell<Vec<Finding>>,
}

impl<'a> Cx<'a> {
    pub(crate) fn new(old: &'a Manifest, new: &'a Manifest, budget: Budget) -> Self {
        // What says so counts first; then what is the same in all but its name.
        let flows = Pairs::by(&old.flows, &new.flows, Flow::key)
            .join(|before, after| {
                after.renamed_from.as_ref() == Some(&before.id)
                    && after.version.major == before.version.major
            })
            .join(same_but_for_the_name);
        let moved = |before: &Tool, after: &Tool| {
            let flow = |t: &Tool| t.annotations.flow_id.clone();
            flow(before) == flow(after)
                || flows
                    .renamed
                    .iter()
                    .any(|(_, _, b, a)| b.id == flow(before) && a.id == flow(after))
        };
        let tools = Pairs::by(&old.tools, &new.tools, |t| t.name.to_string()).join(moved);
        Cx {
            old,
            new,
            capabilities: Pairs::by(&old.capabilities, &new.capabilities, |c| {
                format!("{}@{}", c.id, c.version.major)
            }),
            effects: Pairs::by(&old.effects, &new.effects, |e| e.id.to_string()),
            events: Pairs::by(&old.events, &new.events, |e| {
                format!("{}@{}", e.id, e.version.major)
            }),
            agents: Pairs::by(&old.agents, &new.agents, |a| a.id.to_string()),
            entities: Pairs::by(&old.entities, &new.entities, |e| {
                format!("{}@{}", e.id, e.version.major)
            }),
            flows,
            tools,
            budget,
            out_of_sight: None,
            flows_changed: OnceCell::new(),
            tools_changed: OnceCell::new(),
            shapes: OnceCell::new(),
        }
    }

    /// Every finding about schemas and descriptors, computed once.
    pub(crate) fn shapes(&self) -> &[Finding] {
        self.shapes.get_or_init(|| {
            let contracts = super::shapes::compare(self);
            let tools = super::tools::compare(self, &contracts);
            let mut out = super::tools::without_echoes(contracts, &tools);
            out.extend(tools);
            out
        })
    }

    /// Flows on both sides, renamed ones under their new key: subject, before, after.
    pub(crate) fn flows_kept(&self) -> impl Iterator<Item = (String, &'a Flow, &'a Flow)> + '_ {
        let both = self.flows.both.iter().map(|(k, b, a)| (k, *b, *a));
        both.chain(self.flows.renamed.iter().map(|(_, k, b, a)| (k, *b, *a)))
            .map(|(k, b, a)| (format!("flow {k}"), b, a))
    }

    /// Those of [`Cx::flows_kept`] whose own entry differs: what most rules look at.
    pub(crate) fn flows_changed(&self) -> impl Iterator<Item = (String, &'a Flow, &'a Flow)> + '_ {
        self.flows_changed
            .get_or_init(|| self.flows_kept().filter(|(_, b, a)| b != a).collect())
            .iter()
            .cloned()
    }

    /// Tools on both sides whose descriptor differs, renamed ones under their new name: subject, before, after.
    pub(crate) fn tools_changed(&self) -> impl Iterator<Item = (String, &'a Tool, &'a Tool)> + '_ {
        self.tools_changed
            .get_or_init(|| {
                let both = self.tools.both.iter().map(|(k, b, a)| (k, *b, *a));
                both.chain(self.tools.renamed.iter().map(|(_, k, b, a)| (k, *b, *a)))
                    .filter(|(_, b, a)| b != a)
                    .map(|(k, b, a)| (format!("tool {k}"), b, a))
                    .collect()
            })
            .iter()
            .cloned()
    }
}

/// Whether the flows differ in their id, and the name that agents know them by, only.
fn same_but_for_the_name(before: &Flow, after: &Flow) -> bool {
    // The cheap part first: a removed flow is held against every added one.
    if (&before.steps, &before.input, &before.description)
        != (&after.steps, &after.input, &after.description)
    {
        return false;
    }
    let mut nameless = after.clone();
    nameless.id.clone_from(&before.id);
    let names = |flow: &Flow| tool_name(flow).map(str::to_owned);
    if names(before).is_some() && names(after).is_some() {
        let agent = |t: &&Trigger| matches!(t, Trigger::Agent { .. });
        for (own, theirs) in nameless
            .triggers
            .iter_mut()
            .filter(|t| agent(&&**t))
            .zip(before.triggers.iter().filter(agent))
        {
            if let (Trigger::Agent { name, .. }, Trigger::Agent { name: old, .. }) = (own, theirs) {
                name.clone_from(old);
            }
        }
    }
    nameless == *before
}

/// The class of an effect; one that the document does not declare is taken for the worst.
pub(crate) fn effect_class(manifest: &Manifest, id: &str) -> EffectClass {
    manifest
        .effects
        .iter()
        .find(|e| e.id == id)
        .map_or(EffectClass::ReachesOut, |e| e.class)
}

/// The name of the flow's tool.
pub(crate) fn tool_name(flow: &Flow) -> Option<&str> {
    match flow.agent_trigger()? {
        Trigger::Agent { name, .. } => Some(name.as_str()),
        Trigger::Http { .. } => None,
    }
}

/// One capability that a call of a flow can reach, and how: `pay`, `undo of pay`, `check > pay`.
pub(crate) struct Reached<'a> {
    pub(crate) path: String,
    pub(crate) capability: &'a Capability,
}

/// Everything that a call of the flow can reach, in the order declared; flows that call each other in circles end.
pub(crate) fn reach<'a>(manifest: &'a Manifest, flow: &'a Flow) -> Vec<Reached<'a>> {
    let mut out = Vec::new();
    walk(manifest, flow, "", &mut BTreeSet::new(), &mut out);
    out
}

fn walk<'a>(
    manifest: &'a Manifest,
    flow: &'a Flow,
    prefix: &str,
    seen: &mut BTreeSet<String>,
    out: &mut Vec<Reached<'a>>,
) {
    if !seen.insert(flow.reference().to_string()) {
        return;
    }
    let find = |id: &VersionedId| {
        manifest
            .capabilities
            .iter()
            .find(|c| c.id == id.id.as_str() && c.version == id.version)
    };
    for step in &flow.steps {
        match &step.calls {
            StepTarget::Capability(id) => {
                out.extend(find(id).map(|capability| Reached {
                    path: format!("{prefix}{}", step.name),
                    capability,
                }));
            }
            StepTarget::Flow(id) => {
                let child = manifest
                    .flows
                    .iter()
                    .find(|f| f.id == id.id.as_str() && f.version == id.version);
                if let Some(child) = child {
                    walk(
                        manifest,
                        child,
                        &format!("{prefix}{} > ", step.name),
                        seen,
                        out,
                    );
                }
            }
        }
        if let Some(capability) = step.compensation.as_ref().and_then(find) {
            out.push(Reached {
                path: format!("{prefix}undo of {}", step.name),
                capability,
            });
        }
    }
}

/// The steps through which a flow reaches an effect: "through step `pay` (payment.refund@1.0.0)"; empty when none is
/// known.
pub(crate) fn through_effect(manifest: &Manifest, flow: &Flow, effect: &str) -> String {
    let steps = reach(manifest, flow);
    through(
        steps
            .iter()
            .filter(|r| r.capability.effects.iter().any(|e| e.as_str() == effect)),
    )
}

/// The steps through which a flow needs a permission.
pub(crate) fn through_permission(
    manifest: &Manifest,
    flow: &Flow,
    permission: &PermissionName,
) -> String {
    let steps = reach(manifest, flow);
    through(steps.iter().filter(|r| {
        matches!(&r.capability.authorization,
            flowx_manifest::Authorization::Permission { permission: p } if p == permission)
    }))
}

fn through<'a, 'b: 'a>(steps: impl Iterator<Item = &'a Reached<'b>>) -> String {
    let steps: Vec<String> = steps
        .map(|r| format!("`{}` ({})", r.path, r.capability.reference()))
        .collect();
    match steps.as_slice() {
        [] => String::new(),
        [one] => format!(" through step {one}"),
        many => format!(" through steps {}", many.join(", ")),
    }
}

/// The flows, and tools, of a document that reach a capability of that `id@major`.
pub(crate) fn reached_from(manifest: &Manifest, key: &str) -> Vec<String> {
    let mut out = Vec::new();
    for flow in &manifest.flows {
        let hit = reach(manifest, flow)
            .iter()
            .any(|r| format!("{}@{}", r.capability.id, r.capability.version.major) == key);
        if hit {
            out.push(format!("flow {}", flow.key()));
            out.extend(tool_name(flow).map(|n| format!("tool {n}")));
        }
    }
    out
}

/// The leave that an agent has over a flow: its own entry, else the strictest of the classes that the flow reaches, and
/// alone over what only reads.
pub(crate) fn leave_over(
    manifest: &Manifest,
    agent: &flowx_manifest::Agent,
    flow: &Flow,
) -> flowx_manifest::Leave {
    use flowx_manifest::Leave;
    if let Some(own) = agent.tools.get(&flow.id) {
        return *own;
    }
    let of = |class| match class {
        EffectClass::Reads => Leave::Alone,
        EffectClass::Changes => agent.changes,
        EffectClass::Sends => agent.sends,
        EffectClass::Spends => agent.spends,
        EffectClass::ReachesOut => agent.reaches_out,
    };
    flow.effects
        .iter()
        .map(|e| of(effect_class(manifest, e.as_str())))
        .max()
        .unwrap_or(Leave::Alone)
}
