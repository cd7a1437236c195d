//! The rules over sources, as `flowx-build` has them.

use flowx_build::Severity;

/// A rule over sources.
pub(crate) struct SourceRule {
    /// `FLOWX1110`.
    pub(crate) id: &'static str,
    /// How bad its findings usually are.
    pub(crate) severity: &'static str,
    /// What it catches, in a few words.
    pub(crate) title: &'static str,
    /// The page, in Markdown.
    pub(crate) doc: String,
}

/// Every one, by id.
pub(crate) fn source_rules() -> impl Iterator<Item = SourceRule> {
    let mut rules: Vec<SourceRule> = flowx_build::codes::ALL
        .iter()
        .map(|code| SourceRule {
            id: code.id,
            severity: match code.severity {
                Severity::Note => "note",
                Severity::Warning => "warning",
                Severity::Error => "error",
            },
            title: code.title,
            doc: page(code),
        })
        .collect();
    rules.sort_by_key(|rule| rule.id);
    rules.into_iter()
}

fn page(code: &flowx_build::codes::Code) -> String {
    let mut text = format!("# {}: {}\n", code.id, code.title);
    if !code.help.is_empty() {
        text.push_str(&format!("\n## Instead\n\n{}\n", code.help));
    }
    text
}
