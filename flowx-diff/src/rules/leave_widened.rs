//! See the rule's page.

use flowx_manifest::Json;

use super::{Action, Area, Cx, Sink, rule};

rule! {
    /// # An agent's leave was widened
    ///
    /// ## What it catches
    ///
    /// The leave over a class of effects, over one tool (its own entry, or what the classes give where there is none),
    /// over a tool within a skill, or the list of tools of a skill, is less strict. The order is alone, propose,
    /// propose_every_time, never.
    ///
    /// ## Why it matters
    ///
    /// Leave is what an agent may do without a person.
    ///
    /// ## Example
    ///
    /// `spends = propose` became `spends = alone`.
    ///
    /// ## Instead
    ///
    /// Keep it.
    "FXD093" "leave-widened" [Security]
    cells &[(Area::Agent, "leave", Action::Loosen)];
    consequence "The agent does alone what it had to propose, or sees what it did not.";
    fix "Keep the stricter leave, and widen by a standing rule that ends.";
    check check;
}

fn check(cx: &Cx<'_>, sink: &mut Sink) {
    for change in super::leaves(cx) {
        if change.after < change.before {
            sink.add(
                RULE.finding(&change.subject, &change.pointer)
                    .says(format!(
                        "{}: {} → {}",
                        change.what, change.before, change.after
                    ))
                    .change(
                        Json::from(change.before.as_str()),
                        Json::from(change.after.as_str()),
                    ),
            );
        }
    }
}
