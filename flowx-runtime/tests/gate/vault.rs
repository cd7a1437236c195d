//! What a call is about, at rest: sealed while it may still run, opened under keys that rotate, and wiped when it cannot run any more.

use std::time::Duration;

use flowx_runtime::SealingKey;
use http::StatusCode;

use crate::case_list;
use crate::lab::{Lab, Setup};

const SECRET: &str = "4711-0815";

case_list! { VAULT:
    what_waits_is_sealed_at_rest_and_wiped_when_it_is_over,
    keys_rotate_under_what_waits_and_the_yes_still_runs_it,
    a_key_of_the_deployments_own_is_not_in_the_store,
    without_its_key_a_proposal_is_neither_run_nor_lost,
    a_value_that_was_exchanged_in_the_store_does_not_run,
}

fn input() -> String {
    format!(r#"{{"ticket":"7","card":"{SECRET}"}}"#)
}

/// Everything that the store says of a proposal.
async fn row(lab: &Lab, id: &str) -> String {
    let row = lab.store.proposal(id).await.unwrap().unwrap();
    serde_json::to_string(&row).unwrap()
}

async fn asked(lab: &Lab) -> (String, String) {
    assert_eq!(
        lab.code("estimator", "repair.price", &input()).await,
        "approval.required"
    );
    lab.only().await
}

fn own(byte: u8) -> SealingKey {
    SealingKey {
        id: format!("own-{byte}"),
        secret: [byte; 32],
    }
}

async fn with_keys(lab: &Lab, keys: &[u8]) -> Lab {
    let mut setup: Setup = lab.setup.clone();
    setup.options.sealing_keys = keys.iter().map(|b| own(*b)).collect();
    Lab::start(setup).await
}

async fn what_waits_is_sealed_at_rest_and_wiped_when_it_is_over(lab: Lab) {
    let (id, shown) = asked(&lab).await;
    let waiting = row(&lab, &id).await;
    assert!(!waiting.contains(SECRET), "{waiting}");
    assert!(waiting.contains(r#""input":"s1."#), "{waiting}");
    lab.approve("ada", &id, &shown).await;
    assert_eq!(lab.world.count("price.set"), 1);
    let (_, ran) = lab.world.last();
    assert!(ran.contains(SECRET), "it ran with what was asked: {ran}");
    let done = row(&lab, &id).await;
    assert!(done.contains(r#""input":null"#), "{done}");
    // The caller still reads what came of it; the table does not tell.
    assert!(done.contains(r#""output":"s1."#), "{done}");
    assert_eq!(
        lab.code("estimator", "repair.price", &input()).await,
        "done"
    );
    // A no wipes it as well.
    lab.call("estimator", "repair.price", &input().replace('7', "8"))
        .await;
    let (id, _) = lab.only().await;
    lab.reject("ada", &id, "no").await;
    assert!(row(&lab, &id).await.contains(r#""input":null"#));
    assert_eq!(lab.world.total(), 1);
}

async fn keys_rotate_under_what_waits_and_the_yes_still_runs_it(lab: Lab) {
    let mut setup = lab.setup.clone();
    setup.options.decide_within = None;
    setup.options.believe_asker = Duration::from_secs(86_400 * 365);
    let lab = Lab::start(setup).await;
    // A flow whose declaration gives no time of its own.
    lab.call("estimator", "parts.order", &input()).await;
    let (id, shown) = lab.only().await;
    let before = lab.store.proposal(&id).await.unwrap().unwrap();
    // Long after the first key is forgotten where nothing needs it, on an instance that starts then.
    lab.watch.forward(Duration::from_secs(86_400 * 90));
    let later = lab.another().await;
    let after = later.store.proposal(&id).await.unwrap().unwrap();
    let key = |sealed: &Option<String>| {
        let sealed = sealed.as_deref().unwrap();
        sealed.split('.').nth(1).unwrap().to_owned()
    };
    assert_ne!(key(&before.input), key(&after.input), "sealed anew");
    assert_eq!(before.status, after.status);
    let answer = later.approve("ada", &id, &shown).await;
    assert_eq!(answer.status, StatusCode::OK, "{}", answer.text);
    assert_eq!(later.status(&id).await, "done");
    assert_eq!(lab.world.total(), 1);
}

async fn a_key_of_the_deployments_own_is_not_in_the_store(lab: Lab) {
    let lab = with_keys(&lab, &[1]).await;
    let (id, shown) = asked(&lab).await;
    assert!(row(&lab, &id).await.contains("s1.own-1."));
    // Another instance with the next key in front: what was sealed under the first opens, and is sealed under the next.
    let next = with_keys(&lab, &[2, 1]).await;
    assert!(row(&next, &id).await.contains("s1.own-2."));
    let only_next = with_keys(&lab, &[2]).await;
    let answer = only_next.approve("ada", &id, &shown).await;
    assert_eq!(answer.status, StatusCode::OK, "{}", answer.text);
    assert_eq!(lab.world.total(), 1);
}

async fn without_its_key_a_proposal_is_neither_run_nor_lost(lab: Lab) {
    let first = with_keys(&lab, &[1]).await;
    let (id, shown) = asked(&first).await;
    let other = with_keys(&lab, &[9]).await;
    let answer = other.approve("ada", &id, &shown).await;
    assert_eq!(
        answer.status,
        StatusCode::SERVICE_UNAVAILABLE,
        "{}",
        answer.text
    );
    assert_eq!(other.status(&id).await, "waiting");
    assert_eq!(lab.world.total(), 0);
    assert_eq!(
        first.approve("ada", &id, &shown).await.status,
        StatusCode::OK
    );
    assert_eq!(lab.world.total(), 1);
}

async fn a_value_that_was_exchanged_in_the_store_does_not_run(lab: Lab) {
    // Two calls of one flow; whoever holds the database puts the second's input into the first's row.
    lab.call("estimator", "parts.order", r#"{"n":1}"#).await;
    let (first, shown) = lab.only().await;
    lab.call("estimator", "parts.order", r#"{"n":2}"#).await;
    let waiting = lab.waiting().await;
    let second = waiting
        .iter()
        .filter_map(|p| p.get("id").and_then(|id| id.as_str()))
        .find(|id| *id != first)
        .unwrap();
    let other = lab.store.proposal(second).await.unwrap().unwrap();
    let row = lab.store.proposal(&first).await.unwrap().unwrap();
    let mut exchanged = row.clone();
    exchanged.revision += 1;
    exchanged.input = other.input;
    assert!(lab.store.swap(row.revision, &exchanged, &[]).await.unwrap());
    let answer = lab.approve("ada", &first, &shown).await;
    assert_eq!(answer.member("code"), "approval.stale", "{}", answer.text);
    assert_eq!(lab.world.total(), 0);
}
