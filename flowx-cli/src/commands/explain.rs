//! `flowx explain` and `flowx rules`: the rules of the sources, of a diff, of a review and of allowances in one list.

use serde::Serialize;

use super::{json_text, no_format, print};
use crate::cli::OutputFormat;
use crate::context::Context;
use crate::failure::{Failure, OK};
use crate::output::Rule;

/// One rule of `flowx rules --format json`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Entry {
    id: &'static str,
    kind: &'static str,
    /// The severity or the classes that its findings can have.
    severity: Vec<String>,
    title: String,
    doc: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Document {
    schema_version: &'static str,
    rules: Vec<Entry>,
}

/// Every rule there is, by kind and id.
pub(super) fn all() -> Vec<Entry> {
    let mut rules: Vec<Entry> = crate::rules::source_rules()
        .map(|rule| Entry {
            id: rule.id,
            kind: "check",
            severity: vec![rule.severity.to_string()],
            title: rule.title.to_owned(),
            doc: rule.doc,
        })
        .collect();
    rules.extend(flowx_diff::rules().iter().map(|rule| {
        let severity = match rule.severity {
            Some(severity) => vec![severity.to_string()],
            None => rule.classes.iter().map(ToString::to_string).collect(),
        };
        let doc = dedented(rule.doc);
        let kind = match rule.kind {
            flowx_diff::RuleKind::Diff => "diff",
            flowx_diff::RuleKind::Review => "review",
            flowx_diff::RuleKind::Allowance => "allowance",
        };
        Entry {
            id: rule.id,
            kind,
            severity,
            title: title(&doc),
            doc,
        }
    }));
    rules
}

/// A doc comment's text without the space that stands before each of its lines.
fn dedented(doc: &str) -> String {
    doc.lines()
        .map(|line| format!("{}\n", line.strip_prefix(' ').unwrap_or(line)))
        .collect()
}

/// The first line of a page.
fn title(doc: &str) -> String {
    doc.trim_start()
        .lines()
        .next()
        .unwrap_or_default()
        .trim_start_matches('#')
        .trim()
        .to_owned()
}

/// What SARIF shows of a rule.
pub(super) fn lookup(id: &str) -> Option<Rule<'static>> {
    use std::sync::OnceLock;
    static ALL: OnceLock<Vec<Entry>> = OnceLock::new();
    let rule = ALL.get_or_init(all).iter().find(|rule| rule.id == id)?;
    Some(Rule {
        id: rule.id,
        title: &rule.title,
        doc: &rule.doc,
    })
}

pub(super) fn explain(context: &Context, id: &str) -> Result<u8, Failure> {
    let all = all();
    let Some(rule) = all.iter().find(|rule| rule.id.eq_ignore_ascii_case(id)) else {
        let near = flowx_syntax::closest(id, all.iter().map(|rule| rule.id));
        let hint = near.map_or_else(String::new, |near| format!("; did you mean {near}?"));
        return Err(Failure::Usage(format!(
            "there is no rule {id:?}{hint} (`flowx rules` lists them)"
        )));
    };
    let text = match context.common().format {
        None | Some(OutputFormat::Human | OutputFormat::Markdown) => {
            format!("{}\n", rule.doc.trim())
        }
        Some(OutputFormat::Json) => json_text(rule),
        Some(other) => return Err(no_format(other, "human, markdown and json")),
    };
    print(&text)?;
    Ok(OK)
}

pub(super) fn rules(context: &Context) -> Result<u8, Failure> {
    let rules = all();
    let text = match context.common().format {
        None | Some(OutputFormat::Human) => {
            let styles = context.styles();
            let width = rules
                .iter()
                .map(|rule| rule.id.len())
                .max()
                .unwrap_or_default();
            let lines: Vec<String> = rules
                .iter()
                .map(|rule| {
                    let id = styles.bold(format!("{:width$}", rule.id));
                    let severity = rule.severity.join(", ");
                    format!(
                        "{id}  {:9}  {}  {}\n",
                        rule.kind,
                        rule.title,
                        styles.faint(format!("({severity})"))
                    )
                })
                .collect();
            lines.concat()
        }
        Some(OutputFormat::Json) => json_text(&Document {
            schema_version: flowx_diff::REPORT_VERSION,
            rules,
        }),
        Some(OutputFormat::Markdown) => {
            let mut text =
                String::from("| rule | verb | severity | what it catches |\n|---|---|---|---|\n");
            for rule in &rules {
                text.push_str(&format!(
                    "| `{}` | {} | {} | {} |\n",
                    rule.id,
                    rule.kind,
                    rule.severity.join(", "),
                    rule.title
                ));
            }
            text
        }
        Some(other) => return Err(no_format(other, "human, markdown and json")),
    };
    print(&text)?;
    Ok(OK)
}
