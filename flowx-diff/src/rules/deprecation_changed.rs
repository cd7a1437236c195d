//! See the rule's page.

use super::{Action, Area, Cx, Sink, rule};

rule! {
    /// # A deprecation notice changed
    ///
    /// ## What it catches
    ///
    /// A flow or capability that became deprecated, is not any more, or says another reason.
    ///
    /// ## Why it matters
    ///
    /// It announces the next break.
    ///
    /// ## Example
    ///
    /// `deprecated = "use ticket.resolve"` was added.
    ///
    /// ## Instead
    ///
    /// Nothing, if that is meant.
    "FXD204" "deprecation-changed" [Neutral]
    cells &[(Area::Flow, "deprecated", Action::Change)];
    consequence "Callers are told something else.";
    fix "Nothing, if that is meant.";
    check check;
}

fn check(cx: &Cx<'_>, sink: &mut Sink) {
    let flows = cx
        .flows_changed()
        .map(|(s, b, a)| (s, &b.deprecated, &a.deprecated));
    let capabilities = cx
        .capabilities
        .both
        .iter()
        .map(|(k, b, a)| (format!("capability {k}"), &b.deprecated, &a.deprecated));
    for (subject, before, after) in flows.chain(capabilities) {
        if before != after {
            sink.add(super::text_change(
                &RULE,
                subject,
                "/deprecated",
                before.as_deref(),
                after.as_deref(),
            ));
        }
    }
}
