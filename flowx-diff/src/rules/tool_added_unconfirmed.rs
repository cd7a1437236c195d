//! See the rule's page.

use super::cx::{effect_class, through_effect, tool_name};
use flowx_manifest::{Confirmation, EffectClass, Flow, Json, Trigger};

use super::{Action, Area, Cx, Sink, rule};

rule! {
    /// # A new tool asks nobody
    ///
    /// ## What it catches
    ///
    /// A tool that the base does not have, that can reach an effect which does more than read, and whose confirmation
    /// is `never`. Also a tool of another server whose hints say that it destroys.
    ///
    /// ## Why it matters
    ///
    /// Weakening a confirmation is noticed by a comparison; one that never was there is not, unless somebody looks for
    /// it.
    ///
    /// ## Example
    ///
    /// A new flow with `agent(confirmation = never)` over a step that sends mail.
    ///
    /// ## Instead
    ///
    /// Confirm, and give leave to single agents.
    "FXD077" "tool-added-unconfirmed" [Security]
    cells &[(Area::Tool, "unconfirmed", Action::Add)];
    consequence "A model can have the effect from the first day, and nobody is asked.";
    fix "`confirmation = required_for_side_effects`.";
    check check;
}

fn check(cx: &Cx<'_>, sink: &mut Sink) {
    let kept: Vec<&Flow> = cx
        .flows_kept()
        .filter(|(_, b, _)| b.agent_trigger().is_some())
        .map(|(_, _, a)| a)
        .collect();
    for flow in cx
        .new
        .flows
        .iter()
        .filter(|f| !kept.iter().any(|k| std::ptr::eq(*k, *f)))
    {
        let Some(Trigger::Agent {
            name,
            confirmation: Confirmation::Never,
            ..
        }) = flow.agent_trigger()
        else {
            continue;
        };
        let older = cx
            .old
            .flows
            .iter()
            .any(|f| tool_name(f) == Some(name.as_str()));
        let effects: Vec<String> = flow
            .effects
            .iter()
            .filter(|e| effect_class(cx.new, e.as_str()) != EffectClass::Reads)
            .map(|e| format!("`{e}`{}", through_effect(cx.new, flow, e.as_str())))
            .collect();
        if !effects.is_empty() && !older {
            sink.add(
                RULE.finding(format!("tool {name}"), "/confirmation")
                    .says(format!(
                        "the new tool asks nobody and can reach {}",
                        effects.join(", ")
                    ))
                    .change(None, Json::from("never"))
                    .through([format!("flow {}", flow.key())]),
            );
        }
    }
    super::tools::report(cx, RULE.id, sink);
}
