//! What the gate knows of one call, and of the surface that it is made on.

use std::collections::HashMap;
use std::sync::Arc;

use flowx_manifest::{Agent, Direction, Flow, Json, Leave, Manifest, closure, digest};

use super::confirm::is_agent;
use crate::agents::{NoSkill, leave};
use crate::core::ServedFlow;
use crate::identity::Principal;
use crate::invocation::Invocation;
use crate::proposals::{Covered, call_key, fingerprint};

/// The reviewed surface, with a digest per flow and per agent.
pub(super) struct Surface {
    pub(super) manifest: Arc<Manifest>,
    /// The digest of the whole document.
    pub(super) digest: &'static str,
    descriptors: HashMap<String, String>,
    agents: HashMap<String, String>,
}

impl Surface {
    pub(super) fn new(manifest: Arc<Manifest>, digest: &'static str) -> Surface {
        let descriptors = manifest
            .flows
            .iter()
            .map(|f| (f.reference().to_string(), descriptor(&manifest, f)));
        let agents = manifest
            .agents
            .iter()
            .map(|a| (a.id.to_string(), digest_of(a)));
        Surface {
            descriptors: descriptors.collect(),
            agents: agents.collect(),
            digest,
            manifest,
        }
    }

    /// The leave of a caller over a flow: of agents alone, and only where the application declares agents. A credential of an agent that is not
    /// declared there reads alone and proposes everything else.
    pub(super) fn leave(
        &self,
        principal: &Principal,
        skill: Option<&str>,
        flow: &Flow,
    ) -> Result<Option<Leave>, NoSkill> {
        if !is_agent(principal) || self.manifest.agents.is_empty() {
            return Ok(None);
        }
        leave(&self.manifest, self.agent(principal), skill, flow).map(Some)
    }

    pub(super) fn agent(&self, principal: &Principal) -> Option<&Agent> {
        let id = principal.agent.as_ref()?;
        self.manifest.agents.iter().find(|a| a.id == *id)
    }

    pub(super) fn agent_digest(&self, agent: &str) -> Option<&str> {
        self.agents.get(agent).map(String::as_str)
    }

    pub(super) fn descriptor(&self, flow: &str) -> Option<&str> {
        self.descriptors.get(flow).map(String::as_str)
    }

    pub(super) fn flow(&self, reference: &str) -> Option<&Flow> {
        self.manifest
            .flows
            .iter()
            .find(|f| f.reference().to_string() == reference)
    }
}

/// Everything the manifest says about a flow that an approver relied on: the flow, its tool, what it takes, its capabilities and effects.
fn descriptor(manifest: &Manifest, flow: &Flow) -> String {
    let tool = manifest
        .tools
        .iter()
        .find(|t| t.annotations.flow_id == flow.id);
    let input = closure(manifest, &flow.input.name, Direction::Request);
    let effects: Vec<_> = manifest
        .effects
        .iter()
        .filter(|e| flow.effects.contains(&e.id))
        .collect();
    let reaches: Vec<_> = manifest
        .capabilities
        .iter()
        .filter(|c| flow.steps.iter().any(|s| names(s, &c.reference())))
        .collect();
    digest_of(&(flow, tool, input, effects, reaches))
}

fn names(step: &flowx_manifest::Step, capability: &flowx_manifest::VersionedId) -> bool {
    let called =
        matches!(&step.calls, flowx_manifest::StepTarget::Capability(c) if c == capability);
    called || step.compensation.as_ref() == Some(capability)
}

fn digest_of(value: &impl serde::Serialize) -> String {
    // The model has string keys only and nothing in it fails to serialise; an empty text would still never equal a digest of another.
    digest(serde_json::to_string(value).unwrap_or_default().as_bytes())
}

/// One call.
pub(super) struct Facts<'a> {
    pub(super) flow: &'a ServedFlow,
    pub(super) invocation: &'a Invocation,
    /// The input exactly as the flow reads it.
    pub(super) input: String,
    pub(super) input_digest: String,
    pub(super) descriptor: &'a str,
    pub(super) agent: Option<&'a Agent>,
    pub(super) agent_declaration: Option<&'a str>,
    /// The caller's key.
    pub(super) caller: String,
    pub(super) call_key: String,
}

impl<'a> Facts<'a> {
    pub(super) fn of(
        surface: &'a Surface,
        flow: &'a ServedFlow,
        invocation: &'a Invocation,
    ) -> Facts<'a> {
        let principal = &*invocation.principal;
        let input = invocation.input.to_canonical();
        let agent = surface.agent(principal);
        let caller = principal.key();
        let call_key = call_key(
            &caller,
            &flow.reference,
            invocation.skill.as_deref(),
            &input,
        );
        Facts {
            input_digest: digest(input.as_bytes()),
            descriptor: surface.descriptor(&flow.reference).unwrap_or_default(),
            agent_declaration: agent.and_then(|a| surface.agent_digest(a.id.as_str())),
            agent,
            input,
            caller,
            call_key,
            flow,
            invocation,
        }
    }

    pub(super) fn fingerprint(&self, subject_version: Option<&str>) -> String {
        let principal = &*self.invocation.principal;
        fingerprint(&Covered {
            descriptor: self.descriptor,
            input: &self.input,
            requester: &self.caller,
            tenant: principal.tenant.as_deref(),
            agent: principal.agent.as_ref().map(|a| a.as_str()),
            agent_declaration: self.agent_declaration,
            skill: self.invocation.skill.as_deref(),
            subject_version,
        })
    }

    pub(super) fn json(&self) -> &Json {
        &self.invocation.input
    }
}
