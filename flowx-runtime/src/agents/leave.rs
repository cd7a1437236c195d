//! What an agent may do with a flow. Pure: declaration, flow and effect classes in, leave out.

use flowx_manifest::{Agent, EffectClass, Flow, Leave, Manifest, Skill};

/// The agent has no skill of that name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the agent {agent} has no skill {skill:?}")]
pub struct NoSkill {
    /// The agent.
    pub agent: String,
    /// The skill that was named.
    pub skill: String,
}

/// The leave of an agent over a flow. A tool's own entry stands against its classes; of several classes, of agent and skill, the
/// strictest wins. Without a declaration: reads alone, everything else proposed.
///
/// # Errors
/// When a skill is named that the agent does not have. A skill narrows, so an unknown one must never mean "no skill".
pub fn leave(
    manifest: &Manifest,
    agent: Option<&Agent>,
    skill: Option<&str>,
    flow: &Flow,
) -> Result<Leave, NoSkill> {
    let classes = side_effects(manifest, flow);
    let Some(agent) = agent else {
        return match skill {
            Some(skill) => Err(NoSkill {
                agent: "(undeclared)".to_owned(),
                skill: skill.to_owned(),
            }),
            None => Ok(if classes.is_empty() {
                Leave::Alone
            } else {
                Leave::Propose
            }),
        };
    };
    let own = agent.tools.get(&flow.id).copied().unwrap_or_else(|| {
        classes
            .iter()
            .map(|class| of_class(agent, *class))
            .max()
            .unwrap_or(Leave::Alone)
    });
    match skill {
        None => Ok(own),
        Some(name) => {
            let skill = agent
                .skills
                .iter()
                .find(|s| s.name == name)
                .ok_or_else(|| NoSkill {
                    agent: agent.id.to_string(),
                    skill: name.to_owned(),
                })?;
            Ok(own.max(under(skill, flow)))
        }
    }
}

/// A skill lets nothing be used that it does not name.
fn under(skill: &Skill, flow: &Flow) -> Leave {
    if !skill.uses.contains(&flow.id) && !skill.tools.contains_key(&flow.id) {
        return Leave::Never;
    }
    skill.tools.get(&flow.id).copied().unwrap_or(Leave::Alone)
}

fn of_class(agent: &Agent, class: EffectClass) -> Leave {
    match class {
        EffectClass::Reads => Leave::Alone,
        EffectClass::Changes => agent.changes,
        EffectClass::Sends => agent.sends,
        EffectClass::Spends => agent.spends,
        EffectClass::ReachesOut => agent.reaches_out,
    }
}

/// The classes beyond reading that a call of the flow can reach. An effect that the manifest does not describe counts as reaching out.
fn side_effects(manifest: &Manifest, flow: &Flow) -> Vec<EffectClass> {
    flow.effects
        .iter()
        .map(|id| {
            manifest
                .effects
                .iter()
                .find(|e| e.id == *id)
                .map_or(EffectClass::ReachesOut, |e| e.class)
        })
        .filter(|class| *class != EffectClass::Reads)
        .collect()
}
