//! See the rule's page.

use super::{Action, Area, Cx, Sink, rule};

rule! {
    /// # A value was removed
    ///
    /// ## What it catches
    ///
    /// A value of an enumeration that is not there any more. Breaking in a request, additive in a response.
    ///
    /// ## Why it matters
    ///
    /// Calls with it were right until today.
    ///
    /// ## Example
    ///
    /// `format: Json | Xml | Csv` became `format: Json`.
    ///
    /// ## Instead
    ///
    /// Accept the old values and treat them as the new one.
    "FXD048" "value-removed" [Breaking, Additive, Undecided]
    cells &[(Area::Contract, "value", Action::Remove)];
    consequence "Callers that send it are refused.";
    fix "Go on accepting it.";
    check check;
}

fn check(cx: &Cx<'_>, sink: &mut Sink) {
    super::shapes::report(cx, RULE.id, sink);
}
