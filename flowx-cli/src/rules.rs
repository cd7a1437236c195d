//! The rules over sources, as `flowx-build` has them.

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
    let mut rules: Vec<SourceRule> = flowx_build::rules::pages()
        .into_iter()
        .map(|page| SourceRule {
            id: page.id,
            severity: page.severity.as_str(),
            title: page.title,
            doc: page.markdown,
        })
        .collect();
    rules.sort_by_key(|rule| rule.id);
    rules.into_iter()
}
