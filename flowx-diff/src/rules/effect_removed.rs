//! See the rule's page.

use flowx_manifest::Json;

use super::{Action, Area, Cx, Sink, rule};

rule! {
    /// # An effect was removed
    ///
    /// ## What it catches
    ///
    /// A handle that only the base declares.
    ///
    /// ## Why it matters
    ///
    /// It is the list of what the application can touch.
    ///
    /// ## Example
    ///
    /// `mailer` is gone.
    ///
    /// ## Instead
    ///
    /// Nothing, if that is meant.
    "FXD132" "effect-removed" [Neutral]
    cells &[(Area::Effect, "effect", Action::Remove)];
    consequence "Nothing by itself.";
    fix "Nothing, if that is meant.";
    check check;
}

fn check(cx: &Cx<'_>, sink: &mut Sink) {
    for (id, effect) in &cx.effects.removed {
        sink.add(
            RULE.finding(format!("effect {id}"), "")
                .says(format!("the effect ({}) was removed", effect.class))
                .change(Json::from(effect.class.as_str()), None),
        );
    }
}
