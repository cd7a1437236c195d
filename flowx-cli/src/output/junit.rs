//! JUnit XML, for systems that show test reports. A finding that makes the command fail is a failed test.

use std::fmt::Write;

use super::{Page, visible};

pub(super) fn render(page: &Page) -> String {
    let failures = page.rows.iter().filter(|row| row.fails).count();
    let tests = page.rows.len().max(1);
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let _ = writeln!(
        out,
        "<testsuites name=\"flowx\" tests=\"{tests}\" failures=\"{failures}\" errors=\"0\">"
    );
    let _ = writeln!(
        out,
        "  <testsuite name=\"flowx {}\" tests=\"{tests}\" failures=\"{failures}\" errors=\"0\" skipped=\"0\">",
        page.verb
    );
    if page.rows.is_empty() {
        let _ = writeln!(
            out,
            "    <testcase classname=\"flowx.{}\" name=\"{}\"/>",
            page.verb,
            escape(&page.summary)
        );
    }
    for row in &page.rows {
        let name = [row.id.as_str(), &row.subject, &row.pointer]
            .iter()
            .filter(|s| !s.is_empty())
            .copied()
            .collect::<Vec<_>>()
            .join(" ");
        let mut attributes = format!(
            "classname=\"flowx.{}.{}\" name=\"{}\"",
            page.verb,
            escape(&row.class),
            escape(&name)
        );
        if !row.file.is_empty() {
            let _ = write!(attributes, " file=\"{}\"", escape(&row.file));
        }
        if row.line > 0 {
            let _ = write!(attributes, " line=\"{}\"", row.line);
        }
        let mut text = row.message.clone();
        for more in [&row.consequence, &row.help]
            .into_iter()
            .filter(|more| !more.is_empty())
        {
            text.push('\n');
            text.push_str(more);
        }
        let inner = if row.fails {
            format!(
                "<failure type=\"{}\" message=\"{}\">{}</failure>",
                escape(&row.class),
                escape(&row.message),
                escape(&text)
            )
        } else {
            format!("<system-out>{}</system-out>", escape(&text))
        };
        let _ = writeln!(out, "    <testcase {attributes}>{inner}</testcase>");
    }
    out.push_str("  </testsuite>\n</testsuites>\n");
    out
}

fn escape(text: &str) -> String {
    visible(text, true)
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
        .replace('\n', "&#10;")
}
