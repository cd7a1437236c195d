//! The shapes of the command's JSON documents. `schemas/` is generated from these, and every document that a test sees is
//! read back through them, so neither can drift from the other.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

/// `flowx check --format json`.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Check {
    /// The version of this document's format.
    pub schema_version: String,
    /// By file, line, column and id.
    pub findings: Vec<CheckFinding>,
}

/// One finding of a source rule.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CheckFinding {
    /// The rule: `FLOWX1046`.
    pub id: String,
    /// How bad it is.
    pub severity: Severity,
    /// What is wrong, and why that matters.
    pub message: String,
    /// How to mend it.
    pub help: Option<String>,
    /// The file, from the working folder, with `/`.
    pub file: String,
    /// The line, from 1; 0 when it is about the file as a whole.
    pub line: u32,
    /// The column in characters, from 1; 0 when it is about the file as a whole.
    pub column: u32,
    /// What it is about: `flow ticket.refund@1`.
    pub subject: Option<String>,
}

/// How bad a finding is.
#[derive(Deserialize, JsonSchema, PartialEq, Debug)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Wrong.
    Error,
    /// Worth a look.
    Warning,
    /// For information.
    Note,
}

/// `flowx diff --format json`.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Diff {
    /// The version of this document's format.
    pub schema_version: String,
    /// What was the base.
    pub base: String,
    /// What was the head.
    pub head: String,
    /// All findings that no allowance covers, taken together.
    pub verdict: Verdict,
    /// The bump that the findings ask for.
    pub required_bump: Bump,
    /// The bump that the application's version declares, when both sides have one.
    pub declared_bump: Option<Bump>,
    /// Gravest first.
    pub findings: Vec<DiffFinding>,
    /// What is wrong with the allowances themselves. Any of these fails the run.
    pub allowance_errors: Vec<AllowanceError>,
}

/// `flowx diff --since-all-tags … --format json`.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Diffs {
    /// The version of this document's format.
    pub schema_version: String,
    /// One per tag, oldest version first.
    pub reports: Vec<Diff>,
}

/// The verdict over all findings.
#[derive(Deserialize, JsonSchema, PartialEq, Debug)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Nothing breaking, nothing about security, nothing undecided.
    Compatible,
    /// Something breaking or about security.
    Breaking,
    /// Something could not be decided, and nothing is worse than that.
    Undecided,
}

/// A step of a semantic version.
#[derive(Deserialize, JsonSchema, PartialEq, Debug)]
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

/// What a difference means for those who use the surface.
#[derive(Deserialize, JsonSchema, PartialEq, Debug)]
#[serde(rename_all = "lowercase")]
pub enum Class {
    /// A caller that was right before is wrong now.
    Breaking,
    /// Somebody may do more than was reviewed, or a guard became weaker.
    Security,
    /// More is possible, nothing that worked stops.
    Additive,
    /// Worth a look, and no caller notices.
    Neutral,
    /// The documents do not hold enough to decide.
    Undecided,
}

/// One difference.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DiffFinding {
    /// The rule: `FXD012`.
    pub id: String,
    /// What it means.
    pub class: Class,
    /// What it is about: `flow ticket.refund@1`, `tool ticket_refund`, `contract crate::IssueRefund`.
    pub subject: String,
    /// Where in the subject, as an RFC 6901 pointer.
    pub pointer: String,
    /// What changed.
    pub message: String,
    /// Who notices, and how.
    pub consequence: String,
    /// What to do instead.
    pub fix: String,
    /// A value that one side accepts and the other refuses.
    pub witness: Option<Value>,
    /// From structure only; never from wording.
    pub fingerprint: String,
    /// Whether an allowance covers it.
    pub allowed: bool,
    /// The allowance that does.
    pub allowed_by: Option<Allowance>,
    /// What stood there before.
    pub before: Option<Value>,
    /// What stands there now.
    pub after: Option<Value>,
    /// What a caller reaches it through, where it is not the subject itself.
    pub reached_by: Vec<String>,
    /// Where the subject is declared, when that is known.
    pub source: Option<Source>,
}

/// Where something is declared.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Source {
    /// The file, from the working folder, with `/`.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
}

/// One `[[allow]]`.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Allowance {
    /// The rule's id.
    pub rule: String,
    /// The subject, whole.
    pub subject: String,
    /// The pointer, whole.
    pub pointer: Option<String>,
    /// The fingerprint.
    pub fingerprint: Option<String>,
    /// Why.
    pub reason: String,
    /// Who answers for it.
    pub owner: Option<String>,
    /// The last day on which it counts.
    pub expires: Option<String>,
    /// The line in its file, from 1.
    pub line: u32,
}

/// What is wrong with an allowance.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AllowanceError {
    /// The rule: `FXA001`.
    pub id: String,
    /// The line in the file, from 1.
    pub line: u32,
    /// What is wrong, and what to do.
    pub message: String,
}

/// `flowx review --format json`.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Review {
    /// The version of this document's format.
    pub schema_version: String,
    /// Whose surface it is: `name version`.
    pub application: String,
    /// Gravest first.
    pub findings: Vec<ReviewFinding>,
}

/// One thing that stands out.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ReviewFinding {
    /// The rule: `ai.saga_compensates_partially`.
    pub id: String,
    /// How much it matters.
    pub severity: Severity,
    /// What it is about.
    pub subject: String,
    /// What was found.
    pub message: String,
    /// What to do.
    pub help: String,
}

/// `flowx rules --format json`.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Rules {
    /// The version of this document's format.
    pub schema_version: String,
    /// By kind and id.
    pub rules: Vec<Rule>,
}

/// One rule; also `flowx explain ID --format json`.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Rule {
    /// The id.
    pub id: String,
    /// The verb whose findings it makes.
    pub kind: RuleKind,
    /// The severity, or the classes that its findings can have.
    pub severity: Vec<String>,
    /// One line.
    pub title: String,
    /// The page, in Markdown.
    pub doc: String,
}

/// The verb whose findings a rule makes.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RuleKind {
    /// `flowx check`.
    Check,
    /// `flowx diff`.
    Diff,
    /// `flowx review`.
    Review,
    /// The allowance file.
    Allowance,
}

/// `flowx audit verify --format json`.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AuditVerify {
    /// The version of this document's format.
    pub schema_version: String,
    /// Whether no record was edited, is missing or was moved.
    pub whole: bool,
    /// The end of the chain, when it is whole.
    pub head: Option<AuditHead>,
    /// The first thing that is wrong, when it is not.
    pub problem: Option<String>,
    /// Records that are written but not chained yet.
    pub waiting: i64,
}

/// The end of an audit chain.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AuditHead {
    /// The number of the newest record; 0 for none.
    pub seq: u64,
    /// Its hash, 64 hexadecimal digits.
    pub hash: String,
}
