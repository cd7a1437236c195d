//! See the rule's page.

use crate::report::Class;
use flowx_manifest::{Json, Leave};

use super::{Action, Area, Cx, Sink, rule};

rule! {
    /// # An agent's leave was narrowed
    ///
    /// ## What it catches
    ///
    /// The leave over a class of effects, over one tool (its own entry, or what the classes give where there is none),
    /// over a tool within a skill, or the list of tools of a skill, is more strict. The order is alone, propose,
    /// propose_every_time, never. Breaking when a tool becomes `never`: it does not exist for the agent any more.
    ///
    /// ## Why it matters
    ///
    /// An agent in the middle of its work has to wait.
    ///
    /// ## Example
    ///
    /// `spends = alone` became `spends = propose`.
    ///
    /// ## Instead
    ///
    /// Nothing, if that is meant.
    "FXD113" "leave-narrowed" [Additive, Breaking]
    cells &[(Area::Agent, "leave", Action::Tighten)];
    consequence "The agent has to propose what it did alone, or does not see it any more.";
    fix "Nothing, if that is meant.";
    check check;
}

fn check(cx: &Cx<'_>, sink: &mut Sink) {
    for change in super::leaves(cx) {
        if change.after > change.before {
            let class = if change.after == Leave::Never {
                Class::Breaking
            } else {
                Class::Additive
            };
            sink.add(
                RULE.finding(&change.subject, &change.pointer)
                    .class(class)
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
