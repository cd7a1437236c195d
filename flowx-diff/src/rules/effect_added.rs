//! See the rule's page.

use flowx_manifest::Json;

use super::{Action, Area, Cx, Sink, rule};

rule! {
    /// # An effect was added
    ///
    /// ## What it catches
    ///
    /// A handle that only the head declares.
    ///
    /// ## Why it matters
    ///
    /// It is the list of what the application can touch.
    ///
    /// ## Example
    ///
    /// `payment-gateway` (spends) is new.
    ///
    /// ## Instead
    ///
    /// Nothing, if that is meant.
    "FXD131" "effect-added" [Neutral]
    cells &[(Area::Effect, "effect", Action::Add)];
    consequence "Nothing by itself; who reaches it is reported where it is reached.";
    fix "Nothing, if that is meant.";
    check check;
}

fn check(cx: &Cx<'_>, sink: &mut Sink) {
    for (id, effect) in &cx.effects.added {
        sink.add(
            RULE.finding(format!("effect {id}"), "")
                .says(format!("the effect ({}) was added", effect.class))
                .change(None, Json::from(effect.class.as_str())),
        );
    }
}
