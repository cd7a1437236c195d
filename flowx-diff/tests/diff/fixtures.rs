//! Every rule on its own cases: firing ones and quiet ones. Every rule runs on every case, and what each case yields is
//! written down whole, so that a stray finding of another rule shows.

use std::collections::BTreeSet;

use flowx_diff::{DiffOptions, Report, RuleKind, diff, rules};
use flowx_manifest::Json;

use crate::{base, file, fresh, json, manifest, patch};

/// Rules that need more than two manifests: lists of tools, whose cases `edits.rs` has, and what a scan knows beyond a manifest.
const FOREIGN: [&str; 5] = ["FXD064", "FXD075", "FXD079", "FXD114", "FXD221"];

fn edited(from: &Json, edits: Option<&Json>) -> Json {
    let mut out = from.clone();
    for edit in edits.and_then(Json::as_array).unwrap_or_default() {
        let pair = edit.as_array().expect("an edit is a path and a value");
        patch::apply(&mut out, pair[0].as_str().expect("a path"), &pair[1]);
    }
    out
}

/// The manifests before and after a case.
fn sides(case: &Json) -> (Json, Json) {
    let before = edited(&base(), case.get("before"));
    let after = edited(&before, case.get("edits"));
    (before, after)
}

/// Every case of every rule: its name and both manifests.
pub(crate) fn cases() -> Vec<(String, Json, Json)> {
    let mut out = Vec::new();
    for rule in rules()
        .iter()
        .filter(|r| r.kind == RuleKind::Diff && !FOREIGN.contains(&r.id))
    {
        let all = json(&file(&format!("fixtures/rules/{}.json", rule.id)));
        for case in ["fires", "quiet"]
            .iter()
            .filter_map(|list| all.get(list)?.as_array())
            .flatten()
        {
            let name = case.get("case").and_then(Json::as_str).unwrap_or_default();
            let (before, after) = sides(case);
            out.push((format!("{}: {name}", rule.id), before, after));
        }
    }
    out
}

fn run(case: &Json) -> Report {
    let (before, after) = sides(case);
    diff(
        &manifest(&before),
        &manifest(&after),
        &DiffOptions::default(),
    )
}

fn lines(id: &str, report: &Report) -> Vec<Json> {
    report
        .findings
        .iter()
        // Whether versions tell is asked in its own fixture; elsewhere the answer is always the same.
        .filter(|f| f.id != "FXD220" || id == "FXD220")
        .map(|f| {
            Json::from(format!(
                "{} {} {} {}: {}",
                f.id, f.class, f.subject, f.pointer, f.message
            ))
        })
        .collect()
}

#[test]
fn every_rule_fires_where_it_should_and_is_quiet_where_it_should_be() {
    let mut wrong = Vec::new();
    for rule in rules()
        .iter()
        .filter(|r| r.kind == RuleKind::Diff && !FOREIGN.contains(&r.id))
    {
        let path = format!("fixtures/rules/{}.json", rule.id);
        let mut cases = json(&file(&path));
        for (list, fires) in [("fires", true), ("quiet", false)] {
            let Some(Json::Array(all)) = cases.as_object_mut().and_then(|c| c.get_mut(list)) else {
                wrong.push(format!("{path} has no {list}"));
                continue;
            };
            if all.is_empty() {
                wrong.push(format!("{path}: {list} is empty"));
            }
            for case in all {
                let report = run(case);
                let name = case
                    .get("case")
                    .and_then(Json::as_str)
                    .unwrap_or_default()
                    .to_owned();
                if report.findings.iter().any(|f| f.id == rule.id) != fires {
                    wrong.push(format!(
                        "{}: {name}: should{} fire: {:?}",
                        rule.id,
                        if fires { "" } else { " not" },
                        lines(rule.id, &report)
                    ));
                }
                if let Some(f) = report.findings.iter().find(|f| {
                    let known = rules()
                        .iter()
                        .find(|r| r.id == f.id)
                        .expect("a finding has a rule");
                    !known.classes.contains(&f.class)
                        || f.message.is_empty()
                        || f.consequence.is_empty()
                        || f.fix.is_empty()
                }) {
                    wrong.push(format!("{}: {name}: an unfinished finding: {f:?}", rule.id));
                }
                if let Json::Object(map) = case {
                    map.insert("expect".to_owned(), Json::Array(lines(rule.id, &report)));
                }
            }
        }
        let pretty = serde_json::to_string_pretty(&cases.to_value()).expect("JSON serialises");
        fresh(&path, &format!("{pretty}\n"));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_manifest_compared_with_itself_reports_nothing() {
    let report = diff(
        &manifest(&base()),
        &manifest(&base()),
        &DiffOptions::default(),
    );
    assert!(report.findings.is_empty(), "{:?}", report.findings);
}

#[test]
fn the_order_of_sections_entries_and_keys_never_matters() {
    let straight = base();
    let mut turned = base();
    if let Json::Object(map) = &mut turned {
        for section in map.values_mut() {
            if let Json::Array(items) = section {
                items.reverse();
            }
        }
    }
    let edit = |m: &Json| {
        let mut m = m.clone();
        patch::apply(
            &mut m,
            "/flows/ticket.refund/triggers/agent/confirmation",
            &Json::from("never"),
        );
        patch::apply(
            &mut m,
            "/contracts/crate::Ticket/schema/properties/status/enum",
            &json(r#"["open"]"#),
        );
        m
    };
    let one = diff(
        &manifest(&straight),
        &manifest(&edit(&straight)),
        &DiffOptions::default(),
    );
    let two = diff(
        &manifest(&turned),
        &manifest(&edit(&straight)),
        &DiffOptions::default(),
    );
    let three = diff(
        &manifest(&straight),
        &manifest(&edit(&turned)),
        &DiffOptions::default(),
    );
    assert!(!one.findings.is_empty());
    assert_eq!(one, two);
    assert_eq!(one, three);
}

#[test]
fn every_fixture_belongs_to_a_rule() {
    let known: BTreeSet<String> = rules().iter().map(|r| format!("{}.json", r.id)).collect();
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/rules");
    for entry in std::fs::read_dir(folder).expect("the folder is there") {
        let name = entry
            .expect("an entry")
            .file_name()
            .to_string_lossy()
            .into_owned();
        assert!(known.contains(&name), "{name} belongs to no rule");
    }
}

#[test]
fn findings_about_requests_carry_a_witness_where_they_break() {
    let mut after = base();
    patch::apply(
        &mut after,
        "/contracts/crate::IssueRefund/request/properties/amount_cents/maximum",
        &Json::from(1000),
    );
    let report = diff(
        &manifest(&base()),
        &manifest(&after),
        &DiffOptions::default(),
    );
    let finding = report
        .findings
        .iter()
        .find(|f| f.id == "FXD054")
        .expect("a stricter limit");
    let witness = finding.witness.as_ref().expect("a witness");
    let amount = witness
        .get("amount_cents")
        .and_then(Json::as_number)
        .expect("the member")
        .as_f64();
    assert!(
        (1000.0..=500_000.0).contains(&amount) && amount > 1000.0,
        "{witness}"
    );
    assert_eq!(finding.reached_by, ["flow ticket.refund@1 input"]);
}

#[test]
fn a_fingerprint_does_not_depend_on_wording_but_on_structure() {
    let change = |maximum: i64| {
        let mut after = base();
        patch::apply(
            &mut after,
            "/contracts/crate::IssueRefund/request/properties/amount_cents/maximum",
            &Json::from(maximum),
        );
        let report = diff(
            &manifest(&base()),
            &manifest(&after),
            &DiffOptions::default(),
        );
        report
            .findings
            .into_iter()
            .find(|f| f.id == "FXD054")
            .expect("a stricter limit")
            .fingerprint
    };
    assert_eq!(change(1000), change(1000));
    assert_ne!(change(1000), change(999));
    assert_eq!(change(1000).len(), 32);
}

#[test]
fn what_both_scans_left_out_is_compared_by_what_it_says() {
    use flowx_diff::OutOfSight;
    let both = manifest(&base());
    let seen = format!("flow {}", both.flows[0].key());
    let off =
        |entries: &[(&str, u64)]| entries.iter().map(|(s, d)| ((*s).to_owned(), *d)).collect();
    let found = |base: &[(&str, u64)], head: &[(&str, u64)]| {
        let options = DiffOptions {
            out_of_sight: Some(OutOfSight {
                base: off(base),
                head: off(head),
            }),
            ..DiffOptions::default()
        };
        let report = diff(&both, &both, &options);
        assert_eq!(
            report.findings.is_empty(),
            report.verdict == flowx_diff::Verdict::Compatible
        );
        let line =
            |f: &flowx_diff::Finding| format!("{} {} {}: {}", f.id, f.class, f.subject, f.message);
        report.findings.iter().map(line).collect::<Vec<_>>()
    };
    let says = |what: &str| {
        vec![format!(
            "FXD221 undecided flow ops.purge@1: what this configuration switches off {what}"
        )]
    };
    let ops = "flow ops.purge@1";
    assert_eq!(found(&[], &[(ops, 1)]), says("is new"));
    assert_eq!(found(&[(ops, 1)], &[]), says("is gone"));
    assert_eq!(found(&[(ops, 1)], &[(ops, 2)]), says("has changed"));
    assert_eq!(found(&[(ops, 1)], &[(ops, 1)]), [""; 0]);
    assert_eq!(
        found(&[(&seen, 1)], &[]),
        [""; 0],
        "it came into sight: other rules say how"
    );
    assert_eq!(found(&[], &[(&seen, 1)]), [""; 0], "it left it");
    assert!(
        diff(&both, &both, &DiffOptions::default())
            .findings
            .is_empty(),
        "nothing known, nothing said"
    );
}
