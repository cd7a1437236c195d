//! See the rule's page.

use super::{Action, Area, Cx, Sink, rule};

rule! {
    /// # A value was added
    ///
    /// ## What it catches
    ///
    /// A value of an enumeration that was not there. Breaking in a response, additive in a request. The order of values
    /// never matters.
    ///
    /// ## Why it matters
    ///
    /// A reader that matches on the known values has no arm for it.
    ///
    /// ## Example
    ///
    /// `Status` gained `on_hold`.
    ///
    /// ## Instead
    ///
    /// Map it to a known value for old callers.
    "FXD047" "value-added" [Breaking, Additive, Undecided]
    cells &[(Area::Contract, "value", Action::Add)];
    consequence "Readers meet a value that they do not know.";
    fix "Write the new value under a new major version only.";
    check check;
}

fn check(cx: &Cx<'_>, sink: &mut Sink) {
    super::shapes::report(cx, RULE.id, sink);
}
