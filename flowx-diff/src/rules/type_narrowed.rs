//! See the rule's page.

use super::{Action, Area, Cx, Sink, rule};

rule! {
    /// # Fewer types are possible
    ///
    /// ## What it catches
    ///
    /// A type of a place that had several is gone, or `number` became `integer`.
    ///
    /// ## Why it matters
    ///
    /// Calls with it were right until today.
    ///
    /// ## Example
    ///
    /// `anyOf` of string and integer became string.
    ///
    /// ## Instead
    ///
    /// Keep both.
    "FXD051" "type-narrowed" [Breaking, Additive, Undecided]
    cells &[(Area::Contract, "type", Action::Tighten)];
    consequence "Values of the type that is gone are refused.";
    fix "Go on accepting both.";
    check check;
}

fn check(cx: &Cx<'_>, sink: &mut Sink) {
    super::shapes::report(cx, RULE.id, sink);
}
