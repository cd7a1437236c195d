//! See the rule's page.

use super::{Action, Area, Cx, Sink, rule};

rule! {
    /// # An agent has another sponsor
    ///
    /// ## What it catches
    ///
    /// The `sponsor` of an agent is another.
    ///
    /// ## Why it matters
    ///
    /// Approvals are routed to the sponsor.
    ///
    /// ## Example
    ///
    /// `sponsor = "ada"` became `sponsor = "desk-bot"`.
    ///
    /// ## Instead
    ///
    /// Nothing, if both agreed.
    "FXD096" "agent-sponsor-changed" [Security]
    cells &[(Area::Agent, "sponsor", Action::Change)];
    consequence "Somebody else answers for the agent, and decides what is routed to its sponsor.";
    fix "Have both sponsors agree.";
    check check;
}

fn check(cx: &Cx<'_>, sink: &mut Sink) {
    for (id, before, after) in &cx.agents.both {
        if before.sponsor != after.sponsor {
            let subject = format!("agent {id}");
            sink.add(super::text_change(
                &RULE,
                subject,
                "/sponsor",
                Some(&before.sponsor),
                Some(&after.sponsor),
            ));
        }
    }
}
