//! See the rule's page.

use super::{Action, Area, Cx, Sink, rule};

rule! {
    /// # An agent or a skill was removed
    ///
    /// ## What it catches
    ///
    /// An agent, or one of its skills, that is gone.
    ///
    /// ## Why it matters
    ///
    /// Its tokens do not work any more; what waits for an approval waits in vain.
    ///
    /// ## Example
    ///
    /// `refund-bot` is gone.
    ///
    /// ## Instead
    ///
    /// Take its leave away step by step.
    "FXD094" "agent-removed" [Breaking]
    cells &[(Area::Agent, "agent", Action::Remove), (Area::Agent, "skill", Action::Remove)];
    consequence "Its calls, or the work under that skill, are refused.";
    fix "Give its work to another agent first.";
    check check;
}

fn check(cx: &Cx<'_>, sink: &mut Sink) {
    for (id, _) in &cx.agents.removed {
        sink.add(
            RULE.finding(format!("agent {id}"), "")
                .says("the agent was removed"),
        );
    }
    for (id, before, after) in &cx.agents.both {
        for skill in before
            .skills
            .iter()
            .filter(|s| !after.skills.iter().any(|a| a.name == s.name))
        {
            sink.add(
                RULE.finding(format!("agent {id}"), format!("/skills/{}", skill.name))
                    .says(format!("the skill `{}` was removed", skill.name)),
            );
        }
    }
}
