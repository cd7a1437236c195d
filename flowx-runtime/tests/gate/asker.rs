//! Who asked, at the time of the yes: what an agent lost since it asked is not used because a person says yes.

use std::time::Duration;

use flowx_manifest::Category;
use flowx_runtime::{Current, Refusal};
use http::StatusCode;

use crate::case_list;
use crate::lab::Lab;

const PRICE: &str = r#"{"ticket":"7","cents":4200}"#;

case_list! { ASKER:
    a_permission_that_was_taken_away_meanwhile_is_not_used_at_the_yes,
    a_permission_that_came_meanwhile_is_not_used_either,
    a_token_that_was_revoked_meanwhile_runs_nothing_at_the_yes,
    an_identity_that_cannot_answer_now_refuses_the_yes_and_changes_nothing,
    whoever_cannot_be_looked_up_is_believed_for_a_time,
    a_yes_to_be_redeemed_needs_no_look_since_the_caller_comes_again,
}

fn has(permissions: &[&str]) -> Result<Current, Refusal> {
    let permissions = permissions.iter().map(|p| p.parse().unwrap());
    Ok(Current::Known(permissions.collect()))
}

/// The agent asks for a price; gives the proposal and what is shown of it.
async fn asked(lab: &Lab) -> (String, String) {
    assert_eq!(
        lab.code("estimator", "repair.price", PRICE).await,
        "approval.required"
    );
    lab.only().await
}

async fn a_permission_that_was_taken_away_meanwhile_is_not_used_at_the_yes(lab: Lab) {
    let (id, shown) = asked(&lab).await;
    lab.setup.roll.says(has(&["payment.refund"]));
    // Ada may set prices; the agent may not any more.
    let answer = lab.approve("ada", &id, &shown).await;
    assert_eq!(answer.status, StatusCode::OK, "{}", answer.text);
    assert_eq!(lab.status(&id).await, "failed");
    assert_eq!(lab.world.total(), 0);
    assert_eq!(
        lab.code("estimator", "repair.price", PRICE).await,
        "authorization.permission_denied",
        "the agent hears why"
    );
    // With it, the same yes runs.
    lab.setup.roll.says(has(&["repair.price"]));
    let (id, shown) = asked(&lab).await;
    lab.approve("ada", &id, &shown).await;
    assert_eq!(lab.status(&id).await, "done");
    assert_eq!(lab.world.total(), 1);
}

async fn a_permission_that_came_meanwhile_is_not_used_either(lab: Lab) {
    let input = r#"{"n":1}"#;
    // What it asked with then is no more than nothing.
    lab.call("stranger-bot", "card.archive", input).await;
    let (_, shown) = lab.only().await;
    assert!(!shown.is_empty());
    lab.call("estimator", "repair.price", PRICE).await;
    let row = lab
        .waiting()
        .await
        .into_iter()
        .find(|p| p.to_canonical().contains("repair.price"))
        .unwrap();
    let text = |name: &str| row.get(name).unwrap().as_str().unwrap().to_owned();
    lab.setup
        .roll
        .says(has(&["repair.price", "agents.widen", "anything.else"]));
    lab.approve("ada", &text("id"), &text("fingerprint")).await;
    let (ran_as, _) = lab.world.last();
    let held: Vec<_> = ran_as.permissions.iter().map(|p| p.as_str()).collect();
    assert_eq!(held, ["repair.price"], "what it had, has, and Ada has");
}

async fn a_token_that_was_revoked_meanwhile_runs_nothing_at_the_yes(lab: Lab) {
    // Of a flow that needs no permission, too: nobody is nobody.
    for (flow, who) in [("repair.price", "ada"), ("parts.order", "ada")] {
        lab.call("estimator", flow, PRICE).await;
        let (id, shown) = lab.only().await;
        lab.setup.roll.says(Ok(Current::Gone));
        let answer = lab.approve(who, &id, &shown).await;
        assert_eq!(answer.member("code"), "approval.stale", "{}", answer.text);
        assert!(
            answer.text.contains("not known any more"),
            "{}",
            answer.text
        );
        assert_eq!(lab.status(&id).await, "stale");
        assert_eq!(lab.world.total(), 0);
        lab.setup.roll.says(Ok(Current::CannotSay));
    }
}

async fn an_identity_that_cannot_answer_now_refuses_the_yes_and_changes_nothing(lab: Lab) {
    let (id, shown) = asked(&lab).await;
    lab.setup.roll.says(Err(Refusal::new(
        "server.unavailable",
        Category::Unavailable,
        "Nobody can be looked up just now.",
    )));
    let answer = lab.approve("ada", &id, &shown).await;
    assert_eq!(answer.status, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(lab.status(&id).await, "waiting");
    assert_eq!(lab.world.total(), 0);
}

async fn whoever_cannot_be_looked_up_is_believed_for_a_time(lab: Lab) {
    let mut setup = lab.setup.clone();
    setup.options.believe_asker = Duration::from_secs(600);
    let lab = Lab::start(setup).await;
    let (id, shown) = asked(&lab).await;
    lab.watch.forward(Duration::from_millis(600_000));
    let answer = lab.approve("ada", &id, &shown).await;
    assert_eq!(answer.member("code"), "approval.stale", "{}", answer.text);
    assert_eq!(lab.world.total(), 0);
    assert_eq!(
        lab.code("estimator", "repair.price", PRICE).await,
        "approval.stale",
        "the agent hears it once, and asks again"
    );
    let (id, shown) = asked(&lab).await;
    lab.watch.forward(Duration::from_millis(599_999));
    lab.approve("ada", &id, &shown).await;
    assert_eq!(lab.status(&id).await, "done");
    assert_eq!(lab.world.total(), 1);
}

async fn a_yes_to_be_redeemed_needs_no_look_since_the_caller_comes_again(lab: Lab) {
    let input = r#"{"card":"x"}"#;
    lab.call("bob", "card.archive", input).await;
    let (id, shown) = lab.only().await;
    lab.setup.roll.says(Ok(Current::Gone));
    let answer = lab.approve("lead", &id, &shown).await;
    assert_eq!(answer.status, StatusCode::OK, "{}", answer.text);
    assert_eq!(lab.world.total(), 0);
    assert_eq!(lab.code("bob", "card.archive", input).await, "done");
    assert_eq!(lab.world.total(), 1);
}
