//! See the rule's page.

use super::{Action, Area, Cx, Sink, rule};

rule! {
    /// # An alternative was removed
    ///
    /// ## What it catches
    ///
    /// A variant of a union that is not there any more. Breaking in a request, additive in a response.
    ///
    /// ## Why it matters
    ///
    /// Calls with it were right until today.
    ///
    /// ## Example
    ///
    /// `enum Target { Ticket(..), Order(..) }` lost `Order`.
    ///
    /// ## Instead
    ///
    /// Accept it, and answer with a typed error.
    "FXD058" "alternative-removed" [Breaking, Additive, Undecided]
    cells &[(Area::Contract, "alternative", Action::Remove)];
    consequence "Callers that send it are refused.";
    fix "Go on accepting it.";
    check check;
}

fn check(cx: &Cx<'_>, sink: &mut Sink) {
    super::shapes::report(cx, RULE.id, sink);
}
