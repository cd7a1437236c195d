//! See the rule's page.

use super::cx::reached_from;
use flowx_manifest::Json;

use super::{Action, Area, Cx, Sink, rule};

rule! {
    /// # A capability has one effect fewer
    ///
    /// ## What it catches
    ///
    /// A capability that does not declare an effect any more.
    ///
    /// ## Why it matters
    ///
    /// Less can go wrong. Whoever relied on the effect happening should know.
    ///
    /// ## Example
    ///
    /// `effects(Ledger, Mailer)` became `effects(Ledger)`.
    ///
    /// ## Instead
    ///
    /// Nothing, if that is meant.
    "FXD106" "capability-effect-removed" [Additive]
    cells &[(Area::Capability, "effect", Action::Remove)];
    consequence "It can do less.";
    fix "Nothing, if that is meant.";
    check check;
}

fn check(cx: &Cx<'_>, sink: &mut Sink) {
    for (key, before, after) in &cx.capabilities.both {
        for effect in before.effects.difference(&after.effects) {
            sink.add(
                RULE.finding(format!("capability {key}"), format!("/effects/{effect}"))
                    .says(format!("`{effect}` was removed"))
                    .change(Json::from(effect.as_str()), None)
                    .through(reached_from(cx.new, key)),
            );
        }
    }
}
