//! See the rule's page.

use super::{Action, Area, Cx, Sink, rule};

rule! {
    /// # An operation was added
    ///
    /// ## What it catches
    ///
    /// An operation of an entity that was not there, with what guards it.
    ///
    /// ## Why it matters
    ///
    /// It is a new way through the lifecycle.
    ///
    /// ## Example
    ///
    /// `card` gained `reopen`.
    ///
    /// ## Instead
    ///
    /// Nothing, if that is meant.
    "FXD125" "operation-added" [Additive]
    cells &[(Area::Entity, "operation", Action::Add)];
    consequence "A record can be changed in one more way.";
    fix "Nothing, if that is meant.";
    check check;
}

fn check(cx: &Cx<'_>, sink: &mut Sink) {
    for (key, before, after) in &cx.entities.both {
        for op in after
            .operations
            .iter()
            .filter(|o| !before.operations.iter().any(|b| b.name == o.name))
        {
            let guard = op
                .permission
                .as_ref()
                .map_or("no permission".to_owned(), |p| format!("`{p}`"));
            sink.add(
                RULE.finding(format!("entity {key}"), format!("/operations/{}", op.name))
                    .says(format!(
                        "`{}` was added: to `{}`, behind {guard}",
                        op.name, op.to
                    )),
            );
        }
    }
}
