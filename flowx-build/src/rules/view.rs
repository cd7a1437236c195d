//! What a rule looks at: one target's declarations beside the manifest that was made of them.

use std::collections::{BTreeSet, HashMap};

use flowx_manifest::{self as m, EffectClass, EffectId, Manifest, StepTarget, VersionedId};
use flowx_syntax::{AgentDecl, CapabilityDecl, EffectDecl, FlowDecl};

use crate::declare::{Declarations, Declared};
use crate::scan::Tree;

/// One target.
pub struct View<'a, 't> {
    /// Its manifest, with its libraries' entries.
    pub manifest: &'a Manifest,
    pub(crate) own: &'a Declarations<'t>,
    pub(crate) tree: &'t Tree,
    /// Whether other crates may use what it declares.
    pub(crate) is_library: bool,
    capabilities: HashMap<VersionedId, &'a m::Capability>,
    flows: HashMap<VersionedId, &'a m::Flow>,
    classes: HashMap<EffectId, EffectClass>,
}

impl<'a, 't> View<'a, 't> {
    pub(crate) fn new(
        manifest: &'a Manifest,
        own: &'a Declarations<'t>,
        tree: &'t Tree,
        is_library: bool,
    ) -> Self {
        Self {
            manifest,
            own,
            tree,
            is_library,
            capabilities: manifest
                .capabilities
                .iter()
                .map(|c| (c.reference(), c))
                .collect(),
            flows: manifest.flows.iter().map(|f| (f.reference(), f)).collect(),
            classes: manifest
                .effects
                .iter()
                .map(|e| (e.id.clone(), e.class))
                .collect(),
        }
    }

    /// The flows declared here, each with its entry.
    pub(crate) fn flows(
        &self,
    ) -> impl Iterator<Item = (&'a Declared<'t, FlowDecl>, &'a m::Flow)> + '_ {
        self.own.flows.iter().filter_map(|d| {
            let id = VersionedId::new(d.decl.id.value.as_str(), d.decl.version.value);
            Some((d, *self.flows.get(&id)?))
        })
    }

    /// The capabilities declared here, each with its entry.
    pub(crate) fn capabilities(
        &self,
    ) -> impl Iterator<Item = (&'a Declared<'t, CapabilityDecl>, &'a m::Capability)> + '_ {
        self.own.capabilities.iter().filter_map(|d| {
            let id = VersionedId::new(d.decl.id.value.as_str(), d.decl.version.value);
            Some((d, *self.capabilities.get(&id)?))
        })
    }

    pub(crate) fn effects(&self) -> &'a [Declared<'t, EffectDecl>] {
        &self.own.effects
    }

    pub(crate) fn agents(&self) -> &'a [Declared<'t, AgentDecl>] {
        &self.own.agents
    }

    pub(crate) fn capability(&self, id: &VersionedId) -> Option<&'a m::Capability> {
        self.capabilities.get(id).copied()
    }

    pub(crate) fn flow(&self, id: &VersionedId) -> Option<&'a m::Flow> {
        self.flows.get(id).copied()
    }

    pub(crate) fn class(&self, id: &EffectId) -> Option<EffectClass> {
        self.classes.get(id).copied()
    }

    /// Those of the effects that do more than look. One of an unknown class counts.
    pub(crate) fn side_effects(&self, effects: &BTreeSet<EffectId>) -> Vec<EffectId> {
        effects
            .iter()
            .filter(|e| self.class(e) != Some(EffectClass::Reads))
            .cloned()
            .collect()
    }

    /// Whether any of the effects is of one of the classes.
    pub(crate) fn any_of(&self, effects: &BTreeSet<EffectId>, classes: &[EffectClass]) -> bool {
        effects
            .iter()
            .any(|e| self.class(e).is_some_and(|c| classes.contains(&c)))
    }

    /// Every capability that a flow can reach by its own steps and those of its sub-flows, compensations left out.
    pub(crate) fn reached(&self, flow: &'a m::Flow) -> Vec<&'a m::Capability> {
        let mut all = Vec::new();
        let (mut todo, mut seen) = (vec![flow], BTreeSet::new());
        while let Some(flow) = todo.pop() {
            if !seen.insert(flow.reference()) {
                continue;
            }
            for step in &flow.steps {
                match &step.calls {
                    StepTarget::Capability(id) => all.extend(self.capability(id)),
                    StepTarget::Flow(id) => todo.extend(self.flow(id)),
                }
            }
        }
        all
    }
}

/// `` `a`, `b` ``.
pub(crate) fn quoted<T: std::fmt::Display>(items: impl IntoIterator<Item = T>) -> String {
    items
        .into_iter()
        .map(|i| format!("`{i}`"))
        .collect::<Vec<_>>()
        .join(", ")
}
