//! Tool descriptors: what an agent is told of a flow, in the portable profile that every known host accepts.
//!
//! The exact contract stays what the server holds calls against. What the profile cannot say is a [`Loss`], listed by
//! `flowx check`; an input may be offered narrower than it is, an output may be described wider than it is, and never
//! the other way round without a word.

mod pattern;
mod portable;

use std::collections::BTreeSet;

use flowx_manifest::{
    Capability, Confirmation, Contract, Direction, Effect, EffectClass, EffectId, Flow, Json,
    StepTarget, Tool, ToolAnnotations, ToolMeta, Trigger,
};

pub use self::portable::{DEPTH, Loss, LossKind, complaints};

/// Everything that a descriptor is made of.
#[derive(Clone, Copy)]
pub struct Surface<'m> {
    /// Every flow, for the flows that a flow calls.
    pub flows: &'m [Flow],
    /// Every capability.
    pub capabilities: &'m [Capability],
    /// Every effect.
    pub effects: &'m [Effect],
    /// Every contract.
    pub contracts: &'m [Contract],
}

/// The descriptor of a flow with an agent trigger, and what it could not say. `None` for a flow without one.
pub fn tool(flow: &Flow, surface: Surface<'_>) -> Option<(Tool, Vec<Loss>)> {
    let Some(Trigger::Agent {
        name,
        description,
        confirmation,
        ..
    }) = flow.agent_trigger()
    else {
        return None;
    };
    let mut losses = Vec::new();
    let schema = |id: &str, direction: Direction, losses: &mut Vec<Loss>| -> Json {
        let (schema, lost) = portable::root(surface.contracts, id, direction);
        losses.extend(lost);
        schema
    };
    let input_schema = schema(&flow.input.name, Direction::Request, &mut losses);
    let output_schema = schema(&flow.output.name, Direction::Response, &mut losses);
    let reached: Vec<(&EffectId, EffectClass)> = flow
        .effects
        .iter()
        // An effect that is declared nowhere is reported elsewhere; until then it counts as the worst.
        .map(|id| {
            (
                id,
                surface
                    .effects
                    .iter()
                    .find(|e| e.id == *id)
                    .map_or(EffectClass::ReachesOut, |e| e.class),
            )
        })
        .collect();
    let side_effects: BTreeSet<EffectId> = reached
        .iter()
        .filter(|(_, class)| *class != EffectClass::Reads)
        .map(|(id, _)| (*id).clone())
        .collect();
    let read_only = side_effects.is_empty();
    let idempotent = read_only || repeatable(flow, surface, &mut Vec::new());
    let confirmation_required = match confirmation {
        Confirmation::Never => false,
        Confirmation::Always => true,
        Confirmation::RequiredForSideEffects => !read_only,
    };
    let outside = [
        EffectClass::Sends,
        EffectClass::Spends,
        EffectClass::ReachesOut,
    ];
    let tool = Tool {
        name: name.clone(),
        title: flow.title.clone(),
        description: description
            .clone()
            .or_else(|| flow.description.clone())
            .unwrap_or_default(),
        input_schema,
        output_schema,
        annotations: ToolAnnotations {
            title: flow.title.clone(),
            read_only_hint: read_only,
            // Of no class can it be said that nothing is lost: a change may delete, what is sent or spent is gone, and
            // what reaches out otherwise does what the other side makes of it.
            destructive_hint: !read_only,
            idempotent_hint: idempotent,
            open_world_hint: reached.iter().any(|(_, class)| outside.contains(class)),
            flow_id: flow.id.clone(),
            idempotent,
            confirmation_required,
            side_effects: side_effects.clone(),
            required_permissions: flow.permissions.clone(),
        },
        meta: ToolMeta {
            flow_id: flow.id.clone(),
            idempotent,
            confirmation_required,
            side_effects,
            required_permissions: flow.permissions.clone(),
        },
    };
    Some((tool, losses))
}

/// The portable schema of a contract in one direction, and what it could not say. `()` is the empty object.
pub fn portable(contracts: &[Contract], id: &str, direction: Direction) -> (Json, Vec<Loss>) {
    portable::root(contracts, id, direction)
}

/// Whether every capability that the flow reaches is idempotent: its steps', and those of the flows it calls. One that
/// is not there to be looked at is not.
fn repeatable<'m>(flow: &'m Flow, surface: Surface<'m>, open: &mut Vec<String>) -> bool {
    let own = flow.reference().to_string();
    if open.contains(&own) {
        return true;
    }
    open.push(own);
    flow.steps.iter().all(|step| match &step.calls {
        StepTarget::Capability(of) => surface
            .capabilities
            .iter()
            .any(|c| c.reference() == *of && c.idempotent),
        StepTarget::Flow(of) => surface
            .flows
            .iter()
            .any(|f| f.reference() == *of && repeatable(f, surface, open)),
    })
}
