//! What declared agents may, and how people widen and narrow it.

use std::sync::Arc;
use std::time::Duration;

use flowx_manifest::{Json, Leave};
use flowx_runtime::{CallOutcome, Transport};
use http::StatusCode;

use crate::case_list;
use crate::lab::{Client, Lab, code};

const PRICE: &str = r#"{"ticket":"7","cents":4200}"#;

case_list! { AUTONOMY:
    it_notes_alone_and_proposes_the_price,
    a_yes_runs_it_as_the_agent_and_whoever_said_yes_together,
    a_yes_of_somebody_without_the_permission_fails_and_changes_nothing,
    an_approval_grants_no_permission,
    what_is_put_to_a_queue_is_not_decided_by_whom_it_is_for,
    work_for_nobody_is_put_to_the_sponsor,
    from_now_on_alone_and_taken_back,
    a_rule_is_for_work_done_for_whoever_said_it,
    a_rule_for_exact_arguments_is_for_exactly_those,
    no_rule_goes_past_the_declaration,
    a_rule_does_not_outlive_a_change_of_the_declaration,
    an_unknown_skill_is_refused_and_never_read_as_none,
    a_person_reads_what_things_are_called,
    a_caller_has_no_more_waiting_than_it_may,
    whoever_asked_can_take_it_back,
}

async fn decide(lab: &Lab, by: &str, extra: &str) -> crate::lab::Answer {
    let (id, fingerprint) = lab.only().await;
    let body = format!("{{\"fingerprint\":\"{fingerprint}\"{extra}}}");
    lab.post(by, &format!("/flowx/proposals/{id}/approve"), &body)
        .await
}

async fn it_notes_alone_and_proposes_the_price(lab: Lab) {
    assert_eq!(lab.code("estimator", "repair.note", "{}").await, "done");
    assert_eq!((lab.world.count("notes.write"), lab.world.total()), (1, 1));
    let asked = lab.call("estimator", "repair.price", PRICE).await;
    assert_eq!(code(&asked), "approval.required");
    let (id, fingerprint) = lab.only().await;
    let said = format!("{asked:?}");
    assert!(
        !said.contains(&id) && !said.contains(&fingerprint),
        "what a model reads names no proposal: {said}"
    );
    assert_eq!(lab.world.count("price.set"), 0);
    // The same over HTTP: the gate keys on who calls.
    let over_http = lab.post("estimator", "/repair/price", PRICE).await;
    assert_eq!(
        (over_http.status, over_http.member("code")),
        (StatusCode::PRECONDITION_REQUIRED, "approval.required")
    );
    assert!(!over_http.text.contains(&id), "{}", over_http.text);
    assert_eq!(
        lab.waiting().await.len(),
        1,
        "one row, whatever the transport"
    );
}

async fn a_yes_runs_it_as_the_agent_and_whoever_said_yes_together(lab: Lab) {
    lab.call("estimator", "repair.price", PRICE).await;
    let answer = decide(&lab, "ada", "").await;
    assert_eq!(
        (answer.status, answer.member("status")),
        (StatusCode::OK, "done"),
        "{}",
        answer.text
    );
    assert_eq!(lab.world.count("price.set"), 1);
    let (ran_as, input) = lab.world.last();
    assert_eq!(
        (ran_as.subject.as_str(), ran_as.on_behalf_of.as_deref()),
        ("estimator", Some("ada"))
    );
    let held: Vec<_> = ran_as.permissions.iter().map(ToString::to_string).collect();
    // The agent holds payment.refund and Ada does not; Ada holds agents.widen and the agent does not.
    assert_eq!(held, ["repair.price"]);
    assert_eq!(input, r#"{"cents":4200,"ticket":"7"}"#);
    let CallOutcome::Done(output) = lab.call("estimator", "repair.price", PRICE).await else {
        panic!()
    };
    assert!(
        output.text.contains("proposal:"),
        "the agent gets the outcome of the one run: {}",
        output.text
    );
    assert_eq!(lab.world.total(), 1);
}

async fn a_yes_of_somebody_without_the_permission_fails_and_changes_nothing(lab: Lab) {
    lab.call("estimator", "repair.price", PRICE).await;
    // A mechanic may decide, and may not set prices.
    let answer = decide(&lab, "mechanic", "").await;
    assert_eq!(
        (answer.status, answer.member("status")),
        (StatusCode::OK, "failed"),
        "{}",
        answer.text
    );
    assert_eq!(lab.world.total(), 0);
    assert_eq!(
        lab.code("estimator", "repair.price", PRICE).await,
        "authorization.permission_denied",
        "the agent is told"
    );
    assert_eq!(
        lab.code("estimator", "repair.price", PRICE).await,
        "approval.required",
        "and a new one can be approved"
    );
    let answer = decide(&lab, "manager", "").await;
    assert_eq!(answer.member("status"), "done", "{}", answer.text);
    assert_eq!(lab.world.total(), 1);
}

async fn an_approval_grants_no_permission(lab: Lab) {
    // Bob may not set prices. Nobody is asked for him, since no yes could help.
    assert_eq!(
        lab.code("bob", "repair.price", PRICE).await,
        "authorization.permission_denied"
    );
    // With a yes standing there that he could use, the step still refuses.
    let lab = lab
        .released(|m| {
            let price = m
                .flows
                .iter_mut()
                .find(|f| f.id.as_str() == "repair.price")
                .unwrap();
            let approval = price.approval.as_mut().unwrap();
            (approval.required, approval.self_approval) = (true, true);
            // As if the manifest did not know of the permission.
            price.permissions.clear();
        })
        .await;
    assert_eq!(
        lab.code("bob", "repair.price", PRICE).await,
        "approval.required"
    );
    let answer = decide(&lab, "manager", "").await;
    assert_eq!(answer.member("status"), "failed", "{}", answer.text);
    assert_eq!(lab.world.total(), 0);
}

async fn what_is_put_to_a_queue_is_not_decided_by_whom_it_is_for(lab: Lab) {
    lab.call("estimator", "fleet.price", "{}").await;
    let (id, _) = lab.only().await;
    let own = decide(&lab, "ada", "").await;
    assert_eq!(
        own.status,
        StatusCode::FORBIDDEN,
        "it is done for her: {}",
        own.text
    );
    let other = decide(&lab, "bob", "").await;
    assert_eq!(
        other.status,
        StatusCode::NOT_FOUND,
        "it is none of his business: {}",
        other.text
    );
    assert_eq!(
        lab.reject("ada", &id, "because").await.status,
        StatusCode::FORBIDDEN
    );
    assert_eq!(lab.world.total(), 0);
    let answer = decide(&lab, "fleet-manager", "").await;
    assert_eq!(answer.member("status"), "done", "{}", answer.text);
    assert_eq!(lab.world.count("fleet.set"), 1);
    // Nor by a supervisor, where it is done for them.
    lab.call("estimator-for-manager", "fleet.price", "{}").await;
    let own = decide(&lab, "manager", "").await;
    assert_eq!(own.status, StatusCode::FORBIDDEN, "{}", own.text);
    assert_eq!(lab.world.count("fleet.set"), 1);
}

async fn work_for_nobody_is_put_to_the_sponsor(lab: Lab) {
    lab.call("estimator-alone", "repair.price", PRICE).await;
    for other in ["ada", "sponsor-elsewhere"] {
        let other = decide(&lab, other, "").await;
        assert_eq!(other.status, StatusCode::NOT_FOUND, "{}", other.text);
    }
    assert_eq!(lab.world.total(), 0);
    let answer = decide(&lab, "sponsor", "").await;
    assert_eq!(answer.member("status"), "done", "{}", answer.text);
    assert_eq!(lab.world.count("price.set"), 1);
}

async fn from_now_on_alone_and_taken_back(lab: Lab) {
    lab.call("estimator", "repair.price", PRICE).await;
    let answer = decide(&lab, "ada", r#","always":"like_this""#).await;
    assert_eq!(answer.status, StatusCode::OK, "{}", answer.text);
    let rule = answer.member("rule").to_owned();
    for n in 0..3 {
        assert_eq!(
            lab.code("estimator", "repair.price", &format!("{{\"n\":{n}}}"))
                .await,
            "done"
        );
    }
    assert_eq!(lab.world.count("price.set"), 4);
    let rules = lab.get("ada", "/flowx/rules").await;
    let rules = rules
        .json
        .get("rules")
        .and_then(Json::as_array)
        .unwrap()
        .to_vec();
    assert_eq!(rules[0].get("used"), Some(&Json::from(3)), "{rules:?}");
    let other = lab
        .post(
            "bob",
            &format!("/flowx/rules/{rule}/revoke"),
            r#"{"why":"x"}"#,
        )
        .await;
    assert_eq!(other.status, StatusCode::NOT_FOUND, "{}", other.text);
    let answer = lab
        .post(
            "ada",
            &format!("/flowx/rules/{rule}/revoke"),
            r#"{"why":"too dear"}"#,
        )
        .await;
    assert_eq!(answer.status, StatusCode::OK, "{}", answer.text);
    assert_eq!(
        lab.code("estimator", "repair.price", r#"{"n":9}"#).await,
        "approval.required",
        "at once"
    );
    assert_eq!(lab.world.count("price.set"), 4);
}

async fn a_rule_is_for_work_done_for_whoever_said_it(lab: Lab) {
    lab.call("estimator", "repair.price", PRICE).await;
    let nobody = decide(&lab, "mechanic", r#","always":"like_this""#).await;
    assert_eq!(
        nobody.member("code"),
        "agent.rule_refused",
        "the declaration gives him no such word: {}",
        nobody.text
    );
    assert_eq!(lab.world.total(), 0, "and his yes did not count either");
    let everybody = decide(&lab, "ada", r#","always":"like_this","everybody":true"#).await;
    assert_eq!(
        everybody.member("code"),
        "agent.rule_refused",
        "only a supervisor says it for everybody: {}",
        everybody.text
    );
    let others = decide(&lab, "manager", r#","always":"like_this""#).await;
    assert_eq!(
        others.member("code"),
        "agent.rule_refused",
        "it is not done for the manager: {}",
        others.text
    );
    assert_eq!(
        decide(&lab, "ada", r#","always":"like_this""#).await.status,
        StatusCode::OK
    );
    assert_eq!(
        lab.code("estimator", "repair.price", r#"{"n":1}"#).await,
        "done"
    );
    assert_eq!(
        lab.code("estimator-for-bob", "repair.price", r#"{"n":1}"#)
            .await,
        "approval.required"
    );
    assert_eq!(
        lab.code("estimator-alone", "repair.price", r#"{"n":2}"#)
            .await,
        "approval.required"
    );
    assert_eq!(lab.world.total(), 2);
    // A supervisor, for everybody.
    let waiting = lab.waiting().await;
    let bobs = waiting
        .iter()
        .find(|p| p.to_canonical().contains("for bob"))
        .unwrap();
    let text = |name: &str| bobs.get(name).and_then(Json::as_str).unwrap();
    let body = format!(
        r#"{{"fingerprint":"{}","always":"like_this","everybody":true}}"#,
        text("fingerprint")
    );
    let answer = lab
        .post(
            "manager",
            &format!("/flowx/proposals/{}/approve", text("id")),
            &body,
        )
        .await;
    assert_eq!(answer.status, StatusCode::OK, "{}", answer.text);
    assert_eq!(
        lab.code("estimator-alone", "repair.price", r#"{"n":3}"#)
            .await,
        "done"
    );
}

async fn a_rule_for_exact_arguments_is_for_exactly_those(lab: Lab) {
    lab.call("estimator", "repair.price", PRICE).await;
    assert_eq!(
        decide(&lab, "ada", r#","always":"exactly_this""#)
            .await
            .status,
        StatusCode::OK
    );
    assert_eq!(lab.world.total(), 1);
    // The first run is remembered for a while; after it the rule speaks.
    lab.watch.forward(Duration::from_secs(700));
    assert_eq!(
        lab.code(
            "estimator",
            "repair.price",
            r#"{"cents":4200,"ticket":"7"}"#
        )
        .await,
        "done"
    );
    assert_eq!(lab.world.total(), 2);
    for other in [
        r#"{"ticket":"7","cents":4201}"#,
        r#"{"ticket":"7","cents":4200.5}"#,
        r#"{"ticket":"7","cents":4200,"x":null}"#,
    ] {
        assert_eq!(
            lab.code("estimator", "repair.price", other).await,
            "approval.required",
            "{other}"
        );
    }
    assert_eq!(lab.world.total(), 2);
}

async fn no_rule_goes_past_the_declaration(lab: Lab) {
    // Mail is proposed every time, whatever anybody says.
    lab.call("estimator", "customer.mail", "{}").await;
    let answer = decide(&lab, "ada", r#","always":"like_this""#).await;
    assert_eq!(
        answer.member("code"),
        "agent.rule_refused",
        "{}",
        answer.text
    );
    assert_eq!(decide(&lab, "ada", "").await.member("status"), "done");
    assert_eq!(
        lab.code("estimator", "customer.mail", r#"{"n":2}"#).await,
        "approval.required"
    );
    // Even a rule that stands in the store.
    let asked = lab.waiting().await;
    assert_eq!(asked.len(), 1);
    lab.call("estimator", "repair.price", PRICE).await;
    let price = lab
        .waiting()
        .await
        .into_iter()
        .find(|p| p.to_canonical().contains("repair.price"))
        .unwrap();
    let text = |name: &str| price.get(name).and_then(Json::as_str).unwrap();
    let body = format!(
        r#"{{"fingerprint":"{}","always":"like_this"}}"#,
        text("fingerprint")
    );
    lab.post(
        "ada",
        &format!("/flowx/proposals/{}/approve", text("id")),
        &body,
    )
    .await;
    let mut rule = lab.store.rules(Some("estimator")).await.unwrap().remove(0);
    for flow in [
        "customer.mail@1.0.0",
        "repair.scrap@1.0.0",
        "card.archive@1.0.0",
    ] {
        (rule.id, rule.flow) = (format!("forged {flow}"), flow.to_owned());
        lab.store.rule_add(&rule, &[]).await.unwrap();
    }
    let before = lab.world.total();
    assert_eq!(
        lab.code("estimator", "customer.mail", r#"{"n":3}"#).await,
        "approval.required"
    );
    assert_eq!(
        lab.code("estimator", "repair.scrap", r#"{"n":3}"#).await,
        "unknown"
    );
    assert_eq!(
        lab.code("estimator", "card.archive", r#"{"n":3}"#).await,
        "approval.required"
    );
    assert_eq!(lab.world.total(), before);
}

async fn a_rule_does_not_outlive_a_change_of_the_declaration(lab: Lab) {
    lab.call("estimator", "repair.price", PRICE).await;
    assert_eq!(
        decide(&lab, "ada", r#","always":"like_this""#).await.status,
        StatusCode::OK
    );
    assert_eq!(
        lab.code("estimator", "repair.price", r#"{"n":1}"#).await,
        "done"
    );
    let next = lab.released(|m| m.agents[0].spends = Leave::Never).await;
    assert_eq!(
        next.code("estimator", "repair.price", r#"{"n":2}"#).await,
        "approval.required"
    );
    assert_eq!(lab.world.total(), 2);
}

async fn an_unknown_skill_is_refused_and_never_read_as_none(lab: Lab) {
    let mut invocation = lab.invocation("estimator", "repair.note", "{}", Transport::Mcp);
    invocation.skill = Some("seeing".into());
    let answer = lab.core.call(invocation, Arc::new(Client::mute())).await;
    assert_eq!(code(&answer), "agent.unknown_skill");
    assert_eq!(lab.world.total(), 0);
}

async fn a_person_reads_what_things_are_called(lab: Lab) {
    lab.call(
        "estimator",
        "repair.price",
        r#"{"ticket":"7","card":"4111","lines":[{"pin":"12","part":"tyre"}]}"#,
    )
    .await;
    let waiting = lab.waiting().await;
    let shown = waiting[0].to_canonical();
    for part in [
        r#"Ticket T-7 [\"7\"]"#,
        "agent estimator for ada",
        "data (changes data)",
        "repair.price",
        "lines/0/part",
        "tyre",
    ] {
        assert!(shown.contains(part), "{part} is not in {shown}");
    }
    assert!(
        !shown.contains("4111") && !shown.contains("\"12\""),
        "{shown}"
    );
    let withheld = waiting[0].get("withheld").unwrap().to_canonical();
    assert_eq!(withheld, r#"["card","lines/0/pin"]"#);
    // Nor does the trail hold a value.
    let trail = lab
        .audit()
        .await
        .iter()
        .map(Json::to_canonical)
        .collect::<String>();
    assert!(
        !trail.contains("4111") && !trail.contains("tyre"),
        "{trail}"
    );
}

async fn a_caller_has_no_more_waiting_than_it_may(lab: Lab) {
    for n in 0..20 {
        assert_eq!(
            lab.code("estimator", "repair.price", &format!("{{\"n\":{n}}}"))
                .await,
            "approval.required"
        );
    }
    assert_eq!(
        lab.code("estimator", "repair.price", r#"{"n":20}"#).await,
        "approval.too_many_waiting"
    );
    let over_http = lab.post("estimator", "/repair/price", r#"{"n":20}"#).await;
    assert_eq!(over_http.status, StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(
        lab.code("estimator", "repair.price", r#"{"n":3}"#).await,
        "approval.required",
        "those there are stay"
    );
    assert_eq!(
        lab.code("estimator-for-bob", "repair.price", r#"{"n":20}"#)
            .await,
        "approval.required"
    );
    assert_eq!(lab.world.total(), 0);
}

async fn whoever_asked_can_take_it_back(lab: Lab) {
    let input = r#"{"card":"x"}"#;
    lab.call("bob", "card.archive", input).await;
    let (id, fingerprint) = lab.only().await;
    let other = lab
        .post("lead", &format!("/flowx/proposals/{id}/withdraw"), "")
        .await;
    assert_eq!(other.status, StatusCode::FORBIDDEN, "{}", other.text);
    assert_eq!(
        lab.post("bob", &format!("/flowx/proposals/{id}/withdraw"), "")
            .await
            .member("status"),
        "withdrawn"
    );
    let late = lab.approve("lead", &id, &fingerprint).await;
    assert_eq!(late.member("code"), "approval.decided", "{}", late.text);
    assert_eq!(
        lab.code("bob", "card.archive", input).await,
        "approval.required",
        "and ask anew"
    );
    assert_eq!(lab.world.total(), 0);
}
