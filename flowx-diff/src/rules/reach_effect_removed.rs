//! See the rule's page.

use flowx_manifest::Json;

use super::{Action, Area, Cx, Sink, rule};

rule! {
    /// # A flow or tool reaches one effect fewer
    ///
    /// ## What it catches
    ///
    /// An effect that a call could reach and cannot any more.
    ///
    /// ## Why it matters
    ///
    /// Less can go wrong; and what the effect did is not done any more.
    ///
    /// ## Example
    ///
    /// The step `notify` was taken out of `ticket.refund`.
    ///
    /// ## Instead
    ///
    /// Nothing, if that is meant.
    "FXD031" "reach-effect-removed" [Additive]
    cells &[(Area::Flow, "effect", Action::Remove)];
    consequence "A call can do less.";
    fix "Nothing, if that is meant.";
    check check;
}

fn check(cx: &Cx<'_>, sink: &mut Sink) {
    for reach in super::tools::reaches(cx) {
        for (effect, place) in reach.effects_removed() {
            sink.add(
                RULE.finding(&reach.subject, format!("{place}/{effect}"))
                    .says(format!("cannot reach `{effect}` any more"))
                    .change(Json::from(effect.as_str()), None)
                    .through(reach.through.clone()),
            );
        }
    }
}
