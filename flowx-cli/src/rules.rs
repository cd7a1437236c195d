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

/// Every one, by id: the rules, and what the grammar, the types, the scan and the contracts refuse.
pub(crate) fn source_rules() -> impl Iterator<Item = SourceRule> {
    flowx_build::rules::pages()
        .into_iter()
        .map(|page| SourceRule {
            id: page.id,
            severity: match page.severity {
                Severity::Note => "note",
                Severity::Warning => "warning",
                Severity::Error => "error",
            },
            title: page.title,
            doc: page.markdown,
        })
}
