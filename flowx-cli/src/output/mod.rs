//! Findings as people, editors and CI systems read them. Every verb makes [`Row`]s of what it found, and every format is
//! written from rows; JSON alone is written from the findings themselves.

mod github;
mod human;
mod junit;
mod markdown;
pub mod markup;
mod sarif;
mod text;

use std::fmt;

pub use human::{Styles, bare};
pub use text::visible;

/// The formats of `--format`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// For a terminal
    Human,
    /// The documents of `schemas/`
    Json,
    /// SARIF 2.1.0, for code scanning
    Sarif,
    /// Annotations of a GitHub workflow
    Github,
    /// A comment on a pull request
    Markdown,
    /// For test reports
    Junit,
}

/// How loud a finding is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// For information.
    Note,
    /// Worth a look.
    Warning,
    /// Wrong.
    Error,
}

impl Level {
    /// The word, as SARIF and the compiler have it.
    pub fn as_str(self) -> &'static str {
        match self {
            Level::Note => "note",
            Level::Warning => "warning",
            Level::Error => "error",
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One finding, ready to be shown.
#[derive(Clone, Debug)]
pub struct Row {
    /// The rule's id.
    pub id: String,
    /// How loud.
    pub level: Level,
    /// Its class or severity, in the words of `--fail-on`.
    pub class: String,
    /// What it is about; may be empty.
    pub subject: String,
    /// Where in the subject; may be empty.
    pub pointer: String,
    /// What is wrong or changed.
    pub message: String,
    /// Who notices, and how; may be empty.
    pub consequence: String,
    /// How to mend it; may be empty.
    pub help: String,
    /// Labelled values: before, after, a witness.
    pub details: Vec<(&'static str, String)>,
    /// The structural fingerprint; may be empty.
    pub fingerprint: String,
    /// The reason of the allowance that covers it.
    pub allowed: Option<String>,
    /// Whether it makes the command exit with 1.
    pub fails: bool,
    /// The file, with `/`; may be empty.
    pub file: String,
    /// The line from 1; 0 when there is none.
    pub line: u32,
    /// The column in characters from 1; 0 when there is none.
    pub column: u32,
}

/// All that a verb has to show.
#[derive(Clone, Debug)]
pub struct Page {
    /// The verb: `check`, `diff` or `review`.
    pub verb: &'static str,
    /// What was looked at: `base -> head`, or one source.
    pub about: String,
    /// The sentence that sums it up.
    pub summary: String,
    /// The findings, in order.
    pub rows: Vec<Row>,
}

/// What SARIF and others show of a rule.
#[derive(Clone, Copy, Debug)]
pub struct Rule<'a> {
    /// The id.
    pub id: &'a str,
    /// One line.
    pub title: &'a str,
    /// The page, in Markdown.
    pub doc: &'a str,
}

/// The page in a format other than JSON.
pub fn render<'a>(
    page: &Page,
    format: Format,
    styles: Styles,
    lines: &dyn Fn(&str) -> Option<String>,
    rule: &dyn Fn(&str) -> Option<Rule<'a>>,
) -> String {
    match format {
        Format::Human => human::render(page, styles, lines),
        Format::Sarif => sarif::render(page, rule),
        Format::Github => github::render(page),
        Format::Markdown => markdown::render(page),
        Format::Junit => junit::render(page),
        Format::Json => unreachable!("JSON is written from the findings themselves"),
    }
}

/// `1 error`, `2 errors`.
pub fn plural(count: usize, word: &str) -> String {
    format!("{count} {word}{}", if count == 1 { "" } else { "s" })
}
