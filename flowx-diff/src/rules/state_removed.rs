//! See the rule's page.

use flowx_manifest::Json;

use super::{Action, Area, Cx, Sink, rule};

rule! {
    /// # A state was removed
    ///
    /// ## What it catches
    ///
    /// A state of an entity that is gone.
    ///
    /// ## Why it matters
    ///
    /// Stored records may be in it.
    ///
    /// ## Example
    ///
    /// `card` lost `blocked`.
    ///
    /// ## Instead
    ///
    /// Keep it without an operation that leads there.
    "FXD123" "state-removed" [Breaking]
    cells &[(Area::Entity, "state", Action::Remove)];
    consequence "Records in that state are in no state.";
    fix "Move the records first, then remove the state.";
    check check;
}

fn check(cx: &Cx<'_>, sink: &mut Sink) {
    for (key, before, after) in &cx.entities.both {
        for state in before.states.iter().filter(|s| !after.states.contains(s)) {
            sink.add(
                RULE.finding(format!("entity {key}"), format!("/states/{state}"))
                    .says(format!("the state `{state}` was removed"))
                    .change(Json::from(state.as_str()), None),
            );
        }
    }
}
