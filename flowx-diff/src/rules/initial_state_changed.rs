//! See the rule's page.

use crate::report::Class;
use flowx_manifest::Json;

use super::{Action, Area, Cx, Sink, rule};

rule! {
    /// # A record begins in another state
    ///
    /// ## What it catches
    ///
    /// The first of the states, where a record begins, is another (breaking), or the other states stand in another
    /// order (neutral).
    ///
    /// ## Why it matters
    ///
    /// Whoever creates a record relies on what can be done with it next.
    ///
    /// ## Example
    ///
    /// `open, closed` became `draft, open, closed`.
    ///
    /// ## Instead
    ///
    /// Add an operation that leads there.
    "FXD124" "initial-state-changed" [Breaking, Neutral]
    cells &[(Area::Entity, "initial state", Action::Change)];
    consequence "New records begin in another state.";
    fix "Keep the first state.";
    check check;
}

fn check(cx: &Cx<'_>, sink: &mut Sink) {
    for (key, before, after) in &cx.entities.both {
        let (was, is) = (before.states.first(), after.states.first());
        let kept = |list: &[String], other: &[String]| {
            list.iter()
                .filter(|s| other.contains(s))
                .cloned()
                .collect::<Vec<_>>()
        };
        let turned = kept(&before.states, &after.states) != kept(&after.states, &before.states);
        let text = |s: Option<&String>| s.cloned().unwrap_or_default();
        if was != is {
            sink.add(
                RULE.finding(format!("entity {key}"), "/states")
                    .says(format!(
                        "a record begins in `{}`, and began in `{}`",
                        text(is),
                        text(was)
                    ))
                    .change(Json::from(text(was)), Json::from(text(is))),
            );
        } else if turned {
            sink.add(
                RULE.finding(format!("entity {key}"), "/states")
                    .class(Class::Neutral)
                    .says("the states stand in another order")
                    .change(
                        Json::from(before.states.clone()),
                        Json::from(after.states.clone()),
                    ),
            );
        }
    }
}
