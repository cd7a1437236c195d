//! See the rule's page.

use super::{Action, Area, Cx, Sink, rule};

rule! {
    /// # More types are possible
    ///
    /// ## What it catches
    ///
    /// A place that can hold another type too, or `integer` that became `number`. Breaking in a response, additive in a
    /// request.
    ///
    /// ## Why it matters
    ///
    /// A reader in a typed language cannot even parse it.
    ///
    /// ## Example
    ///
    /// `amount: u64` became `amount: f64` in the output.
    ///
    /// ## Instead
    ///
    /// Add a second member for the new type.
    "FXD052" "type-widened" [Breaking, Additive, Undecided]
    cells &[(Area::Contract, "type", Action::Loosen)];
    consequence "Readers meet values of a type that they do not expect.";
    fix "Write the new type under a new major version only.";
    check check;
}

fn check(cx: &Cx<'_>, sink: &mut Sink) {
    super::shapes::report(cx, RULE.id, sink);
}
