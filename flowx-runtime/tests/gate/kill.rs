//! Killed at any moment: nothing is lost, nothing runs twice, and every run that was cut off is visible as such.
//!
//! This test starts itself again as a child that proposes, approves, redeems and runs, and kills it (SIGKILL) after a random moment, many
//! times. Each effect is a line in a file, with the key that it ran under. `FLOWX_KILLS` sets how often.

use std::collections::HashMap;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use flowx_runtime::proposals::{Proposal, Status, shown_fingerprint};
use flowx_runtime::store::Page;
use flowx_runtime::{GateOptions, Transport};

use crate::common::postgres::Postgres;
use crate::lab::{Client, Lab, Setup, Watch, World, who};

const CHILD: &str = "FLOWX_KILL_CHILD";

fn kills() -> usize {
    std::env::var("FLOWX_KILLS")
        .ok()
        .map_or(12, |n| n.parse().unwrap())
}

async fn lab(address: &str, log: &Path) -> Lab {
    let mut setup = Setup::new(address);
    setup.watch = Watch::real();
    setup.world = World::logging(log);
    setup.options = GateOptions {
        lease: Duration::from_millis(400),
        max_waiting: 1_000,
        ..GateOptions::default()
    };
    // The server may be away just now.
    for _ in 0..200 {
        if let Ok(store) = flowx_runtime::store::open(address).await {
            return Lab::with_store(setup, store).await;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("the store does not come back");
}

/// What the child does until it is killed.
#[tokio::test(flavor = "multi_thread")]
async fn child_that_is_killed() {
    let Ok(child) = std::env::var(CHILD) else {
        return;
    };
    let (address, log) = child.split_once(' ').unwrap();
    let lab = lab(address, Path::new(log)).await;
    println!("ready");
    let workers = (0..4).map(|worker| {
        let lab = lab.clone();
        tokio::spawn(async move {
            for n in 0.. {
                let id = uuid::Uuid::new_v4();
                let input = format!(r#"{{"id":"{id}","wait_ms":{}}}"#, n % 3);
                // At the yes, or when it is redeemed.
                let (token, flow) = if (worker + n) % 2 == 0 {
                    ("estimator", "repair.price")
                } else {
                    ("bob", "card.archive")
                };
                lab.call(token, flow, &input).await;
                decide(&lab).await;
                lab.call(token, flow, &input).await;
                redeem(&lab).await;
            }
        })
    });
    futures_util::future::join_all(workers).await;
}

/// Says yes to whatever waits, what an earlier child left included.
async fn decide(lab: &Lab) {
    let gate = lab.core.gate();
    let Ok(waiting) = gate
        .proposals_for(&who("manager"), Some(Status::Waiting), None, 8)
        .await
    else {
        return;
    };
    for proposal in waiting {
        let _ = gate
            .approve(
                &lab.core,
                &who("manager"),
                &proposal.id,
                &shown_fingerprint(&proposal),
            )
            .await;
    }
}

/// Redeems whatever is approved.
async fn redeem(lab: &Lab) {
    let page = Page {
        status: Some(Status::Approved),
        after: None,
        limit: 8,
    };
    let Ok(approved) = lab.store.list(page).await else {
        return;
    };
    for proposal in approved {
        let Ok(Some(input)) = lab.core.gate().input_of(&proposal).await else {
            continue;
        };
        let token = if proposal.requester.kind == "agent" {
            "estimator"
        } else {
            "bob"
        };
        let flow = proposal.flow.split('@').next().unwrap();
        let invocation = lab.invocation(token, flow, &input, Transport::Mcp);
        lab.core.call(invocation, Arc::new(Client::mute())).await;
    }
}

async fn killed_often(address: &str, folder: &Path, mut now_and_then: impl FnMut(usize)) {
    let log = folder.join("effects.log");
    let me = std::env::current_exe().unwrap();
    for kill in 0..kills() {
        let mut child = Command::new(&me)
            .args([
                "kill::child_that_is_killed",
                "--exact",
                "--nocapture",
                "--test-threads=1",
            ])
            .env(CHILD, format!("{address} {}", log.display()))
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        while !line.contains("ready") {
            line.clear();
            assert!(
                out.read_line(&mut line).unwrap() > 0,
                "the child ended by itself"
            );
        }
        let moment = u64::from(uuid::Uuid::new_v4().as_bytes()[0]) * 3 / 2;
        std::thread::sleep(Duration::from_millis(moment));
        now_and_then(kill);
        child.kill().unwrap();
        child.wait().unwrap();
    }
    judge(address, &log).await;
}

/// Holds the file of effects against the rows.
async fn judge(address: &str, log: &Path) {
    let lab = lab(address, log).await;
    tokio::time::sleep(Duration::from_millis(900)).await;
    lab.core.gate().keep_up().await.unwrap();
    let mut effects: HashMap<String, usize> = HashMap::new();
    for line in std::fs::read_to_string(log).unwrap().lines() {
        // `proposal:KEY:flow:step:0`: the key of the one step.
        let id = line
            .split(':')
            .nth(1)
            .unwrap_or_else(|| panic!("an effect under no proposal: {line}"));
        *effects.entry(id.to_owned()).or_default() += 1;
    }
    let mut counted: HashMap<&str, usize> = HashMap::new();
    let mut after: Option<String> = None;
    loop {
        let page = lab
            .store
            .list(Page {
                status: None,
                after: after.as_deref(),
                limit: 500,
            })
            .await
            .unwrap();
        let Some(last) = page.last() else { break };
        after = Some(last.id.clone());
        for row in &page {
            *counted.entry(row.status.as_str()).or_default() += 1;
            let key = row.execution.as_ref().map(|run| &run.idempotency_key);
            let key = key.and_then(|key| key.strip_prefix("proposal:"));
            let times = key.and_then(|key| effects.remove(key)).unwrap_or(0);
            assert!(allowed(row, times), "{} effects of {row:?}", times);
        }
    }
    assert!(
        effects.is_empty(),
        "effects that no row tells of: {effects:?}"
    );
    let records = lab.audit().await;
    println!(
        "{} kills: {counted:?}, {} audit records, the chain is whole",
        kills(),
        records.len()
    );
    assert!(
        counted.get("done").is_some_and(|n| *n > 0),
        "nothing ran at all: {counted:?}"
    );
}

fn allowed(row: &Proposal, effects: usize) -> bool {
    match row.status {
        Status::Done => effects == 1,
        // Cut off: it may have had its effect, or not. It is not run again.
        Status::Unknown => effects <= 1,
        Status::Waiting
        | Status::Approved
        | Status::Rejected
        | Status::Stale
        | Status::Expired
        | Status::Withdrawn => effects == 0,
        Status::Executing | Status::Failed => false,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_at_any_moment_over_sqlite_nothing_is_lost_and_nothing_runs_twice() {
    let folder = tempfile::tempdir().unwrap();
    let address = format!("sqlite:{}", folder.path().join("desk.db").display());
    killed_often(&address, folder.path(), |_| {}).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_at_any_moment_over_postgres_which_is_killed_too_nothing_is_lost_and_nothing_runs_twice()
 {
    let folder = tempfile::tempdir().unwrap();
    let postgres = Postgres::start();
    let address = postgres.database("killed");
    // Under load, now and then: the server goes down at once and comes back.
    killed_often(&address, folder.path(), |kill| {
        if kill % 10 == 4 {
            postgres.crash();
            postgres.resume();
            std::thread::sleep(Duration::from_millis(200));
        }
    })
    .await;
}
