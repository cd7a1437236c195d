//! See the rule's page.

use flowx_manifest::{Json, Trigger};

use super::{Action, Area, Cx, Sink, rule};

rule! {
    /// # A tool's confirmation was weakened
    ///
    /// ## What it catches
    ///
    /// The `confirmation` of an agent trigger is less strict: `always`, then `required_for_side_effects`, then `never`.
    /// Also when only the published fact `confirmationRequired` changed and neither the declaration nor the effects
    /// explain it.
    ///
    /// ## Why it matters
    ///
    /// The confirmation is what stands between a model that was talked into something and the effect.
    ///
    /// ## Example
    ///
    /// `confirmation = always` became `confirmation = never`.
    ///
    /// ## Instead
    ///
    /// Keep it; give a trusted agent leave instead.
    "FXD009" "confirmation-weakened" [Security]
    cells &[(Area::Flow, "confirmation", Action::Loosen)];
    consequence "Calls that a person was asked about run without asking.";
    fix "Keep the stricter confirmation.";
    check check;
}

fn check(cx: &Cx<'_>, sink: &mut Sink) {
    let mut told = std::collections::BTreeSet::new();
    for (_, before, after) in cx.flows_changed() {
        let (
            Some(Trigger::Agent {
                confirmation: was, ..
            }),
            Some(Trigger::Agent {
                confirmation: is,
                name,
                ..
            }),
        ) = (before.agent_trigger(), after.agent_trigger())
        else {
            continue;
        };
        if was != is {
            told.insert(name.to_string());
        }
        if is < was {
            sink.add(
                RULE.finding(format!("tool {name}"), "/confirmation")
                    .says(format!(
                        "a person was asked `{was}`, and is asked `{is}` now"
                    ))
                    .change(Json::from(was.as_str()), Json::from(is.as_str())),
            );
        }
    }
    for (subject, before, after) in cx.tools_changed() {
        let explained =
            told.contains(after.name.as_str()) || super::tools::reach_changed(cx, before, after);
        for (place, was, is) in [
            (
                "/annotations/confirmationRequired",
                before.annotations.confirmation_required,
                after.annotations.confirmation_required,
            ),
            (
                "/_meta/dev.flowx~1confirmationRequired",
                before.meta.confirmation_required,
                after.meta.confirmation_required,
            ),
        ] {
            if !explained && (was, is) == (true, false) {
                sink.add(
                    RULE.finding(&subject, place)
                        .says(format!("confirmationRequired: {was} → {is}"))
                        .change(Json::from(was), Json::from(is)),
                );
            }
        }
    }
}
