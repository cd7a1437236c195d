//! Runs the rules over one target, and settles what configuration and allowances say to it.

use crate::finding::{Finding, Severity};

use super::{ALL, Allowances, Config, Hit, View};

/// Everything that the rules find in a target.
pub(crate) fn run(view: &View<'_, '_>, config: &Config) -> Vec<Finding> {
    let mut findings = Vec::new();
    let allowances = Allowances::of(view.tree, &mut findings);
    for rule in ALL {
        let severity = config.severity(rule);
        let mut sink = |hit: Hit| {
            // Asked first, so that an allowance of a rule that is off is still used.
            let places =
                std::iter::once((hit.finding.file.clone(), hit.finding.line)).chain(hit.also);
            let quiet = places
                .filter(|(file, line)| allowances.quiets(rule.id, file, *line))
                .count()
                > 0;
            if let Some(severity) = severity.filter(|_| rule.firm || !quiet) {
                findings.push(hit.finding.severity(severity));
            }
        };
        (rule.check)(view, &mut sink);
    }
    findings.extend(allowances.unused());
    // What is wrong enough to stop the build comes first at one place; the rest of what is said there would only repeat it.
    findings.sort_by(|a, b| {
        (
            &a.file,
            a.line,
            a.column,
            std::cmp::Reverse(a.severity),
            &a.id,
        )
            .cmp(&(
                &b.file,
                b.line,
                b.column,
                std::cmp::Reverse(b.severity),
                &b.id,
            ))
    });
    findings.dedup_by(|later, first| {
        first.severity == Severity::Error
            && later.severity != Severity::Error
            && (&later.file, later.line, later.column) == (&first.file, first.line, first.column)
    });
    findings
}
