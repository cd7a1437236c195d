//! A comment on a pull request.

use std::fmt::Write;

use super::Page;
use super::markup::{code, escape};

/// GitHub refuses a comment of more than 65,536 characters.
const LARGEST: usize = 60_000;

pub(super) fn render(page: &Page) -> String {
    let mut out = format!("### flowx {}\n\n", page.verb);
    if !page.about.is_empty() {
        let _ = writeln!(out, "{}\n", code(&page.about));
    }
    let _ = writeln!(out, "**{}**", escape(&page.summary));
    let mut left_out = 0;
    let mut class = "";
    for row in &page.rows {
        let mut part = String::new();
        if row.class != class {
            let _ = writeln!(part, "\n#### {}\n", escape(&row.class));
        }
        let place = if row.subject.is_empty() {
            row.file.clone()
        } else {
            row.subject.clone()
        };
        let allowed = if row.allowed.is_some() {
            " *(allowed)*"
        } else {
            ""
        };
        let _ = write!(
            part,
            "- {} {}{allowed}: {}",
            code(&row.id),
            code(&place),
            escape(&row.message)
        );
        if row.line > 0 {
            let _ = write!(part, " ({})", code(&format!("{}:{}", row.file, row.line)));
        }
        part.push('\n');
        for text in [&row.consequence, &row.help]
            .into_iter()
            .filter(|text| !text.is_empty())
        {
            let _ = writeln!(part, "  - {}", escape(text));
        }
        if let Some(reason) = &row.allowed {
            let _ = writeln!(part, "  - allowed: {}", escape(reason));
        }
        for (label, text) in &row.details {
            let short: String = text.chars().take(300).collect();
            let _ = writeln!(
                part,
                "  - {label}: {}{}",
                code(&short),
                if short.len() < text.len() { " …" } else { "" }
            );
        }
        if out.len() + part.len() > LARGEST {
            left_out += 1;
            continue;
        }
        class = &row.class;
        out.push_str(&part);
    }
    if left_out > 0 {
        let _ = writeln!(
            out,
            "\n{left_out} more findings do not fit into a comment; see the job's log."
        );
    }
    out
}
