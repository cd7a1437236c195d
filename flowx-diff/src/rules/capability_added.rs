//! See the rule's page.

use super::cx::reached_from;

use super::{Action, Area, Cx, Sink, rule};

rule! {
    /// # A capability was added
    ///
    /// ## What it catches
    ///
    /// A capability of a major version that the base does not have, with its stance and effects.
    ///
    /// ## Why it matters
    ///
    /// A new unit of authority: who may use it, and what it can do.
    ///
    /// ## Example
    ///
    /// `payment.reverse@1` is new.
    ///
    /// ## Instead
    ///
    /// Nothing, if that is meant.
    "FXD101" "capability-added" [Additive]
    cells &[(Area::Capability, "capability", Action::Add)];
    consequence "More can be done with the permissions that are held.";
    fix "Nothing, if that is meant.";
    check check;
}

fn check(cx: &Cx<'_>, sink: &mut Sink) {
    for (key, capability) in &cx.capabilities.added {
        let effects: Vec<&str> = capability.effects.iter().map(|e| e.as_str()).collect();
        let effects = if effects.is_empty() {
            "no effects".to_owned()
        } else {
            effects.join(", ")
        };
        sink.add(
            RULE.finding(format!("capability {key}"), "")
                .says(format!(
                    "the capability was added: {}, {effects}",
                    super::stance(&capability.authorization)
                ))
                .through(reached_from(cx.new, key)),
        );
    }
}
