//! An Agent Skills file: what an agent should know before it calls the tools, none of it beyond what the manifest says.

use std::fmt::Write;

use flowx_manifest::{Manifest, Tool};

use super::{consequences, flow_of, members};
use crate::output::visible;

/// The format's own limits, in characters.
const NAME: usize = 64;
const DESCRIPTION: usize = 1024;

pub(super) fn render(manifest: &Manifest) -> String {
    let application = &manifest.application;
    let mut name: String = application
        .name
        .to_lowercase()
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .take(NAME)
        .collect();
    while name.contains("--") {
        name = name.replace("--", "-");
    }
    let name = name.trim_matches('-').to_owned();
    let tools: Vec<&str> = manifest
        .tools
        .iter()
        .map(|tool| tool.name.as_str())
        .collect();
    let mut description = format!(
        "Operate {} through its tools: {}.",
        visible(&application.name, false),
        tools.join(", ")
    );
    if description.chars().count() > DESCRIPTION {
        description = format!(
            "Operate {} through its {} tools.",
            visible(&application.name, false),
            tools.len()
        );
    }
    let mut out = format!(
        "---\nname: {name}\ndescription: {}\n---\n\n# {}\n",
        yaml(&description),
        line(&application.name)
    );
    let _ = writeln!(
        out,
        "\nVersion {}. This file follows from the manifest; `flowx generate skill` writes it.",
        application.version
    );
    for tool in &manifest.tools {
        one(&mut out, manifest, tool);
    }
    out.push_str(
        "\n## When a call is refused\n\n\
         - `input.invalid`: mend every path it names, then call again.\n\
         - `authorization.*`: this caller may not. Do not try another way; say so.\n\
         - `mcp.confirmation_refused`, `approval.rejected`: a person said no. Do not repeat the call.\n\
         - `approval.required`: a person decides. Repeat the same call, unchanged, when told that it was approved.\n\
         - anything else: the message says what is wrong; repeat only what is marked idempotent.\n",
    );
    out
}

fn one(out: &mut String, manifest: &Manifest, tool: &Tool) {
    let annotations = &tool.annotations;
    let _ = writeln!(
        out,
        "\n## `{}`\n\n{}\n",
        tool.name,
        visible(tool.description.trim(), true)
    );
    let _ = writeln!(
        out,
        "- Consequence: {}",
        consequences(manifest, &annotations.side_effects)
    );
    let _ = writeln!(
        out,
        "- A person confirms first: {}",
        if annotations.confirmation_required {
            "yes"
        } else {
            "no"
        }
    );
    let _ = writeln!(
        out,
        "- Safe to repeat: {}",
        if annotations.idempotent { "yes" } else { "no" }
    );
    if !annotations.required_permissions.is_empty() {
        let names: Vec<String> = annotations
            .required_permissions
            .iter()
            .map(|p| format!("`{p}`"))
            .collect();
        let _ = writeln!(out, "- Needs: {}", names.join(", "));
    }
    let input = members(&tool.input_schema);
    if !input.is_empty() {
        out.push_str("- Takes:\n");
        for member in input {
            let must = if member.required { "" } else { ", optional" };
            let says = if member.description.is_empty() {
                String::new()
            } else {
                format!(": {}", line(&member.description))
            };
            let _ = writeln!(
                out,
                "  - `{}` ({}{must}){says}",
                line(&member.name),
                line(&member.kind)
            );
        }
    }
    let errors: Vec<String> = flow_of(manifest, tool)
        .and_then(|flow| flow.errors.as_ref())
        .into_iter()
        .flatten()
        .map(|error| {
            format!(
                "`{}` ({})",
                error.code,
                error.category.as_str().replace('_', " ")
            )
        })
        .collect();
    if !errors.is_empty() {
        let _ = writeln!(out, "- Can say no with: {}", errors.join(", "));
    }
}

fn line(text: &str) -> String {
    visible(
        &text.split_whitespace().collect::<Vec<_>>().join(" "),
        false,
    )
}

/// A YAML string in double quotes, whose escapes are JSON's.
fn yaml(text: &str) -> String {
    flowx_manifest::Json::from(text).to_canonical()
}
