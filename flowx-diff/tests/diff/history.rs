//! Thirty changes to a fifty-flow application, one after the other: every verdict is the one that is known.

use flowx_diff::{Bump, DiffOptions, Verdict, diff};
use flowx_manifest::Json;

use crate::{base, json, manifest, patch};

/// The base with many more flows, each with a contract of its own.
pub(crate) fn application(flows: usize) -> Json {
    let mut out = base();
    let flow = out.pointer("/flows/2").expect("the search flow").clone();
    let contract = json(
        r##"{"type":"object","properties":{"text":{"type":"string","maxLength":200},"limit":{"type":"integer","minimum":1,"maximum":100},"ticket":{"$ref":"#/$defs/crate::TicketId"}},"required":["text"]}"##,
    );
    for i in 0..flows.saturating_sub(3) {
        let mut flow = flow.clone();
        for (key, value) in [
            ("id", Json::from(format!("area{}.flow{i}", i % 7))),
            (
                "input",
                Json::object([("type", Json::from(format!("crate::In{i}")))]),
            ),
        ] {
            flow.as_object_mut()
                .expect("a flow")
                .insert(key.to_owned(), value);
        }
        patch::apply(
            &mut flow,
            "/triggers/agent/name",
            &Json::from(format!("area{}_flow{i}", i % 7)),
        );
        patch::apply(&mut out, "/flows/+", &flow);
        let entry = Json::object([
            ("id", Json::from(format!("crate::In{i}"))),
            ("schema", contract.clone()),
        ]);
        patch::apply(&mut out, "/contracts/+", &entry);
    }
    out
}

const C: Verdict = Verdict::Compatible;
const B: Verdict = Verdict::Breaking;
const U: Verdict = Verdict::Undecided;

/// Path, value, verdict, bump.
const COMMITS: [(&str, &str, Verdict, Bump); 30] = [
    (
        "/contracts/crate::In3/schema/properties/note",
        r#"{"type":"string"}"#,
        C,
        Bump::Minor,
    ),
    (
        "/contracts/crate::In3/schema/required",
        r#"["text","note"]"#,
        B,
        Bump::Major,
    ),
    (
        "/contracts/crate::In3/schema/required",
        r#"["text"]"#,
        C,
        Bump::Minor,
    ),
    (
        "/flows/area0.flow0/description",
        r#""Finds things.""#,
        C,
        Bump::Patch,
    ),
    ("/flows/area1.flow1/deadline", r#""PT5S""#, C, Bump::Patch),
    (
        "/flows/area1.flow1/triggers/agent/confirmation",
        r#""always""#,
        C,
        Bump::Minor,
    ),
    (
        "/flows/area1.flow1/triggers/agent/confirmation",
        r#""never""#,
        B,
        Bump::Major,
    ),
    (
        "/contracts/crate::In8/schema/properties/text/maxLength",
        "100",
        B,
        Bump::Major,
    ),
    (
        "/contracts/crate::In8/schema/properties/text/maxLength",
        "400",
        C,
        Bump::Minor,
    ),
    (
        "/contracts/crate::In8/schema/properties/text/pattern",
        r#""^[a-z]*$""#,
        B,
        Bump::Major,
    ),
    (
        "/contracts/crate::In8/schema/properties/text/pattern",
        r#""^[a-z ]*$""#,
        U,
        Bump::Major,
    ),
    (
        "/contracts/crate::TicketId/schema/description",
        r#""A ticket.""#,
        C,
        Bump::Patch,
    ),
    (
        "/capabilities/ticket.find/effects",
        r#"["ledger","search-index"]"#,
        B,
        Bump::Major,
    ),
    (
        "/capabilities/ticket.find/effects",
        r#"["search-index"]"#,
        C,
        Bump::Minor,
    ),
    (
        "/capabilities/ticket.find/authorization",
        r#"{"mode":"permission","permission":"ticket.read"}"#,
        B,
        Bump::Major,
    ),
    (
        "/capabilities/ticket.find/authorization",
        r#"{"mode":"authenticated"}"#,
        B,
        Bump::Major,
    ),
    ("/effects/ledger/class", r#""spends""#, B, Bump::Major),
    (
        "/agents/desk-bot/changes",
        r#""propose_every_time""#,
        C,
        Bump::Minor,
    ),
    ("/agents/desk-bot/changes", r#""alone""#, B, Bump::Major),
    (
        "/flows/ticket.refund/approval/selfApproval",
        "true",
        B,
        Bump::Major,
    ),
    (
        "/flows/ticket.refund/approval/selfApproval",
        "false",
        C,
        Bump::Minor,
    ),
    (
        "/flows/ticket.refund/steps/pay/compensation",
        "null",
        B,
        Bump::Major,
    ),
    (
        "/flows/ticket.refund/steps/pay/timeout",
        r#""PT4S""#,
        C,
        Bump::Patch,
    ),
    (
        "/contracts/crate::Ticket/schema/properties/status/enum",
        r#"["closed","open","waiting"]"#,
        C,
        Bump::Patch,
    ),
    (
        "/contracts/crate::Ticket/schema/properties/status/enum",
        r#"["closed","open","waiting","lost"]"#,
        B,
        Bump::Major,
    ),
    ("/flows/area2.flow2/owner", r#""nobody""#, C, Bump::Patch),
    ("/flows/area2.flow2", "null", B, Bump::Major),
    ("/application/version", r#""1.0.0""#, C, Bump::Patch),
    ("/events/refund.issued/consumedBy", "[]", C, Bump::Patch),
    (
        "/entities/ticket/operations/close/rules",
        "null",
        B,
        Bump::Major,
    ),
];

#[test]
fn every_commit_of_a_known_history_has_its_known_verdict() {
    let mut at = application(50);
    let mut wrong = Vec::new();
    for (i, (path, value, verdict, bump)) in COMMITS.iter().enumerate() {
        let mut next = at.clone();
        patch::apply(&mut next, path, &json(value));
        let report = diff(&manifest(&at), &manifest(&next), &DiffOptions::default());
        if report.verdict != *verdict || report.required_bump != *bump {
            wrong.push(format!(
                "{i} {path}: {:?} {:?}: {:#?}",
                report.verdict, report.required_bump, report.findings
            ));
        }
        at = next;
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_cost_of_a_comparison_grows_with_the_surface_and_not_faster() {
    // Work is counted, not timed: five hundred flows with one changed contract do no more schema work than fifty.
    for flows in [50, 500] {
        let before = application(flows);
        let mut after = before.clone();
        patch::apply(
            &mut after,
            "/contracts/crate::In3/schema/properties/text/maxLength",
            &Json::from(10),
        );
        let options = DiffOptions {
            budget: flowx_diff::inclusion::Budget { steps: 2_000 },
            ..DiffOptions::default()
        };
        let report = diff(&manifest(&before), &manifest(&after), &options);
        assert_eq!(
            report.findings.iter().map(|f| f.id).collect::<Vec<_>>(),
            ["FXD054"],
            "{flows}"
        );
    }
}
