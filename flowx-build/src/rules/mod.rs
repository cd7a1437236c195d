//! The rules: what a reviewer of a payment system would refuse, refused before it runs, at its line.
//!
//! One rule, one file, named `flowxNNNN_what.rs`. It holds the rule's id, title, severity, page (the doc comment: what it catches, why it
//! matters, an example and what to do instead) and its checker, and beside it in `fixtures/` a source on which it fires and one on which it
//! is quiet. The page is `flowx explain`, `docs/rules/` and the help in SARIF.

mod allow;
mod bodies;
mod config;
mod engine;
mod impls;
mod pages;
mod uses;
mod view;

pub use allow::Allowances;
pub use config::{Config, ConfigError};
pub(crate) use engine::run;
pub use pages::{Page, index, pages};
pub use view::View;

use crate::codes::Code;
use crate::finding::{Finding, Severity};

/// One rule.
#[derive(Clone, Copy)]
pub struct Rule {
    /// `FLOWX1046`. Never used again for something else.
    pub id: &'static str,
    /// What it catches, in a few words.
    pub title: &'static str,
    /// How bad it is where nothing else is configured.
    pub severity: Severity,
    /// Whether neither configuration nor an allowance can quiet it.
    pub firm: bool,
    /// The page, as Markdown with the headings of [`HEADINGS`].
    pub page: &'static str,
    /// The file it stands in, without `.rs`.
    pub file: &'static str,
    pub(crate) check: fn(&View<'_, '_>, &mut Sink<'_>),
}

/// The headings of every page, in order.
pub const HEADINGS: [&str; 4] = [
    "## What it catches",
    "## Why it matters",
    "## Example",
    "## Instead",
];

/// Takes the findings of one rule.
pub(crate) type Sink<'s> = dyn FnMut(Hit) + 's;

/// A finding, and the other places where an allowance of it may stand: helpers that a body calls.
pub(crate) struct Hit {
    pub(crate) finding: Finding,
    pub(crate) also: Vec<(String, u32)>,
}

impl From<Finding> for Hit {
    fn from(finding: Finding) -> Self {
        Hit {
            finding,
            also: Vec::new(),
        }
    }
}

impl Rule {
    /// The code of its findings.
    pub(crate) const fn code(&self) -> Code {
        Code {
            id: self.id,
            severity: self.severity,
            title: self.title,
            help: "",
        }
    }

    /// The page without the indentation of its doc comment.
    pub fn page(&self) -> String {
        self.page
            .lines()
            .map(|l| l.strip_prefix(' ').unwrap_or(l).trim_end())
            .collect::<Vec<_>>()
            .join("\n")
    }
}

impl std::fmt::Debug for Rule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Rule")
            .field("id", &self.id)
            .field("severity", &self.severity)
            .finish_non_exhaustive()
    }
}

/// Declares the rule of a file: doc comment, id, title, severity, `firm` where nothing may quiet it, checker.
macro_rules! rule {
    (@firm firm) => { true };
    (@firm) => { false };
    ($(#[doc = $doc:literal])* $id:ident, $title:literal, $severity:ident $($firm:ident)?, $check:path) => {
        pub(super) const RULE: $crate::rules::Rule = $crate::rules::Rule {
            id: stringify!($id),
            title: $title,
            severity: $crate::finding::Severity::$severity,
            firm: $crate::rules::rule!(@firm $($firm)?),
            page: concat!($($doc, "\n"),*),
            file: module_path!(),
            check: $check,
        };
    };
}
use rule;

macro_rules! registry {
    ($($file:ident)*) => {
        $(mod $file;)*
        const ALL: &[Rule] = &[$($file::RULE),*];
    };
}

registry! {
    flowx1007_ambient_clock
    flowx1008_ambient_randomness
    flowx1009_process_state
    flowx1014_retry_not_idempotent
    flowx1019_deadline_too_short
    flowx1046_confirmation_never
    flowx1101_undeclared_effect
    flowx1102_undeclared_step
    flowx1103_ambient_io
    flowx1170_effect_not_used
    flowx1172_capability_not_used
    flowx1173_description_missing
    flowx1174_hidden_characters
    flowx1175_public_effects_unapproved
    flowx1176_compensated_in_part
    flowx1177_sensitive_from_model
    flowx1178_route_clash
    flowx1179_get_with_side_effects
    flowx1180_too_many_tools
    flowx1181_route_parameter
    flowx1183_spends_without_idempotency_key
    flowx1184_agent_without_deadline
    flowx1185_self_approval
    flowx1186_handwritten_impl
    flowx1187_effect_in_static
    flowx1190_permission_nearly_another
    flowx1191_nobody_decides
    flowx1192_alone_over_spending
    flowx1194_undo_not_idempotent
    flowx1195_unsafe_body
    flowx1196_errors_not_published
}

/// Every rule, by id.
pub fn all() -> &'static [Rule] {
    ALL
}

/// The rule of an id.
pub fn explain(id: &str) -> Option<&'static Rule> {
    ALL.iter().find(|rule| rule.id == id)
}

/// Why an id that is no rule's can be neither allowed nor given a level, and what to do instead.
pub(crate) fn not_settable(id: &str) -> String {
    if let Some(page) = pages::entry(id) {
        let instead = match page.severity {
            Severity::Error => "mend what it says",
            Severity::Warning => "a warning stops no build; mend what it says",
            Severity::Note => "a note stops no build, so there is nothing to allow",
        };
        return format!(
            "{id} comes from {}, not from a rule ({}), and can be neither allowed nor given a level; {instead}",
            page.found_by, page.title
        );
    }
    if let Some(why) = pages::retired(id) {
        return format!("{id} is not given any more: {why}");
    }
    let hint = flowx_syntax::closest(id, ALL.iter().map(|rule| rule.id)).map_or_else(
        || "`flowx rules` lists them".to_owned(),
        |near| format!("did you mean `{near}`?"),
    );
    format!("no rule has the id {id}; {hint}")
}
