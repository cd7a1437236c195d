//! See the rule's page.

use super::{Action, Area, Cx, Sink, rule};

rule! {
    /// # A member was added
    ///
    /// ## What it catches
    ///
    /// A member that the schema did not declare. In a request it breaks when it must be there; in a response when the
    /// old schema was closed. Otherwise it is additive.
    ///
    /// ## Why it matters
    ///
    /// A required argument that nobody sends is refused; a closed reader refuses what it does not know.
    ///
    /// ## Example
    ///
    /// `reason: String` was added to the input.
    ///
    /// ## Instead
    ///
    /// `reason: Option<String>`, or `#[serde(default)]`.
    "FXD040" "member-added" [Breaking, Additive, Undecided]
    cells &[(Area::Contract, "member", Action::Add)];
    consequence "Callers that do not send it, or do not know it, notice.";
    fix "Make it optional, with a default.";
    check check;
}

fn check(cx: &Cx<'_>, sink: &mut Sink) {
    super::shapes::report(cx, RULE.id, sink);
}
