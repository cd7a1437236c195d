//! For a terminal: the shape of the compiler's own messages, since that is what a Rust developer reads all day.

use std::fmt::Write;
use std::io::IsTerminal;

use super::{Level, Page, Row, visible};

/// Whether and how to colour.
#[derive(Clone, Copy, Debug)]
pub struct Styles {
    on: bool,
}

/// Never coloured.
pub fn bare() -> Styles {
    Styles { on: false }
}

impl Styles {
    /// `always`, `never`, or by whether standard output is a terminal and NO_COLOR is unset.
    pub fn choose(color: clap::ColorChoice) -> Styles {
        let on = match color {
            clap::ColorChoice::Always => true,
            clap::ColorChoice::Never => false,
            clap::ColorChoice::Auto => {
                std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty())
                    && (std::env::var_os("CLICOLOR_FORCE").is_some_and(|v| v != "0")
                        || std::io::stdout().is_terminal())
            }
        };
        Styles { on }
    }

    fn paint(self, code: &str, text: impl std::fmt::Display) -> String {
        if self.on {
            format!("\u{1b}[{code}m{text}\u{1b}[0m")
        } else {
            text.to_string()
        }
    }

    /// Bold.
    pub fn bold(self, text: impl std::fmt::Display) -> String {
        self.paint("1", text)
    }

    /// Grey.
    pub fn faint(self, text: impl std::fmt::Display) -> String {
        self.paint("2", text)
    }

    fn added(self, text: impl std::fmt::Display) -> String {
        self.paint("32", text)
    }

    fn removed(self, text: impl std::fmt::Display) -> String {
        self.paint("31", text)
    }

    fn level(self, level: Level, text: impl std::fmt::Display) -> String {
        let code = match level {
            Level::Error => "1;31",
            Level::Warning => "1;33",
            Level::Note => "1;36",
        };
        self.paint(code, text)
    }
}

/// `lines` gives the text of a file that findings point into.
pub(super) fn render(
    page: &Page,
    styles: Styles,
    lines: &dyn Fn(&str) -> Option<String>,
) -> String {
    let mut out = String::new();
    for row in &page.rows {
        one(&mut out, row, styles, lines);
        out.push('\n');
    }
    if !page.about.is_empty() {
        let _ = writeln!(out, "{}", styles.faint(&page.about));
    }
    let _ = writeln!(out, "{}", styles.bold(&page.summary));
    out
}

fn one(out: &mut String, row: &Row, styles: Styles, lines: &dyn Fn(&str) -> Option<String>) {
    let allowed = if row.allowed.is_some() {
        " (allowed)"
    } else {
        ""
    };
    let head = styles.level(row.level, format!("{}[{}]{allowed}", row.class, row.id));
    let _ = writeln!(
        out,
        "{head}{}",
        styles.bold(format!(": {}", visible(&row.message, false)))
    );
    let place = if row.pointer.is_empty() {
        row.subject.clone()
    } else {
        format!("{} {}", row.subject, row.pointer)
    };
    if row.line > 0 {
        let _ = writeln!(
            out,
            "  {} {}:{}:{}",
            styles.faint("-->"),
            row.file,
            row.line,
            row.column.max(1)
        );
        if let Some(text) = lines(&row.file) {
            excerpt(out, row, &text, styles);
        }
    } else if !row.file.is_empty() {
        let _ = writeln!(out, "  {} {}", styles.faint("-->"), row.file);
    }
    let mut note = |label: &str, text: &str| {
        if !text.is_empty() {
            let _ = writeln!(
                out,
                "   {} {}: {}",
                styles.faint("="),
                styles.bold(label),
                visible(text, false)
            );
        }
    };
    note("subject", &place);
    note("so", &row.consequence);
    note("help", &row.help);
    if let Some(reason) = &row.allowed {
        note("allowed", reason);
    }
    let find = |label: &str| {
        row.details
            .iter()
            .find(|(l, _)| *l == label)
            .map(|(_, text)| text.as_str())
    };
    if let (Some(before), Some(after)) = (find("before"), find("after")) {
        changes(out, before, after, styles);
    }
    for (label, text) in &row.details {
        let both = find("before").is_some() && find("after").is_some();
        match *label {
            "before" | "after" if both => {}
            "before" => {
                let _ = writeln!(
                    out,
                    "   {} {}",
                    styles.faint("="),
                    styles.removed(format!("- {}", clip(&visible(text, false))))
                );
            }
            "after" => {
                let _ = writeln!(
                    out,
                    "   {} {}",
                    styles.faint("="),
                    styles.added(format!("+ {}", clip(&visible(text, false))))
                );
            }
            label => {
                let _ = writeln!(
                    out,
                    "   {} {}: {}",
                    styles.faint("="),
                    styles.bold(label),
                    clip(&visible(text, false))
                );
            }
        }
    }
}

/// The line of source, with a mark under the column.
fn excerpt(out: &mut String, row: &Row, text: &str, styles: Styles) {
    let Some(line) = text.lines().nth(row.line as usize - 1) else {
        return;
    };
    let number = row.line.to_string();
    let gap = " ".repeat(number.len());
    // Tabs are one column for a span, and any number of columns for a terminal.
    let before: String = line
        .chars()
        .take(row.column.max(1) as usize - 1)
        .map(|c| if c == '\t' { '\t' } else { ' ' })
        .collect();
    let width = line
        .chars()
        .skip(row.column.max(1) as usize - 1)
        .take_while(|c| c.is_alphanumeric() || matches!(c, '_' | '#' | '[' | ':' | '"' | '.'))
        .count()
        .max(1);
    let bar = styles.faint("|");
    let _ = writeln!(out, "{gap} {bar}");
    let _ = writeln!(
        out,
        "{} {bar} {}",
        styles.faint(&number),
        visible(line, false).replace("\\u{9}", "\t")
    );
    let _ = writeln!(
        out,
        "{gap} {bar} {before}{}",
        styles.level(row.level, "^".repeat(width))
    );
}

/// Before and after: in one line each when both are short, line by line otherwise.
fn changes(out: &mut String, before: &str, after: &str, styles: Styles) {
    let pretty = |text: &str| {
        flowx_manifest::json::parse(text.as_bytes(), flowx_manifest::json::Limits::DOCUMENT)
            .map_or_else(
                |_| text.to_owned(),
                |json| {
                    if text.len() > 80 {
                        json.to_pretty()
                    } else {
                        text.to_owned()
                    }
                },
            )
    };
    let (before, after) = (pretty(before), pretty(after));
    let diff = similar::TextDiff::from_lines(&before, &after);
    for hunk in diff.unified_diff().context_radius(1).iter_hunks() {
        for change in hunk.iter_changes() {
            let text = visible(change.value().trim_end_matches('\n'), false);
            let line = match change.tag() {
                similar::ChangeTag::Delete => styles.removed(format!("- {text}")),
                similar::ChangeTag::Insert => styles.added(format!("+ {text}")),
                similar::ChangeTag::Equal => format!("  {text}"),
            };
            let _ = writeln!(out, "     {line}");
        }
    }
}

fn clip(text: &str) -> String {
    const MOST: usize = 400;
    match text.char_indices().nth(MOST) {
        Some((at, _)) => format!("{}… ({} more bytes)", &text[..at], text.len() - at),
        None => text.to_owned(),
    }
}
