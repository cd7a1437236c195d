//! `flowx review`: what no single flow shows.

use flowx_diff::{AllowedIn, Severity, review};

use super::check::fail_level;
use super::diff::allow_rows;
use super::{finish, json_text, tally};
use crate::context::Context;
use crate::failure::Failure;
use crate::output::{Level, Page, Row};
use crate::source::{self, Source};

pub(super) fn run(context: &Context, source: Option<&Source>) -> Result<u8, Failure> {
    let fail = fail_level(context, Level::Warning)?;
    let loaded = match source {
        Some(source) => source::load(context, source)?,
        None => source::load_working_tree(context)?,
    };
    let report = review(loaded.manifest()?);
    let mut rows: Vec<Row> = report
        .findings
        .iter()
        .map(|finding| {
            let level = match finding.severity {
                Severity::Note => Level::Note,
                Severity::Warning => Level::Warning,
                Severity::Error => Level::Error,
            };
            let (file, line) = loaded
                .places
                .get(&finding.subject)
                .cloned()
                .unwrap_or_default();
            Row {
                id: finding.id.to_string(),
                level,
                class: level.to_string(),
                subject: finding.subject.clone(),
                pointer: String::new(),
                message: finding.message.clone(),
                consequence: String::new(),
                help: finding.help.to_string(),
                details: Vec::new(),
                fingerprint: String::new(),
                allowed: None,
                fails: fail.is_some_and(|fail| level >= fail),
                file,
                line,
                column: 0,
            }
        })
        .collect();
    let known = |rule: &str| flowx_diff::explain(rule).is_some();
    allow_rows(context, AllowedIn::Review, &mut rows, &known)?;
    let page = Page {
        verb: "review",
        about: loaded.label.clone(),
        summary: tally(&rows, &["error", "warning", "note", "allowance"]),
        rows,
    };
    finish(context, &page, || json_text(&report), &|_| None)
}
