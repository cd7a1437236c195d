//! `flowx show`: the surface as a table, or one entry.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;

use flowx_diff::Surface;
use flowx_manifest::{Authorization, Json, Kind, Manifest, Trigger, json};

use super::{no_format, print};
use crate::cli::OutputFormat;
use crate::context::Context;
use crate::failure::{Failure, OK};
use crate::output::{Styles, visible};
use crate::source::{self, Loaded, Source};

pub(super) fn run(context: &Context, args: &[String]) -> Result<u8, Failure> {
    let (source, id) = match args {
        [] => (None, None),
        [one] if is_source(one) => (Some(one), None),
        [one] => (None, Some(one)),
        [source, id, ..] => (Some(source), Some(id)),
    };
    let loaded = match source {
        Some(text) => source::load(
            context,
            &text
                .parse::<Source>()
                .map_err(|error| Failure::Usage(error.to_string()))?,
        )?,
        None => source::load_working_tree(context)?,
    };
    let format = match context.common().format {
        None => OutputFormat::Human,
        Some(format @ (OutputFormat::Human | OutputFormat::Json | OutputFormat::Markdown)) => {
            format
        }
        Some(other) => return Err(no_format(other, "human, json and markdown")),
    };
    let text = match id {
        Some(id) => entry(&loaded, id, format)?,
        None => whole(context, &loaded, format),
    };
    print(&text)?;
    Ok(OK)
}

/// A single argument is a source when it has a scheme or is there on the disk; otherwise it is an id.
fn is_source(text: &str) -> bool {
    matches!(text.parse::<Source>(), Ok(source) if !matches!(source, Source::Path(_)))
        || Path::new(text).exists()
        || text.contains(['/', '\\'])
        || text.ends_with(".json")
}

/// One entry: its line in the manifest, indented for people.
fn entry(loaded: &Loaded, id: &str, format: OutputFormat) -> Result<String, Failure> {
    let kinds = match &loaded.surface {
        Surface::Manifest(manifest) => entries(manifest),
        Surface::Tools(list) => list
            .tools
            .iter()
            .map(|tool| (Kind::Tool, tool.name.clone(), tool.descriptor.clone()))
            .collect(),
    };
    let matches = |name: &str| {
        name == id
            // `ticket.refund` and `ticket.refund@1` mean `ticket.refund@1.0.0`.
            || name.split_once('@').is_some_and(|(base, version)| {
                base == id || id.split_once('@').is_some_and(|(b, v)| b == base && version.starts_with(&format!("{v}.")))
            })
    };
    let found: Vec<&(Kind, String, Json)> =
        kinds.iter().filter(|(_, name, _)| matches(name)).collect();
    if found.is_empty() {
        // Nobody types versions, so they do not make a name a far one.
        let names = kinds
            .iter()
            .map(|(_, name, _)| name.split('@').next().unwrap_or(name));
        let near = flowx_syntax::closest(id, names);
        let hint = near.map_or_else(String::new, |near| format!("; did you mean {near}?"));
        return Err(Failure::load(
            &loaded.label,
            format!("has no entry {id:?}{hint}"),
        ));
    }
    let mut out = String::new();
    for (kind, name, json) in found {
        match format {
            OutputFormat::Json => {
                out.push_str(&json.to_canonical());
                out.push('\n');
            }
            OutputFormat::Markdown => {
                let _ = writeln!(
                    out,
                    "### {} `{name}`\n\n```json\n{}\n```\n",
                    word(*kind),
                    json.to_pretty().trim_end()
                );
            }
            _ => {
                let place = loaded
                    .places
                    .get(&subject(*kind, name))
                    .map(|(file, line)| format!("  {file}:{line}"));
                let _ = writeln!(out, "{} {name}{}", word(*kind), place.unwrap_or_default());
                let _ = writeln!(out, "{}", visible(json.to_pretty().trim_end(), true));
            }
        }
    }
    Ok(out)
}

fn word(kind: Kind) -> &'static str {
    match kind {
        Kind::Effect => "effect",
        Kind::Capability => "capability",
        Kind::Flow => "flow",
        Kind::Event => "event",
        Kind::Agent => "agent",
        Kind::Entity => "entity",
        Kind::Contract => "contract",
        Kind::Tool => "tool",
    }
}

/// `flow ticket.refund@1` for `ticket.refund@1.0.0`.
fn subject(kind: Kind, name: &str) -> String {
    match name.split_once('@') {
        Some((id, version)) => format!(
            "{} {id}@{}",
            word(kind),
            version.split('.').next().unwrap_or(version)
        ),
        None => format!("{} {name}", word(kind)),
    }
}

fn entries(manifest: &Manifest) -> Vec<(Kind, String, Json)> {
    let document = manifest.write();
    let parse =
        |text: &str| json::parse(text.as_bytes(), json::Limits::DOCUMENT).unwrap_or_default();
    document
        .index
        .iter()
        .map(|e| (e.kind, e.id.clone(), parse(&document.text[e.range.clone()])))
        .collect()
}

/// A table that is as wide as its widest cells.
struct Table {
    title: &'static str,
    head: Vec<&'static str>,
    rows: Vec<Vec<String>>,
}

impl Table {
    fn human(&self, styles: Styles, out: &mut String) {
        if self.rows.is_empty() {
            return;
        }
        let width = |column: usize| {
            let cells = self.rows.iter().map(|row| row[column].chars().count());
            cells
                .chain([self.head[column].len()])
                .max()
                .unwrap_or_default()
        };
        let widths: Vec<usize> = (0..self.head.len()).map(width).collect();
        let line = |cells: &[String]| {
            let padded: Vec<String> = cells
                .iter()
                .zip(&widths)
                .map(|(cell, width)| format!("{cell:width$}"))
                .collect();
            padded.join("  ").trim_end().to_owned()
        };
        let head: Vec<String> = self.head.iter().map(ToString::to_string).collect();
        let _ = writeln!(
            out,
            "\n{}\n{}",
            styles.bold(self.title),
            styles.faint(line(&head))
        );
        for row in &self.rows {
            let _ = writeln!(out, "{}", line(row));
        }
    }

    fn markdown(&self, out: &mut String) {
        if self.rows.is_empty() {
            return;
        }
        let cell = |text: &String| text.replace('|', "\\|").replace('<', "&lt;");
        let _ = writeln!(
            out,
            "\n## {}\n\n| {} |\n|{}",
            self.title,
            self.head.join(" | "),
            "---|".repeat(self.head.len())
        );
        for row in &self.rows {
            let _ = writeln!(
                out,
                "| {} |",
                row.iter().map(cell).collect::<Vec<_>>().join(" | ")
            );
        }
    }
}

fn whole(context: &Context, loaded: &Loaded, format: OutputFormat) -> String {
    let (title, tables) = match &loaded.surface {
        Surface::Manifest(manifest) => {
            if format == OutputFormat::Json {
                return manifest.write().text;
            }
            let application = &manifest.application;
            (
                format!("{} {}", application.name, application.version),
                tables(manifest),
            )
        }
        Surface::Tools(list) => {
            if format == OutputFormat::Json {
                let tools = Json::Array(
                    list.tools
                        .iter()
                        .map(|tool| tool.descriptor.clone())
                        .collect(),
                );
                return format!("{}\n", Json::object([("tools", tools)]).to_canonical());
            }
            let text = |json: &Json, key: &str| {
                json.get(key)
                    .and_then(Json::as_str)
                    .unwrap_or_default()
                    .to_owned()
            };
            let rows = list
                .tools
                .iter()
                .map(|tool| {
                    vec![
                        visible(&tool.name, false),
                        first_line(&text(&tool.descriptor, "description")),
                    ]
                })
                .collect();
            (
                loaded.label.clone(),
                vec![Table {
                    title: "Tools",
                    head: vec!["name", "description"],
                    rows,
                }],
            )
        }
    };
    let styles = context.styles();
    let mut out = if format == OutputFormat::Markdown {
        format!("# {title}\n")
    } else {
        format!("{}\n", styles.bold(visible(&title, false)))
    };
    for table in tables {
        if format == OutputFormat::Markdown {
            table.markdown(&mut out)
        } else {
            table.human(styles, &mut out)
        }
    }
    out
}

fn first_line(text: &str) -> String {
    const MOST: usize = 70;
    let line = visible(text.lines().next().unwrap_or_default(), false);
    if line.chars().count() > MOST {
        format!("{}…", line.chars().take(MOST).collect::<String>())
    } else {
        line
    }
}

fn joined<T: ToString>(items: impl IntoIterator<Item = T>) -> String {
    let all: Vec<String> = items.into_iter().map(|item| item.to_string()).collect();
    if all.is_empty() {
        "-".to_owned()
    } else {
        all.join(", ")
    }
}

fn tables(manifest: &Manifest) -> Vec<Table> {
    let flows = manifest.flows.iter().map(|flow| {
        let reached = flow.triggers.iter().map(|trigger| match trigger {
            Trigger::Agent {
                name, confirmation, ..
            } => format!("agent {name} ({confirmation})"),
            Trigger::Http { method, route, .. } => format!("{method} {route}"),
        });
        vec![
            flow.reference().to_string(),
            joined(reached),
            joined(&flow.effects),
            joined(&flow.permissions),
            flow.deadline
                .as_ref()
                .map_or_else(|| "-".to_owned(), |d| d.as_str().to_owned()),
            flow.owner
                .clone()
                .map_or_else(|| "-".to_owned(), |o| visible(&o, false)),
        ]
    });
    let capabilities = manifest.capabilities.iter().map(|capability| {
        let who = match &capability.authorization {
            Authorization::Public { approved_by } => approved_by.as_ref().map_or_else(
                || "public".to_owned(),
                |by| format!("public, approved by {}", visible(by, false)),
            ),
            Authorization::Authenticated {} => "authenticated".to_owned(),
            Authorization::Permission { permission } => permission.to_string(),
            Authorization::Internal {} => "internal".to_owned(),
        };
        let idempotent = if capability.idempotent { "yes" } else { "no" };
        vec![
            capability.reference().to_string(),
            who,
            joined(&capability.effects),
            idempotent.to_owned(),
        ]
    });
    let effects = manifest.effects.iter().map(|effect| {
        let used: BTreeSet<String> = manifest
            .capabilities
            .iter()
            .filter(|capability| capability.effects.contains(&effect.id))
            .map(|capability| capability.reference().to_string())
            .collect();
        vec![
            effect.id.to_string(),
            effect.class.to_string(),
            joined(used),
        ]
    });
    let agents = manifest.agents.iter().map(|agent| {
        let leave = [
            ("changes", agent.changes),
            ("sends", agent.sends),
            ("spends", agent.spends),
            ("reaches out", agent.reaches_out),
        ];
        let tools = agent
            .tools
            .iter()
            .map(|(flow, leave)| format!("{flow}: {leave}"));
        vec![
            agent.id.to_string(),
            visible(&agent.sponsor, false),
            leave
                .map(|(what, leave)| format!("{what}: {leave}"))
                .join(", "),
            joined(tools),
        ]
    });
    let entities = manifest.entities.iter().map(|entity| {
        let operations = entity
            .operations
            .iter()
            .map(|o| format!("{} -> {}", o.name, o.to));
        vec![
            entity.id.to_string(),
            entity.states.join(", "),
            joined(operations),
        ]
    });
    vec![
        Table {
            title: "Flows",
            head: vec![
                "flow",
                "reached by",
                "effects",
                "permissions",
                "deadline",
                "owner",
            ],
            rows: flows.collect(),
        },
        Table {
            title: "Capabilities",
            head: vec!["capability", "who may", "effects", "idempotent"],
            rows: capabilities.collect(),
        },
        Table {
            title: "Effects",
            head: vec!["effect", "class", "declared by"],
            rows: effects.collect(),
        },
        Table {
            title: "Agents",
            head: vec!["agent", "sponsor", "leave", "tool by tool"],
            rows: agents.collect(),
        },
        Table {
            title: "Entities",
            head: vec!["entity", "states", "operations"],
            rows: entities.collect(),
        },
    ]
}
