//! See the rule's page.

use super::cx::effect_class;
use crate::report::Class;
use flowx_manifest::{EffectClass, Json, StepTarget};

use super::{Action, Area, Cx, Sink, rule};

rule! {
    /// # A step is tried more or less often
    ///
    /// ## What it catches
    ///
    /// The attempts of a step are another number. Security when there are more of them and the capability is not
    /// idempotent and has an effect beyond reading; neutral otherwise.
    ///
    /// ## Why it matters
    ///
    /// A payment that is tried three times can happen three times.
    ///
    /// ## Example
    ///
    /// `attempts = 3` was added to `pay: payment::refund`, which is not idempotent.
    ///
    /// ## Instead
    ///
    /// A key that makes the repetition harmless, then the retry.
    "FXD084" "retries-changed" [Neutral, Security]
    cells &[(Area::Flow, "attempts", Action::Change)];
    consequence "The step is tried more or less often.";
    fix "Make the capability idempotent before it is retried.";
    check check;
}

fn check(cx: &Cx<'_>, sink: &mut Sink) {
    for (subject, before, after) in cx.flows_changed() {
        for (b, a) in super::steps(before, after) {
            let (was, is) = (b.attempts.unwrap_or(1), a.attempts.unwrap_or(1));
            if b.attempts == a.attempts {
                continue;
            }
            let risky = match &a.calls {
                StepTarget::Capability(id) => cx.new.capabilities.iter().any(|c| {
                    let acts = c
                        .effects
                        .iter()
                        .any(|e| effect_class(cx.new, e.as_str()) != EffectClass::Reads);
                    c.id == id.id.as_str() && c.version == id.version && !c.idempotent && acts
                }),
                StepTarget::Flow(_) => false,
            };
            let class = if is > was && risky {
                Class::Security
            } else {
                Class::Neutral
            };
            let note = if class == Class::Security {
                ", and what it calls is not idempotent"
            } else {
                ""
            };
            sink.add(
                RULE.finding(&subject, format!("/steps/{}/attempts", a.name))
                    .class(class)
                    .says(format!(
                        "`{}` is tried {is} times, and was {was}{note}",
                        a.name
                    ))
                    .change(b.attempts.map(Json::from), a.attempts.map(Json::from)),
            );
        }
    }
}
