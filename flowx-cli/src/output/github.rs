//! Workflow commands of GitHub Actions, which shows them at the line.

use std::fmt::Write;

use super::{Level, Page, visible};

pub(super) fn render(page: &Page) -> String {
    let mut out = String::new();
    for row in &page.rows {
        let command = match (row.allowed.is_some(), row.level) {
            (true, _) | (_, Level::Note) => "notice",
            (_, Level::Warning) => "warning",
            (_, Level::Error) => "error",
        };
        let mut properties = Vec::new();
        if !row.file.is_empty() {
            properties.push(format!("file={}", property(&row.file)));
            if row.line > 0 {
                properties.push(format!("line={}", row.line));
            }
            if row.column > 0 {
                properties.push(format!("col={}", row.column));
            }
        }
        let title = if row.subject.is_empty() {
            row.id.clone()
        } else {
            format!("{} {}", row.id, row.subject)
        };
        properties.push(format!("title={}", property(&title)));
        let mut text = row.message.clone();
        for more in [&row.consequence, &row.help] {
            if !more.is_empty() {
                text.push('\n');
                text.push_str(more);
            }
        }
        let _ = writeln!(out, "::{command} {}::{}", properties.join(","), data(&text));
    }
    out
}

/// A newline would end the command, and a `%` begins an escape.
fn data(text: &str) -> String {
    visible(text, true)
        .replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
