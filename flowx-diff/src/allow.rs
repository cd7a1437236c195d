//! `flowx-allow.toml`: findings that somebody has looked at, with a reason, an owner and an end.

use std::ops::Range;
use std::str::FromStr;

use serde::{Deserialize, Serialize, Serializer};

use crate::report::{Finding, Report};

/// A day of the calendar, `2026-12-31`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Date {
    year: u16,
    month: u8,
    day: u8,
}

impl Date {
    /// The day, when there is one of that number.
    pub fn new(year: u16, month: u8, day: u8) -> Option<Date> {
        let leap =
            year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
        let days = match month {
            2 if leap => 29,
            2 => 28,
            4 | 6 | 9 | 11 => 30,
            1..=12 => 31,
            _ => return None,
        };
        (1..=days)
            .contains(&day)
            .then_some(Date { year, month, day })
    }

    /// The day in UTC of a number of seconds since 1970.
    pub fn from_unix(seconds: u64) -> Date {
        // Civil date from a day count: eras of 400 years that begin on 1 March 0000.
        let z = seconds / 86_400 + 719_468;
        let era = z / 146_097;
        let doe = z % 146_097;
        let yoe = (doe - doe / 1460 + doe / 36_524 - doe / 146_096) / 365;
        let doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
        let mp = (5 * doy + 2) / 153;
        let month = if mp < 10 { mp + 3 } else { mp - 9 };
        let year = yoe + era * 400 + u64::from(month <= 2);
        Date {
            year: u16::try_from(year).unwrap_or(u16::MAX),
            month: month as u8,
            day: (doy - (153 * mp + 2) / 5 + 1) as u8,
        }
    }
}

impl FromStr for Date {
    type Err = ();
    fn from_str(s: &str) -> Result<Date, ()> {
        let plain = s.len() == 10 && s.is_ascii() && &s[4..5] == "-" && &s[7..8] == "-";
        if !plain || !s.bytes().all(|b| b.is_ascii_digit() || b == b'-') {
            return Err(());
        }
        let (y, m, d) = (s[..4].parse(), s[5..7].parse(), s[8..].parse());
        match (y, m, d) {
            (Ok(y), Ok(m), Ok(d)) => Date::new(y, m, d).ok_or(()),
            _ => Err(()),
        }
    }
}

impl std::fmt::Display for Date {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}

impl Serialize for Date {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

/// One `[[allow]]`: it covers findings of exactly this rule and subject, and of exactly this pointer or fingerprint
/// where it names one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
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
    pub expires: Option<Date>,
    /// The line in its file, from 1.
    pub line: usize,
}

impl Allowance {
    /// Exact on everything that it names: `/health` never hides `/health/live`.
    fn covers(&self, finding: &Finding) -> bool {
        self.rule == finding.id
            && self.subject == finding.subject
            && self.pointer.as_ref().is_none_or(|p| *p == finding.pointer)
            && self
                .fingerprint
                .as_ref()
                .is_none_or(|f| *f == finding.fingerprint)
    }
}

/// Which verb a rule belongs to. One file serves all verbs, and each minds its own entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AllowedIn {
    /// `flowx check`: the `FLOWX` rules of the sources.
    Check,
    /// `flowx review`: the `ai.` rules.
    Review,
    /// `flowx diff`: every other.
    Diff,
}

impl AllowedIn {
    fn of(rule: &str) -> AllowedIn {
        if rule.starts_with("FLOWX") {
            AllowedIn::Check
        } else if rule.starts_with("ai.") {
            AllowedIn::Review
        } else {
            AllowedIn::Diff
        }
    }
}

/// What is wrong with an allowance.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AllowanceError {
    /// `FXA001` …; see [`crate::rules`].
    pub id: &'static str,
    /// The line in the file, from 1.
    pub line: usize,
    /// What is wrong, and what to do.
    pub message: String,
}

/// All allowances of one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Allowances {
    entries: Vec<Allowance>,
    errors: Vec<AllowanceError>,
    today: Option<Date>,
}

/// The file is not an allowance file at all.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not an allowance file: {0}")]
pub struct AllowanceFileError(String);

/// No reason is given.
pub(crate) const NO_REASON: &str = "FXA001";
/// The last day has passed.
pub(crate) const EXPIRED: &str = "FXA002";
/// No finding is covered.
pub(crate) const UNMATCHED: &str = "FXA003";
/// There is no such rule.
pub(crate) const UNKNOWN_RULE: &str = "FXA004";
/// The date is none.
pub(crate) const BAD_DATE: &str = "FXA005";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    allow: Vec<toml::Spanned<Entry>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    rule: String,
    subject: String,
    pointer: Option<String>,
    fingerprint: Option<String>,
    reason: Option<String>,
    owner: Option<String>,
    expires: Option<Day>,
}

/// A TOML date or a string.
#[derive(Deserialize)]
#[serde(untagged)]
enum Day {
    Toml(toml::value::Datetime),
    Text(String),
}

impl Allowances {
    /// Reads the text of an allowance file. `today` decides what has expired; without it nothing does.
    ///
    /// What is wrong with a single entry is an [`AllowanceError`] in the report, and the entry does not count.
    ///
    /// # Errors
    /// When the text is not TOML, or has a key that no allowance has (a misspelt `expires` must not mean "for ever").
    pub fn parse(text: &str, today: Option<Date>) -> Result<Allowances, AllowanceFileError> {
        let file: File = toml::from_str(text)
            .map_err(|e| AllowanceFileError(e.to_string().trim_end().to_owned()))?;
        let mut out = Allowances {
            today,
            ..Allowances::default()
        };
        for entry in file.allow {
            let line = line_of(text, entry.span());
            out.add(entry.into_inner(), line);
        }
        Ok(out)
    }

    /// How many entries count.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether none counts.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    fn add(&mut self, entry: Entry, line: usize) {
        let mut wrong =
            |id, message: String| self.errors.push(AllowanceError { id, line, message });
        let before = format!("the allowance of {} for `{}`", entry.rule, entry.subject);
        let reason = entry.reason.unwrap_or_default();
        let mut counts = true;
        if reason.trim().is_empty() {
            wrong(
                NO_REASON,
                format!("{before} gives no reason; say why with `reason = \"…\"`, or remove it"),
            );
            counts = false;
        }
        // The rules of the sources are known to the scan, which [`Allowances::judge`] asks.
        if AllowedIn::of(&entry.rule) != AllowedIn::Check && crate::explain(&entry.rule).is_none() {
            wrong(
                UNKNOWN_RULE,
                format!("{before}: there is no such rule; `flowx rules` lists them"),
            );
            counts = false;
        }
        let expires = match entry.expires {
            None => None,
            Some(day) => {
                let text = match &day {
                    Day::Toml(d) => d.to_string(),
                    Day::Text(t) => t.clone(),
                };
                match text.parse::<Date>() {
                    Ok(date) => Some(date),
                    Err(()) => {
                        wrong(
                            BAD_DATE,
                            format!("{before}: {text:?} is not a day; write 2026-12-31"),
                        );
                        counts = false;
                        None
                    }
                }
            }
        };
        if let (Some(last), Some(today)) = (expires, self.today)
            && last < today
        {
            wrong(
                EXPIRED,
                format!(
                    "{before} ended on {last}; mend the cause, or decide again and set a new day"
                ),
            );
            counts = false;
        }
        if counts {
            self.entries.push(Allowance {
                rule: entry.rule,
                subject: entry.subject,
                pointer: entry.pointer,
                fingerprint: entry.fingerprint,
                reason,
                owner: entry.owner,
                expires,
                line,
            });
        }
    }

    /// The reason for each finding (rule, subject) that an entry of that verb covers, and what is wrong with the file:
    /// entries of that verb that cover none are errors, those of other verbs are theirs. `known` says whether there is
    /// such a rule.
    ///
    /// An entry that names a pointer or a fingerprint covers nothing here, since these findings have neither.
    pub fn judge(
        &self,
        verb: AllowedIn,
        findings: &[(&str, &str)],
        known: &dyn Fn(&str) -> bool,
    ) -> (Vec<Option<String>>, Vec<AllowanceError>) {
        let own = || {
            self.entries
                .iter()
                .filter(move |entry| AllowedIn::of(&entry.rule) == verb)
        };
        let covers = |entry: &Allowance, (rule, subject): &(&str, &str)| {
            entry.rule == *rule
                && entry.subject == *subject
                && entry.pointer.is_none()
                && entry.fingerprint.is_none()
        };
        let reasons = findings
            .iter()
            .map(|finding| {
                own()
                    .find(|entry| covers(entry, finding))
                    .map(|entry| entry.reason.clone())
            })
            .collect();
        let mut errors = self.errors.clone();
        for entry in own().filter(|entry| !findings.iter().any(|f| covers(entry, f))) {
            let (id, why) = if known(&entry.rule) {
                (UNMATCHED, "matches nothing any more; remove it")
            } else {
                (UNKNOWN_RULE, "names no rule; `flowx rules` lists them")
            };
            errors.push(AllowanceError {
                id,
                line: entry.line,
                message: format!(
                    "the allowance of {} for `{}` {why}",
                    entry.rule, entry.subject
                ),
            });
        }
        errors.sort_by(|a, b| (a.line, a.id).cmp(&(b.line, b.id)));
        (reasons, errors)
    }

    /// Marks the findings that are covered, and notes the entries that cover none.
    pub(crate) fn apply(&self, report: &mut Report) {
        let mut used = vec![false; self.entries.len()];
        for finding in &mut report.findings {
            // Every entry that fits counts as used, so that a second one for the same finding is not called stale.
            for (entry, used) in self.entries.iter().zip(&mut used) {
                if entry.covers(finding) {
                    *used = true;
                    finding.allowed = true;
                    finding.allowed_by.get_or_insert_with(|| entry.clone());
                }
            }
        }
        report.allowance_errors = self.errors.clone();
        for (a, used) in self.entries.iter().zip(used) {
            if !used && AllowedIn::of(&a.rule) == AllowedIn::Diff {
                report.allowance_errors.push(AllowanceError {
                    id: UNMATCHED,
                    line: a.line,
                    message: format!(
                        "the allowance of {} for `{}` matches nothing any more; remove it",
                        a.rule, a.subject
                    ),
                });
            }
        }
        report
            .allowance_errors
            .sort_by(|a, b| (a.line, a.id).cmp(&(b.line, b.id)));
    }
}

fn line_of(text: &str, span: Range<usize>) -> usize {
    text.as_bytes()
        .iter()
        .take(span.start)
        .filter(|b| **b == b'\n')
        .count()
        + 1
}

/// The pages of the allowance errors: id, name, text.
pub(crate) const PAGES: [(&str, &str, &str); 5] = [
    (
        NO_REASON,
        "allowance-without-reason",
        include_str!("../pages/FXA001.md"),
    ),
    (
        EXPIRED,
        "allowance-expired",
        include_str!("../pages/FXA002.md"),
    ),
    (
        UNMATCHED,
        "allowance-matches-nothing",
        include_str!("../pages/FXA003.md"),
    ),
    (
        UNKNOWN_RULE,
        "allowance-of-unknown-rule",
        include_str!("../pages/FXA004.md"),
    ),
    (
        BAD_DATE,
        "allowance-date-is-none",
        include_str!("../pages/FXA005.md"),
    ),
];
