//! See the rule's page.

use super::{Action, Area, Cx, Sink, rule};

rule! {
    /// # A capability has another output type
    ///
    /// ## What it catches
    ///
    /// The name of the output type is another within one major version. When the manifest holds both schemas, they are
    /// compared member by member instead, and the name by itself is neutral.
    ///
    /// ## Why it matters
    ///
    /// A capability of a library is a step of flows that are built elsewhere.
    ///
    /// ## Example
    ///
    /// `output: crate::RefundOrder` became `output: crate::Order`.
    ///
    /// ## Instead
    ///
    /// Publish `@2`.
    "FXD012" "capability-output-changed" [Breaking, Neutral]
    cells &[(Area::Capability, "output", Action::Change)];
    consequence "Steps of flows in other packages do not fit any more.";
    fix "Publish a new major of the capability beside this one.";
    check check;
}

fn check(cx: &Cx<'_>, sink: &mut Sink) {
    for (key, before, after) in &cx.capabilities.both {
        let subject = format!("capability {key}");
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
