//! See the rule's page.

use super::{Action, Area, Cx, Sink, rule};

rule! {
    /// # Null is possible now
    ///
    /// ## What it catches
    ///
    /// A place where `null` could not stand and can now, however it is spelled. Breaking in a response, additive in a
    /// request.
    ///
    /// ## Why it matters
    ///
    /// Readers do not check for null where there never was one.
    ///
    /// ## Example
    ///
    /// `total: u64` became `total: Option<u64>` in the output.
    ///
    /// ## Instead
    ///
    /// Keep writing a number.
    "FXD049" "null-allowed" [Breaking, Additive, Undecided]
    cells &[(Area::Contract, "null", Action::Loosen)];
    consequence "Readers can meet null.";
    fix "Leave the member out, or write a default.";
    check check;
}

fn check(cx: &Cx<'_>, sink: &mut Sink) {
    super::shapes::report(cx, RULE.id, sink);
}
