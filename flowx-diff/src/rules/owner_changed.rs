//! See the rule's page.

use super::{Action, Area, Cx, Sink, rule};

rule! {
    /// # A flow has another owner
    ///
    /// ## What it catches
    ///
    /// The `owner` of a flow, or the `sponsor`'s counterpart among flows, is another or gone.
    ///
    /// ## Why it matters
    ///
    /// It is whom people ask when an agent did something odd.
    ///
    /// ## Example
    ///
    /// `owner = "support"` was removed.
    ///
    /// ## Instead
    ///
    /// Name who takes it over.
    "FXD087" "owner-changed" [Neutral]
    cells &[(Area::Flow, "owner", Action::Change)];
    consequence "Somebody else, or nobody, answers for it.";
    fix "Name an owner.";
    check check;
}

fn check(cx: &Cx<'_>, sink: &mut Sink) {
    for (subject, before, after) in cx.flows_changed() {
        if before.owner != after.owner {
            sink.add(super::text_change(
                &RULE,
                subject,
                "/owner",
                before.owner.as_deref(),
                after.owner.as_deref(),
            ));
        }
    }
}
