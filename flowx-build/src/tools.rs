//! Flows with an agent trigger become tools.

use flowx_manifest::Manifest;

use crate::codes;
use crate::declare::Declarations;
use crate::driver::tool_clashes;
use crate::finding::{Finding, Findings};

/// Adds the tool of every flow that has an agent trigger.
pub(crate) fn project(
    manifest: &mut Manifest,
    declared: &[&Declarations<'_>],
    findings: &Findings,
) {
    for (name, first, second) in tool_clashes(manifest) {
        let message = format!("flows `{first}` and `{second}` would both be the tool `{name}`");
        let at = declared
            .iter()
            .flat_map(|d| &d.flows)
            .find(|d| d.anchor().id == second);
        findings.push(match at {
            Some(flow) => {
                let span = flow
                    .decl
                    .agent
                    .as_ref()
                    .map_or(flow.decl.id.span, |a| a.span);
                flow.error(codes::TOOL_NAME_CLASH, span, message)
            }
            None => Finding::new(codes::TOOL_NAME_CLASH, "Cargo.toml", message),
        });
    }
}
