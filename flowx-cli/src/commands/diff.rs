//! `flowx diff`: two surfaces, what changed between them, and who notices.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use flowx_build::files::Files;
use flowx_diff::{
    AllowanceError, Allowances, AllowedIn, Class, DEFAULT_FAIL_ON, Date, DiffOptions, Finding,
    OutOfSight, Report, diff_surfaces,
};
use flowx_manifest::Json;
use serde::Serialize;

use super::{finish, json_text, tally};
use crate::cli;
use crate::context::Context;
use crate::failure::Failure;
use crate::output::{Level, Page, Row};
use crate::source::{self, GitSource, Loaded, Source};

/// The document of `flowx diff --since-all-tags … --format json`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Reports<'a> {
    schema_version: &'static str,
    reports: &'a [Report],
}

const ALLOW_FILE: &str = "flowx-allow.toml";

pub(super) fn run(context: &Context, args: &cli::Diff) -> Result<u8, Failure> {
    let fail = classes(context)?;
    if let Some(pattern) = &args.since_all_tags {
        return since_tags(context, args, pattern, &fail);
    }
    let Some(base) = &args.base else {
        return Err(Failure::Usage(
            "name what to compare with: `flowx diff BASE`, for example `flowx diff git:main...`"
                .to_owned(),
        ));
    };
    if matches!((base, &args.head), (Source::Stdin, Some(Source::Stdin))) {
        return Err(Failure::Usage(
            "standard input cannot be both sides".to_owned(),
        ));
    }
    // Scans are most of the work, and know nothing of each other.
    let (base_loaded, head) = std::thread::scope(|scope| {
        let head = scope.spawn(|| load_head(context, args.head.as_ref()));
        let base = source::load(context, base);
        let head = head
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        (base, head)
    });
    let (base_loaded, head) = (base_loaded?, head?);
    let allowances = allowances(context, args, Some(base))?;
    note_out_of_sight(context, &base_loaded, &head);
    let report = compare(&base_loaded, &head, allowances.here.clone());
    let fresh = |finding: &Finding| allowances.fresh(finding);
    let rows = rows(&report, &fail, "", &fresh);
    let page = Page {
        verb: "diff",
        about: format!("{} -> {}", report.base, report.head),
        summary: summary(&report, &rows),
        rows,
    };
    finish(context, &page, || json_text(&report), &|_| None)
}

/// HEAD against the manifest of every tag that matches.
fn since_tags(
    context: &Context,
    args: &cli::Diff,
    pattern: &str,
    fail: &[Class],
) -> Result<u8, Failure> {
    let repository = context.repository()?;
    let tags = repository
        .tags(pattern)
        .map_err(|error| Failure::Load(error.to_string()))?;
    if tags.is_empty() {
        return Err(Failure::Load(format!(
            "no tag matches {pattern:?}; a shallow clone has none until `git fetch --tags`"
        )));
    }
    let head = load_head(context, args.base.as_ref())?;
    let (mut reports, mut all) = (Vec::new(), Vec::new());
    for tag in &tags {
        let base = source::load_released(context, &repository, tag)?;
        note_out_of_sight(context, &base, &head);
        let report = compare(&base, &head, allowances(context, args, None)?.here);
        all.extend(rows(&report, fail, tag, &|_| false));
        reports.push(report);
    }
    let page = Page {
        verb: "diff",
        about: format!("{} -> {}", tags.join(", "), head.label),
        summary: format!(
            "{} over {}",
            tally(&all, &CLASSES),
            crate::output::plural(tags.len(), "released manifest")
        ),
        rows: all,
    };
    let json = || {
        json_text(&Reports {
            schema_version: flowx_diff::REPORT_VERSION,
            reports: &reports,
        })
    };
    finish(context, &page, json, &|_| None)
}

const CLASSES: [&str; 6] = [
    "security",
    "breaking",
    "undecided",
    "additive",
    "neutral",
    "allowance",
];

fn load_head(context: &Context, head: Option<&Source>) -> Result<Loaded, Failure> {
    match head {
        Some(head) => source::load(context, head),
        None => source::load_working_tree(context),
    }
}

/// Says what a comparison leaves out because only one side knows what is switched off there.
fn note_out_of_sight(context: &Context, base: &Loaded, head: &Loaded) {
    let sides = [(base, head), (head, base)];
    for (side, _) in sides.iter().filter(|(_, other)| other.off.is_none()) {
        if let Some(off) = side.off.as_ref().filter(|off| !off.is_empty()) {
            context.note(&format!(
                "{} of {} {} switched off in this configuration and not compared (FLOWX1123; `flowx check` names what is switched off)",
                crate::output::plural(off.len(), "declaration"),
                side.label,
                if off.len() == 1 { "is" } else { "are" },
            ));
        }
    }
}

fn compare(base: &Loaded, head: &Loaded, allowances: Allowances) -> Report {
    let places = |(subject, (file, line)): (&String, &(String, u32))| {
        (
            subject.clone(),
            flowx_diff::Source {
                file: file.clone(),
                line: *line as usize,
            },
        )
    };
    let options = DiffOptions {
        base: base.label.clone(),
        head: head.label.clone(),
        allowances,
        sources: head.places.iter().map(places).collect::<BTreeMap<_, _>>(),
        out_of_sight: base
            .off
            .clone()
            .zip(head.off.clone())
            .map(|(base, head)| OutOfSight { base, head }),
        ..DiffOptions::default()
    };
    diff_surfaces(&base.surface, &head.surface, &options)
}

/// The classes that fail, by `--fail-on`.
fn classes(context: &Context) -> Result<Vec<Class>, Failure> {
    let words = &context.common().fail_on;
    if words.is_empty() {
        return Ok(DEFAULT_FAIL_ON.to_vec());
    }
    if words.len() == 1 && words[0] == "none" {
        return Ok(Vec::new());
    }
    words
        .iter()
        .map(|word| {
            Class::parse(word).ok_or_else(|| {
                Failure::Usage(format!(
                    "--fail-on {word:?}: a diff has security, breaking, undecided, additive and neutral, or none alone"
                ))
            })
        })
        .collect()
}

/// The allowances that count, and those that the base had already.
struct Allowed {
    here: Allowances,
    /// The text at the base, when it could be read and differs.
    base: Option<String>,
}

impl Allowed {
    /// Whether the allowance of a finding arrives in the same change as what it allows.
    fn fresh(&self, finding: &Finding) -> bool {
        let (Some(base), Some(by)) = (&self.base, &finding.allowed_by) else {
            return false;
        };
        let known = toml::from_str::<toml::Table>(base).ok();
        let entries = known
            .as_ref()
            .and_then(|t| t.get("allow")?.as_array())
            .into_iter()
            .flatten();
        let same = |entry: &toml::Value, key: &str, value: Option<&str>| {
            entry.get(key).and_then(toml::Value::as_str) == value
        };
        !entries.into_iter().any(|entry| {
            same(entry, "rule", Some(&by.rule))
                && same(entry, "subject", Some(&by.subject))
                && same(entry, "pointer", by.pointer.as_deref())
                && same(entry, "fingerprint", by.fingerprint.as_deref())
        })
    }
}

/// The name and text of the allowance file: the one that was named, or the crate's own; empty without one.
fn allow_file(context: &Context) -> Result<(String, String), Failure> {
    if let Some(named) = &context.common().allow {
        return Ok((named.clone(), named_text(context, named)?));
    }
    let file = source::working_folder(context)
        .unwrap_or_default()
        .join(ALLOW_FILE);
    match std::fs::read_to_string(&file) {
        Ok(text) => Ok((ALLOW_FILE.to_owned(), text)),
        // Without a file there are no allowances; one that cannot be read must not count as none.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            Ok((ALLOW_FILE.to_owned(), String::new()))
        }
        Err(error) => Err(Failure::load(ALLOW_FILE, error)),
    }
}

fn parse(name: &str, text: &str) -> Result<Allowances, Failure> {
    let today = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .ok()
        .map(|d| Date::from_unix(d.as_secs()));
    Allowances::parse(text, today).map_err(|error| Failure::load(name, error))
}

/// Lets the allowance file speak over the rows of `check` and `review`: what it covers does not fail, and what is wrong
/// with it does.
pub(super) fn allow_rows(
    context: &Context,
    verb: AllowedIn,
    rows: &mut Vec<Row>,
    known: &dyn Fn(&str) -> bool,
) -> Result<(), Failure> {
    let (name, text) = allow_file(context)?;
    let findings: Vec<(&str, &str)> = rows
        .iter()
        .map(|row| (row.id.as_str(), row.subject.as_str()))
        .collect();
    let (reasons, errors) = parse(&name, &text)?.judge(verb, &findings, known);
    for (row, reason) in rows.iter_mut().zip(reasons) {
        if reason.is_some() {
            row.fails = false;
            row.allowed = reason;
        }
    }
    rows.extend(errors.iter().map(error_row));
    Ok(())
}

fn error_row(error: &AllowanceError) -> Row {
    Row {
        id: error.id.to_string(),
        level: Level::Error,
        class: "allowance".to_owned(),
        subject: String::new(),
        pointer: String::new(),
        message: error.message.clone(),
        consequence: String::new(),
        help: String::new(),
        details: Vec::new(),
        fingerprint: String::new(),
        allowed: None,
        fails: true,
        file: ALLOW_FILE.to_owned(),
        line: u32::try_from(error.line).unwrap_or_default(),
        column: 1,
    }
}

fn allowances(
    context: &Context,
    args: &cli::Diff,
    base: Option<&Source>,
) -> Result<Allowed, Failure> {
    let base_text = base.and_then(|base| text_at_base(context, base));
    if args.allow_from_base {
        let Some(base) = base else {
            return Err(Failure::Usage("--allow-from-base needs a BASE".to_owned()));
        };
        if !matches!(base, Source::Git(_)) {
            return Err(Failure::Usage(
                "--allow-from-base needs a BASE of git".to_owned(),
            ));
        }
        let here = parse(ALLOW_FILE, base_text.as_deref().unwrap_or_default())?;
        return Ok(Allowed { here, base: None });
    }
    let (name, text) = allow_file(context)?;
    let here = parse(&name, &text)?;
    let base = match base {
        Some(Source::Git(_)) => {
            Some(base_text.unwrap_or_default()).filter(|before| *before != text)
        }
        _ => None,
    };
    Ok(Allowed { here, base })
}

fn named_text(context: &Context, named: &str) -> Result<String, Failure> {
    match named.parse::<Source>() {
        Ok(Source::Git(GitSource {
            revision,
            merge_base,
            path: Some(path),
        })) => {
            let read = || -> Result<String, String> {
                let repository = context.repository().map_err(|e| e.to_string())?;
                let commit = if merge_base {
                    repository.merge_base(&revision)
                } else {
                    repository.commit(&revision)
                };
                let tree = repository
                    .tree(&commit.map_err(|e| e.to_string())?)
                    .map_err(|e| e.to_string())?;
                let bytes = tree.read(Path::new(&path)).map_err(|e| e.to_string())?;
                String::from_utf8(bytes).map_err(|e| e.to_string())
            };
            read().map_err(|why| Failure::load(named, why))
        }
        Ok(Source::Path(path)) => {
            std::fs::read_to_string(&path).map_err(|error| Failure::load(named, error))
        }
        Ok(_) => Err(Failure::Usage(format!(
            "--allow {named:?}: name a file, or git:REV:PATH"
        ))),
        Err(error) => Err(Failure::Usage(error.to_string())),
    }
}

/// The allowance file as it was at the base, beside the crate.
fn text_at_base(context: &Context, base: &Source) -> Option<String> {
    let Source::Git(git) = base else { return None };
    let repository = context.repository().ok()?;
    let commit = if git.merge_base {
        repository.merge_base(&git.revision)
    } else {
        repository.commit(&git.revision)
    };
    let tree = repository.tree(&commit.ok()?).ok()?;
    let bytes = tree
        .read(&context.folder_in_repository(&repository).join(ALLOW_FILE))
        .ok()?;
    String::from_utf8(bytes).ok()
}

fn rows(
    report: &Report,
    fail: &[Class],
    since: &str,
    fresh: &dyn Fn(&Finding) -> bool,
) -> Vec<Row> {
    let mut rows: Vec<Row> = report
        .findings
        .iter()
        .map(|finding| row(finding, fail, since, fresh(finding)))
        .collect();
    rows.extend(report.allowance_errors.iter().map(error_row));
    rows
}

fn row(finding: &Finding, fail: &[Class], since: &str, fresh: bool) -> Row {
    let level = match finding.class {
        Class::Security | Class::Breaking => Level::Error,
        Class::Undecided => Level::Warning,
        Class::Additive | Class::Neutral => Level::Note,
    };
    let json = |label: &'static str, value: &Option<Json>| {
        value.as_ref().map(|value| (label, value.to_canonical()))
    };
    let mut details: Vec<(&'static str, String)> = Vec::new();
    details.extend(json("before", &finding.before));
    details.extend(json("after", &finding.after));
    details.extend(json("witness", &finding.witness));
    if !finding.reached_by.is_empty() {
        details.push(("reached by", finding.reached_by.join(", ")));
    }
    if !since.is_empty() {
        details.push(("since", since.to_owned()));
    }
    let allowed = finding.allowed_by.as_ref().map(|by| {
        let note = if fresh {
            " (the allowance arrives in the same change)"
        } else {
            ""
        };
        format!("{}{note}", by.reason)
    });
    Row {
        id: finding.id.to_string(),
        level,
        class: finding.class.to_string(),
        subject: finding.subject.clone(),
        pointer: finding.pointer.clone(),
        message: finding.message.clone(),
        consequence: finding.consequence.clone(),
        help: finding.fix.clone(),
        details,
        fingerprint: finding.fingerprint.clone(),
        allowed: allowed.or_else(|| finding.allowed.then(String::new)),
        fails: !finding.allowed && fail.contains(&finding.class),
        file: finding
            .source
            .as_ref()
            .map(|s| s.file.clone())
            .unwrap_or_default(),
        line: finding
            .source
            .as_ref()
            .map_or(0, |s| u32::try_from(s.line).unwrap_or_default()),
        column: 0,
    }
}

fn summary(report: &Report, rows: &[Row]) -> String {
    if rows.is_empty() {
        return "no difference".to_owned();
    }
    let needs = format!("; needs a {} version", report.required_bump);
    let bump = match report.declared_bump {
        _ if report.required_bump == flowx_diff::Bump::None => String::new(),
        Some(flowx_diff::Bump::None) => {
            format!("{needs}, and the version has not changed")
        }
        Some(declared) if declared < report.required_bump => {
            format!("{needs}, and the declared one is {declared}")
        }
        _ => needs,
    };
    format!("{}: {}{bump}", report.verdict, tally(rows, &CLASSES))
}
