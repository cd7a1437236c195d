//! See the rule's page.

use super::{Action, Area, Cx, Sink, rule};

rule! {
    /// # A limit is stricter
    ///
    /// ## What it catches
    ///
    /// `minimum`, `maximum`, lengths, numbers of elements or members, `multipleOf`, `uniqueItems`, or a list of values
    /// where any was possible. Breaking in a request, additive in a response.
    ///
    /// ## Why it matters
    ///
    /// Calls within the old limit were right until today.
    ///
    /// ## Example
    ///
    /// `maxLength: 40` became `maxLength: 10`; `u16` became `u8`.
    ///
    /// ## Instead
    ///
    /// Accept the old range, and cut or refuse later with a typed error.
    "FXD054" "limit-tightened" [Breaking, Additive, Undecided]
    cells &[(Area::Contract, "limit", Action::Tighten)];
    consequence "Values beyond the new limit are refused.";
    fix "Keep the limit.";
    check check;
}

fn check(cx: &Cx<'_>, sink: &mut Sink) {
    super::shapes::report(cx, RULE.id, sink);
}
