//! `flowx check`: every source rule over the working tree.

use flowx_build::files::Disk;
use flowx_build::{Finding, Severity};
use flowx_diff::AllowedIn;
use serde::Serialize;

use super::diff::allow_rows;
use super::{finish, json_text, tally};
use crate::context::Context;
use crate::failure::Failure;
use crate::output::{Level, Page, Row};
use crate::source;

/// The document of `flowx check --format json`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Document<'a> {
    schema_version: &'static str,
    findings: &'a [Finding],
}

pub(super) fn run(context: &Context) -> Result<u8, Failure> {
    let level = fail_level(context, Level::Error)?;
    let folder = source::working_folder(context)?;
    let scanned = source::scan(context, &Disk, &folder).map_err(Failure::Load)?;
    let mut rows: Vec<Row> = scanned
        .findings
        .iter()
        .map(|finding| row(finding, level))
        .collect();
    let known = |rule: &str| flowx_build::rules::explain(rule).is_some();
    allow_rows(context, AllowedIn::Check, &mut rows, &known)?;
    let page = Page {
        verb: "check",
        about: String::new(),
        summary: tally(&rows, &["error", "warning", "note", "allowance"]),
        rows,
    };
    let lines = |file: &str| std::fs::read_to_string(file).ok();
    let json = || {
        json_text(&Document {
            schema_version: flowx_diff::REPORT_VERSION,
            findings: &scanned.findings,
        })
    };
    finish(context, &page, json, &lines)
}

/// The lowest severity that fails, by `--fail-on`. `None`: nothing does.
pub(super) fn fail_level(context: &Context, usual: Level) -> Result<Option<Level>, Failure> {
    let mut lowest = None;
    for word in &context.common().fail_on {
        let level = match word.as_str() {
            "error" => Level::Error,
            "warning" => Level::Warning,
            "note" => Level::Note,
            "none" if context.common().fail_on.len() == 1 => return Ok(None),
            other => {
                return Err(Failure::Usage(format!(
                    "--fail-on {other:?}: this verb has error, warning, note, or none alone"
                )));
            }
        };
        lowest = Some(lowest.map_or(level, |l: Level| l.min(level)));
    }
    Ok(Some(lowest.unwrap_or(usual)))
}

fn row(finding: &Finding, fail: Option<Level>) -> Row {
    let level = match finding.severity {
        Severity::Note => Level::Note,
        Severity::Warning => Level::Warning,
        Severity::Error => Level::Error,
    };
    Row {
        id: finding.id.clone(),
        level,
        class: level.to_string(),
        subject: finding.subject.clone().unwrap_or_default(),
        pointer: String::new(),
        message: finding.message.clone(),
        consequence: String::new(),
        help: finding.help.clone().unwrap_or_default(),
        details: Vec::new(),
        fingerprint: String::new(),
        allowed: None,
        fails: fail.is_some_and(|fail| level >= fail),
        file: finding.file.clone(),
        line: finding.line,
        column: finding.column,
    }
}
