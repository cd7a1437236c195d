//! The review: each rule fires on a planted flaw, and is quiet on the base.

use std::collections::BTreeSet;

use flowx_diff::{RuleKind, Severity, review, rules};
use flowx_manifest::Json;

use crate::{base, json, manifest, patch};

/// Rule, edits, subject.
type Case = (
    &'static str,
    &'static [(&'static str, &'static str)],
    &'static str,
);

const CASES: &[Case] = &[
    (
        "ai.event_has_one_end",
        &[("/events/refund.issued/consumedBy", "[]")],
        "event refund.issued@1",
    ),
    (
        "ai.event_has_one_end",
        &[("/events/refund.issued/producedBy", "[]")],
        "event refund.issued@1",
    ),
    (
        "ai.public_capability_has_side_effects",
        &[(
            "/capabilities/desk.announce/authorization",
            r#"{"mode":"public"}"#,
        )],
        "capability desk.announce@1",
    ),
    (
        "ai.saga_compensates_partially",
        &[(
            "/flows/ticket.refund/steps/+",
            r#"{"name":"again","calls":{"capability":"ticket.find@1.0.0"}}"#,
        )],
        "flow ticket.refund@1",
    ),
    (
        "ai.agent_tool_declares_no_confirmation",
        &[(
            "/flows/ticket.refund/triggers/agent/confirmation",
            r#""never""#,
        )],
        "flow ticket.refund@1",
    ),
    (
        "ai.agent_tool_takes_a_sensitive_argument",
        &[("/flows/ticket.search/input/sensitive", r#"["/text"]"#)],
        "flow ticket.search@2",
    ),
    (
        "ai.agent_tool_has_no_owner",
        &[("/flows/ticket.search/owner", r#"" ""#)],
        "flow ticket.search@2",
    ),
    (
        "ai.deadline_is_shorter_than_worst_case",
        &[("/flows/ticket.refund/deadline", r#""PT9S""#)],
        "flow ticket.refund@1",
    ),
    (
        "ai.permission_is_unused",
        &[("/flows/ticket.refund/steps/pay", "null")],
        "capability payment.refund@1",
    ),
    (
        "ai.agent_leave_against_confirmation",
        &[("/agents/desk-bot/tools", r#"{"ticket.refund":"alone"}"#)],
        "agent desk-bot",
    ),
    (
        "ai.agent_leave_against_confirmation",
        &[("/agents/desk-bot/tools", r#"{"ticket.refnd":"propose"}"#)],
        "agent desk-bot",
    ),
    (
        "ai.text_hides_characters",
        &[(
            "/tools/ticket_search/description",
            "\"Find\u{200b} tickets.\"",
        )],
        "tool ticket_search",
    ),
];

fn edited(edits: &[(&str, &str)]) -> Json {
    let mut m = base();
    for (path, value) in edits {
        patch::apply(&mut m, path, &json(value));
    }
    m
}

#[test]
fn every_review_rule_fires_on_a_planted_flaw() {
    let mut tried = BTreeSet::new();
    for (id, edits, subject) in CASES {
        let review = review(&manifest(&edited(edits)));
        assert!(
            review
                .findings
                .iter()
                .any(|f| f.id == *id && f.subject == *subject),
            "{id}: {:#?}",
            review.findings
        );
        tried.insert(*id);
    }
    let known: BTreeSet<&str> = rules()
        .iter()
        .filter(|r| r.kind == RuleKind::Review)
        .map(|r| r.id)
        .collect();
    assert_eq!(tried, known);
}

#[test]
fn the_base_is_clean_but_for_what_it_is_known_to_have() {
    let mut clean = base();
    // What the base has on purpose, for the rules of the comparison.
    for (path, value) in [
        (
            "/capabilities/desk.announce/authorization",
            r#"{"mode":"authenticated"}"#,
        ),
        ("/flows/ticket.refund/input/sensitive", "null"),
        ("/entities/ticket/operations/close/permission", "null"),
    ] {
        patch::apply(&mut clean, path, &json(value));
    }
    let review = review(&manifest(&clean));
    assert_eq!(review.findings, [], "{}", review.to_text());
    assert_eq!(
        review.to_text(),
        "Review of ticket-desk 0.3.0\nNothing stands out.\n"
    );
}

#[test]
fn the_worst_case_is_told_with_its_numbers() {
    let review = review(&manifest(&edited(&[(
        "/flows/ticket.refund/deadline",
        r#""PT9S""#,
    )])));
    let finding = review
        .findings
        .iter()
        .find(|f| f.id == "ai.deadline_is_shorter_than_worst_case")
        .expect("it");
    // find: 2 × 2 s + 0.5 s; pay: 5 s; tell has no timeout.
    assert_eq!(
        finding.message,
        "its steps can take 9.5 s (`find` 2 times 4.5 s, `pay` 5 s), its deadline is 9 s"
    );
}

#[test]
fn a_last_step_needs_no_compensation() {
    let review = review(&manifest(&base()));
    assert!(
        review
            .findings
            .iter()
            .all(|f| f.id != "ai.saga_compensates_partially"),
        "{}",
        review.to_text()
    );
}

#[test]
fn findings_are_ordered_gravest_first_and_the_same_every_time() {
    let edits: Vec<(&str, &str)> = CASES
        .iter()
        .filter(|c| c.0 != "ai.permission_is_unused")
        .flat_map(|c| c.1.iter().copied())
        .collect();
    let (one, two) = (
        review(&manifest(&edited(&edits))),
        review(&manifest(&edited(&edits))),
    );
    assert_eq!(one, two);
    let severities: Vec<Severity> = one.findings.iter().map(|f| f.severity).collect();
    assert!(severities.is_sorted(), "{severities:?}");
}

#[test]
fn what_a_model_is_asked_is_the_text_in_a_fixed_frame() {
    let review = review(&manifest(&base()));
    let prompt = review.to_prompt();
    assert!(prompt.contains(&review.to_text()));
    assert!(prompt.ends_with("==========\n"));
    assert_eq!(prompt, flowx_diff::review(&manifest(&base())).to_prompt());
}
