//! See the rule's page.

use super::{Action, Area, Cx, Sink, rule};

rule! {
    /// # A flow has another output type
    ///
    /// ## What it catches
    ///
    /// The name of the output type is another. Breaking when one side has no output at all or the manifest does not
    /// hold both schemas; otherwise the schemas are compared member by member, every difference is a finding of its
    /// own, and the name by itself is neutral.
    ///
    /// ## Why it matters
    ///
    /// What a flow writes is its contract. A type of another name with the same shape is the same contract on the wire.
    ///
    /// ## Example
    ///
    /// `output: crate::IssueRefund` became `output: ()`.
    ///
    /// ## Instead
    ///
    /// Change the type in place and let the member rules say what that means, or publish `@2`.
    "FXD003" "flow-output-changed" [Breaking, Neutral]
    cells &[(Area::Flow, "output", Action::Change)];
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
            "output",
            &before.output.name,
            &after.output.name,
        ) {
            sink.add(finding);
        }
    }
}
