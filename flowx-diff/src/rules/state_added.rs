//! See the rule's page.

use flowx_manifest::Json;

use super::{Action, Area, Cx, Sink, rule};

rule! {
    /// # A state was added
    ///
    /// ## What it catches
    ///
    /// A state of an entity that was not there.
    ///
    /// ## Why it matters
    ///
    /// Where the state is part of a contract, FXD047 says whom it breaks.
    ///
    /// ## Example
    ///
    /// `card` gained `archived`.
    ///
    /// ## Instead
    ///
    /// Nothing, if that is meant.
    "FXD122" "state-added" [Additive]
    cells &[(Area::Entity, "state", Action::Add)];
    consequence "Readers can meet a state that they do not know.";
    fix "Nothing, if readers treat unknown states as such.";
    check check;
}

fn check(cx: &Cx<'_>, sink: &mut Sink) {
    for (key, before, after) in &cx.entities.both {
        for state in after.states.iter().filter(|s| !before.states.contains(s)) {
            sink.add(
                RULE.finding(format!("entity {key}"), format!("/states/{state}"))
                    .says(format!("the state `{state}` was added"))
                    .change(None, Json::from(state.as_str())),
            );
        }
    }
}
