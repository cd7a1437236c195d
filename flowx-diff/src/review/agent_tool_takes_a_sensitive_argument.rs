//! See the rule's page.

use flowx_manifest::Manifest;

use super::{ReviewFinding, listed, review_rule};
use crate::rules::cx::tool_name;

review_rule! {
    /// # A tool takes a sensitive argument
    ///
    /// ## What it catches
    ///
    /// A tool whose input has members marked sensitive.
    ///
    /// ## Why it matters
    ///
    /// FlowX keeps the value out of logs and prompts of its own. It cannot keep it out of the conversation in which the
    /// model wrote it, nor out of that host's logs.
    ///
    /// ## Example
    ///
    /// `cardholder_reference: Sensitive<String>` in the input of an agent's flow.
    ///
    /// ## Instead
    ///
    /// Take a reference that is worth nothing by itself, and look the secret up behind it. Leave the note if it is one.
    "ai.agent_tool_takes_a_sensitive_argument" "agent-tool-takes-a-sensitive-argument" Note check
}

fn check(manifest: &Manifest, out: &mut Vec<ReviewFinding>) {
    for flow in &manifest.flows {
        let Some(tool) = tool_name(flow) else {
            continue;
        };
        if !flow.input.sensitive.is_empty() {
            out.push(RULE.finding(
                format!("flow {}", flow.key()),
                format!(
                    "the tool `{tool}` takes {}",
                    listed(flow.input.sensitive.iter().map(String::as_str))
                ),
                "Take a reference instead of the value, where that is possible.",
            ));
        }
    }
}
