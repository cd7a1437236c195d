//! See the rule's page.

use crate::report::Class;
use flowx_manifest::Leave;

use super::{Action, Area, Cx, Sink, rule};

rule! {
    /// # An agent or a skill was added
    ///
    /// ## What it catches
    ///
    /// An agent, or a skill of one, that is new. Security when the agent may from the start do alone what changes,
    /// sends, spends or reaches out.
    ///
    /// ## Why it matters
    ///
    /// Everything that it may do, it may do from the first day.
    ///
    /// ## Example
    ///
    /// `refund-bot` is new, with `spends = alone`.
    ///
    /// ## Instead
    ///
    /// `spends = propose`, and a standing rule once it has earned it.
    "FXD095" "agent-added" [Additive, Security]
    cells &[(Area::Agent, "agent", Action::Add), (Area::Agent, "skill", Action::Add)];
    consequence "One more principal that is no person can act.";
    fix "Let it propose first.";
    check check;
}

fn check(cx: &Cx<'_>, sink: &mut Sink) {
    for (id, agent) in &cx.agents.added {
        let classes = [
            ("changes", agent.changes),
            ("sends", agent.sends),
            ("spends", agent.spends),
            ("reaches_out", agent.reaches_out),
        ];
        let mut alone: Vec<String> = classes
            .iter()
            .filter(|(_, l)| *l == Leave::Alone)
            .map(|(c, _)| (*c).to_owned())
            .collect();
        alone.extend(
            agent
                .tools
                .iter()
                .filter(|(_, l)| **l == Leave::Alone)
                .map(|(f, _)| f.to_string()),
        );
        let class = if alone.is_empty() {
            Class::Additive
        } else {
            Class::Security
        };
        let what = if alone.is_empty() {
            "nothing".to_owned()
        } else {
            alone.join(", ")
        };
        sink.add(
            RULE.finding(format!("agent {id}"), "")
                .class(class)
                .says(format!(
                    "the agent was added, for {} to answer for; alone it may: {what}",
                    agent.sponsor
                )),
        );
    }
    for (id, before, after) in &cx.agents.both {
        for skill in after
            .skills
            .iter()
            .filter(|s| !before.skills.iter().any(|b| b.name == s.name))
        {
            sink.add(
                RULE.finding(format!("agent {id}"), format!("/skills/{}", skill.name))
                    .says(format!("the skill `{}` was added", skill.name)),
            );
        }
    }
}
