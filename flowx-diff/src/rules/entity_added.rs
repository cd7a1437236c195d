//! See the rule's page.

use super::{Action, Area, Cx, Sink, rule};

rule! {
    /// # An entity was added
    ///
    /// ## What it catches
    ///
    /// An entity of a major version that the base does not have.
    ///
    /// ## Why it matters
    ///
    /// Its states and operations are a contract from now on.
    ///
    /// ## Example
    ///
    /// `card@1` is new.
    ///
    /// ## Instead
    ///
    /// Nothing, if that is meant.
    "FXD120" "entity-added" [Additive]
    cells &[(Area::Entity, "entity", Action::Add)];
    consequence "A new kind of record.";
    fix "Nothing, if that is meant.";
    check check;
}

fn check(cx: &Cx<'_>, sink: &mut Sink) {
    for (key, _) in &cx.entities.added {
        sink.add(
            RULE.finding(format!("entity {key}"), "")
                .says("the entity was added"),
        );
    }
}
