//! What somebody who means ill, or a clock that goes wrong, might try beyond the reported failures. Each has been found by reading the gate
//! for it, and was seen to be possible before it was made impossible.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::routing::post;
use flowx_manifest::Authorization;
use flowx_runtime::{
    CallOutcome, Current, GateOptions, Invocation, Principal, Refusal, Transport, Webhook,
};
use futures_util::StreamExt;
use http::StatusCode;
use tower::ServiceExt;

use crate::case_list;
use crate::common::broken::{Failing, Fault};
use crate::lab::{Answer, Client, Lab, Setup, code, who};

const CARD: &str = r#"{"card":"x"}"#;
const PRICE: &str = r#"{"ticket":"7","cents":4200}"#;

case_list! { HOSTILE:
    a_yes_to_what_waited_is_no_yes_to_running_it_again,
    a_yes_that_was_lost_on_the_way_is_not_used_by_the_asker_alone,
    a_yes_by_somebody_whose_clock_is_behind_is_found,
    nobody_in_particular_has_no_approval,
    nobody_lets_an_agent_do_alone_what_they_may_not_do,
    no_rule_comes_of_a_yes_that_failed,
    another_tenants_supervisor_reads_decides_and_hears_nothing,
    the_trail_is_for_nobody_of_one_tenant_and_for_no_agent,
    whoever_is_gone_hears_nothing_more,
    a_run_names_its_proposal_to_nobody,
    what_a_flow_says_is_shown_without_its_disguises,
    what_cannot_be_an_id_is_not_there,
    a_restart_tells_no_hook_what_is_old,
    a_hook_that_is_down_is_told_when_it_is_back_and_keeps_nobody_waiting,
}

async fn reaches(lab: &Lab, id: &str, status: &str) {
    for _ in 0..400 {
        if lab.status(id).await == status {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("{id} is {} and not {status}", lab.status(id).await);
}

async fn decide(lab: &Lab, by: &str, extra: &str) -> Answer {
    let (id, fingerprint) = lab.only().await;
    let body = format!("{{\"fingerprint\":\"{fingerprint}\"{extra}}}");
    lab.post(by, &format!("/flowx/proposals/{id}/approve"), &body)
        .await
}

async fn a_yes_to_what_waited_is_no_yes_to_running_it_again(lab: Lab) {
    let input = r#"{"card":"x","hang":true}"#;
    lab.call("bob", "card.archive", input).await;
    // Two people have the page of the waiting call open.
    let (id, fingerprint) = lab.only().await;
    let first = lab.approve("lead", &id, &fingerprint).await;
    assert_eq!(first.status, StatusCode::OK, "{}", first.text);
    let running = {
        let lab = lab.clone();
        tokio::spawn(async move { lab.call("bob", "card.archive", input).await })
    };
    while lab.world.total() == 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    running.abort();
    reaches(&lab, &id, "unknown").await;
    // The other one says yes to what their page shows: a call that waits.
    let second = lab.approve("lead", &id, &fingerprint).await;
    assert_eq!(
        (second.status, second.member("code")),
        (StatusCode::CONFLICT, "approval.stale"),
        "{}",
        second.text
    );
    assert_eq!(lab.status(&id).await, "unknown");
    assert_eq!(lab.world.total(), 1);
    // Whoever has read that it began once can say that it is run again.
    let read = lab.get("lead", &format!("/flowx/proposals/{id}")).await;
    assert_eq!(read.member("status"), "unknown");
    let again = lab.approve("lead", &id, read.member("fingerprint")).await;
    assert_eq!(again.status, StatusCode::OK, "{}", again.text);
}

async fn a_yes_that_was_lost_on_the_way_is_not_used_by_the_asker_alone(lab: Lab) {
    let failing = Failing::over(Arc::clone(&lab.store));
    let lab = Lab::with_store(lab.setup.clone(), Arc::clone(&failing) as _).await;
    lab.call("estimator", "repair.price", PRICE).await;
    let (id, fingerprint) = lab.only().await;
    // A mechanic may decide and may set no prices: the yes would fail. It is written, and the answer does not come.
    failing.fail("swap", Fault::AnswerLost);
    let answer = lab.approve("mechanic", &id, &fingerprint).await;
    assert_eq!(answer.status, StatusCode::SERVICE_UNAVAILABLE);
    assert!(failing.heal() > 0);
    assert_eq!(lab.status(&id).await, "executing");
    lab.core.gate().keep_up().await.unwrap();
    // It did not begin, so the yes came to nothing. The agent, which may set prices, does not go on without the mechanic's part in it.
    assert_eq!(lab.status(&id).await, "waiting");
    assert_eq!(
        lab.code("estimator", "repair.price", PRICE).await,
        "approval.required"
    );
    assert_eq!(lab.world.total(), 0);
    let answer = decide(&lab, "ada", "").await;
    assert_eq!(answer.member("status"), "done", "{}", answer.text);
    assert_eq!(lab.world.total(), 1);
}

async fn a_yes_by_somebody_whose_clock_is_behind_is_found(lab: Lab) {
    lab.call("bob", "card.archive", CARD).await;
    let (id, _) = lab.only().await;
    lab.reject("lead", &id, "not now").await;
    lab.watch.forward(Duration::from_secs(3_600));
    // The same call, asked again on an instance whose ids come from a clock that is behind.
    lab.call("bob", "card.archive", CARD).await;
    let (id, _) = lab.only().await;
    let mut row = lab.store.proposal(&id).await.unwrap().unwrap();
    row.status = flowx_runtime::proposals::Status::Withdrawn;
    row.revision += 1;
    assert!(lab.store.swap(1, &row, &[]).await.unwrap());
    let low = format!("0000{}", &id[4..]);
    let mut behind = row.clone();
    (behind.id, behind.revision) = (low.clone(), 1);
    behind.status = flowx_runtime::proposals::Status::Waiting;
    // What is sealed for one row opens in no other, and this one is redeemed with the caller's own input.
    behind.input = None;
    let added = lab.store.propose(&behind, 10, &[]).await.unwrap();
    assert_eq!(added, flowx_runtime::store::Proposed::New);
    let yes = flowx_runtime::proposals::Decision {
        by: "lead".into(),
        by_key: who("lead").key(),
        yes: true,
        reason: None,
        at: behind.asked_at,
        use_before: None,
    };
    behind.status = flowx_runtime::proposals::Status::Approved;
    (behind.revision, behind.decision) = (2, Some(yes));
    assert!(lab.store.swap(1, &behind, &[]).await.unwrap());
    assert_eq!(lab.code("bob", "card.archive", CARD).await, "done");
    assert_eq!(lab.status(&low).await, "done");
    assert_eq!(lab.world.total(), 1);
}

async fn nobody_in_particular_has_no_approval(lab: Lab) {
    // A flow for everybody, by its declaration, that needs a yes all the same.
    let lab = lab
        .released(|m| {
            for capability in &mut m.capabilities {
                if capability.id.as_str() == "card.drop" {
                    capability.authorization = Authorization::Public {
                        approved_by: Some("somebody".into()),
                    };
                }
            }
        })
        .await;
    let nobody = |lab: &Lab| {
        let asked = lab.invocation("bob", "card.archive", CARD, Transport::Http);
        Invocation {
            principal: Arc::new(Principal::anonymous()),
            ..asked
        }
    };
    for _ in 0..2 {
        let answer = lab.core.call(nobody(&lab), Arc::new(Client::mute())).await;
        assert_eq!(code(&answer), "authorization.not_authenticated");
    }
    assert!(lab.waiting().await.is_empty(), "nobody asked");
    assert_eq!(lab.world.total(), 0);
}

async fn nobody_lets_an_agent_do_alone_what_they_may_not_do(lab: Lab) {
    lab.call("estimator-for-apprentice", "repair.price", PRICE)
        .await;
    let answer = decide(&lab, "apprentice", r#","always":"like_this""#).await;
    assert_eq!(
        (answer.status, answer.member("code")),
        (StatusCode::FORBIDDEN, "agent.rule_refused"),
        "{}",
        answer.text
    );
    assert!(lab.store.rules(None).await.unwrap().is_empty());
    assert_eq!(lab.waiting().await.len(), 1, "and nothing was decided");
    assert_eq!(
        lab.code("estimator-for-apprentice", "repair.price", PRICE)
            .await,
        "approval.required"
    );
    assert_eq!(lab.world.total(), 0);
}

async fn no_rule_comes_of_a_yes_that_failed(lab: Lab) {
    let broken = r#"{"ticket":"7","fail":true}"#;
    lab.call("estimator", "repair.price", broken).await;
    let answer = decide(&lab, "ada", r#","always":"like_this""#).await;
    assert_eq!(
        (answer.member("status"), answer.member("ruleRefused")),
        ("failed", "agent.rule_refused"),
        "{}",
        answer.text
    );
    assert!(lab.store.rules(None).await.unwrap().is_empty());
    assert_eq!(
        lab.code("estimator", "repair.price", PRICE).await,
        "approval.required"
    );
    assert_eq!(lab.world.total(), 1, "the one that failed");
}

/// What a stream says within a moment.
async fn heard(stream: &mut axum::body::BodyDataStream) -> Option<String> {
    let next = tokio::time::timeout(Duration::from_millis(1_500), stream.next()).await;
    next.ok()
        .flatten()
        .map(|bytes| String::from_utf8(bytes.unwrap().to_vec()).unwrap())
}

async fn listen(lab: &Lab, token: &str) -> axum::body::BodyDataStream {
    let request = http::Request::get("/flowx/events")
        .header("host", "localhost")
        .header("authorization", format!("Bearer {token}"))
        .body(axum::body::Body::empty())
        .unwrap();
    let answer = lab.router.clone().oneshot(request).await.unwrap();
    assert_eq!(answer.status(), StatusCode::OK);
    answer.into_body().into_data_stream()
}

async fn another_tenants_supervisor_reads_decides_and_hears_nothing(lab: Lab) {
    let (mut ours, mut theirs) = (
        listen(&lab, "manager.north").await,
        listen(&lab, "manager.south").await,
    );
    lab.call("estimator-for-manager.north", "repair.price", PRICE)
        .await;
    let list = async |token: &str| {
        let answer = lab.get(token, "/flowx/proposals?status=waiting").await;
        answer
            .json
            .get("proposals")
            .unwrap()
            .as_array()
            .unwrap()
            .to_vec()
    };
    assert!(list("manager.south").await.is_empty() && list("manager").await.is_empty());
    let row = list("manager.north").await.remove(0);
    let text = |name: &str| row.get(name).unwrap().as_str().unwrap().to_owned();
    let (id, fingerprint) = (text("id"), text("fingerprint"));
    for outsider in ["manager.south", "manager"] {
        let one = lab.get(outsider, &format!("/flowx/proposals/{id}")).await;
        assert_eq!(one.status, StatusCode::NOT_FOUND, "{}", one.text);
        let yes = lab.approve(outsider, &id, &fingerprint).await;
        assert_eq!(yes.status, StatusCode::NOT_FOUND, "{}", yes.text);
        let no = lab.reject(outsider, &id, "no").await;
        assert_eq!(no.status, StatusCode::NOT_FOUND, "{}", no.text);
    }
    assert_eq!(lab.world.total(), 0);
    assert!(heard(&mut ours).await.unwrap().contains(&id));
    let body = format!(r#"{{"fingerprint":"{fingerprint}","always":"like_this"}}"#);
    let yes = lab
        .post(
            "manager.north",
            &format!("/flowx/proposals/{id}/approve"),
            &body,
        )
        .await;
    assert_eq!(yes.status, StatusCode::OK, "{}", yes.text);
    let rule = yes.member("rule").to_owned();
    let mut all = String::new();
    while let Some(said) = heard(&mut ours).await {
        all.push_str(&said);
    }
    assert!(all.contains("rule.added") && all.contains(&rule), "{all}");
    assert_eq!(heard(&mut theirs).await, None);
    for outsider in ["manager.south", "manager"] {
        let rules = lab.get(outsider, "/flowx/rules").await;
        assert!(!rules.text.contains(&rule), "{}", rules.text);
        let revoked = lab
            .post(
                outsider,
                &format!("/flowx/rules/{rule}/revoke"),
                r#"{"why":"x"}"#,
            )
            .await;
        assert_eq!(revoked.status, StatusCode::NOT_FOUND);
    }
    // The rule lets the same agent do nothing alone in another tenant.
    assert_eq!(
        lab.code("estimator-for-manager.south", "repair.price", PRICE)
            .await,
        "approval.required"
    );
    assert_eq!(lab.world.total(), 1);
}

async fn the_trail_is_for_nobody_of_one_tenant_and_for_no_agent(lab: Lab) {
    lab.call("estimator", "repair.price", PRICE).await;
    for path in ["/flowx/audit", "/flowx/audit/head"] {
        for other in ["manager.north", "auditor-bot"] {
            let answer = lab.get(other, path).await;
            assert_eq!(
                answer.status,
                StatusCode::FORBIDDEN,
                "{other} {path}: {}",
                answer.text
            );
            assert!(!answer.text.contains("proposal"), "{}", answer.text);
        }
        assert_eq!(lab.get("manager", path).await.status, StatusCode::OK);
    }
    assert_eq!(lab.world.total(), 0);
}

async fn whoever_is_gone_hears_nothing_more(lab: Lab) {
    // A supervisor hears of everything, until they are one no more.
    let mut stream = listen(&lab, "mechanic").await;
    lab.call("estimator", "repair.price", PRICE).await;
    assert!(heard(&mut stream).await.is_some());
    lab.setup.roll.says(Ok(Current::Known(Default::default())));
    lab.call("estimator", "fleet.price", "{}").await;
    assert_eq!(heard(&mut stream).await, None);
    lab.setup.roll.says(Ok(Current::Gone));
    lab.call("bob", "card.archive", CARD).await;
    let end = tokio::time::timeout(Duration::from_secs(5), stream.next()).await;
    assert!(matches!(end, Ok(None)), "the stream ends: {end:?}");
    // An identity that cannot say ends it as well: who listens comes back and shows their credential.
    let mut stream = listen(&lab, "mechanic").await;
    lab.setup
        .roll
        .says(Err(Refusal::internal("identity.down", "no answer")));
    lab.call("bob", "card.rename", CARD).await;
    let end = tokio::time::timeout(Duration::from_secs(5), stream.next()).await;
    assert!(matches!(end, Ok(None)), "the stream ends: {end:?}");
}

async fn a_run_names_its_proposal_to_nobody(lab: Lab) {
    // The desk's flows answer with the key they ran under, as a payment's receipt would.
    lab.call("estimator", "repair.price", PRICE).await;
    let (id, _) = lab.only().await;
    decide(&lab, "ada", "").await;
    let CallOutcome::Done(output) = lab.call("estimator", "repair.price", PRICE).await else {
        panic!("it ran");
    };
    assert!(output.text.contains("proposal:"), "{}", output.text);
    let shortened = id.replace('-', "");
    assert!(
        !output.text.contains(&id) && !output.text.contains(&shortened),
        "{}",
        output.text
    );
    assert_eq!(lab.world.total(), 1);
}

async fn what_a_flow_says_is_shown_without_its_disguises(lab: Lab) {
    lab.call("estimator", "repair.price", PRICE).await;
    let (id, _) = lab.only().await;
    let mut row = lab.store.proposal(&id).await.unwrap().unwrap();
    row.revision += 1;
    row.status = flowx_runtime::proposals::Status::Failed;
    row.subject_version = Some("7\u{202e}".into());
    row.outcome = Some(flowx_runtime::proposals::Outcome::Failed {
        at: 0,
        code: "repair.broke".into(),
        category: "Conflict".into(),
        message: "no part \u{202e}evif\u{200b}".into(),
    });
    assert!(lab.store.swap(1, &row, &[]).await.unwrap());
    let read = lab.get("ada", &format!("/flowx/proposals/{id}")).await;
    assert_eq!(read.status, StatusCode::OK, "{}", read.text);
    assert!(
        !read.text.contains(['\u{202e}', '\u{200b}']) && read.text.contains("u{202e}"),
        "{}",
        read.text
    );
}

async fn what_cannot_be_an_id_is_not_there(lab: Lab) {
    for id in ["%00", "..%2f", "no-such", "%e2%80%ae", "'%20OR%201=1%20--"] {
        let one = lab.get("manager", &format!("/flowx/proposals/{id}")).await;
        assert_eq!(one.status, StatusCode::NOT_FOUND, "{id}: {}", one.text);
        let yes = lab.approve("manager", id, "x").await;
        assert_eq!(yes.status, StatusCode::NOT_FOUND, "{id}: {}", yes.text);
        let after = lab
            .get("manager", &format!("/flowx/proposals?after={id}"))
            .await;
        assert_eq!(
            after.status,
            StatusCode::BAD_REQUEST,
            "{id}: {}",
            after.text
        );
        let rule = lab
            .post(
                "manager",
                &format!("/flowx/rules/{id}/revoke"),
                r#"{"why":"x"}"#,
            )
            .await;
        assert_eq!(rule.status, StatusCode::NOT_FOUND, "{id}: {}", rule.text);
    }
    assert_eq!(lab.world.total(), 0);
}

/// A receiver that keeps what it hears and answers as it is told.
#[derive(Clone)]
struct Receiver {
    heard: Arc<Mutex<Vec<String>>>,
    answer: Arc<Mutex<StatusCode>>,
    url: String,
}

impl Receiver {
    async fn open() -> Receiver {
        let (heard, answer) = (
            Arc::<Mutex<Vec<String>>>::default(),
            Arc::new(Mutex::new(StatusCode::NO_CONTENT)),
        );
        let (to, now) = (Arc::clone(&heard), Arc::clone(&answer));
        let route = post(move |body: Bytes| {
            let (to, now) = (Arc::clone(&to), Arc::clone(&now));
            async move {
                to.lock()
                    .unwrap()
                    .push(String::from_utf8(body.to_vec()).unwrap());
                *now.lock().unwrap()
            }
        });
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/hook", listener.local_addr().unwrap());
        let app = Router::new().route("/hook", route);
        tokio::spawn(async move { axum::serve(listener, app).await });
        Receiver { heard, answer, url }
    }

    fn answers(&self, status: StatusCode) {
        *self.answer.lock().unwrap() = status;
    }

    fn count(&self) -> usize {
        self.heard.lock().unwrap().len()
    }

    async fn hears(&self, number: usize) {
        for _ in 0..200 {
            if self.count() >= number {
                return;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("{:?}", self.heard.lock().unwrap());
    }

    fn setup(&self, lab: &Lab) -> Setup {
        let hook = Webhook {
            url: self.url.clone(),
            secret: b"a secret of some length".to_vec(),
        };
        Setup {
            options: GateOptions {
                webhooks: vec![hook],
                ..lab.setup.options.clone()
            },
            ..lab.setup.clone()
        }
    }
}

async fn a_restart_tells_no_hook_what_is_old(lab: Lab) {
    let receiver = Receiver::open().await;
    let setup = receiver.setup(&lab);
    let one = Lab::start(setup.clone()).await;
    one.call("estimator", "repair.price", PRICE).await;
    receiver.hears(1).await;
    // A restart tells it no second time, nor does one after what was told has been forgotten.
    let two = Lab::start(setup.clone()).await;
    tokio::time::sleep(Duration::from_millis(1_200)).await;
    assert_eq!(receiver.count(), 1);
    lab.watch.forward(Duration::from_secs(3 * 86_400));
    two.core.gate().keep_up().await.unwrap();
    // That its time is over is news.
    receiver.hears(2).await;
    assert!(receiver.heard.lock().unwrap()[1].contains("proposal.expired"));
    let three = Lab::start(setup).await;
    tokio::time::sleep(Duration::from_millis(1_200)).await;
    assert_eq!(receiver.count(), 2);
    // What is new is told.
    three.call("bob", "card.archive", CARD).await;
    receiver.hears(3).await;
    assert!(receiver.heard.lock().unwrap()[2].contains("card.archive"));
}

async fn a_hook_that_is_down_is_told_when_it_is_back_and_keeps_nobody_waiting(lab: Lab) {
    let receiver = Receiver::open().await;
    receiver.answers(StatusCode::SERVICE_UNAVAILABLE);
    let lab = Lab::start(receiver.setup(&lab)).await;
    lab.call("estimator", "repair.price", PRICE).await;
    receiver.hears(2).await;
    // The decision does not wait for it.
    let answer = tokio::time::timeout(Duration::from_secs(5), decide(&lab, "ada", "")).await;
    assert_eq!(answer.unwrap().member("status"), "done");
    assert_eq!(lab.world.total(), 1);
    let tried = receiver.heard.lock().unwrap().clone();
    assert!(
        tried.iter().all(|body| *body == tried[0]),
        "in order: {tried:?}"
    );
    receiver.answers(StatusCode::NO_CONTENT);
    let all = tried.len() + 4;
    receiver.hears(all).await;
    let said = receiver.heard.lock().unwrap().concat();
    for kind in [
        "proposal.waiting",
        "decision.yes",
        "proposal.executing",
        "proposal.done",
    ] {
        assert!(said.contains(kind), "{kind} in {said}");
    }
    // What it has read and does not want is not sent again, and the next is.
    receiver.answers(StatusCode::BAD_REQUEST);
    let before = receiver.count();
    lab.call("bob", "card.archive", CARD).await;
    receiver.hears(before + 1).await;
    tokio::time::sleep(Duration::from_millis(900)).await;
    assert_eq!(receiver.count(), before + 1);
}
