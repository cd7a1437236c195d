//! A comment on a pull request.

use std::fmt::Write;

use super::{Page, visible};

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

/// Text that is text only: no markup, no HTML, nobody mentioned.
fn escape(text: &str) -> String {
    let mut out = String::new();
    for c in visible(text, false).chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '@' => out.push_str("&#64;"),
            '#' => out.push_str("&#35;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' | '!' => {
                out.push('\\');
                out.push(c);
            }
            c => out.push(c),
        }
    }
    out
}

/// A code span, fenced with more backticks than it holds.
fn code(text: &str) -> String {
    let text = visible(text, false);
    if text.is_empty() {
        return String::new();
    }
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    if longest > 0 {
        format!("{fence} {text} {fence}")
    } else {
        format!("{fence}{text}{fence}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_text_stays_text() {
        assert_eq!(
            escape("@all <img> [x](y) `z`"),
            "&#64;all &lt;img&gt; \\[x\\](y) \\`z\\`"
        );
        assert_eq!(code("a``b"), "``` a``b ```");
    }
}
