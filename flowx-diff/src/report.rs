//! What a comparison says: findings, the verdict over them, and the version bump that they ask for.

use std::fmt;

use flowx_manifest::Json;
use serde::{Serialize, Serializer};

use crate::allow::{Allowance, AllowanceError};

/// The version of the JSON documents that this crate writes.
pub const REPORT_VERSION: &str = "1.0.0";

/// What a finding means for those who use the surface. Order is gravity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Class {
    /// Somebody or something may now do more than was reviewed, or a guard became weaker.
    Security,
    /// A caller that was right before is wrong now.
    Breaking,
    /// The documents do not hold enough to decide. Never reported as compatible.
    Undecided,
    /// More is possible, nothing that worked stops.
    Additive,
    /// Worth a look, and no caller notices.
    Neutral,
}

impl Class {
    /// Every class, gravest first.
    pub const ALL: [Class; 5] = [
        Class::Security,
        Class::Breaking,
        Class::Undecided,
        Class::Additive,
        Class::Neutral,
    ];

    /// The word as it stands in reports and after `--fail-on`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Class::Security => "security",
            Class::Breaking => "breaking",
            Class::Undecided => "undecided",
            Class::Additive => "additive",
            Class::Neutral => "neutral",
        }
    }

    /// The class of that word.
    pub fn parse(text: &str) -> Option<Class> {
        Class::ALL.into_iter().find(|c| c.as_str() == text)
    }

    /// The bump that a finding of this class asks of what it is about.
    pub const fn bump(self) -> Bump {
        match self {
            Class::Security | Class::Breaking | Class::Undecided => Bump::Major,
            Class::Additive => Bump::Minor,
            Class::Neutral => Bump::Patch,
        }
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for Class {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_str(self.as_str())
    }
}

/// A step of a semantic version. Order is size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Bump {
    /// Nothing changed.
    None,
    /// Nothing that a caller notices.
    Patch,
    /// Something was added.
    Minor,
    /// Something broke.
    Major,
}

impl Bump {
    /// The word as it stands in reports.
    pub const fn as_str(self) -> &'static str {
        match self {
            Bump::None => "none",
            Bump::Patch => "patch",
            Bump::Minor => "minor",
            Bump::Major => "major",
        }
    }
}

impl fmt::Display for Bump {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What is said of all findings together that no allowance covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Nothing breaking, nothing about security, nothing undecided.
    Compatible,
    /// Something breaking or about security.
    Breaking,
    /// Something could not be decided, and nothing is worse than that.
    Undecided,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Verdict::Compatible => "compatible",
            Verdict::Breaking => "breaking",
            Verdict::Undecided => "undecided",
        })
    }
}

/// Where a subject is declared, when the caller knows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Source {
    /// The file, relative to the package or workspace.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
}

/// One difference, said once.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Finding {
    /// The rule's id.
    pub id: &'static str,
    /// What it means.
    pub class: Class,
    /// What it is about: `flow ticket.refund@1`, `tool ticket_refund`, `contract crate::IssueRefund`, …
    pub subject: String,
    /// Where in the subject: an RFC 6901 pointer; in contracts it begins with `/request` or `/response`.
    pub pointer: String,
    /// What changed.
    pub message: String,
    /// Who notices, and how.
    pub consequence: String,
    /// What to do instead, or to make it right.
    pub fix: String,
    /// A value that one side accepts and the other refuses, checked on both sides.
    pub witness: Option<Json>,
    /// 32 hexadecimal digits of structure only: rule, subject, pointer (with direction), and what stood there before and after.
    pub fingerprint: String,
    /// Whether an allowance covers it.
    pub allowed: bool,
    /// The allowance that does.
    pub allowed_by: Option<Allowance>,
    /// What stood there before, for people.
    pub before: Option<Json>,
    /// What stands there now, for people.
    pub after: Option<Json>,
    /// What a caller reaches it through, where it is not the subject itself (`flow ticket.refund@1 input`, …). Sorted.
    pub reached_by: Vec<String>,
    /// Where the subject is declared, when that is known.
    pub source: Option<Source>,
}

impl Finding {
    /// Computes the fingerprint from what has been filled in.
    pub(crate) fn seal(&mut self) {
        let part = |j: &Option<Json>| {
            j.as_ref()
                .map_or_else(|| "absent".to_owned(), Json::to_canonical)
        };
        let text = [
            self.id,
            &self.subject,
            &self.pointer,
            &part(&self.before),
            &part(&self.after),
        ]
        .join("\n");
        self.fingerprint = flowx_manifest::digest(text.as_bytes())[..32].to_owned();
    }

    /// The order in a report: gravest first, then by rule, subject, pointer.
    pub(crate) fn order(&self) -> (Class, &str, &str, &str, &str) {
        (
            self.class,
            self.id,
            &self.subject,
            &self.pointer,
            &self.fingerprint,
        )
    }
}

/// The outcome of a comparison.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// The version of this document's format.
    pub schema_version: &'static str,
    /// What was the base, as the caller calls it.
    pub base: String,
    /// What was the head, as the caller calls it.
    pub head: String,
    /// All findings that no allowance covers, taken together.
    pub verdict: Verdict,
    /// The bump that they ask of the application.
    pub required_bump: Bump,
    /// The bump that the application's version declares, when both sides have one.
    pub declared_bump: Option<Bump>,
    /// Gravest first, in a stable order.
    pub findings: Vec<Finding>,
    /// What is wrong with the allowances themselves. Any of these fails the run.
    pub allowance_errors: Vec<AllowanceError>,
}

impl Report {
    /// Whether something at or above the fail level is left: an uncovered finding of one of the classes, or an allowance
    /// that is wrong itself.
    pub fn fails(&self, classes: &[Class]) -> bool {
        !self.allowance_errors.is_empty()
            || self
                .findings
                .iter()
                .any(|f| !f.allowed && classes.contains(&f.class))
    }

    /// Findings of one class that no allowance covers.
    pub fn count(&self, class: Class) -> usize {
        self.findings
            .iter()
            .filter(|f| !f.allowed && f.class == class)
            .count()
    }

    /// Sorts, joins repetitions, and computes verdict and bump. Called once, after allowances were applied.
    pub(crate) fn conclude(&mut self) {
        self.findings.sort_by(|a, b| a.order().cmp(&b.order()));
        let open = || self.findings.iter().filter(|f| !f.allowed).map(|f| f.class);
        self.verdict = if open().any(|c| matches!(c, Class::Breaking | Class::Security)) {
            Verdict::Breaking
        } else if open().any(|c| c == Class::Undecided) {
            Verdict::Undecided
        } else {
            Verdict::Compatible
        };
        // An allowance says that a break is wanted, not that it is none: the version still has to tell.
        self.required_bump = self
            .findings
            .iter()
            .map(|f| f.class.bump())
            .max()
            .unwrap_or(Bump::None);
    }
}

/// The classes that fail a run unless told otherwise.
pub const DEFAULT_FAIL_ON: [Class; 3] = [Class::Security, Class::Breaking, Class::Undecided];
