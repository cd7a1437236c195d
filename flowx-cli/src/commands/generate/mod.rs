//! `flowx generate`: what follows from the manifest, and is never written by hand.

mod docs;
mod openapi;
mod skill;

use flowx_diff::Surface;
use flowx_manifest::{Kind, Manifest, Tool};

use crate::cli::{self, Artefact, OutputFormat};
use crate::context::Context;
use crate::failure::{Failure, OK};
use crate::source::{self, Loaded};

use super::{files, no_format};

pub(super) fn run(context: &Context, args: &cli::Generate) -> Result<u8, Failure> {
    match context.common().format {
        None | Some(OutputFormat::Human | OutputFormat::Json | OutputFormat::Markdown) => {}
        Some(other) => {
            return Err(no_format(
                other,
                "none to choose from: what is made decides",
            ));
        }
    }
    let loaded = match &args.source {
        Some(source) => source::load(context, source)?,
        None => source::load_working_tree(context)?,
    };
    let text = match args.what {
        Artefact::Mcp => mcp(&loaded),
        Artefact::Openapi => openapi::render(loaded.manifest()?),
        Artefact::Skill => skill::render(loaded.manifest()?),
        Artefact::Docs => docs::render(loaded.manifest()?),
    };
    files::deliver(context, &text, args.out.as_deref(), args.force)?;
    Ok(OK)
}

/// The result of tools/list: the descriptors' own bytes, as the server sends them.
fn mcp(loaded: &Loaded) -> String {
    let descriptors: Vec<String> = match &loaded.surface {
        Surface::Manifest(manifest) => {
            let document = manifest.write();
            let tools = document
                .index
                .iter()
                .filter(|entry| entry.kind == Kind::Tool);
            tools
                .map(|entry| document.text[entry.range.clone()].to_owned())
                .collect()
        }
        Surface::Tools(list) => list
            .tools
            .iter()
            .map(|tool| tool.descriptor.to_canonical())
            .collect(),
    };
    format!("{{\"tools\":[{}]}}\n", descriptors.join(","))
}

/// The flow behind a tool. Annotations name the id; two majors of one flow are told apart by the tool's name.
fn flow_of<'a>(manifest: &'a Manifest, tool: &Tool) -> Option<&'a flowx_manifest::Flow> {
    manifest.flows.iter().find(|flow| {
        flow.triggers.iter().any(|trigger| matches!(trigger, flowx_manifest::Trigger::Agent { name, .. } if *name == tool.name))
    })
}

/// What a tool does to the world, in words: `changes ledger, spends payment-gateway`.
fn consequences(
    manifest: &Manifest,
    effects: &std::collections::BTreeSet<flowx_manifest::EffectId>,
) -> String {
    let words: Vec<String> = manifest
        .effects
        .iter()
        .filter(|effect| effects.contains(&effect.id))
        .map(|effect| {
            format!(
                "{} `{}`",
                effect.class.as_str().replace('_', " "),
                effect.id
            )
        })
        .collect();
    if words.is_empty() {
        "nothing".to_owned()
    } else {
        words.join(", ")
    }
}

/// One row of an input or output: name, type in words, whether it must be there, and what it says of itself.
struct Member {
    name: String,
    kind: String,
    required: bool,
    description: String,
}

/// The members of an object schema in the portable profile, where references are in line.
fn members(schema: &flowx_manifest::Json) -> Vec<Member> {
    use flowx_manifest::Json;
    let required: Vec<&str> = schema
        .get("required")
        .and_then(Json::as_array)
        .into_iter()
        .flatten()
        .filter_map(Json::as_str)
        .collect();
    let properties = schema
        .get("properties")
        .and_then(Json::as_object)
        .into_iter()
        .flatten();
    properties
        .map(|(name, property)| Member {
            name: name.clone(),
            kind: kind(property),
            required: required.contains(&name.as_str()),
            description: property
                .get("description")
                .and_then(Json::as_str)
                .unwrap_or_default()
                .to_owned(),
        })
        .collect()
}

fn kind(schema: &flowx_manifest::Json) -> String {
    use flowx_manifest::Json;
    if let Some(values) = schema.get("enum").and_then(Json::as_array) {
        let values: Vec<String> = values.iter().map(Json::to_canonical).collect();
        return format!("one of {}", values.join(", "));
    }
    if let Some(value) = schema.get("const") {
        return value.to_canonical();
    }
    let base = match schema.get("type") {
        Some(Json::String(name)) => name.clone(),
        Some(Json::Array(names)) => names
            .iter()
            .filter_map(Json::as_str)
            .collect::<Vec<_>>()
            .join(" or "),
        _ if schema.get("anyOf").is_some() || schema.get("oneOf").is_some() => {
            "one of several shapes".to_owned()
        }
        _ => "any".to_owned(),
    };
    let base = match (base.as_str(), schema.get("items")) {
        ("array", Some(items)) => format!("list of {}", kind(items)),
        _ => base,
    };
    let format = schema
        .get("format")
        .and_then(Json::as_str)
        .map(|f| format!(" ({f})"))
        .unwrap_or_default();
    let sensitive = if schema.get("writeOnly").and_then(Json::as_bool) == Some(true) {
        ", sensitive"
    } else {
        ""
    };
    format!("{base}{format}{sensitive}")
}
