//! See the rule's page.

use flowx_manifest::{Flow, Json, Step, StepTarget};

use super::{Action, Area, Cx, Sink, rule};

rule! {
    /// # A flow's steps changed
    ///
    /// ## What it catches
    ///
    /// A step that came, went, moved, or calls another capability, flow or version. Effects and permissions that change
    /// with it are FXD030 to FXD033.
    ///
    /// ## Why it matters
    ///
    /// The order decides what is done when a later step fails.
    ///
    /// ## Example
    ///
    /// `find, pay` became `pay, find`.
    ///
    /// ## Instead
    ///
    /// Nothing, if that is meant.
    "FXD080" "steps-changed" [Neutral]
    cells &[(Area::Flow, "steps", Action::Change)];
    consequence "A call does something else on the way; what that opens is reported where it opens.";
    fix "Nothing, if that is meant.";
    check check;
}

fn check(cx: &Cx<'_>, sink: &mut Sink) {
    let calls = |s: &Step| match &s.calls {
        StepTarget::Capability(id) => id.to_string(),
        StepTarget::Flow(id) => format!("flow {id}"),
    };
    for (subject, before, after) in cx.flows_changed() {
        let list = |f: &Flow| {
            f.steps
                .iter()
                .map(|s| format!("{}: {}", s.name, calls(s)))
                .collect::<Vec<_>>()
        };
        let (was, is) = (list(before), list(after));
        if was != is {
            let text = |l: &[String]| {
                if l.is_empty() {
                    "none".to_owned()
                } else {
                    l.join(", ")
                }
            };
            sink.add(
                RULE.finding(&subject, "/steps")
                    .says(format!("{} → {}", text(&was), text(&is)))
                    .change(Json::from(was), Json::from(is)),
            );
        }
    }
}
