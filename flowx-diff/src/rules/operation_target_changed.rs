//! See the rule's page.

use flowx_manifest::Json;

use super::{Action, Area, Cx, Sink, rule};

rule! {
    /// # An operation ends in another state
    ///
    /// ## What it catches
    ///
    /// The `to` of an operation is another.
    ///
    /// ## Why it matters
    ///
    /// What can be done next depends on it.
    ///
    /// ## Example
    ///
    /// `close` ended in `closed` and ends in `archived`.
    ///
    /// ## Instead
    ///
    /// `archive` as an operation of its own.
    "FXD129" "operation-target-changed" [Breaking]
    cells &[(Area::Entity, "operation target", Action::Change)];
    consequence "The record is in another state afterwards.";
    fix "A new operation for the new target.";
    check check;
}

fn check(cx: &Cx<'_>, sink: &mut Sink) {
    for (key, before, after) in &cx.entities.both {
        for b in &before.operations {
            if let Some(a) = after
                .operations
                .iter()
                .find(|a| a.name == b.name && a.to != b.to)
            {
                sink.add(
                    RULE.finding(
                        format!("entity {key}"),
                        format!("/operations/{}/to", b.name),
                    )
                    .says(format!(
                        "`{}` ends in `{}`, and ended in `{}`",
                        b.name, a.to, b.to
                    ))
                    .change(Json::from(b.to.as_str()), Json::from(a.to.as_str())),
                );
            }
        }
    }
}
