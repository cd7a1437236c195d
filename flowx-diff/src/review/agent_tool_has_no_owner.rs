//! See the rule's page.

use flowx_manifest::Manifest;

use super::{ReviewFinding, review_rule};
use crate::rules::cx::tool_name;

review_rule! {
    /// # A tool has no owner
    ///
    /// ## What it catches
    ///
    /// A flow that agents can call and that names no `owner`.
    ///
    /// ## Why it matters
    ///
    /// When an agent does something odd with it, nobody knows whom to ask, and nobody reviews its changes.
    ///
    /// ## Example
    ///
    /// `#[flow(id = "ticket.refund", version = "1.0.0", agent(..), ..)]` without `owner`.
    ///
    /// ## Instead
    ///
    /// `owner = "support"`.
    "ai.agent_tool_has_no_owner" "agent-tool-has-no-owner" Warning check
}

fn check(manifest: &Manifest, out: &mut Vec<ReviewFinding>) {
    for flow in &manifest.flows {
        let blank = flow.owner.as_ref().is_none_or(|o| o.trim().is_empty());
        if let (Some(tool), true) = (tool_name(flow), blank) {
            out.push(RULE.finding(
                format!("flow {}", flow.key()),
                format!("agents can call it as `{tool}`, and nobody answers for it"),
                "Add `owner = \"…\"` to the flow.",
            ));
        }
    }
}
