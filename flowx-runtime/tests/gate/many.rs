//! Many clients, two instances, one PostgreSQL: whatever instance each step reaches, every effect happens exactly as often as it was approved.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use flowx_manifest::Json;
use flowx_runtime::{CallOutcome, ConfirmationPolicy, Given, Reply};
use futures_util::future::join_all;
use http::StatusCode;

use crate::common::postgres::Postgres;
use crate::lab::{Client, Lab, Setup, code, who};

/// Two instances, asked in turns.
struct Turns {
    instances: [Lab; 2],
    next: AtomicUsize,
}

impl Turns {
    fn next(&self) -> &Lab {
        &self.instances[self.next.fetch_add(1, Ordering::Relaxed) % 2]
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_effect_happens_exactly_as_often_as_it_was_approved_on_two_instances() {
    let calls: usize = std::env::var("FLOWX_CALLS")
        .ok()
        .map_or(320, |n| n.parse().unwrap());
    let postgres = Postgres::start();
    let mut setup = Setup::new(&postgres.database("many"));
    (setup.policy, setup.options.max_waiting) = (ConfirmationPolicy::Elicit, 1_000);
    let one = Lab::start(setup).await;
    let two = one.another().await;
    let world = one.world.clone();
    let turns = Arc::new(Turns {
        instances: [one, two],
        next: AtomicUsize::new(0),
    });
    let clients = (0..64).map(|client| {
        let turns = Arc::clone(&turns);
        tokio::spawn(async move {
            let mut approved = 0;
            let mut made = 0;
            for n in 0.. {
                if made >= calls.div_ceil(64) {
                    break;
                }
                let input = format!(r#"{{"client":{client},"n":{n}}}"#);
                let (calls, yes) = if n % 2 == 0 {
                    redeemed(&turns, &input, n % 3 == 2).await
                } else {
                    elicited(&turns, &input).await
                };
                approved += yes;
                made += calls;
            }
            (approved, made)
        })
    });
    let results: Vec<(usize, usize)> = join_all(clients)
        .await
        .into_iter()
        .map(|r| r.unwrap())
        .collect();
    let (approved, made): (usize, usize) = (
        results.iter().map(|r| r.0).sum(),
        results.iter().map(|r| r.1).sum(),
    );
    println!("{made} calls of 64 clients, {approved} approved");
    assert!(made >= calls && approved > 0);
    assert_eq!(world.total(), approved);
    turns.next().audit().await;
}

/// Proposed on one instance, decided on the other, redeemed twice at once; or said no to. Gives the calls and how often it was approved.
async fn redeemed(turns: &Turns, input: &str, no: bool) -> (usize, usize) {
    let lab = turns.next();
    assert_eq!(
        lab.code("bob", "card.archive", input).await,
        "approval.required"
    );
    let decider = who("lead");
    let gate = turns.next().core.gate();
    // The lead reads what waits, as a page would, and picks this one.
    let mut after: Option<String> = None;
    let proposal = loop {
        let page = gate
            .proposals_for(
                &decider,
                Some(flowx_runtime::proposals::Status::Waiting),
                after.as_deref(),
                200,
            )
            .await
            .unwrap();
        let canonical =
            flowx_manifest::json::parse(input.as_bytes(), flowx_manifest::json::Limits::DOCUMENT)
                .unwrap();
        let digest = flowx_manifest::digest(canonical.to_canonical().as_bytes());
        match page.iter().find(|p| p.input_digest == digest) {
            Some(found) => break found.clone(),
            None => after = Some(page.last().expect("what was asked is listed").id.clone()),
        }
    };
    if no {
        assert_eq!(
            turns.next().reject("lead", &proposal.id, "no").await.status,
            StatusCode::OK
        );
        assert_eq!(
            turns.next().code("bob", "card.archive", input).await,
            "approval.rejected"
        );
        return (2, 0);
    }
    let shown = flowx_runtime::proposals::shown_fingerprint(&proposal);
    let (a, b) = tokio::join!(
        turns.next().approve("lead", &proposal.id, &shown),
        turns.next().approve("lead", &proposal.id, &shown)
    );
    assert_eq!(
        [a.status, b.status]
            .iter()
            .filter(|s| **s == StatusCode::OK)
            .count(),
        1,
        "{a:?} {b:?}"
    );
    let (a, b) = tokio::join!(
        turns.next().call("bob", "card.archive", input),
        turns.next().call("bob", "card.archive", input)
    );
    for answer in [&a, &b] {
        assert!(
            ["done", "approval.running"].contains(&code(answer).as_str()),
            "{answer:?}"
        );
    }
    (3, 1)
}

/// Asked on one instance, answered on the other, then replayed on both.
async fn elicited(turns: &Turns, input: &str) -> (usize, usize) {
    let first = turns
        .next()
        .call_by(Client::retrying(None), "bob", "ticket.refund", input)
        .await;
    let CallOutcome::InputRequired { state, .. } = first else {
        panic!("{first:?}")
    };
    let yes = || {
        let replies = [(
            "confirm".to_owned(),
            Reply::Accept(Json::object([("approve", true.into())])),
        )]
        .into();
        Client::retrying(Some(Given {
            state: state.clone(),
            replies,
        }))
    };
    let answers =
        join_all((0..3).map(|_| turns.next().call_by(yes(), "bob", "ticket.refund", input))).await;
    assert_eq!(
        answers.iter().filter(|a| code(a) == "done").count(),
        1,
        "{answers:?}"
    );
    (4, 1)
}
