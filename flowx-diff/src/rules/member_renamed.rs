//! See the rule's page.

use super::{Action, Area, Cx, Sink, rule};

rule! {
    /// # A member was renamed
    ///
    /// ## What it catches
    ///
    /// A member that is gone and one that came, with the same schema, in the same object, both required or both
    /// optional: one finding. It is breaking in both directions, also where an open object would swallow the old name
    /// silently; of that one there is no witness, since no value is refused.
    ///
    /// ## Why it matters
    ///
    /// Renames are what hurts most: the value is there, under a name that nobody looks at.
    ///
    /// ## Example
    ///
    /// `ticket_id` became `ticket`.
    ///
    /// ## Instead
    ///
    /// Keep the serialised name: `#[serde(rename = "ticket_id")]`.
    "FXD042" "member-renamed" [Breaking]
    cells &[(Area::Contract, "member name", Action::Change)];
    consequence "Callers that send or read the old name are wrong.";
    fix "Add `#[serde(alias = \"old\")]` for requests, and write both for responses until the next major version.";
    check check;
}

fn check(cx: &Cx<'_>, sink: &mut Sink) {
    super::shapes::report(cx, RULE.id, sink);
}
