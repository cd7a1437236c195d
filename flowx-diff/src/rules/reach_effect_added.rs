//! See the rule's page.

use super::cx::{effect_class, through_effect};
use crate::report::Class;
use flowx_manifest::{EffectClass, Json};

use super::{Action, Area, Cx, Sink, rule};

rule! {
    /// # A flow or tool reaches one more effect
    ///
    /// ## What it catches
    ///
    /// An effect that a call could not reach and can now: through a new step, another capability behind a step, a
    /// compensation, an inner flow, or a capability that gained it. Security when the effect does more than read. For a
    /// tool the finding is on the tool, and says through which step.
    ///
    /// ## Why it matters
    ///
    /// It is what a call can do to the world. A step can pull it in without a word of the tool's description changing.
    ///
    /// ## Example
    ///
    /// `ticket.search` gained the step `pay: payment::refund`, and can spend.
    ///
    /// ## Instead
    ///
    /// A flow of its own for what spends.
    "FXD030" "reach-effect-added" [Security, Neutral]
    cells &[(Area::Flow, "effect", Action::Add)];
    consequence "A call can have one more effect than was reviewed.";
    fix "Take the step out, or publish the flow under a new major.";
    check check;
}

fn check(cx: &Cx<'_>, sink: &mut Sink) {
    for reach in super::tools::reaches(cx) {
        for (effect, place) in reach.effects_added() {
            let kind = effect_class(cx.new, &effect);
            let class = if kind == EffectClass::Reads {
                Class::Neutral
            } else {
                Class::Security
            };
            let how = reach
                .flow_after
                .map_or_else(String::new, |f| through_effect(cx.new, f, &effect));
            sink.add(
                RULE.finding(&reach.subject, format!("{place}/{effect}"))
                    .class(class)
                    .says(format!("can reach `{effect}` ({kind}) now{how}"))
                    .change(None, Json::from(effect.as_str()))
                    .through(reach.through.clone()),
            );
        }
    }
}
