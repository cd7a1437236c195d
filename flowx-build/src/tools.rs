//! Flows with an agent trigger become tools.

use flowx_manifest::{Direction, Flow, Manifest};

use crate::codes::{self, Code};
use crate::declare::Declarations;
use crate::driver::tool_clashes;
use crate::finding::{Finding, Findings, Severity};
use crate::project::{self, Loss, Surface};

/// Adds the tool of every flow that has an agent trigger, and says what its descriptor could not.
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
    let mut tools = Vec::new();
    for flow in &manifest.flows {
        let surface = Surface {
            flows: &manifest.flows,
            capabilities: &manifest.capabilities,
            effects: &manifest.effects,
            contracts: &manifest.contracts,
        };
        // A library has made its tools already, and its manifest brings them along.
        if manifest
            .tools
            .iter()
            .any(|t| t.annotations.flow_id == flow.id && Some(&t.name) == name_of(flow))
        {
            continue;
        }
        let Some((tool, losses)) = project::tool(flow, surface) else {
            continue;
        };
        for loss in &losses {
            findings.push(finding(flow, loss, declared));
        }
        tools.push(tool);
    }
    manifest.tools.extend(tools);
}

fn name_of(flow: &Flow) -> Option<&flowx_manifest::ToolName> {
    match flow.agent_trigger()? {
        flowx_manifest::Trigger::Agent { name, .. } => Some(name),
        flowx_manifest::Trigger::Http { .. } => None,
    }
}

fn finding(flow: &Flow, loss: &Loss, declared: &[&Declarations<'_>]) -> Finding {
    let severity = if loss.is_error() {
        Severity::Error
    } else {
        Severity::Note
    };
    let code = Code {
        id: loss.kind.id(),
        severity,
        title: "",
        help: "",
    };
    let part = if loss.direction == Direction::Request {
        "input"
    } else {
        "output"
    };
    let place = if loss.pointer.is_empty() {
        String::new()
    } else {
        format!(" at `{}`", loss.pointer)
    };
    let message = format!(
        "what agents are told of the {part}{place}: {}",
        loss.message
    );
    let id = flow.key();
    let finding = match declared
        .iter()
        .flat_map(|d| &d.flows)
        .find(|d| d.anchor().id == id)
    {
        Some(decl) => {
            let span = decl
                .decl
                .agent
                .as_ref()
                .map_or(decl.decl.id.span, |a| a.span);
            decl.error(code, span, message)
        }
        None => Finding::new(code, "Cargo.toml", message).subject(format!("flow {id}")),
    };
    match loss.is_error() {
        true => finding.help("give that part a form of its own that every host can call: named members, one type each, lists of things that are there"),
        false => finding.help("nothing breaks: the server holds every call against the exact contract"),
    }
}
