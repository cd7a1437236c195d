//! See the rule's page.

use crate::report::Class;

use super::{Action, Area, Cx, Sink, rule};

rule! {
    /// # Who may widen an agent's leave changed
    ///
    /// ## What it catches
    ///
    /// The permission that lets somebody widen the agent's leave by standing rules was added or is another (security),
    /// or is gone (additive: nobody can).
    ///
    /// ## Why it matters
    ///
    /// It is the key to everything the agent may do.
    ///
    /// ## Example
    ///
    /// `widened_by = "desk.agents"` was added.
    ///
    /// ## Instead
    ///
    /// Give it to few.
    "FXD097" "agent-widening-changed" [Security, Additive]
    cells &[(Area::Agent, "widened by", Action::Change)];
    consequence "Other people can widen the agent's leave.";
    fix "Keep the permission, or remove it.";
    check check;
}

fn check(cx: &Cx<'_>, sink: &mut Sink) {
    for (id, before, after) in &cx.agents.both {
        if before.widened_by != after.widened_by {
            let class = if after.widened_by.is_some() {
                Class::Security
            } else {
                Class::Additive
            };
            let (was, is) = (
                before.widened_by.as_ref().map(|p| p.as_str()),
                after.widened_by.as_ref().map(|p| p.as_str()),
            );
            sink.add(
                super::text_change(&RULE, format!("agent {id}"), "/widenedBy", was, is)
                    .class(class),
            );
        }
    }
}
