//! Confirmation: who is asked, how, and what it is worth.

use std::sync::Arc;

use flowx_manifest::Json;
use flowx_runtime::{Ask, Channel, ConfirmationPolicy, Reply, Transport};
use http::{Method, StatusCode};

use crate::case_list;
use crate::lab::{Client, Lab, code, outcome};

case_list! { CONFIRMATION:
    a_declined_confirmation_means_the_flow_is_never_entered,
    nobody_is_asked_about_a_call_that_would_be_refused_anyway,
    a_tool_with_no_declared_consequence_is_not_asked_about,
    the_prompt_names_what_matters_and_withholds_what_is_sensitive,
    confirmed_out_of_band_it_is_a_stored_proposal,
    high_risk_is_decided_on_the_servers_own_page,
    the_word_in_the_pages_address_names_no_proposal,
}

fn yes() -> Reply {
    Reply::Accept(Json::object([("approve", true.into())]))
}

async fn asked_of(
    lab: &Lab,
    reply: Reply,
    token: &str,
    flow: &str,
    input: &str,
) -> (flowx_runtime::CallOutcome, Vec<Ask>) {
    let client = Arc::new(Client::answering(reply));
    let channel: Arc<dyn Channel> = Arc::<Client>::clone(&client);
    let answer = lab
        .core
        .call(lab.invocation(token, flow, input, Transport::Mcp), channel)
        .await;
    let asked = client.asked.lock().unwrap().clone();
    (answer, asked)
}

async fn a_declined_confirmation_means_the_flow_is_never_entered(lab: Lab) {
    let lab = lab.under(ConfirmationPolicy::Elicit).await;
    for reply in [
        Reply::Decline,
        Reply::Cancel,
        Reply::TimedOut,
        Reply::Gone,
        Reply::Invalid,
    ] {
        let (answer, asked) = asked_of(&lab, reply, "bob", "ticket.refund", "{}").await;
        assert_eq!(
            (code(&answer).as_str(), asked.len()),
            ("mcp.confirmation_refused", 1)
        );
    }
    assert_eq!(lab.world.total(), 0);
    let kinds: Vec<_> = lab
        .audit()
        .await
        .iter()
        .map(|r| r.get("kind").and_then(Json::as_str).unwrap().to_owned())
        .collect();
    assert!(!kinds.contains(&"call.started".to_owned()), "{kinds:?}");
    let (answer, _) = asked_of(&lab, yes(), "bob", "ticket.refund", "{}").await;
    assert_eq!((code(&answer).as_str(), lab.world.total()), ("done", 1));
}

async fn nobody_is_asked_about_a_call_that_would_be_refused_anyway(lab: Lab) {
    let lab = lab.under(ConfirmationPolicy::Elicit).await;
    let (answer, asked) = asked_of(&lab, yes(), "lead", "ticket.refund", "{}").await;
    assert_eq!(
        (code(&answer).as_str(), asked.len()),
        ("authorization.permission_denied", 0)
    );
    // One stance refuses the same caller on both transports.
    let over_http = lab.post("lead", "/ticket/refund", "{}").await;
    assert_eq!(
        (over_http.status, over_http.member("code")),
        (StatusCode::FORBIDDEN, "authorization.permission_denied")
    );
    assert_eq!(lab.world.total(), 0);
}

async fn a_tool_with_no_declared_consequence_is_not_asked_about(lab: Lab) {
    for policy in [ConfirmationPolicy::Elicit, ConfirmationPolicy::Gate] {
        let lab = lab.under(policy).await;
        let (answer, asked) = asked_of(&lab, Reply::Decline, "bob", "ticket.search", "{}").await;
        assert_eq!((code(&answer).as_str(), asked.len()), ("done", 0));
        assert_eq!(
            lab.code("bob", "ticket.search", "{}").await,
            "done",
            "nor does one need to be askable"
        );
    }
}

async fn the_prompt_names_what_matters_and_withholds_what_is_sensitive(lab: Lab) {
    let lab = lab.under(ConfirmationPolicy::Elicit).await;
    let input = r#"{"ticket":"T-1","card":"4111","lines":[{"pin":"9999","text":"x"}]}"#;
    let (_, asked) = asked_of(&lab, Reply::Decline, "bob", "ticket.refund", input).await;
    let Ask::Form { message, schema } = &asked[0] else {
        panic!("{asked:?}")
    };
    for part in [
        "ticket.refund",
        "Asked by: bob",
        "till (spends)",
        "payment.refund (approving grants none of them)",
        "ticket = \"T-1\"",
        "Withheld here as sensitive: card, lines/0/pin",
    ] {
        assert!(message.contains(part), "{part} is not in\n{message}");
    }
    assert!(
        !message.contains("4111") && !message.contains("9999"),
        "{message}"
    );
    // Flat, and of one yes: what 2025-11-25 clients can show.
    assert_eq!(
        schema
            .pointer("/properties/approve/type")
            .and_then(Json::as_str),
        Some("boolean")
    );
    assert_eq!(
        schema.pointer("/required"),
        Some(&Json::from(vec!["approve"]))
    );
    assert_eq!(lab.world.total(), 0);
}

async fn confirmed_out_of_band_it_is_a_stored_proposal(lab: Lab) {
    let lab = lab.under(ConfirmationPolicy::Gate).await;
    assert_eq!(
        lab.code("bob", "ticket.refund", "{}").await,
        "approval.required"
    );
    let (id, fingerprint) = lab.only().await;
    assert_eq!(lab.world.total(), 0);
    // It is Bob's own model that asked in his name; he says yes himself, elsewhere.
    let answer = lab.approve("bob", &id, &fingerprint).await;
    assert_eq!(answer.member("status"), "done", "{}", answer.text);
    assert_eq!(lab.world.total(), 1);
    assert_eq!(lab.code("bob", "ticket.refund", "{}").await, "done");
    assert_eq!(lab.world.total(), 1);
}

async fn high_risk_is_decided_on_the_servers_own_page(lab: Lab) {
    let lab = lab.under(ConfirmationPolicy::Elicit).await;
    // A client that has no pages is refused, and so is one that only says yes.
    let form_only = Client {
        url: flowx_runtime::Asking::Cannot,
        ..Client::answering(yes())
    };
    assert_eq!(
        outcome(&lab.call_by(form_only, "bob", "till.empty", "{}").await),
        "cannot_ask"
    );
    let client = Client::retrying(None);
    let flowx_runtime::CallOutcome::InputRequired { asks, state } =
        lab.call_by(client, "bob", "till.empty", "{}").await
    else {
        panic!("it is asked")
    };
    let Some(Ask::Url { url, .. }) = asks.get("confirm") else {
        panic!("{asks:?}")
    };
    let path = url.strip_prefix("https://desk.example").unwrap();
    let given = |reply: Reply| flowx_runtime::Given {
        state: state.clone(),
        replies: [("confirm".to_owned(), reply)].into(),
    };
    let says_yes = lab
        .call_by(
            Client::retrying(Some(given(yes()))),
            "bob",
            "till.empty",
            "{}",
        )
        .await;
    assert_eq!(
        code(&says_yes),
        "input_required",
        "the client's word is not enough"
    );
    assert_eq!(lab.world.total(), 0);
    // The page itself tells nothing; its data needs a credential of somebody who may decide.
    let page = lab.get("bob", path).await;
    assert_eq!(page.status, StatusCode::OK);
    assert!(!page.text.contains("till.empty"), "{}", page.text);
    let stranger = lab.get("lead", &format!("{path}/call")).await;
    assert_eq!(stranger.status, StatusCode::NOT_FOUND);
    let agent = lab
        .post(
            "estimator",
            &format!("{path}/approve"),
            r#"{"fingerprint":"x"}"#,
        )
        .await;
    assert_eq!(agent.status, StatusCode::NOT_FOUND);
    let call = lab.get("bob", &format!("{path}/call")).await;
    let body = format!(r#"{{"fingerprint":"{}"}}"#, call.member("fingerprint"));
    assert_eq!(
        lab.post("bob", &format!("{path}/approve"), &body)
            .await
            .member("status"),
        "approved"
    );
    assert_eq!(lab.world.total(), 0);
    let done = lab
        .call_by(
            Client::retrying(Some(given(yes()))),
            "bob",
            "till.empty",
            "{}",
        )
        .await;
    assert_eq!((code(&done).as_str(), lab.world.total()), ("done", 1));
    // A client that says no is believed.
    let no = lab
        .call_by(
            Client::retrying(Some(given(Reply::Decline))),
            "bob",
            "till.empty",
            r#"{"n":2}"#,
        )
        .await;
    assert_eq!((outcome(&no).as_str(), lab.world.total()), ("declined", 1));
}

async fn the_word_in_the_pages_address_names_no_proposal(lab: Lab) {
    let lab = lab.under(ConfirmationPolicy::Elicit).await;
    let answer = lab
        .call_by(Client::retrying(None), "bob", "till.empty", "{}")
        .await;
    let (id, fingerprint) = lab.only().await;
    let said = format!("{answer:?}");
    assert!(
        !said.contains(&id) && !said.contains(&fingerprint),
        "{said}"
    );
    for word in ["x", &id, "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"] {
        let guessed = lab
            .http(
                "bob",
                Method::GET,
                &format!("/flowx/confirm/{word}/call"),
                &[],
                "",
            )
            .await;
        assert_eq!(guessed.status, StatusCode::NOT_FOUND, "{word}");
    }
    assert_eq!(lab.world.total(), 0);
}
