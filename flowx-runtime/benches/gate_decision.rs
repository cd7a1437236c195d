//! A gate decision on PostgreSQL, beside one `UPDATE … RETURNING` with the same client and pool.
//!
//! `cargo bench -p flowx-runtime --bench gate_decision`. Needs PostgreSQL's binaries (see `tests/common/postgres.rs`). 64 clients; the sides
//! take turns, so that whatever else the machine does meets all of them. The sides: the statement alone; the gate's step (judged, and
//! swapped in together with its audit record); and the step with the row read first, as a decision over HTTP does.
#![allow(clippy::unwrap_used)]

#[path = "../tests/common/postgres.rs"]
#[allow(dead_code, unreachable_pub)]
mod postgres;

use std::sync::Arc;
use std::time::{Duration, Instant};

use flowx_manifest::{DecidedBy, Finish, Json};
use flowx_runtime::audit::Record;
use flowx_runtime::proposals::{Proposal, Requester, Shown, Status, Step, shown_fingerprint, step};
use flowx_runtime::store::{PostgresStore, Proposed, Store, StoreOptions};
use flowx_runtime::{Principal, PrincipalKind};
use futures_util::future::join_all;

const CLIENTS: usize = 64;
const ROWS_EACH: usize = 20;
const ROUNDS: usize = 7;

fn person(subject: &str) -> Principal {
    Principal {
        kind: PrincipalKind::Person,
        subject: subject.into(),
        permissions: ["flowx.proposals.decide".parse().unwrap()].into(),
        ..Principal::anonymous()
    }
}

fn row() -> Proposal {
    Proposal {
        id: uuid::Uuid::now_v7().to_string(),
        call_key: uuid::Uuid::new_v4().to_string(),
        fingerprint: "f".repeat(64),
        status: Status::Waiting,
        revision: 1,
        flow: "ticket.refund@1.0.0".into(),
        descriptor: "d".repeat(64),
        agent_declaration: None,
        input: Some(r#"{"amount_cents":4200,"cardholder_reference":"DE02120300000000202051","ticket_id":"T-1001"}"#.into()),
        input_digest: "i".repeat(64),
        subject_version: None,
        requester: Requester::of(&person(&uuid::Uuid::new_v4().to_string()), None),
        correlation_id: uuid::Uuid::now_v7().to_string(),
        shown: Shown {
            title: "Issue a refund (ticket.refund)".into(),
            asked_by: "agent refund-bot".into(),
            effects: vec!["payment-gateway (spends)".into()],
            permissions: vec!["payment.refund".into()],
            fields: vec![],
            withheld: vec!["cardholder_reference".into()],
        },
        decided_by: DecidedBy::Requester,
        sponsor: None,
        self_approval: false,
        finish: Finish::Redeem,
        asked_at: 0,
        decide_before: Some(i64::MAX),
        grant_ms: Some(600_000),
        decision: None,
        execution: None,
        outcome: None,
        settled_at: 0,
        told: false,
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Side {
    Statement,
    Step,
    ReadAndStep,
}

async fn decide(store: &PostgresStore, side: Side, row: &Proposal) {
    if side == Side::Statement {
        let changed = sqlx::query("UPDATE proposals SET status = $2, revision = $3 WHERE id = $1 AND revision = 1 RETURNING id")
            .bind(&row.id)
            .bind("approved")
            .bind(2_i64)
            .fetch_one(store.pool())
            .await;
        changed.unwrap();
        return;
    }
    let read = match side {
        Side::ReadAndStep => store.proposal(&row.id).await.unwrap().unwrap(),
        _ => row.clone(),
    };
    let by = person("manager");
    let shown = shown_fingerprint(&read);
    let wanted = Step::Approve {
        by: &by,
        shown: &shown,
        current: &read.fingerprint,
        run: None,
    };
    let next = step(&read, wanted, 1_000).next.unwrap();
    let record = Record::new(
        1_000,
        "decision.yes",
        [("proposal", Json::from(next.id.as_str()))],
    );
    assert!(store.swap(read.revision, &next, &[record]).await.unwrap());
}

async fn round(store: &Arc<PostgresStore>, side: Side) -> f64 {
    let mut rows: Vec<Vec<Proposal>> = Vec::new();
    for _ in 0..CLIENTS {
        rows.push((0..ROWS_EACH).map(|_| row()).collect());
    }
    for row in rows.iter().flatten() {
        assert_eq!(store.propose(row, 10, &[]).await.unwrap(), Proposed::New);
    }
    let start = Instant::now();
    let clients = rows.into_iter().map(|rows| {
        let store = Arc::clone(store);
        tokio::spawn(async move {
            for row in &rows {
                decide(&store, side, row).await;
            }
        })
    });
    join_all(clients).await.into_iter().for_each(|r| r.unwrap());
    (CLIENTS * ROWS_EACH) as f64 / start.elapsed().as_secs_f64()
}

#[tokio::main]
async fn main() {
    let postgres = postgres::Postgres::start();
    let store = PostgresStore::open(&postgres.database("bench"), &StoreOptions::default())
        .await
        .unwrap();
    let store = Arc::new(store);
    // The linking of the chain goes on beside it, as it does in a server.
    let sealing = {
        let store = Arc::clone(&store);
        tokio::spawn(async move {
            loop {
                let _ = store.seal(500).await;
                tokio::time::sleep(Duration::from_millis(200)).await;
            }
        })
    };
    let sides = [Side::Statement, Side::Step, Side::ReadAndStep];
    let mut rates: [Vec<f64>; 3] = Default::default();
    for _ in 0..ROUNDS {
        for (at, side) in sides.into_iter().enumerate() {
            rates[at].push(round(&store, side).await);
        }
    }
    sealing.abort();
    // One line per side for `cargo xtask bench gate`, a rate per round.
    for (name, rates) in ["statement", "step", "read"].iter().zip(&rates) {
        let rates: Vec<String> = rates.iter().map(|r| format!("{r:.0}")).collect();
        println!("gate_decision {name} {}", rates.join(" "));
    }
    let median = |rates: &mut Vec<f64>| {
        rates.sort_by(f64::total_cmp);
        rates[rates.len() / 2]
    };
    let [statement, step, read] = rates.each_mut().map(median);
    println!("UPDATE … RETURNING       {statement:8.0} /s");
    println!(
        "the gate's step          {step:8.0} /s  {:.2}",
        step / statement
    );
    println!(
        "row read, then the step  {read:8.0} /s  {:.2}",
        read / statement
    );
}
