//! See the rule's page.

use flowx_manifest::{Confirmation, Leave, Manifest, Trigger};

use super::{ReviewFinding, listed, review_rule, side_effects};
use crate::rules::cx::leave_over;

review_rule! {
    /// # An agent's leave and a tool's confirmation contradict
    ///
    /// ## What it catches
    ///
    /// An agent that may run a tool alone although the tool demands a person's yes before each call, and an agent that
    /// must propose calls of a tool that says it never asks.
    ///
    /// ## Why it matters
    ///
    /// The stricter of the two wins at run time, so nothing runs that should not. But one of the two people who wrote
    /// them down is mistaken about what happens.
    ///
    /// ## Example
    ///
    /// `agent desk-bot` has `ticket.refund: alone`; the flow says `confirmation = always`.
    ///
    /// ## Instead
    ///
    /// Make both say what is meant.
    "ai.agent_leave_against_confirmation" "agent-leave-against-confirmation" Note check
}

fn check(manifest: &Manifest, out: &mut Vec<ReviewFinding>) {
    for agent in &manifest.agents {
        for flow in &manifest.flows {
            let Some(Trigger::Agent { confirmation, .. }) = flow.agent_trigger() else {
                continue;
            };
            let effects = side_effects(manifest, flow);
            let leave = leave_over(manifest, agent, flow);
            let asks = match confirmation {
                Confirmation::Always => true,
                Confirmation::RequiredForSideEffects => !effects.is_empty(),
                Confirmation::Never => false,
            };
            let message = match (leave, asks) {
                (Leave::Alone, true)
                    if agent.tools.get(&flow.id) == Some(&Leave::Alone) || !effects.is_empty() =>
                {
                    format!(
                        "it may run `{}` alone, and the flow demands a person's yes (`{confirmation}`; effects: {})",
                        flow.id,
                        listed(effects.iter().map(|e| e.0))
                    )
                }
                (Leave::Propose | Leave::ProposeEveryTime, false) if !effects.is_empty() => {
                    format!(
                        "it must propose calls of `{}` (`{leave}`), and the flow says that it asks nobody (`{confirmation}`)",
                        flow.id
                    )
                }
                _ => continue,
            };
            out.push(RULE.finding(
                format!("agent {}", agent.id),
                message,
                "The stricter wins at run time; make both say what is meant.",
            ));
        }
        for id in agent.tools.keys().chain(
            agent
                .skills
                .iter()
                .flat_map(|s| s.uses.iter().chain(s.tools.keys())),
        ) {
            let is_tool = manifest
                .flows
                .iter()
                .any(|f| f.id == *id && f.agent_trigger().is_some());
            if !is_tool {
                out.push(RULE.finding(
                    format!("agent {}", agent.id),
                    format!("it is given leave over `{id}`, which is no tool of this application"),
                    "Correct the id, or remove the entry.",
                ));
            }
        }
    }
}
