//! See the rule's page.

use super::{Action, Area, Cx, Sink, rule};

rule! {
    /// # A schema cannot be compared
    ///
    /// ## What it catches
    ///
    /// Keywords that are taken as a whole (`if`, `contains`, `dependentSchemas`, a `not` of more than types and values)
    /// and differ, references that lead nowhere, alternatives that may overlap, or a comparison that took more work
    /// than its budget. When a value was found that one side accepts and the other refuses, it is a break, with that
    /// value.
    ///
    /// ## Why it matters
    ///
    /// What cannot be decided is never reported as compatible.
    ///
    /// ## Example
    ///
    /// `if`/`then` was edited.
    ///
    /// ## Instead
    ///
    /// Say the same with tagged alternatives.
    "FXD059" "contract-undecided" [Undecided, Breaking, Additive]
    cells &[(Area::Contract, "schema", Action::Change)];
    consequence "It is not known whether callers notice.";
    fix "Look at both schemas, then allow the finding with a reason.";
    check check;
}

fn check(cx: &Cx<'_>, sink: &mut Sink) {
    super::shapes::report(cx, RULE.id, sink);
}
