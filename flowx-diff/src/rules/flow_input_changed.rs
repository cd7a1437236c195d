//! See the rule's page.

use super::{Action, Area, Cx, Sink, rule};

rule! {
    /// # A flow has another input type
    ///
    /// ## What it catches
    ///
    /// The name of the input type is another. Breaking when one side has no input at all or the manifest does not hold
    /// both schemas; otherwise the schemas are compared member by member, every difference is a finding of its own, and
    /// the name by itself is neutral.
    ///
    /// ## Why it matters
    ///
    /// What a flow accepts is its contract. A type of another name with the same shape is the same contract on the
    /// wire.
    ///
    /// ## Example
    ///
    /// `input: crate::IssueRefund` became `input: ()`.
    ///
    /// ## Instead
    ///
    /// Change the type in place and let the member rules say what that means, or publish `@2`.
    "FXD002" "flow-input-changed" [Breaking, Neutral]
    cells &[(Area::Flow, "input", Action::Change)];
    consequence "Callers have to send, or read, something else.";
    fix "Keep the type within one major version, and publish a new major beside it.";
    check check;
}

fn check(cx: &Cx<'_>, sink: &mut Sink) {
    for (subject, before, after) in cx.flows_changed() {
        if let Some(finding) = super::type_change(
            &RULE,
            cx,
            subject,
            "input",
            &before.input.name,
            &after.input.name,
        ) {
            sink.add(finding);
        }
    }
}
