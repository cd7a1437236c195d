//! See the rule's page.

use super::cx::{effect_class, reached_from};
use crate::report::Class;
use flowx_manifest::{EffectClass, Json};

use super::{Action, Area, Cx, Sink, rule};

rule! {
    /// # A capability has one more effect
    ///
    /// ## What it catches
    ///
    /// A capability that declares an effect which it did not. Security when the effect does more than read, neutral
    /// when it only reads. The flows and tools that reach it are named.
    ///
    /// ## Why it matters
    ///
    /// Everybody who was given the capability gets the effect with it, and no flow had to change.
    ///
    /// ## Example
    ///
    /// `effects(Ledger)` became `effects(Ledger, PaymentGateway)`.
    ///
    /// ## Instead
    ///
    /// A new capability with a permission of its own.
    "FXD016" "capability-effect-added" [Security, Neutral]
    cells &[(Area::Capability, "effect", Action::Add)];
    consequence "Whoever may use it can have this done too.";
    fix "Put the effect into a capability of its own, with its own stance.";
    check check;
}

fn check(cx: &Cx<'_>, sink: &mut Sink) {
    for (key, before, after) in &cx.capabilities.both {
        for effect in after.effects.difference(&before.effects) {
            let kind = effect_class(cx.new, effect.as_str());
            let class = if kind == EffectClass::Reads {
                Class::Neutral
            } else {
                Class::Security
            };
            sink.add(
                RULE.finding(format!("capability {key}"), format!("/effects/{effect}"))
                    .class(class)
                    .says(format!("`{effect}` ({kind}) was added"))
                    .change(None, Json::from(effect.as_str()))
                    .through(reached_from(cx.new, key)),
            );
        }
    }
}
