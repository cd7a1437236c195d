//! What the scan, the contracts and the rules have to say, in one place.

use std::cell::RefCell;

use proc_macro2::Span;
use serde::{Deserialize, Serialize};

use crate::codes::Code;

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// For the reader's information; never stops anything.
    Note,
    /// Worth a look; the build goes on.
    Warning,
    /// The manifest would not be true; the build stops.
    Error,
}

impl Severity {
    /// `error`, `warning` or `note`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }
}

/// The declaration at whose span rustc will show a finding.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Anchor {
    /// `flow`, `capability`, `effect`, `agent`, `entity`, `error` or `event`.
    pub kind: String,
    /// What KEY is made of: `payment.refund@1` for flows and capabilities, the id for effects and agents.
    pub id: String,
}

/// One thing to tell the user. Serialises as the `check` document of the command has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// The code: `FLOWX1110`.
    pub id: String,
    /// How bad it is.
    pub severity: Severity,
    /// What is wrong, and why that matters.
    pub message: String,
    /// How to mend it.
    pub help: Option<String>,
    /// The file, relative to the package, with `/`.
    pub file: String,
    /// The line, from 1; 0 when the finding is about the file as a whole.
    pub line: u32,
    /// The column in characters, from 1; 0 when the finding is about the file as a whole.
    pub column: u32,
    /// `flow ticket.refund@1`, `contract crate::IssueRefund`, … where it is about one.
    pub subject: Option<String>,
    /// Whether the macros find it as well, so that they need not be told.
    #[serde(skip)]
    pub of_grammar: bool,
    /// Of the macros that find it as well, the keys under which they say so.
    #[serde(skip)]
    pub(crate) raised_by: Vec<u64>,
    /// Where rustc can show it.
    #[serde(skip)]
    pub anchor: Option<Anchor>,
    /// Of a declaration that this configuration switches off, a digest of what it says: two scans see by it whether it is the same.
    #[serde(skip)]
    pub off: Option<u64>,
}

impl Finding {
    /// A finding of that code at its usual severity, about a file as a whole.
    pub fn new(code: Code, file: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            id: code.id.to_owned(),
            severity: code.severity,
            message: message.into(),
            help: (!code.help.is_empty()).then(|| code.help.to_owned()),
            file: file.into(),
            line: 0,
            column: 0,
            subject: None,
            of_grammar: false,
            raised_by: Vec::new(),
            anchor: None,
            off: None,
        }
    }

    /// At a span of its file, as `syn` gives it.
    pub fn at(mut self, span: Span) -> Self {
        let start = span.start();
        self.line = u32::try_from(start.line).unwrap_or(u32::MAX);
        self.column = u32::try_from(start.column + 1).unwrap_or(u32::MAX);
        self
    }

    /// At a line and column, both from 1.
    pub fn at_line(mut self, line: u32, column: u32) -> Self {
        (self.line, self.column) = (line, column);
        self
    }

    /// With that way to mend it.
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// About that subject.
    pub fn subject(mut self, subject: impl Into<String>) -> Self {
        self.subject = Some(subject.into());
        self
    }

    /// To be shown at that declaration.
    pub fn anchor(mut self, anchor: Option<Anchor>) -> Self {
        self.anchor = anchor;
        self
    }

    /// At another severity than the code's own.
    pub fn severity(mut self, severity: Severity) -> Self {
        self.severity = severity;
        self
    }
}

/// Collects findings: everything is reported at once, nobody mends one error per build. Shared by reference.
#[derive(Debug, Default)]
pub struct Findings(RefCell<Vec<Finding>>);

impl Findings {
    /// None yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds one; the same one twice counts once.
    pub fn push(&self, finding: Finding) {
        let mut all = self.0.borrow_mut();
        if !all.contains(&finding) {
            all.push(finding);
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.borrow().len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What was collected so far.
    pub fn so_far(&self) -> Vec<Finding> {
        self.0.borrow().clone()
    }

    /// What was collected, by file, line, column and code.
    pub fn into_sorted(self) -> Vec<Finding> {
        let mut all = self.0.into_inner();
        all.sort_by(|a, b| {
            (&a.file, a.line, a.column, &a.id).cmp(&(&b.file, b.line, b.column, &b.id))
        });
        all
    }
}
