//! See the rule's page.

use super::{Action, Area, Cx, Sink, rule};

rule! {
    /// # An operation was removed
    ///
    /// ## What it catches
    ///
    /// An operation of an entity that is gone.
    ///
    /// ## Why it matters
    ///
    /// Records can be stuck in a state that only it left.
    ///
    /// ## Example
    ///
    /// `card` lost `close`.
    ///
    /// ## Instead
    ///
    /// Keep it, behind a permission that nobody holds.
    "FXD126" "operation-removed" [Breaking]
    cells &[(Area::Entity, "operation", Action::Remove)];
    consequence "Whoever performs it is refused.";
    fix "Keep it until nobody performs it.";
    check check;
}

fn check(cx: &Cx<'_>, sink: &mut Sink) {
    for (key, before, after) in &cx.entities.both {
        for op in before
            .operations
            .iter()
            .filter(|o| !after.operations.iter().any(|a| a.name == o.name))
        {
            sink.add(
                RULE.finding(format!("entity {key}"), format!("/operations/{}", op.name))
                    .says(format!("`{}` was removed", op.name)),
            );
        }
    }
}
