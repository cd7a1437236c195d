//! A store that cannot be reached refuses calls; it is never read as "nothing there". One operation after another is taken away, in the middle of
//! everything else working: nothing happens, nothing is forgotten, and when it is back things go on where they stood.

use std::collections::BTreeSet;
use std::sync::Arc;

use flowx_manifest::Json;
use flowx_runtime::{CallOutcome, ConfirmationPolicy, Given, Reply};
use http::{Method, StatusCode};

use crate::case_list;
use crate::common::broken::{Failing, Fault, OPERATIONS};
use crate::lab::{Answer, Client, Lab, code};

const CARD: &str = r#"{"card":"x"}"#;
const PRICE: &str = r#"{"ticket":"7","cents":4200}"#;
const BOTH: [Fault; 2] = [Fault::NotReached, Fault::AnswerLost];

case_list! { STORES:
    without_proposals_nothing_is_asked_decided_or_run,
    without_nonces_no_confirmation_counts,
    without_rules_nothing_is_done_alone,
    without_keys_of_calls_nothing_is_done_twice,
    without_the_trail_nothing_runs_unrecorded,
    without_its_upkeep_an_instance_says_so,
}

/// What each test takes away. `ping` and the sessions stand in the trait for whoever wants them; no call hangs on them (decision 022).
const TAKEN: &[(&str, &[&str])] = &[
    (
        "without_proposals_nothing_is_asked_decided_or_run",
        &["propose", "latest", "proposal", "list", "swap"],
    ),
    ("without_nonces_no_confirmation_counts", &["nonce_consume"]),
    (
        "without_rules_nothing_is_done_alone",
        &["rules", "rule_use", "rule_add", "rule_revoke"],
    ),
    (
        "without_keys_of_calls_nothing_is_done_twice",
        &[
            "idempotency_claim",
            "idempotency_complete",
            "idempotency_set_aside",
            "idempotency_release",
        ],
    ),
    (
        "without_the_trail_nothing_runs_unrecorded",
        &["append", "seal", "audit", "audit_head"],
    ),
    (
        "without_its_upkeep_an_instance_says_so",
        &["heartbeat", "orphans", "keys", "prune"],
    ),
];

#[test]
fn every_operation_of_a_store_is_taken_away_by_a_test() {
    let tests: BTreeSet<_> = STORES.iter().map(|(name, _)| *name).collect();
    assert_eq!(tests, TAKEN.iter().map(|(name, _)| *name).collect());
    let taken = TAKEN.iter().flat_map(|(_, operations)| *operations);
    let mut taken: BTreeSet<_> = taken.copied().collect();
    taken.extend(["ping", "session_bind", "session_owner", "session_end"]);
    assert_eq!(taken, OPERATIONS.iter().copied().collect());
}

/// The lab over a store of which operations can be taken away.
async fn failing(lab: &Lab) -> (Lab, Arc<Failing>) {
    let store = Failing::over(Arc::clone(&lab.store));
    let lab = Lab::with_store(lab.setup.clone(), Arc::clone(&store) as _).await;
    (lab, store)
}

fn unavailable(answer: &Answer) {
    assert_eq!(
        (answer.status, answer.member("code")),
        (StatusCode::SERVICE_UNAVAILABLE, "server.unavailable"),
        "{}",
        answer.text
    );
    assert!(!answer.text.contains("connection reset"), "{}", answer.text);
}

async fn without_proposals_nothing_is_asked_decided_or_run(lab: Lab) {
    let (lab, store) = failing(&lab).await;
    for operation in ["propose", "latest"] {
        store.fail(operation, Fault::NotReached);
        for (token, flow) in [("estimator", "repair.price"), ("bob", "card.archive")] {
            assert_eq!(lab.code(token, flow, CARD).await, "server.unavailable");
        }
        assert!(store.heal() > 0);
        assert!(lab.waiting().await.is_empty(), "{operation}");
    }
    // A row whose making is not known of is found when the call comes again: one row.
    store.fail("propose", Fault::AnswerLost);
    assert_eq!(
        lab.code("bob", "card.archive", CARD).await,
        "server.unavailable"
    );
    store.heal();
    assert_eq!(
        lab.code("bob", "card.archive", CARD).await,
        "approval.required"
    );
    let (id, fingerprint) = lab.only().await;
    // A list that cannot be had is no empty list, and a row none that is not there.
    store.fail("list", Fault::NotReached);
    unavailable(&lab.get("lead", "/flowx/proposals").await);
    store.heal();
    store.fail("proposal", Fault::NotReached);
    unavailable(&lab.get("lead", &format!("/flowx/proposals/{id}")).await);
    unavailable(&lab.approve("lead", &id, &fingerprint).await);
    unavailable(&lab.reject("lead", &id, "no").await);
    store.heal();
    store.fail("swap", Fault::NotReached);
    unavailable(&lab.approve("lead", &id, &fingerprint).await);
    unavailable(&lab.reject("lead", &id, "no").await);
    store.heal();
    assert_eq!(lab.status(&id).await, "waiting");
    let yes = lab.approve("lead", &id, &fingerprint).await;
    assert_eq!(yes.status, StatusCode::OK, "{}", yes.text);
    for fault in BOTH {
        store.fail("swap", fault);
        let again = lab.code("bob", "card.archive", CARD).await;
        assert_eq!(again, "server.unavailable");
        assert_eq!(lab.world.total(), 0, "{fault:?}");
        store.heal();
        // A beginning that was written without anybody knowing is found not to have begun.
        lab.core.gate().keep_up().await.unwrap();
        assert_eq!(lab.status(&id).await, "approved", "{fault:?}");
    }
    assert_eq!(lab.code("bob", "card.archive", CARD).await, "done");
    assert_eq!(lab.world.total(), 1);
}

async fn without_nonces_no_confirmation_counts(lab: Lab) {
    let elicit = lab.under(ConfirmationPolicy::Elicit).await;
    let (lab, store) = failing(&elicit).await;
    let ask = async || match lab
        .call_by(Client::retrying(None), "bob", "ticket.refund", CARD)
        .await
    {
        CallOutcome::InputRequired { state, .. } => state,
        other => panic!("{other:?}"),
    };
    let yes = async |state: &str| {
        let given = Given {
            state: state.into(),
            replies: [(
                "confirm".to_owned(),
                Reply::Accept(Json::object([("approve", true.into())])),
            )]
            .into(),
        };
        let client = Client::retrying(Some(given));
        code(&lab.call_by(client, "bob", "ticket.refund", CARD).await)
    };
    let state = ask().await;
    store.fail("nonce_consume", Fault::NotReached);
    assert_eq!(yes(&state).await, "server.unavailable");
    assert_eq!(store.heal(), 1);
    assert_eq!(lab.world.total(), 0);
    assert_eq!(yes(&state).await, "done", "it was not spent");
    assert_eq!(lab.world.total(), 1);
    // Spent, and nobody heard of it: it counts for nothing any more.
    let state = ask().await;
    store.fail("nonce_consume", Fault::AnswerLost);
    assert_eq!(yes(&state).await, "server.unavailable");
    store.heal();
    assert_eq!(yes(&state).await, "mcp.confirmation_refused");
    assert_eq!(lab.world.total(), 1);
}

async fn without_rules_nothing_is_done_alone(lab: Lab) {
    let (lab, store) = failing(&lab).await;
    let decide = async |extra: &str| {
        let (id, fingerprint) = lab.only().await;
        let body = format!("{{\"fingerprint\":\"{fingerprint}\"{extra}}}");
        lab.post("ada", &format!("/flowx/proposals/{id}/approve"), &body)
            .await
    };
    // The yes has had its effect; that there is no rule is told beside it, and not instead.
    lab.call("estimator", "repair.price", PRICE).await;
    store.fail("rule_add", Fault::NotReached);
    let answer = decide(r#","always":"like_this""#).await;
    assert_eq!(
        (
            answer.status,
            answer.member("status"),
            answer.member("ruleRefused")
        ),
        (StatusCode::OK, "done", "server.unavailable"),
        "{}",
        answer.text
    );
    assert_eq!(store.heal(), 1);
    assert_eq!(lab.world.total(), 1);
    let other = |n: usize| format!(r#"{{"ticket":"7","cents":{n}}}"#);
    lab.call("estimator", "repair.price", &other(1)).await;
    let rule = decide(r#","always":"like_this""#)
        .await
        .member("rule")
        .to_owned();
    assert_eq!(lab.world.total(), 2);
    for operation in ["rules", "rule_use"] {
        store.fail(operation, Fault::NotReached);
        let asked = lab.code("estimator", "repair.price", &other(2)).await;
        assert_eq!(asked, "server.unavailable", "{operation}");
        assert!(store.heal() > 0);
        assert!(lab.waiting().await.is_empty(), "it is not proposed either");
    }
    store.fail("rules", Fault::NotReached);
    unavailable(&lab.get("ada", "/flowx/rules").await);
    store.heal();
    let revoke = async || {
        lab.post(
            "ada",
            &format!("/flowx/rules/{rule}/revoke"),
            r#"{"why":"x"}"#,
        )
        .await
    };
    store.fail("rule_revoke", Fault::NotReached);
    unavailable(&revoke().await);
    store.heal();
    assert_eq!(lab.world.total(), 2);
    assert_eq!(
        lab.code("estimator", "repair.price", &other(3)).await,
        "done"
    );
    assert_eq!(revoke().await.status, StatusCode::OK);
    assert_eq!(
        lab.code("estimator", "repair.price", &other(4)).await,
        "approval.required"
    );
    assert_eq!(lab.world.total(), 3);
}

async fn without_keys_of_calls_nothing_is_done_twice(lab: Lab) {
    let (lab, store) = failing(&lab).await;
    let call = async |token: &str, flow: &str, key: &str, body: &str| {
        let key = [("idempotency-key", key)];
        lab.http(token, Method::POST, flow, &key, body).await
    };
    store.fail("idempotency_claim", Fault::NotReached);
    unavailable(&call("bob", "/ticket/refund", "k", "{}").await);
    assert_eq!(store.heal(), 1);
    assert_eq!(lab.world.total(), 0);
    // What has been done is done, and its record is written when the store is back.
    store.fail("idempotency_complete", Fault::NotReached);
    let first = {
        let lab = lab.clone();
        tokio::spawn(async move {
            let key = [("idempotency-key", "k")];
            lab.http("bob", Method::POST, "/ticket/refund", &key, "{}")
                .await
        })
    };
    while lab.world.total() == 0 {
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    tokio::time::sleep(std::time::Duration::from_millis(200)).await;
    let meanwhile = call("bob", "/ticket/refund", "k", "{}").await;
    assert_eq!(meanwhile.status, StatusCode::CONFLICT, "{}", meanwhile.text);
    assert!(store.heal() > 0);
    let first = first.await.unwrap();
    assert_eq!(first.status, StatusCode::OK, "{}", first.text);
    let again = call("bob", "/ticket/refund", "k", "{}").await;
    assert_eq!((again.status, &again.text), (StatusCode::OK, &first.text));
    assert_eq!(lab.world.total(), 1);
    // The same for a key whose call waits, and for one whose call was refused: both are told, and neither key is stuck.
    for (operation, token, flow, refused) in [
        (
            "idempotency_set_aside",
            "bob",
            "/card/archive",
            StatusCode::PRECONDITION_REQUIRED,
        ),
        (
            "idempotency_release",
            "lead",
            "/ticket/refund",
            StatusCode::FORBIDDEN,
        ),
    ] {
        store.fail(operation, Fault::AnswerLost);
        let healed = {
            let store = Arc::clone(&store);
            tokio::spawn(async move {
                tokio::time::sleep(std::time::Duration::from_millis(300)).await;
                store.heal()
            })
        };
        let answer = call(token, flow, operation, "{}").await;
        assert_eq!(answer.status, refused, "{}", answer.text);
        assert!(healed.await.unwrap() > 0, "{operation}");
        let again = call(token, flow, operation, "{}").await;
        assert_eq!(again.status, refused, "{}", again.text);
    }
    assert_eq!(lab.world.total(), 1);
}

async fn without_the_trail_nothing_runs_unrecorded(lab: Lab) {
    let (lab, store) = failing(&lab).await;
    store.fail("append", Fault::NotReached);
    for (token, flow) in [("bob", "ticket.refund"), ("estimator", "repair.note")] {
        assert_eq!(lab.code(token, flow, "{}").await, "server.unavailable");
    }
    assert!(store.heal() > 0);
    assert_eq!(lab.world.total(), 0);
    for operation in ["seal", "audit", "audit_head"] {
        store.fail(operation, Fault::NotReached);
        unavailable(&lab.get("manager", "/flowx/audit").await);
        unavailable(&lab.get("manager", "/flowx/audit/head").await);
        if operation == "audit_head" {
            unavailable(&lab.get("manager", "/flowx/events").await);
        }
        store.heal();
    }
    assert_eq!(lab.code("bob", "ticket.refund", "{}").await, "done");
    assert_eq!(lab.world.total(), 1);
    let kinds: Vec<_> = lab
        .audit()
        .await
        .iter()
        .map(|r| r.get("kind").and_then(Json::as_str).unwrap().to_owned())
        .collect();
    let count = |kind: &str| kinds.iter().filter(|k| *k == kind).count();
    assert_eq!(count("call.done"), 1, "{kinds:?}");
    assert_eq!(count("call.started"), 1, "{kinds:?}");
}

async fn without_its_upkeep_an_instance_says_so(lab: Lab) {
    let (lab, store) = failing(&lab).await;
    lab.call("bob", "card.archive", CARD).await;
    let (id, _) = lab.only().await;
    for operation in ["heartbeat", "orphans", "keys", "prune", "list"] {
        store.fail(operation, Fault::NotReached);
        assert!(lab.core.gate().keep_up().await.is_err(), "{operation}");
        assert!(store.heal() > 0);
        assert_eq!(lab.status(&id).await, "waiting");
    }
    lab.core.gate().keep_up().await.unwrap();
    assert_eq!(lab.world.total(), 0);
}
