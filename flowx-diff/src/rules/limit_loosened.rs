//! See the rule's page.

use super::{Action, Area, Cx, Sink, rule};

rule! {
    /// # A limit is looser
    ///
    /// ## What it catches
    ///
    /// The same the other way round. Breaking in a response, additive in a request.
    ///
    /// ## Why it matters
    ///
    /// Readers size columns, buffers and integers by what was promised.
    ///
    /// ## Example
    ///
    /// `u8` became `u16` in the output.
    ///
    /// ## Instead
    ///
    /// Keep the type, or publish a new major.
    "FXD055" "limit-loosened" [Breaking, Additive, Undecided]
    cells &[(Area::Contract, "limit", Action::Loosen)];
    consequence "Readers meet values beyond the old limit.";
    fix "Keep writing within the old limit.";
    check check;
}

fn check(cx: &Cx<'_>, sink: &mut Sink) {
    super::shapes::report(cx, RULE.id, sink);
}
