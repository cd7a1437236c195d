//! All rules in one list, for `flowx rules`, `flowx explain`, SARIF and the docs.

use std::sync::OnceLock;

use serde::Serialize;

use crate::report::Class;
use crate::review::Severity;

/// What a rule looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RuleKind {
    /// Two documents.
    Diff,
    /// One document.
    Review,
    /// The allowance file.
    Allowance,
}

/// A rule as people see it.
#[derive(Clone, Debug, Serialize)]
pub struct RuleInfo {
    /// `FXD001`, `ai.event_has_one_end`, `FXA001`.
    pub id: &'static str,
    /// A short name of words and dashes.
    pub name: &'static str,
    /// What it looks at.
    pub kind: RuleKind,
    /// The classes that its findings can have (rules of a comparison).
    pub classes: &'static [Class],
    /// The severity of its findings (rules of a review).
    pub severity: Option<Severity>,
    /// What of a document it is about, and what happened to it: `flow confirmation loosen`.
    pub covers: Vec<String>,
    /// The page, in Markdown: a title, then What it catches / Why it matters / Example / Instead.
    pub doc: &'static str,
}

impl RuleInfo {
    /// The title of its page.
    pub fn title(&self) -> &'static str {
        self.doc
            .lines()
            .next()
            .unwrap_or_default()
            .trim_start()
            .trim_start_matches('#')
            .trim()
    }
}

/// Every rule, sorted by kind and id.
pub fn rules() -> &'static [RuleInfo] {
    static ALL: OnceLock<Vec<RuleInfo>> = OnceLock::new();
    ALL.get_or_init(|| {
        let mut all: Vec<RuleInfo> = crate::rules::ALL
            .iter()
            .map(|r| RuleInfo {
                id: r.id,
                name: r.name,
                kind: RuleKind::Diff,
                classes: r.classes,
                severity: None,
                covers: r
                    .cells
                    .iter()
                    .map(|(area, aspect, action)| {
                        format!("{area:?} {aspect} {action:?}").to_lowercase()
                    })
                    .collect(),
                doc: r.doc,
            })
            .collect();
        all.sort_by_key(|r| r.id);
        let mut reviews: Vec<RuleInfo> = crate::review::ALL
            .iter()
            .map(|r| RuleInfo {
                id: r.id,
                name: r.name,
                kind: RuleKind::Review,
                classes: &[],
                severity: Some(r.severity),
                covers: Vec::new(),
                doc: r.doc,
            })
            .collect();
        reviews.sort_by_key(|r| r.id);
        all.extend(reviews);
        all.extend(crate::allow::PAGES.iter().map(|(id, name, doc)| RuleInfo {
            id,
            name,
            kind: RuleKind::Allowance,
            classes: &[],
            severity: Some(Severity::Error),
            covers: Vec::new(),
            doc,
        }));
        all
    })
}

/// The rule of that id; letters of either case.
pub fn explain(id: &str) -> Option<&'static RuleInfo> {
    rules().iter().find(|r| r.id.eq_ignore_ascii_case(id))
}
