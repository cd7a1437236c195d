//! See the rule's page.

use super::{Action, Area, Cx, Sink, rule};

rule! {
    /// # An object is open now
    ///
    /// ## What it catches
    ///
    /// An object that had only declared members and may have others now. Breaking in a response, additive in a request.
    ///
    /// ## Why it matters
    ///
    /// A strict reader was right to be strict.
    ///
    /// ## Example
    ///
    /// `#[serde(deny_unknown_fields)]` was taken out of an output type.
    ///
    /// ## Instead
    ///
    /// Keep it.
    "FXD046" "object-opened" [Breaking, Additive, Undecided]
    cells &[(Area::Contract, "additionalProperties", Action::Loosen)];
    consequence "Readers that refuse what they do not know can meet it.";
    fix "Keep the object closed.";
    check check;
}

fn check(cx: &Cx<'_>, sink: &mut Sink) {
    super::shapes::report(cx, RULE.id, sink);
}
