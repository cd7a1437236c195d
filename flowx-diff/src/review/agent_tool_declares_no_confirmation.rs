//! See the rule's page.

use flowx_manifest::{Confirmation, Manifest, Trigger};

use super::{ReviewFinding, listed, review_rule, side_effects};

review_rule! {
    /// # A tool with side effects asks nobody
    ///
    /// ## What it catches
    ///
    /// A tool whose confirmation is `never` and that can reach an effect which does more than read, through any step,
    /// compensation or inner flow.
    ///
    /// ## Why it matters
    ///
    /// A model can be talked into calling it, and nothing stands between the call and the effect.
    ///
    /// ## Example
    ///
    /// `agent(confirmation = never)` on a flow whose step `pay` spends money.
    ///
    /// ## Instead
    ///
    /// `agent(confirmation = required_for_side_effects)`.
    "ai.agent_tool_declares_no_confirmation" "agent-tool-declares-no-confirmation" Warning check
}

fn check(manifest: &Manifest, out: &mut Vec<ReviewFinding>) {
    for flow in &manifest.flows {
        let Some(Trigger::Agent {
            name,
            confirmation: Confirmation::Never,
            ..
        }) = flow.agent_trigger()
        else {
            continue;
        };
        let effects = side_effects(manifest, flow);
        if !effects.is_empty() {
            out.push(RULE.finding(
                format!("flow {}", flow.key()),
                format!(
                    "the tool `{name}` asks nobody and can reach {}",
                    listed(effects.iter().map(|e| e.0))
                ),
                "Set `confirmation = required_for_side_effects`.",
            ));
        }
    }
}
