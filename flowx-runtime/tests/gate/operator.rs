//! The operator's side: what is listed for whom, the trail, the events.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::routing::post;
use flowx_manifest::Json;
use flowx_manifest::audit_chain::{Head, Verifier};
use flowx_runtime::gate::signature;
use flowx_runtime::{CallOutcome, GateOptions, Webhook};
use futures_util::StreamExt;
use http::{HeaderMap, StatusCode};
use tower::ServiceExt;

use crate::case_list;
use crate::lab::{Lab, Setup};

case_list! { OPERATOR:
    each_person_sees_what_is_theirs_to_decide_or_theirs_to_know,
    unknown_words_and_bodies_are_refused,
    a_key_whose_call_waits_is_for_that_call_alone,
    a_reason_hides_nothing_from_the_model_that_reads_it,
    every_call_refusal_proposal_decision_run_and_outcome_is_in_the_trail,
    the_trail_is_for_whoever_may_read_it_and_verifies,
    a_person_hears_of_a_proposal_by_a_signed_call,
    a_person_hears_of_a_proposal_by_a_stream,
}

async fn each_person_sees_what_is_theirs_to_decide_or_theirs_to_know(lab: Lab) {
    lab.call("estimator", "repair.price", "{}").await;
    lab.call("estimator", "fleet.price", "{}").await;
    lab.call("bob", "card.archive", "{}").await;
    let flows = async |token: &str| {
        let answer = lab.get(token, "/flowx/proposals?status=waiting").await;
        assert_eq!(answer.status, StatusCode::OK, "{}", answer.text);
        let list = answer
            .json
            .get("proposals")
            .and_then(Json::as_array)
            .unwrap()
            .to_vec();
        list.iter()
            .map(|p| p.get("flow").and_then(Json::as_str).unwrap().to_owned())
            .collect::<BTreeSet<_>>()
    };
    let set = |names: &[&str]| {
        names
            .iter()
            .map(|n| format!("{n}@1.0.0"))
            .collect::<BTreeSet<_>>()
    };
    assert_eq!(flows("ada").await, set(&["fleet.price", "repair.price"]));
    assert_eq!(flows("fleet-manager").await, set(&["fleet.price"]));
    assert_eq!(flows("lead").await, set(&["card.archive"]));
    assert_eq!(flows("bob").await, set(&["card.archive"]));
    assert_eq!(
        flows("mechanic").await,
        set(&["card.archive", "fleet.price", "repair.price"])
    );
    assert_eq!(
        flows("estimator").await,
        set(&[]),
        "an agent reads none, its own neither"
    );
    let anonymous = http::Request::get("/flowx/proposals")
        .header("host", "localhost")
        .body(axum::body::Body::empty())
        .unwrap();
    let answer = lab.router.clone().oneshot(anonymous).await.unwrap();
    assert_eq!(answer.status(), StatusCode::UNAUTHORIZED);
    assert!(answer.headers().contains_key("www-authenticate"));
}

async fn a_key_whose_call_waits_is_for_that_call_alone(lab: Lab) {
    let ask = async |body: &str| {
        let key = [("idempotency-key", "k1")];
        lab.http("bob", http::Method::POST, "/card/archive", &key, body)
            .await
    };
    let (first, other) = (r#"{"card":"x"}"#, r#"{"card":"y"}"#);
    for _ in 0..2 {
        assert_eq!(ask(first).await.status, StatusCode::PRECONDITION_REQUIRED);
        let refused = ask(other).await;
        assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
        assert!(
            refused.text.contains("idempotency.key_reused"),
            "{}",
            refused.text
        );
    }
    let (id, fingerprint) = lab.only().await;
    assert_eq!(lab.world.total(), 0);
    let approved = lab.approve("lead", &id, &fingerprint).await;
    assert_eq!(approved.status, StatusCode::OK, "{}", approved.text);
    let done = ask(first).await;
    assert_eq!(done.status, StatusCode::OK, "{}", done.text);
    assert_eq!(lab.world.total(), 1);
    // From here on it is any key that has its answer.
    let again = ask(first).await;
    assert_eq!((again.status, &again.text), (StatusCode::OK, &done.text));
    assert_eq!(ask(other).await.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(lab.world.total(), 1);
}

async fn a_reason_hides_nothing_from_the_model_that_reads_it(lab: Lab) {
    let input = r#"{"card":"x"}"#;
    lab.call("bob", "card.archive", input).await;
    let (id, _) = lab.only().await;
    let no = lab.reject("lead", &id, "no\u{202e}sey\u{200b}").await;
    assert_eq!(no.status, StatusCode::OK, "{}", no.text);
    let CallOutcome::Refused(refusal) = lab.call("bob", "card.archive", input).await else {
        panic!("a no is a refusal");
    };
    let said = format!("{} {:?}", refusal.message, refusal.detail);
    assert!(
        said.contains(r"\u{202e}") && !said.contains('\u{202e}'),
        "{said}"
    );
    assert!(!said.contains('\u{200b}'), "{said}");
    assert_eq!(lab.world.total(), 0);
}

async fn unknown_words_and_bodies_are_refused(lab: Lab) {
    lab.call("estimator", "repair.price", "{}").await;
    let (id, fingerprint) = lab.only().await;
    for query in [
        "status=maybe",
        "status=waiting&status=approved",
        "status=waiting&%73tatus=waiting",
        "after=a&after=b",
        "state=waiting",
        "status=%ff",
    ] {
        assert_eq!(
            lab.get("mechanic", &format!("/flowx/proposals?{query}"))
                .await
                .status,
            StatusCode::BAD_REQUEST,
            "{query}"
        );
    }
    let escaped = lab
        .get("mechanic", "/flowx/proposals?status=%77aiting")
        .await;
    assert_eq!(escaped.status, StatusCode::OK);
    for body in [
        "",
        "[]",
        "{}",
        r#"{"fingerprint":1}"#,
        "{\"fingerprint\":",
        &format!(r#"{{"fingerprint":"{fingerprint}","always":"yes"}}"#),
    ] {
        let answer = lab
            .post("ada", &format!("/flowx/proposals/{id}/approve"), body)
            .await;
        assert_eq!(
            answer.status,
            StatusCode::BAD_REQUEST,
            "{body}: {}",
            answer.text
        );
    }
    for reason in ["", " ", "\t\n"] {
        assert_eq!(
            lab.reject("ada", &id, reason).await.status,
            StatusCode::BAD_REQUEST,
            "{reason:?}"
        );
    }
    assert_eq!(
        lab.approve("ada", "no-such", &fingerprint).await.status,
        StatusCode::NOT_FOUND
    );
    assert_eq!(lab.status(&id).await, "waiting");
    assert_eq!(lab.world.total(), 0);
}

async fn every_call_refusal_proposal_decision_run_and_outcome_is_in_the_trail(lab: Lab) {
    lab.call("estimator", "repair.note", "{}").await;
    lab.call("lead", "ticket.refund", "{}").await;
    lab.call("estimator", "repair.scrap", "{}").await;
    lab.call("bob", "ticket.refund", "[]").await;
    lab.call("estimator", "repair.price", "{}").await;
    let (id, fingerprint) = lab.only().await;
    lab.approve("bob", &id, &fingerprint).await;
    lab.approve("ada", &id, "other").await;
    lab.approve("ada", &id, &fingerprint).await;
    let records = lab.audit().await;
    let kinds: Vec<_> = records
        .iter()
        .map(|r| r.get("kind").and_then(Json::as_str).unwrap())
        .collect();
    let counted = |kind: &str| kinds.iter().filter(|k| **k == kind).count();
    for (kind, times) in [
        ("call.started", 2), // the note, and the refund of somebody whom its step refused
        ("call.done", 2),    // the note, and the approved price
        ("call.failed", 1),
        ("call.refused", 2), // the input that is none, and the proposal's 428; what is not there is the router's to refuse
        ("proposal.waiting", 1),
        ("decision.refused", 1), // of the two, Bob's is "not there for him"
        ("decision.yes", 1),
        ("proposal.executing", 1),
        ("proposal.done", 1),
    ] {
        assert_eq!(counted(kind), times, "{kind} in {kinds:?}");
    }
    let place = |kind: &str| kinds.iter().position(|k| *k == kind).unwrap();
    assert!(place("proposal.waiting") < place("decision.yes"));
    assert!(place("decision.yes") < place("proposal.executing"));
    assert!(place("proposal.executing") < place("proposal.done"));
    assert!(records.iter().all(|r| r.to_canonical().len() < 2_000));
}

async fn the_trail_is_for_whoever_may_read_it_and_verifies(lab: Lab) {
    for n in 0..5 {
        lab.call("estimator", "repair.price", &format!("{{\"n\":{n}}}"))
            .await;
    }
    assert_eq!(
        lab.get("ada", "/flowx/audit").await.status,
        StatusCode::FORBIDDEN
    );
    let head = lab.get("manager", "/flowx/audit/head").await;
    let seq = head
        .json
        .get("seq")
        .and_then(Json::as_number)
        .and_then(|n| n.as_u128())
        .unwrap() as u64;
    let head = Head {
        seq,
        hash: head.member("hash").to_owned(),
    };
    let trail = lab.get("manager", "/flowx/audit").await;
    let end = flowx_manifest::audit_chain::verify(&trail.text, Some(head)).unwrap();
    assert!(end.seq >= seq && seq >= 5, "{end:?}");
    // From a link on, against the head that was kept there.
    let first =
        flowx_manifest::audit_chain::Link::parse(trail.text.lines().next().unwrap()).unwrap();
    let rest = lab.get("manager", "/flowx/audit?after=1").await;
    let mut verifier = Verifier::new(first.head(), None);
    for line in rest.text.lines() {
        verifier
            .next(&flowx_manifest::audit_chain::Link::parse(line).unwrap())
            .unwrap();
    }
    assert_eq!(
        lab.get("manager", "/flowx/audit?after=x").await.status,
        StatusCode::BAD_REQUEST
    );
}

async fn a_person_hears_of_a_proposal_by_a_signed_call(lab: Lab) {
    type Heard = Arc<Mutex<Vec<(String, String)>>>;
    let heard: Heard = Heard::default();
    let to = Arc::clone(&heard);
    let hook = Router::new().route(
        "/hook",
        post(move |headers: HeaderMap, body: Bytes| {
            let to = Arc::clone(&to);
            async move {
                let signature = headers
                    .get("flowx-signature")
                    .unwrap()
                    .to_str()
                    .unwrap()
                    .to_owned();
                let mut heard = to.lock().unwrap();
                heard.push((signature, String::from_utf8(body.to_vec()).unwrap()));
                // The first attempt fails, as networks do.
                if heard.len() == 1 {
                    StatusCode::BAD_GATEWAY
                } else {
                    StatusCode::NO_CONTENT
                }
            }
        }),
    );
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/hook", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, hook).await });
    let secret = b"a secret of some length".to_vec();
    let options = GateOptions {
        webhooks: vec![Webhook {
            url,
            secret: secret.clone(),
        }],
        ..lab.setup.options.clone()
    };
    let setup = Setup {
        options,
        ..lab.setup.clone()
    };
    // Two instances, and each event is told once.
    let (one, _two) = (Lab::start(setup.clone()).await, Lab::start(setup).await);
    one.call("estimator", "repair.price", r#"{"secret":"4711"}"#)
        .await;
    let (id, _) = one.only().await;
    for _ in 0..100 {
        if heard.lock().unwrap().len() >= 2 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    tokio::time::sleep(Duration::from_millis(1_200)).await;
    let heard = heard.lock().unwrap().clone();
    assert_eq!(heard.len(), 2, "one failed attempt, one told: {heard:?}");
    let (signed, body) = &heard[1];
    assert!(
        body.contains(&id) && body.contains("proposal.waiting") && !body.contains("4711"),
        "{body}"
    );
    let time: i64 = signed
        .split_once(',')
        .unwrap()
        .0
        .strip_prefix("t=")
        .unwrap()
        .parse()
        .unwrap();
    assert_eq!(*signed, signature(&secret, time, body));
    assert_ne!(
        *signed,
        signature(&secret, time, &body.replace("waiting", "approved"))
    );
}

async fn a_person_hears_of_a_proposal_by_a_stream(lab: Lab) {
    let open = async |token: &str| {
        let request = http::Request::get("/flowx/events")
            .header("host", "localhost")
            .header("authorization", format!("Bearer {token}"))
            .body(axum::body::Body::empty())
            .unwrap();
        let answer = lab.router.clone().oneshot(request).await.unwrap();
        assert_eq!(answer.status(), StatusCode::OK);
        answer.into_body().into_data_stream()
    };
    let (mut hers, mut his) = (open("ada").await, open("lead").await);
    lab.call("estimator", "repair.price", "{}").await;
    let (id, _) = lab.only().await;
    let next = tokio::time::timeout(Duration::from_secs(10), hers.next())
        .await
        .unwrap()
        .unwrap()
        .unwrap();
    let text = String::from_utf8(next.to_vec()).unwrap();
    assert!(
        text.contains("event: proposal.waiting") && text.contains(&id) && text.contains("id: "),
        "{text}"
    );
    let quiet = tokio::time::timeout(Duration::from_millis(900), his.next()).await;
    assert!(
        quiet.is_err(),
        "what is not his he does not hear of: {quiet:?}"
    );
}
