//! Allowances cover exactly what they name, and are held to account themselves.

use flowx_diff::{Allowances, Class, DEFAULT_FAIL_ON, Date, DiffOptions, Report, Verdict, diff};
use flowx_manifest::Json;

use crate::{base, manifest, patch};

fn report(allow: &str, today: &str) -> Report {
    let mut after = base();
    patch::apply(&mut after, "/flows/ticket.note", &Json::Null);
    patch::apply(
        &mut after,
        "/flows/ticket.refund/triggers/agent/confirmation",
        &Json::from("never"),
    );
    let allowances = Allowances::parse(allow, today.parse().ok()).expect("a file that can be read");
    diff(
        &manifest(&base()),
        &manifest(&after),
        &DiffOptions {
            allowances,
            ..DiffOptions::default()
        },
    )
}

const BOTH: &str = r#"
[[allow]]
rule = "FXD001"
subject = "flow ticket.note@1"
reason = "Nobody calls it."
owner = "support"
expires = 2026-12-31

[[allow]]
rule = "FXD009"
subject = "tool ticket_refund"
reason = "Leave decides from now on."
"#;

fn ids(report: &Report) -> Vec<(&str, usize)> {
    report
        .allowance_errors
        .iter()
        .map(|e| (e.id, e.line))
        .collect()
}

#[test]
fn an_allowance_covers_exactly_its_finding_and_the_verdict_follows() {
    let open = report("", "2026-11-30");
    assert_eq!(open.verdict, Verdict::Breaking);
    assert!(open.fails(&DEFAULT_FAIL_ON));
    let covered = report(BOTH, "2026-11-30");
    assert_eq!(
        covered.verdict,
        Verdict::Compatible,
        "{:?}",
        covered.findings
    );
    assert!(!covered.fails(&DEFAULT_FAIL_ON));
    let finding = covered
        .findings
        .iter()
        .find(|f| f.id == "FXD001")
        .expect("still reported");
    assert!(finding.allowed);
    assert_eq!(
        finding
            .allowed_by
            .as_ref()
            .map(|a| (a.owner.as_deref(), a.line)),
        Some((Some("support"), 2))
    );
    assert_eq!(covered.count(Class::Breaking), 0);
}

#[test]
fn the_last_day_still_counts_and_the_day_after_does_not() {
    assert_eq!(ids(&report(BOTH, "2026-12-31")), []);
    let late = report(BOTH, "2027-01-01");
    assert_eq!(ids(&late), [("FXA002", 2)]);
    assert_eq!(late.verdict, Verdict::Breaking);
}

#[test]
fn a_selector_that_is_only_the_beginning_of_a_subject_covers_nothing() {
    let almost = BOTH.replace("flow ticket.note@1", "flow ticket.note");
    let report = report(&almost, "2026-11-30");
    assert_eq!(ids(&report), [("FXA003", 2)]);
    assert!(report.fails(&DEFAULT_FAIL_ON));
}

#[test]
fn a_pointer_or_a_fingerprint_narrows_it() {
    let with = |line: &str| BOTH.replace("owner = \"support\"", line);
    assert_eq!(ids(&report(&with("pointer = \"\""), "2026-11-30")), []);
    assert_eq!(
        ids(&report(&with("pointer = \"/x\""), "2026-11-30")),
        [("FXA003", 2)]
    );
    let print = report("", "2026-11-30")
        .findings
        .iter()
        .find(|f| f.id == "FXD001")
        .expect("it")
        .fingerprint
        .clone();
    assert_eq!(
        ids(&report(
            &with(&format!("fingerprint = \"{print}\"")),
            "2026-11-30"
        )),
        []
    );
    assert_eq!(
        ids(&report(&with("fingerprint = \"00\""), "2026-11-30")),
        [("FXA003", 2)]
    );
}

#[test]
fn what_is_reasonless_unknown_or_undated_is_an_error_of_its_own_and_covers_nothing() {
    for (from, to, id) in [
        ("reason = \"Nobody calls it.\"", "reason = \"  \"", "FXA001"),
        ("reason = \"Nobody calls it.\"", "", "FXA001"),
        ("rule = \"FXD001\"", "rule = \"FDX001\"", "FXA004"),
        (
            "expires = 2026-12-31",
            "expires = \"end of year\"",
            "FXA005",
        ),
        ("expires = 2026-12-31", "expires = \"2026-02-30\"", "FXA005"),
    ] {
        let report = report(&BOTH.replace(from, to), "2026-11-30");
        assert_eq!(ids(&report), [(id, 2)], "{to}");
        assert_eq!(report.verdict, Verdict::Breaking, "{to}");
    }
}

#[test]
fn a_misspelt_key_is_refused_since_it_would_mean_for_ever() {
    for text in [
        BOTH.replace("expires", "expire"),
        "[[allows]]\n".to_owned(),
        "allow = 3".to_owned(),
        "[".to_owned(),
    ] {
        assert!(Allowances::parse(&text, None).is_err(), "{text}");
    }
    assert!(Allowances::parse("", None).is_ok_and(|a| a.is_empty()));
}

#[test]
fn two_entries_for_one_finding_are_not_stale() {
    let twice = format!(
        "{BOTH}\n[[allow]]\nrule = \"FXD001\"\nsubject = \"flow ticket.note@1\"\nreason = \"Again.\"\n"
    );
    assert_eq!(ids(&report(&twice, "2026-11-30")), []);
}

#[test]
fn days_are_days_of_the_calendar() {
    assert_eq!(Date::from_unix(0).to_string(), "1970-01-01");
    assert_eq!(Date::from_unix(951_782_400).to_string(), "2000-02-29");
    assert_eq!(Date::from_unix(1_796_083_199).to_string(), "2026-11-30");
    assert!("2026-2-03".parse::<Date>().is_err() && "2100-02-29".parse::<Date>().is_err());
    assert!(Date::new(2024, 2, 29).is_some() && Date::new(2023, 2, 29).is_none());
}
