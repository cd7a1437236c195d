//! A reference in Markdown: every flow, capability, effect, agent and entity, for people.

use std::fmt::Write;

use flowx_manifest::{Authorization, Manifest, StepTarget, Trigger};

use super::{Member, consequences, members};
use crate::output::markup::{code, prose};

pub(super) fn render(manifest: &Manifest) -> String {
    let mut out = format!(
        "# {} {}\n",
        text(&manifest.application.name),
        manifest.application.version
    );
    section(&mut out, "Flows", &manifest.flows, |out, flow| {
        flows(out, manifest, flow)
    });
    section(
        &mut out,
        "Capabilities",
        &manifest.capabilities,
        |out, capability| {
            let _ = writeln!(out, "\n### {}\n", capability.reference());
            paragraph(out, capability.description.as_deref());
            let who = match &capability.authorization {
                Authorization::Public {
                    approved_by: Some(by),
                } => format!("anybody (approved by {})", text(by)),
                Authorization::Public { approved_by: None } => "anybody".to_owned(),
                Authorization::Authenticated {} => "anybody who is somebody".to_owned(),
                Authorization::Permission { permission } => format!("whoever holds `{permission}`"),
                Authorization::Internal {} => "flows whose other steps decide".to_owned(),
            };
            let _ = writeln!(out, "- Who may: {who}");
            let _ = writeln!(
                out,
                "- Consequence: {}",
                consequences(manifest, &capability.effects)
            );
            let _ = writeln!(
                out,
                "- Idempotent: {}",
                if capability.idempotent { "yes" } else { "no" }
            );
            errors(out, capability.errors.as_deref());
        },
    );
    if !manifest.effects.is_empty() {
        out.push_str("\n## Effects\n\n| effect | class | what it is |\n|---|---|---|\n");
        for effect in &manifest.effects {
            let says = effect.description.as_deref().unwrap_or_default();
            let _ = writeln!(
                out,
                "| `{}` | {} | {} |",
                effect.id,
                effect.class.as_str().replace('_', " "),
                text(says)
            );
        }
    }
    section(&mut out, "Agents", &manifest.agents, |out, agent| {
        let _ = writeln!(out, "\n### {}\n\n{}\n", agent.id, text(&agent.purpose));
        let _ = writeln!(out, "- Sponsor: {}", text(&agent.sponsor));
        let classes = [
            ("changes", agent.changes),
            ("sends", agent.sends),
            ("spends", agent.spends),
            ("reaches out", agent.reaches_out),
        ];
        for (what, leave) in classes {
            let _ = writeln!(
                out,
                "- Whatever {what}: {}",
                leave.as_str().replace('_', " ")
            );
        }
        for (flow, leave) in &agent.tools {
            let _ = writeln!(out, "- `{flow}`: {}", leave.as_str().replace('_', " "));
        }
    });
    section(&mut out, "Entities", &manifest.entities, |out, entity| {
        let _ = writeln!(
            out,
            "\n### {}\n\nStates: {}\n",
            entity.id,
            entity
                .states
                .iter()
                .map(|s| text(s))
                .collect::<Vec<_>>()
                .join(", ")
        );
        out.push_str("| operation | from | to | permission |\n|---|---|---|---|\n");
        for operation in &entity.operations {
            let from: Vec<String> = operation.from.iter().map(|s| text(s)).collect();
            let permission = operation
                .permission
                .as_ref()
                .map_or_else(String::new, |p| format!("`{p}`"));
            let _ = writeln!(
                out,
                "| {} | {} | {} | {permission} |",
                text(&operation.name),
                from.join(", "),
                text(&operation.to)
            );
        }
    });
    out
}

fn section<T>(out: &mut String, title: &str, items: &[T], each: impl Fn(&mut String, &T)) {
    if items.is_empty() {
        return;
    }
    let _ = writeln!(out, "\n## {title}");
    for item in items {
        each(out, item);
    }
}

fn flows(out: &mut String, manifest: &Manifest, flow: &flowx_manifest::Flow) {
    let _ = writeln!(out, "\n### {}\n", flow.reference());
    paragraph(out, flow.description.as_deref());
    if let Some(why) = &flow.deprecated {
        let _ = writeln!(out, "**Deprecated.** {}\n", text(why));
    }
    for trigger in &flow.triggers {
        match trigger {
            Trigger::Agent {
                name,
                confirmation,
                risk,
                ..
            } => {
                let _ = writeln!(
                    out,
                    "- Tool `{name}`; confirmation {}, risk {risk}",
                    confirmation.as_str().replace('_', " ")
                );
            }
            Trigger::Http {
                method,
                route,
                idempotent,
            } => {
                let key = if *idempotent {
                    "; demands an `Idempotency-Key`"
                } else {
                    ""
                };
                let _ = writeln!(out, "- {}{key}", code(&format!("{method} {route}")));
            }
        }
    }
    let _ = writeln!(
        out,
        "- Owner: {}",
        flow.owner
            .as_deref()
            .map_or_else(|| "nobody".to_owned(), text)
    );
    if let Some(deadline) = &flow.deadline {
        let _ = writeln!(out, "- Deadline: {}", deadline.as_str());
    }
    let _ = writeln!(
        out,
        "- Consequence: {}",
        consequences(manifest, &flow.effects)
    );
    let permissions: Vec<String> = flow.permissions.iter().map(|p| format!("`{p}`")).collect();
    if !permissions.is_empty() {
        let _ = writeln!(out, "- Permissions: {}", permissions.join(", "));
    }
    errors(out, flow.errors.as_deref());
    if !flow.steps.is_empty() {
        out.push_str(
            "\n| step | calls | timeout | attempts | undone by |\n|---|---|---|---|---|\n",
        );
        for step in &flow.steps {
            let calls = match &step.calls {
                StepTarget::Capability(target) => format!("`{target}`"),
                StepTarget::Flow(target) => format!("flow `{target}`"),
            };
            let timeout = step.timeout.as_ref().map_or("", |t| t.as_str());
            let undo = step
                .compensation
                .as_ref()
                .map_or_else(String::new, |c| format!("`{c}`"));
            let _ = writeln!(
                out,
                "| {} | {calls} | {timeout} | {} | {undo} |",
                step.name,
                step.attempts.unwrap_or(1)
            );
        }
    }
    let tool = manifest.tools.iter().find(|tool| {
        flow.triggers
            .iter()
            .any(|trigger| matches!(trigger, Trigger::Agent { name, .. } if *name == tool.name))
    });
    if let Some(tool) = tool {
        table(out, "Takes", &members(&tool.input_schema));
        table(out, "Gives", &members(&tool.output_schema));
    } else {
        let _ = writeln!(
            out,
            "\nTakes {}, gives {}.",
            code(&flow.input.name),
            code(&flow.output.name)
        );
    }
}

fn table(out: &mut String, title: &str, members: &[Member]) {
    if members.is_empty() {
        return;
    }
    let _ = writeln!(
        out,
        "\n| {title} | type | required | what it is |\n|---|---|---|---|"
    );
    for member in members {
        let required = if member.required { "yes" } else { "no" };
        let _ = writeln!(
            out,
            "| {} | {} | {required} | {} |",
            code(&member.name).replace('|', "\\|"),
            text(&member.kind),
            text(&member.description)
        );
    }
}

fn errors(out: &mut String, errors: Option<&[flowx_manifest::ErrorSpec]>) {
    match errors {
        None => out.push_str("- Can say no with: could not be established\n"),
        Some([]) => {}
        Some(errors) => {
            let codes: Vec<String> = errors
                .iter()
                .map(|e| format!("`{}` ({})", e.code, e.category.as_str().replace('_', " ")))
                .collect();
            let _ = writeln!(out, "- Can say no with: {}", codes.join(", "));
        }
    }
}

fn paragraph(out: &mut String, description: Option<&str>) {
    // Every blank line begins a paragraph; a line alone begins nothing, not a heading, a list or a rule.
    for part in description.unwrap_or_default().trim().split("\n\n") {
        let part = text(part);
        if !part.is_empty() {
            let guard = if part.starts_with(['-', '+', '=']) {
                "\\"
            } else {
                ""
            };
            let _ = writeln!(out, "{guard}{part}\n");
        }
    }
}

/// Text within a line or a cell.
fn text(text: &str) -> String {
    prose(&text.split_whitespace().collect::<Vec<_>>().join(" "))
}
