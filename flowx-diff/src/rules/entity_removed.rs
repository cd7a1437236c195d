//! See the rule's page.

use super::{Action, Area, Cx, Sink, rule};

rule! {
    /// # An entity was removed
    ///
    /// ## What it catches
    ///
    /// An entity of a major version that is gone.
    ///
    /// ## Why it matters
    ///
    /// Stored records stay behind.
    ///
    /// ## Example
    ///
    /// `card@1` is gone.
    ///
    /// ## Instead
    ///
    /// Keep it beside its successor.
    "FXD121" "entity-removed" [Breaking]
    cells &[(Area::Entity, "entity", Action::Remove)];
    consequence "Records of it can be neither read nor changed.";
    fix "Keep it until no record is left.";
    check check;
}

fn check(cx: &Cx<'_>, sink: &mut Sink) {
    for (key, _) in &cx.entities.removed {
        sink.add(
            RULE.finding(format!("entity {key}"), "")
                .says("the entity was removed"),
        );
    }
}
