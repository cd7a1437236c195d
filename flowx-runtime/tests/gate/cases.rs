//! The cases of `cases/approvals.md`: each has been a real failure somewhere. Numbers are that list's. Every one counts effects.

use std::sync::Arc;
use std::time::Duration;

use flowx_manifest::Json;
use flowx_runtime::store::MemoryStore;
use flowx_runtime::{CallOutcome, ConfirmationPolicy, Given, Reply, Transport};
use futures_util::future::join_all;
use http::{Method, StatusCode};

use crate::case_list;
use crate::common::broken::{Broken, Defect, Failing, Meeting};
use crate::lab::{Client, Lab, code, outcome};

const PRICE: &str = r#"{"ticket":"7","cents":4200}"#;

case_list! { CASES:
    c01_one_approval_never_runs_twice,
    c02_identical_calls_at_once_use_one_yes_once,
    c03_exactly_this_means_every_byte_of_the_input,
    c04_what_a_client_brings_along_is_no_approval,
    c05_a_yes_after_the_time_is_over_does_nothing,
    c06_a_yes_in_time_that_is_used_too_late_does_nothing,
    c07_an_approver_cannot_edit_the_call,
    c08_a_rejected_call_runs_on_no_route,
    c09_time_running_out_is_no_approval_and_is_recorded_as_what_it_is,
    c10_a_tool_that_is_hidden_does_not_run_when_it_is_named,
    c11_a_failure_after_the_yes_was_used_is_answered_again_and_not_run_again,
    c12_text_that_would_deceive_a_person_is_written_out,
    c13_a_call_that_is_sent_again_makes_no_second_row_and_an_unused_yes_is_no_success,
    c14_executing_is_written_before_the_effect,
    c15_two_decisions_at_once_have_one_winner,
    c15_nobody_decides_their_own_call_unless_declared,
    c16_key_order_changes_nothing_and_duplicates_are_refused,
    c17_a_yes_to_other_words_is_no_yes,
    c18_a_question_in_somebodys_session_is_theirs_alone_to_answer,
    c19_a_sealed_state_is_good_once_for_one_call_by_one_caller_until_its_time,
    c20_an_accept_that_does_not_say_yes_is_no_yes,
    c21_a_caller_that_cannot_be_asked_is_refused,
    c22_nothing_defaults_to_yes,
}

/// How many callers come at once.
const CLICKS: usize = 8;

/// The same desks, with stores at which that many callers meet before any of them changes a proposal.
async fn meeting(labs: [&Lab; 2], callers: usize) -> (Arc<Meeting>, [Lab; 2]) {
    let meeting = Meeting::before("swap", callers);
    let at = |lab: &Lab| {
        let store = Failing::meeting(Arc::clone(&lab.store), &meeting);
        Lab::with_store(lab.setup.clone(), store)
    };
    let labs = [at(labs[0]).await, at(labs[1]).await];
    (meeting, labs)
}

async fn c01_one_approval_never_runs_twice(lab: Lab) {
    let other = lab.another().await;
    assert_eq!(
        lab.code("estimator", "repair.price", PRICE).await,
        "approval.required"
    );
    let (id, fingerprint) = lab.only().await;
    // Two tabs, on two instances, many clicks, each of which has read that the call waits before any of them counts.
    let (meeting, [here, there]) = meeting([&lab, &other], CLICKS).await;
    let clicks = (0..CLICKS).map(|i| {
        let lab = if i % 2 == 0 { &here } else { &there };
        lab.approve("ada", &id, &fingerprint)
    });
    let answers = join_all(clicks).await;
    assert!(meeting.took_place());
    let taken = answers
        .iter()
        .filter(|a| a.status == StatusCode::OK)
        .count();
    assert_eq!(taken, 1, "{answers:?}");
    assert_eq!(lab.world.count("price.set"), 1);
    // Whatever is repeated afterwards is answered with what happened.
    for lab in [&lab, &other] {
        assert_eq!(lab.code("estimator", "repair.price", PRICE).await, "done");
    }
    assert_eq!(lab.world.count("price.set"), 1);
}

async fn c02_identical_calls_at_once_use_one_yes_once(lab: Lab) {
    let other = lab.another().await;
    let asked = join_all((0..6).map(|_| lab.call("bob", "card.archive", r#"{"card":"x"}"#))).await;
    assert!(
        asked.iter().all(|o| code(o) == "approval.required"),
        "{asked:?}"
    );
    let (id, fingerprint) = lab.only().await;
    assert_eq!(
        lab.approve("lead", &id, &fingerprint).await.status,
        StatusCode::OK
    );
    assert_eq!(lab.world.total(), 0, "a yes to be redeemed runs nothing");
    let input = r#"{"card":"x","wait_ms":200}"#;
    assert_eq!(
        lab.code("bob", "card.archive", input).await,
        "approval.required",
        "another input is another call"
    );
    let (meeting, [here, there]) = meeting([&lab, &other], CLICKS).await;
    let runs = (0..CLICKS).map(|i| {
        let lab = if i % 2 == 0 { &here } else { &there };
        lab.call("bob", "card.archive", r#"{"card":"x"}"#)
    });
    let outcomes = join_all(runs).await;
    assert!(meeting.took_place());
    for outcome in outcomes {
        assert!(
            ["done", "approval.running"].contains(&code(&outcome).as_str()),
            "{outcome:?}"
        );
    }
    assert_eq!(lab.world.count("card.drop"), 1);
}

async fn c03_exactly_this_means_every_byte_of_the_input(lab: Lab) {
    let long = "x".repeat(512);
    let pairs = [
        (
            r#"{"args":["foo","","bar"]}"#.to_owned(),
            r#"{"args":["foo","bar"]}"#.to_owned(),
        ),
        (
            format!(r#"{{"text":"{long}{}"}}"#, "a".repeat(88)),
            format!(r#"{{"text":"{long}{}"}}"#, "b".repeat(88)),
        ),
        (
            r#"{"text":"a\u0000b"}"#.to_owned(),
            r#"{"text":"ab"}"#.to_owned(),
        ),
        (r#"{"n":1250.5}"#.to_owned(), r#"{"n":1250.50}"#.to_owned()),
        (
            r#"{"text":"\u00e9"}"#.to_owned(),
            r#"{"text":"e\u0301"}"#.to_owned(),
        ),
    ];
    for (approved, other) in pairs {
        assert_eq!(
            lab.code("bob", "card.archive", &approved).await,
            "approval.required"
        );
        let (id, fingerprint) = lab.only().await;
        assert_eq!(
            lab.approve("lead", &id, &fingerprint).await.status,
            StatusCode::OK
        );
        let before = lab.world.total();
        assert_eq!(
            lab.code("bob", "card.archive", &other).await,
            "approval.required",
            "{other}"
        );
        assert_eq!(
            lab.world.total(),
            before,
            "the yes to {approved} ran {other}"
        );
        let (id, _) = lab.only().await;
        assert_eq!(
            lab.reject("lead", &id, "not this one").await.status,
            StatusCode::OK
        );
        assert_eq!(lab.code("bob", "card.archive", &approved).await, "done");
        let (_, ran) = lab.world.last();
        let sent = flowx_manifest::json::parse(
            approved.as_bytes(),
            flowx_manifest::json::Limits::DOCUMENT,
        )
        .unwrap();
        assert_eq!(ran, sent.to_canonical(), "what ran is what was approved");
    }
}

async fn c04_what_a_client_brings_along_is_no_approval(lab: Lab) {
    let elicit = lab.under(ConfirmationPolicy::Elicit).await;
    let yes = || Reply::Accept(Json::object([("approve", true.into())]));
    for state in [
        "",
        "approved",
        "e30.e30",
        "MS5rLm4uOTk5OTk5OTk5OTk5OTk.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
    ] {
        let given = Given {
            state: state.into(),
            replies: [("confirm".to_owned(), yes())].into(),
        };
        let answer = elicit
            .call_by(Client::retrying(Some(given)), "bob", "ticket.refund", "{}")
            .await;
        assert_eq!(outcome(&answer), "state_refused", "{state}");
    }
    for input in [
        r#"{"approved":true}"#,
        r#"{"approval_id":"0","_meta":{"approved":true}}"#,
        r#"{"fingerprint":"f"}"#,
    ] {
        assert_eq!(
            lab.code("bob", "card.archive", input).await,
            "approval.required",
            "{input}"
        );
    }
    // A name in the header that is nobody's, or another caller's.
    lab.call("ada", "card.archive", r#"{"named":"hers"}"#).await;
    let hers = lab
        .waiting()
        .await
        .into_iter()
        .find(|p| p.to_canonical().contains("hers"))
        .unwrap();
    let hers = hers.get("id").and_then(Json::as_str).unwrap().to_owned();
    let shown = lab.get("lead", &format!("/flowx/proposals/{hers}")).await;
    lab.approve("lead", &hers, shown.member("fingerprint"))
        .await;
    for id in ["00000000-0000-7000-8000-000000000000", &hers, "' OR 1=1 --"] {
        let answer = lab
            .http(
                "bob",
                Method::POST,
                "/card/archive",
                &[("flowx-approval", id)],
                r#"{"named":"hers"}"#,
            )
            .await;
        assert_eq!(
            answer.status,
            StatusCode::PRECONDITION_REQUIRED,
            "{}",
            answer.text
        );
    }
    assert_eq!(lab.world.total(), 0);
}

async fn c05_a_yes_after_the_time_is_over_does_nothing(lab: Lab) {
    lab.call("estimator", "repair.price", PRICE).await;
    let (id, fingerprint) = lab.only().await;
    // To the millisecond: at the time itself it is too late.
    lab.watch.forward(Duration::from_secs(3_600));
    let answer = lab.approve("ada", &id, &fingerprint).await;
    assert_eq!(
        (answer.status, answer.member("code")),
        (StatusCode::CONFLICT, "approval.expired"),
        "{}",
        answer.text
    );
    assert_eq!(lab.status(&id).await, "expired");
    assert_eq!(lab.world.total(), 0);
    assert_eq!(
        lab.code("estimator", "repair.price", PRICE).await,
        "approval.expired",
        "the agent hears of it once"
    );
    assert_eq!(
        lab.code("estimator", "repair.price", PRICE).await,
        "approval.required",
        "and may ask again"
    );
    assert_eq!(lab.world.total(), 0);
}

async fn c06_a_yes_in_time_that_is_used_too_late_does_nothing(lab: Lab) {
    let input = r#"{"card":"late"}"#;
    lab.call("bob", "card.archive", input).await;
    let (id, fingerprint) = lab.only().await;
    lab.watch.forward(Duration::from_secs(3_599));
    assert_eq!(
        lab.approve("lead", &id, &fingerprint).await.status,
        StatusCode::OK,
        "a second before the time"
    );
    // The yes is good for ten minutes of its own.
    lab.watch.forward(Duration::from_secs(600));
    assert_eq!(
        lab.code("bob", "card.archive", input).await,
        "approval.expired"
    );
    assert_eq!(lab.status(&id).await, "expired");
    assert_eq!(lab.world.total(), 0);
    // A second earlier it would have been in time.
    assert_eq!(
        lab.code("bob", "card.archive", input).await,
        "approval.required"
    );
    let (id, fingerprint) = lab.only().await;
    lab.approve("lead", &id, &fingerprint).await;
    lab.watch.forward(Duration::from_millis(599_999));
    assert_eq!(lab.code("bob", "card.archive", input).await, "done");
    assert_eq!(lab.world.total(), 1);
}

async fn c07_an_approver_cannot_edit_the_call(lab: Lab) {
    lab.call("estimator", "repair.price", PRICE).await;
    let (id, fingerprint) = lab.only().await;
    for edit in [
        r#""input":{"ticket":"7","cents":1}"#,
        r#""flow":"repair.scrap@1.0.0""#,
        r#""arguments":[]"#,
    ] {
        let body = format!("{{\"fingerprint\":\"{fingerprint}\",{edit}}}");
        let answer = lab
            .post("ada", &format!("/flowx/proposals/{id}/approve"), &body)
            .await;
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{}", answer.text);
    }
    assert_eq!(lab.world.total(), 0);
    assert_eq!(lab.status(&id).await, "waiting");
    // What the approver wants instead is a call of its own, with its own gate.
    assert_eq!(
        lab.code("estimator", "repair.price", r#"{"ticket":"7","cents":1}"#)
            .await,
        "approval.required"
    );
    assert_eq!(lab.waiting().await.len(), 2);
    assert_eq!(lab.world.total(), 0);
}

async fn c08_a_rejected_call_runs_on_no_route(lab: Lab) {
    let input = r#"{"to":"x"}"#;
    lab.call("estimator", "customer.mail", input).await;
    let (id, _) = lab.only().await;
    // Nothing, nothing that can be seen, and more than anybody reads.
    for none in ["", "  ", "\u{200b}\u{feff}", "\n\t", &"x".repeat(2_001)] {
        let no_reason = lab.reject("ada", &id, none).await;
        assert_eq!(
            no_reason.status,
            StatusCode::BAD_REQUEST,
            "a no needs a reason: {}",
            no_reason.text
        );
    }
    assert_eq!(lab.status(&id).await, "waiting");
    assert_eq!(
        lab.reject("ada", &id, "not by mail").await.status,
        StatusCode::OK
    );
    for transport in [
        Transport::Mcp,
        Transport::Stdio,
        Transport::Http,
        Transport::Proposal,
    ] {
        let invocation = lab.invocation("estimator", "customer.mail", input, transport);
        let answer = lab
            .core
            .call(
                invocation,
                Arc::new(Client::answering(Reply::Accept(Json::empty()))),
            )
            .await;
        let CallOutcome::Refused(refusal) = &answer else {
            panic!("{answer:?}")
        };
        assert_eq!(refusal.code, "approval.rejected");
        assert!(
            refusal.message.contains("not by mail"),
            "the agent hears why: {refusal}"
        );
    }
    let over_http = lab.post("estimator", "/customer/mail", input).await;
    assert_eq!(over_http.member("code"), "approval.rejected");
    let named = lab
        .http(
            "estimator",
            Method::POST,
            "/customer/mail",
            &[("flowx-approval", &id)],
            input,
        )
        .await;
    assert_eq!(named.member("code"), "approval.rejected");
    join_all((0..8).map(|_| lab.call("estimator", "customer.mail", input))).await;
    assert_eq!(lab.world.total(), 0);
    assert!(
        lab.waiting().await.is_empty(),
        "the same question is not asked again at once"
    );
    lab.watch.forward(Duration::from_secs(600));
    assert_eq!(
        lab.code("estimator", "customer.mail", input).await,
        "approval.required",
        "but later it may be"
    );
    assert_eq!(lab.world.total(), 0);
}

async fn c09_time_running_out_is_no_approval_and_is_recorded_as_what_it_is(lab: Lab) {
    lab.call("estimator", "repair.price", PRICE).await;
    let (id, _) = lab.only().await;
    lab.watch.forward(Duration::from_secs(4_000));
    lab.core.gate().keep_up().await.unwrap();
    assert_eq!(lab.status(&id).await, "expired");
    let records = lab.audit().await;
    let of_it: Vec<_> = records
        .iter()
        .filter(|r| r.get("proposal").and_then(Json::as_str) == Some(&id))
        .map(|r| r.get("kind").and_then(Json::as_str).unwrap())
        .collect();
    assert_eq!(of_it, ["proposal.waiting", "proposal.expired"]);
    // A question in a client that nobody answers.
    let elicit = lab.under(ConfirmationPolicy::Elicit).await;
    let answer = elicit
        .call_by(
            Client::answering(Reply::TimedOut),
            "bob",
            "ticket.refund",
            "{}",
        )
        .await;
    assert_eq!(
        (code(&answer).as_str(), outcome(&answer).as_str()),
        ("mcp.confirmation_refused", "timed_out")
    );
    assert_eq!(lab.world.total(), 0);
}

async fn c10_a_tool_that_is_hidden_does_not_run_when_it_is_named(lab: Lab) {
    let agent = crate::lab::who("estimator");
    assert!(
        lab.core.flow(&agent, "repair.scrap@1.0.0").is_none(),
        "not listed"
    );
    assert_eq!(lab.code("estimator", "repair.scrap", "{}").await, "unknown");
    let over_http = lab.post("estimator", "/repair/scrap", "{}").await;
    assert_eq!(
        over_http.status,
        StatusCode::NOT_FOUND,
        "{}",
        over_http.text
    );
    assert!(
        lab.waiting().await.is_empty(),
        "and nothing is proposed that could be approved later"
    );
    assert_eq!(lab.world.total(), 0);
    // A skill's word does not bring it back, and a skill hides what it does not name.
    for (flow, seen) in [
        ("repair.scrap", "unknown"),
        ("customer.mail", "unknown"),
        ("repair.note", "approval.required"),
    ] {
        let mut invocation = lab.invocation("estimator", flow, "{}", Transport::Mcp);
        invocation.skill = Some("looking".into());
        assert_eq!(
            code(&lab.core.call(invocation, Arc::new(Client::mute())).await),
            seen,
            "{flow}"
        );
    }
    // Ruled out while it waits: whoever says yes, it does not run.
    lab.call("estimator", "customer.mail", "{}").await;
    let mail = lab
        .waiting()
        .await
        .into_iter()
        .find(|p| p.to_canonical().contains("customer.mail"))
        .unwrap();
    let id = mail.get("id").and_then(Json::as_str).unwrap();
    let fingerprint = mail.get("fingerprint").and_then(Json::as_str).unwrap();
    let next = lab
        .released(|m| {
            m.agents[0].tools.insert(
                "customer.mail".parse().unwrap(),
                flowx_manifest::Leave::Never,
            );
        })
        .await;
    let answer = next.approve("ada", id, fingerprint).await;
    assert_eq!(answer.member("code"), "approval.stale", "{}", answer.text);
    assert_eq!(lab.world.total(), 0);
}

async fn c11_a_failure_after_the_yes_was_used_is_answered_again_and_not_run_again(lab: Lab) {
    let input = r#"{"card":"x","fail":true}"#;
    lab.call("bob", "card.archive", input).await;
    let (id, fingerprint) = lab.only().await;
    lab.approve("lead", &id, &fingerprint).await;
    assert_eq!(lab.code("bob", "card.archive", input).await, "repair.broke");
    assert_eq!(lab.world.total(), 1, "it took effect and then failed");
    assert_eq!(lab.status(&id).await, "failed");
    let again = lab.call("bob", "card.archive", input).await;
    assert_eq!(code(&again), "repair.broke", "the original outcome");
    assert_eq!(
        lab.code("bob", "card.archive", input).await,
        "approval.required",
        "then only a new yes"
    );
    assert_eq!(lab.world.total(), 1);
    // One that ran to its end is answered with its own output.
    let input = r#"{"card":"y"}"#;
    lab.call("bob", "card.archive", input).await;
    let waiting = lab.waiting().await;
    let y = waiting
        .iter()
        .find(|p| !p.to_canonical().contains("fail"))
        .unwrap();
    let text = |name: &str| y.get(name).and_then(Json::as_str).unwrap();
    lab.approve("lead", text("id"), text("fingerprint")).await;
    let first = lab.call("bob", "card.archive", input).await;
    let second = lab.call("bob", "card.archive", input).await;
    assert!(matches!(first, CallOutcome::Done(_)));
    assert_eq!(first, second);
    assert_eq!(lab.world.total(), 2);
}

async fn c12_text_that_would_deceive_a_person_is_written_out(lab: Lab) {
    let input = r#"{"command":"rm\u200b -rf /","name":"\u202egpj.exe","note":"ok\n  amount = 1\nAsked by: lead"}"#;
    lab.call("bob", "card.archive", input).await;
    let waiting = lab.waiting().await;
    let shown = waiting[0].get("arguments").unwrap().to_canonical();
    for hidden in ["\u{200b}", "\u{202e}", "\\n  amount"] {
        assert!(
            !shown.contains(hidden) || hidden.starts_with('\\'),
            "{hidden:?} is shown raw"
        );
    }
    for written in [
        r"rm\\u{200b} -rf /",
        r"\\u{202e}gpj.exe",
        r"ok\\n  amount = 1\\nAsked by: lead",
    ] {
        assert!(shown.contains(written), "{written} is not in {shown}");
    }
    let elicit = lab.under(ConfirmationPolicy::Elicit).await;
    let client = Arc::new(Client::answering(Reply::Decline));
    let channel: Arc<dyn flowx_runtime::Channel> = Arc::<Client>::clone(&client);
    elicit
        .core
        .call(
            lab.invocation("bob", "ticket.refund", input, Transport::Mcp),
            channel,
        )
        .await;
    let asked = client.asked.lock().unwrap();
    let flowx_runtime::Ask::Form { message, .. } = &asked[0] else {
        panic!("{asked:?}")
    };
    assert!(
        !message.contains('\u{200b}') && !message.contains('\u{202e}'),
        "{message}"
    );
    assert_eq!(
        message
            .lines()
            .filter(|l| l.starts_with("Asked by:"))
            .count(),
        1,
        "{message}"
    );
    assert_eq!(lab.world.total(), 0);
}

async fn c13_a_call_that_is_sent_again_makes_no_second_row_and_an_unused_yes_is_no_success(
    lab: Lab,
) {
    let input = r#"{"card":"x"}"#;
    lab.call("bob", "card.archive", input).await;
    let (id, fingerprint) = lab.only().await;
    // A crash of everything in memory: a new instance, and the caller sends it again.
    let after = lab.another().await;
    join_all((0..8).map(|_| after.call("bob", "card.archive", input))).await;
    assert_eq!(after.only().await.0, id);
    assert_eq!(
        after
            .approve("lead", &id, &fingerprint)
            .await
            .member("status"),
        "approved"
    );
    after.watch.forward(Duration::from_secs(700));
    after.core.gate().keep_up().await.unwrap();
    assert_eq!(
        after.status(&id).await,
        "expired",
        "approved and never redeemed"
    );
    assert_eq!(lab.world.total(), 0);
}

async fn c14_executing_is_written_before_the_effect(lab: Lab) {
    let input = r#"{"card":"x","hang":true}"#;
    lab.call("bob", "card.archive", input).await;
    let (id, fingerprint) = lab.only().await;
    lab.approve("lead", &id, &fingerprint).await;
    let running = {
        let lab = lab.clone();
        tokio::spawn(async move {
            lab.call("bob", "card.archive", r#"{"card":"x","hang":true}"#)
                .await
        })
    };
    while lab.world.total() == 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let row = lab.store.proposal(&id).await.unwrap().unwrap();
    assert_eq!(
        row.status.as_str(),
        "executing",
        "at the effect the row says so"
    );
    assert_eq!(
        lab.code("bob", "card.archive", input).await,
        "approval.running"
    );
    // The caller goes away while it runs: nobody knows how it ended, and it is not run again.
    running.abort();
    let _ = running.await;
    for _ in 0..200 {
        if lab.status(&id).await == "unknown" {
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(lab.status(&id).await, "unknown");
    assert_eq!(
        lab.code("bob", "card.archive", input).await,
        "approval.unknown"
    );
    assert_eq!(lab.world.total(), 1);
    // A person looks into it and says that it is not to be run again.
    assert_eq!(
        lab.reject("lead", &id, "the card is gone already")
            .await
            .status,
        StatusCode::OK
    );
    assert_eq!(
        lab.code("bob", "card.archive", input).await,
        "approval.rejected"
    );
    assert_eq!(lab.world.total(), 1);
}

async fn c15_two_decisions_at_once_have_one_winner(lab: Lab) {
    let other = lab.another().await;
    for round in 0..6 {
        let input = format!(r#"{{"card":"{round}"}}"#);
        lab.call("bob", "card.archive", &input).await;
        let (id, fingerprint) = lab.only().await;
        let (meeting, [here, there]) = meeting([&lab, &other], 2).await;
        let (yes, no) = tokio::join!(
            here.approve("lead", &id, &fingerprint),
            there.reject("lead", &id, "no")
        );
        assert!(meeting.took_place());
        // A no may also take back a yes that came first; a yes never takes back a no.
        let status = lab.status(&id).await;
        match (yes.status, no.status) {
            (StatusCode::OK, StatusCode::OK) => assert_eq!(status, "rejected"),
            (StatusCode::OK, _) => assert_eq!(status, "approved"),
            (_, StatusCode::OK) => assert_eq!(status, "rejected"),
            other => panic!("nobody won: {other:?}"),
        }
        if status == "approved" {
            assert_eq!(lab.reject("lead", &id, "no").await.status, StatusCode::OK);
        }
    }
    assert_eq!(lab.world.total(), 0);
}

async fn c15_nobody_decides_their_own_call_unless_declared(lab: Lab) {
    // A manager may decide everything, and asks for something.
    lab.call("mechanic", "card.archive", r#"{"card":"mine"}"#)
        .await;
    let (id, fingerprint) = lab.only().await;
    let own = lab.approve("mechanic", &id, &fingerprint).await;
    assert_eq!(own.status, StatusCode::FORBIDDEN, "{}", own.text);
    // An agent decides nothing, whoever it works for.
    let agent = lab.approve("estimator", &id, &fingerprint).await;
    assert!(
        [StatusCode::FORBIDDEN, StatusCode::NOT_FOUND].contains(&agent.status),
        "{}",
        agent.text
    );
    assert_eq!(lab.status(&id).await, "waiting");
    assert_eq!(lab.world.total(), 0);
    // Where the declaration lets them, they may.
    let input = r#"{"name":"new"}"#;
    assert_eq!(
        lab.code("bob", "card.rename", input).await,
        "approval.required"
    );
    let waiting = lab.get("bob", "/flowx/proposals?status=waiting").await;
    let mine = &waiting
        .json
        .get("proposals")
        .and_then(Json::as_array)
        .unwrap()[0];
    let text = |name: &str| mine.get(name).and_then(Json::as_str).unwrap();
    assert_eq!(
        lab.approve("bob", text("id"), text("fingerprint"))
            .await
            .status,
        StatusCode::OK
    );
    assert_eq!(lab.code("bob", "card.rename", input).await, "done");
    assert_eq!(lab.world.total(), 1);
}

async fn c16_key_order_changes_nothing_and_duplicates_are_refused(lab: Lab) {
    lab.call("bob", "card.archive", r#"{"a":1,"b":{"c":2,"d":3}}"#)
        .await;
    let (id, fingerprint) = lab.only().await;
    lab.approve("lead", &id, &fingerprint).await;
    let twice = lab
        .post("bob", "/card/archive", r#"{"a":1,"b":{"c":9,"c":2,"d":3}}"#)
        .await;
    assert_eq!(
        (twice.status, twice.member("code")),
        (StatusCode::BAD_REQUEST, "input.invalid"),
        "{}",
        twice.text
    );
    let decided = lab
        .post(
            "lead",
            &format!("/flowx/proposals/{id}/approve"),
            r#"{"fingerprint":"x","fingerprint":"y"}"#,
        )
        .await;
    assert_eq!(decided.status, StatusCode::BAD_REQUEST);
    assert_eq!(lab.world.total(), 0);
    assert_eq!(
        lab.code("bob", "card.archive", r#"{"b":{"d":3,"c":2},"a":1}"#)
            .await,
        "done"
    );
    assert_eq!(lab.world.total(), 1);
}

async fn c17_a_yes_to_other_words_is_no_yes(lab: Lab) {
    lab.call("estimator", "repair.price", PRICE).await;
    let (id, page) = lab.only().await;
    // While the page is open somebody with the database in hand puts another call under the same id.
    let row = lab.store.proposal(&id).await.unwrap().unwrap();
    let mut other = row.clone();
    other.revision += 1;
    other.shown.fields[0].value = "1".into();
    assert!(lab.store.swap(row.revision, &other, &[]).await.unwrap());
    let answer = lab.approve("ada", &id, &page).await;
    assert_eq!(answer.member("code"), "approval.stale", "{}", answer.text);
    // The words put back and the call exchanged: the words match, and what would run does not.
    let mut another = row.clone();
    another.revision += 2;
    another.input = Some(r#"{"cents":1,"ticket":"7"}"#.into());
    assert!(lab.store.swap(other.revision, &another, &[]).await.unwrap());
    let answer = lab.approve("ada", &id, &page).await;
    assert_eq!(answer.member("code"), "approval.stale", "{}", answer.text);
    // A yes does not cover what changed.
    lab.call("estimator", "repair.price", r#"{"ticket":"8"}"#)
        .await;
    let (id, page) = lab.only().await;
    lab.world.change();
    let answer = lab.approve("ada", &id, &page).await;
    assert_eq!(answer.member("code"), "approval.stale", "{}", answer.text);
    assert_eq!(lab.status(&id).await, "stale");
    assert_eq!(lab.world.total(), 0);
}

/// Over the wire, since sessions are the transport's: a client of 2025-11-25 that is asked on the stream of its call.
async fn c18_a_question_in_somebodys_session_is_theirs_alone_to_answer(lab: Lab) {
    let lab = lab.under(ConfirmationPolicy::Elicit).await;
    let session = crate::wire::open(&lab, "bob").await;
    let mut call = crate::wire::call(&lab, "bob", &session, "ticket_refund").await;
    let question = call.question().await;
    assert_eq!(lab.world.total(), 0, "it ran before the answer");
    let yes = crate::wire::accept(&question);
    // Another person, an agent and a supervisor, each with their own token and his session.
    for other in ["ada", "manager", "estimator", "sponsor-elsewhere"] {
        let status = crate::wire::say(&lab, other, &session, &yes).await;
        assert_eq!(status, StatusCode::NOT_FOUND, "{other}");
    }
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert_eq!(lab.world.total(), 0, "somebody else's yes ran it");
    // On another instance there is no such session for anybody.
    let elsewhere = lab.another().await;
    let status = crate::wire::say(&elsewhere, "bob", &session, &yes).await;
    assert_eq!(status, StatusCode::NOT_FOUND);
    assert_eq!(lab.world.total(), 0);
    assert_eq!(
        crate::wire::say(&lab, "bob", &session, &yes).await,
        StatusCode::ACCEPTED
    );
    let end = call.answer().await;
    assert!(end.contains("structuredContent"), "{end}");
    assert_eq!(lab.world.total(), 1);
    // And a second yes to the same question is to nothing.
    crate::wire::say(&lab, "bob", &session, &yes).await;
    assert_eq!(lab.world.total(), 1);
}

async fn c19_a_sealed_state_is_good_once_for_one_call_by_one_caller_until_its_time(lab: Lab) {
    let a = lab.under(ConfirmationPolicy::Elicit).await;
    let b = a.another().await;
    let input = r#"{"ticket":"T-1"}"#;
    let fresh = async |lab: &Lab, input: &str| match lab
        .call_by(Client::retrying(None), "bob", "ticket.refund", input)
        .await
    {
        CallOutcome::InputRequired { state, asks } => {
            assert!(asks.contains_key("confirm"));
            state
        }
        other => panic!("{other:?}"),
    };
    let with = |state: &str, reply: Reply| {
        Client::retrying(Some(Given {
            state: state.into(),
            replies: [("confirm".to_owned(), reply)].into(),
        }))
    };
    let yes = || Reply::Accept(Json::object([("approve", true.into())]));

    let state = fresh(&a, input).await;
    // Other arguments, another caller, another tool, after a change of the manifest.
    let wrong = [
        a.call_by(
            with(&state, yes()),
            "bob",
            "ticket.refund",
            r#"{"ticket":"T-2"}"#,
        )
        .await,
        a.call_by(with(&state, yes()), "manager", "ticket.refund", input)
            .await,
        a.call_by(with(&state, yes()), "bob", "parts.order", input)
            .await,
    ];
    for answer in &wrong {
        assert_eq!(outcome(answer), "state_refused", "{answer:?}");
    }
    let next = a.released(|m| m.application.version = "0.2.0".into()).await;
    assert_eq!(
        outcome(
            &next
                .call_by(with(&state, yes()), "bob", "ticket.refund", input)
                .await
        ),
        "state_refused"
    );
    assert_eq!(lab.world.total(), 0);
    // An answer that is none is asked again, and spends nothing.
    assert_eq!(
        code(
            &a.call_by(with(&state, Reply::Invalid), "bob", "ticket.refund", input)
                .await
        ),
        "input_required"
    );
    // The second round on the other instance; then a replay on either.
    assert_eq!(
        code(
            &b.call_by(with(&state, yes()), "bob", "ticket.refund", input)
                .await
        ),
        "done"
    );
    for lab in [&a, &b] {
        assert_eq!(
            outcome(
                &lab.call_by(with(&state, yes()), "bob", "ticket.refund", input)
                    .await
            ),
            "state_refused"
        );
    }
    assert_eq!(lab.world.total(), 1);
    // At once on both: once.
    let state = fresh(&a, input).await;
    let calls = (0..8).map(|i| {
        (if i % 2 == 0 { &a } else { &b }).call_by(
            with(&state, yes()),
            "bob",
            "ticket.refund",
            input,
        )
    });
    assert_eq!(
        join_all(calls)
            .await
            .iter()
            .filter(|o| code(o) == "done")
            .count(),
        1
    );
    assert_eq!(lab.world.total(), 2);
    // A no is spent as well.
    let state = fresh(&a, input).await;
    assert_eq!(
        outcome(
            &a.call_by(with(&state, Reply::Decline), "bob", "ticket.refund", input)
                .await
        ),
        "declined"
    );
    assert_eq!(
        outcome(
            &b.call_by(with(&state, yes()), "bob", "ticket.refund", input)
                .await
        ),
        "state_refused"
    );
    // After its time.
    let state = fresh(&a, input).await;
    a.watch.forward(Duration::from_secs(180));
    assert_eq!(
        outcome(
            &a.call_by(with(&state, yes()), "bob", "ticket.refund", input)
                .await
        ),
        "state_refused"
    );
    assert_eq!(lab.world.total(), 2);
}

async fn c20_an_accept_that_does_not_say_yes_is_no_yes(lab: Lab) {
    let elicit = lab.under(ConfirmationPolicy::Elicit).await;
    let contents = [
        Json::Null,
        Json::empty(),
        Json::from("yes"),
        Json::from(true),
        Json::object([("approve", Json::from("true"))]),
        Json::object([("approve", Json::from("false"))]),
        Json::object([("approve", Json::from(1))]),
        Json::object([("approve", Json::Null)]),
        Json::object([("approve", Json::from(false))]),
        Json::object([("Approve", Json::from(true))]),
        Json::object([("confirm", Json::from(true))]),
    ];
    for content in contents {
        let answer = elicit
            .call_by(
                Client::answering(Reply::Accept(content.clone())),
                "bob",
                "ticket.refund",
                "{}",
            )
            .await;
        assert_eq!(code(&answer), "mcp.confirmation_refused", "{content}");
    }
    for reply in [
        Reply::Decline,
        Reply::Cancel,
        Reply::Gone,
        Reply::Invalid,
        Reply::TimedOut,
    ] {
        let answer = elicit
            .call_by(
                Client::answering(reply.clone()),
                "bob",
                "ticket.refund",
                "{}",
            )
            .await;
        assert_eq!(code(&answer), "mcp.confirmation_refused", "{reply:?}");
    }
    assert_eq!(lab.world.total(), 0);
    let yes = Reply::Accept(Json::object([("approve", true.into())]));
    assert_eq!(
        code(
            &elicit
                .call_by(Client::answering(yes), "bob", "ticket.refund", "{}")
                .await
        ),
        "done"
    );
    assert_eq!(lab.world.total(), 1);
}

async fn c21_a_caller_that_cannot_be_asked_is_refused(lab: Lab) {
    let elicit = lab.under(ConfirmationPolicy::Elicit).await;
    for transport in [Transport::Mcp, Transport::Stdio] {
        let invocation = elicit.invocation("bob", "ticket.refund", "{}", transport);
        let answer = elicit.core.call(invocation, Arc::new(Client::mute())).await;
        assert_eq!(
            (code(&answer).as_str(), outcome(&answer).as_str()),
            ("cannot_ask", "cannot_ask"),
            "{answer:?}"
        );
    }
    // The same agent meets the same gate over HTTP, where nobody can be asked either.
    let agent = elicit.post("stranger-bot", "/ticket/refund", "{}").await;
    assert_eq!(
        agent.status,
        StatusCode::PRECONDITION_REQUIRED,
        "an undeclared agent proposes: {}",
        agent.text
    );
    assert_eq!(lab.world.total(), 0);
    // A person who clicks for themselves is not asked by their own hands.
    assert_eq!(
        elicit.post("bob", "/ticket/refund", "{}").await.status,
        StatusCode::OK
    );
    assert_eq!(lab.world.total(), 1);
}

async fn c22_nothing_defaults_to_yes(lab: Lab) {
    // No declaration for the agent that calls: reads alone, everything else proposed.
    assert_eq!(
        lab.code("stranger-bot", "ticket.refund", "{}").await,
        "approval.required"
    );
    assert_eq!(
        lab.code("stranger-bot", "ticket.search", "{}").await,
        "done"
    );
    assert_eq!(
        lab.code("stranger-bot", "card.archive", "{}").await,
        "approval.required"
    );
    // A store that cannot be reached refuses; it is not an empty one.
    let dark = Lab::with_store(
        lab.setup.clone(),
        Failing::dark(Arc::new(MemoryStore::for_tests())),
    )
    .await;
    for (token, flow) in [
        ("bob", "ticket.refund"),
        ("estimator", "repair.price"),
        ("estimator", "repair.note"),
        ("bob", "card.archive"),
    ] {
        let answer = dark.call(token, flow, "{}").await;
        assert_eq!(code(&answer), "server.unavailable", "{token} {flow}");
    }
    let over_http = dark.post("bob", "/ticket/refund", "{}").await;
    assert_eq!(over_http.status, StatusCode::SERVICE_UNAVAILABLE);
    // One that only cannot find the row of a call: that is not "nobody asked yet".
    let half = Broken {
        inner: Arc::clone(&lab.store),
        defect: Defect::CannotLook,
    };
    let half = Lab::with_store(lab.setup.clone(), Arc::new(half)).await;
    let waiting = lab.waiting().await.len();
    let answer = half.call("bob", "card.archive", "{}").await;
    assert_eq!(code(&answer), "server.unavailable");
    assert_eq!(lab.waiting().await.len(), waiting, "and nothing was asked");
    assert_eq!(lab.world.total(), 0);
}
