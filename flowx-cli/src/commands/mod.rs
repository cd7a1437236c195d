//! One file per verb.

mod audit;
mod check;
mod diff;
mod explain;
mod files;
mod generate;
mod graph;
mod init;
mod inspect;
mod manifest;
mod operator;
mod proposals;
mod review;
mod show;
mod store;

use clap::CommandFactory;

use crate::cli::{Cli, Command, OutputFormat};
use crate::context::Context;
use crate::failure::{Failure, OK};
use crate::output::{Format, Page, Row, render};

/// Runs the verb and gives the exit code.
///
/// # Errors
/// Whatever keeps it from an answer.
pub(crate) fn run(cli: &Cli) -> Result<u8, Failure> {
    let context = Context::new(cli.common.clone());
    match &cli.command {
        Command::Init(args) => init::run(&context, args),
        Command::Manifest(args) => manifest::run(&context, args),
        Command::Check => check::run(&context),
        Command::Diff(args) => diff::run(&context, args),
        Command::Review(args) => review::run(&context, args.source.as_ref()),
        Command::Explain { id } => explain::explain(&context, id),
        Command::Rules => explain::rules(&context),
        Command::Show(args) => show::run(&context, &args.args),
        Command::Graph(args) => graph::run(&context, args),
        Command::Generate(args) => generate::run(&context, args),
        Command::Inspect(args) => inspect::run(&context, args),
        Command::Proposals(args) => proposals::run(&context, args),
        Command::Audit(args) => audit::run(&context, args),
        Command::Completions { shell } => {
            clap_complete::generate(*shell, &mut Cli::command(), "flowx", &mut std::io::stdout());
            Ok(OK)
        }
        Command::Man { dir } => man(dir),
    }
}

fn man(dir: &std::path::Path) -> Result<u8, Failure> {
    std::fs::create_dir_all(dir).map_err(|error| Failure::load(dir.display(), error))?;
    clap_mangen::generate_to(Cli::command(), dir)
        .map_err(|error| Failure::load(dir.display(), error))?;
    Ok(OK)
}

/// Writes to standard output. A reader that has gone (`| head`) is no failure.
fn print(text: &str) -> Result<(), Failure> {
    use std::io::Write;
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Failure::load("standard output", error))
        }
        _ => Ok(()),
    }
}

/// The format of a verb that has findings.
fn findings_format(context: &Context) -> Result<Format, Failure> {
    Ok(match context.common().format {
        None | Some(OutputFormat::Human) => Format::Human,
        Some(OutputFormat::Json) => Format::Json,
        Some(OutputFormat::Sarif) => Format::Sarif,
        Some(OutputFormat::Github) => Format::Github,
        Some(OutputFormat::Markdown) => Format::Markdown,
        Some(OutputFormat::Junit) => Format::Junit,
        Some(other) => {
            return Err(no_format(
                other,
                "human, json, sarif, github, markdown and junit",
            ));
        }
    })
}

fn no_format(format: OutputFormat, there_are: &str) -> Failure {
    let name = clap::ValueEnum::to_possible_value(&format)
        .map(|v| v.get_name().to_owned())
        .unwrap_or_default();
    Failure::Usage(format!(
        "this verb has no format {name}; it has {there_are}"
    ))
}

/// Writes a page of findings, and gives the exit code.
fn finish(
    context: &Context,
    page: &Page,
    json: impl FnOnce() -> String,
    lines: &dyn Fn(&str) -> Option<String>,
) -> Result<u8, Failure> {
    let format = findings_format(context)?;
    let text = match format {
        Format::Json => json(),
        format => render(page, format, context.styles(), lines, &explain::lookup),
    };
    print(&text)?;
    Ok(if page.rows.iter().any(|row| row.fails) {
        crate::failure::FINDINGS
    } else {
        OK
    })
}

/// A JSON document as it is printed: indented, keys in the order of its type, with a final newline.
fn json_text(value: &impl serde::Serialize) -> String {
    let mut text = serde_json::to_string_pretty(value)
        .expect("documents have string keys only, and nothing in them fails to serialise");
    text.push('\n');
    text
}

/// `2 errors, 1 warning`, in the order given; `no findings` for none.
fn tally(rows: &[Row], classes: &[&str]) -> String {
    let parts: Vec<String> = classes
        .iter()
        .filter_map(|class| {
            let count = rows
                .iter()
                .filter(|row| row.class == *class && row.allowed.is_none())
                .count();
            (count > 0).then(|| match *class {
                "error" | "warning" | "note" => crate::output::plural(count, class),
                class => format!("{count} {class}"),
            })
        })
        .collect();
    let allowed = rows.iter().filter(|row| row.allowed.is_some()).count();
    match (parts.is_empty(), allowed) {
        (true, 0) => "no findings".to_owned(),
        (true, allowed) => format!("{allowed} allowed"),
        (false, 0) => parts.join(", "),
        (false, allowed) => format!("{}, {allowed} allowed", parts.join(", ")),
    }
}
