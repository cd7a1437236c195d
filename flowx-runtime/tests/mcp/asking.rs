//! Asking a person through the client, in both eras: whatever does not come back as a yes of the right caller to the right call changes
//! nothing.

use std::time::Duration;

use axum::body::Body;
use flowx_runtime::Visibility;
use flowx_runtime::mcp::McpOptions;
use http::{Method, StatusCode};
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tower::ServiceExt;

use crate::support::{Answer, Desk, desk};

const CALL: &str = r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"ticket_asked","arguments":{"amount":5},"_meta":{"progressToken":"p"}}}"#;

fn asking_desk() -> Desk {
    desk(
        Visibility::All,
        McpOptions {
            ask_timeout: Duration::from_millis(400),
            ask_keep_alive: Duration::from_millis(50),
            ..McpOptions::default()
        },
    )
}

fn form() -> Value {
    json!({ "elicitation": {} })
}

/// What a person fills in who says yes to everything.
fn yes(schema: &Value) -> Value {
    let names = schema["properties"].as_object().unwrap().keys();
    json!({ "action": "accept", "content": names.map(|n| (n.clone(), Value::Bool(true))).collect::<serde_json::Map<_, _>>() })
}

/// The stream of a 2025-11-25 call, message by message.
struct Stream {
    body: Body,
    text: String,
}

impl Stream {
    async fn next(&mut self) -> Option<Value> {
        loop {
            if let Some((event, rest)) = self.text.split_once("\n\n") {
                let data: String = event
                    .lines()
                    .filter_map(|l| l.strip_prefix("data:"))
                    .map(str::trim_start)
                    .collect();
                self.text = rest.to_owned();
                if !data.is_empty() {
                    return Some(serde_json::from_str(&data).unwrap());
                }
                continue;
            }
            let frame = tokio::time::timeout(Duration::from_secs(10), self.body.frame())
                .await
                .unwrap()?;
            self.text
                .push_str(std::str::from_utf8(&frame.unwrap().into_data().unwrap()).unwrap());
        }
    }

    /// The next message that is no progress.
    async fn next_said(&mut self) -> Option<Value> {
        loop {
            let message = self.next().await?;
            if message["method"] != "notifications/progress" {
                return Some(message);
            }
        }
    }
}

async fn call(desk: &Desk, token: &str, session: &str) -> Stream {
    let headers = [
        ("mcp-session-id", session),
        ("mcp-protocol-version", "2025-11-25"),
    ];
    let request = desk.request(Method::POST, token, &headers, CALL);
    let response = desk.router.clone().oneshot(request).await.unwrap();
    assert_eq!(response.status(), StatusCode::OK);
    Stream {
        body: response.into_body(),
        text: String::new(),
    }
}

async fn reply(
    desk: &Desk,
    token: &str,
    session: &str,
    question: &Value,
    result: Value,
) -> StatusCode {
    let body = json!({ "jsonrpc": "2.0", "id": question["id"], "result": result }).to_string();
    desk.legacy_text(token, session, &body).await.status
}

fn refused(result: &Value) -> Value {
    assert_eq!(result["isError"], true, "{result}");
    serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap()
}

#[tokio::test]
async fn a_yes_on_the_stream_of_the_call_lets_it_run_once() {
    let desk = asking_desk();
    let session = desk.open("manager", form()).await;
    let mut stream = call(&desk, "manager", &session).await;
    let question = stream.next_said().await.unwrap();
    assert_eq!(question["method"], "elicitation/create");
    assert_eq!(desk.ledger.count(), 0, "it ran before the answer");
    let answer = yes(&question["params"]["requestedSchema"]);
    assert_eq!(
        reply(&desk, "manager", &session, &question, answer.clone()).await,
        StatusCode::ACCEPTED
    );
    let result = stream.next_said().await.unwrap();
    assert_eq!(
        result["result"]["structuredContent"],
        json!({ "amount": 5 })
    );
    // The same answer again is an answer to nothing.
    reply(&desk, "manager", &session, &question, answer).await;
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert_eq!(desk.ledger.count(), 1);
}

#[tokio::test]
async fn whatever_is_no_yes_changes_nothing() {
    let desk = asking_desk();
    for (answer, outcome) in [
        (json!({ "action": "decline" }), "declined"),
        (json!({ "action": "cancel" }), "cancelled"),
        (json!({ "action": "accept" }), "not_an_answer"),
        (
            json!({ "action": "accept", "content": { "something": true } }),
            "not_an_answer",
        ),
    ] {
        let session = desk.open("manager", form()).await;
        let mut stream = call(&desk, "manager", &session).await;
        let question = stream.next_said().await.unwrap();
        reply(&desk, "manager", &session, &question, answer.clone()).await;
        let said = refused(&stream.next_said().await.unwrap()["result"]);
        assert_eq!(said["code"], "mcp.confirmation_refused");
        assert_eq!(said["detail"]["outcome"], outcome, "{answer}");
    }
    assert_eq!(desk.ledger.count(), 0);
}

#[tokio::test]
async fn another_caller_cannot_answer_somebodys_question() {
    let desk = asking_desk();
    let session = desk.open("manager", form()).await;
    let mut stream = call(&desk, "manager", &session).await;
    let question = stream.next_said().await.unwrap();
    let answer = yes(&question["params"]["requestedSchema"]);
    for token in ["other", "clerk"] {
        assert_eq!(
            reply(&desk, token, &session, &question, answer.clone()).await,
            StatusCode::NOT_FOUND
        );
        // Nor in a session of their own, where questions are counted from the same number.
        let own = desk.open(token, form()).await;
        reply(&desk, token, &own, &question, answer.clone()).await;
    }
    let said = refused(&stream.next_said().await.unwrap()["result"]);
    assert_eq!(said["detail"]["outcome"], "timed_out");
    assert_eq!(desk.ledger.count(), 0);
}

#[tokio::test]
async fn a_waiting_call_tells_that_it_is_alive_and_gives_up_within_the_clients_time() {
    let desk = asking_desk();
    let session = desk.open("manager", form()).await;
    let mut stream = call(&desk, "manager", &session).await;
    let (mut told, mut last) = (0, f64::NEG_INFINITY);
    let result = loop {
        let message = stream.next().await.unwrap();
        if message["method"] == "notifications/progress" {
            let now = message["params"]["progress"].as_f64().unwrap();
            assert!(now > last);
            (told, last) = (told + 1, now);
        } else if message.get("result").is_some() {
            break message;
        }
    };
    assert!(told >= 3, "{told}");
    assert_eq!(refused(&result["result"])["detail"]["outcome"], "timed_out");
    assert_eq!(desk.ledger.count(), 0);
}

#[tokio::test]
async fn a_client_that_cannot_be_asked_is_refused_and_told_why() {
    let desk = asking_desk();
    let session = desk.open("manager", json!({})).await;
    let said = refused(
        &call(&desk, "manager", &session)
            .await
            .next_said()
            .await
            .unwrap()["result"],
    );
    assert_eq!(said["code"], "mcp.confirmation_refused");
    assert!(
        said["message"].as_str().unwrap().contains("`elicitation`"),
        "{said}"
    );
    let modern = desk
        .modern(
            "manager",
            "tools/call",
            json!({ "name": "ticket_asked", "arguments": {} }),
        )
        .await;
    assert_eq!(
        (modern.status, modern.error_code()),
        (StatusCode::BAD_REQUEST, -32021)
    );
    let said = modern.last();
    let data = &said["error"]["data"];
    assert!(data["requiredCapabilities"].is_object(), "{data}");
    assert_eq!(
        data["dev.flowx/refusal"]["code"],
        "mcp.confirmation_refused"
    );
    assert!(modern.last()["error"]["data"]["requiredCapabilities"]["elicitation"].is_object());
    assert_eq!(desk.ledger.count(), 0);
}

#[tokio::test]
async fn without_sessions_the_refusal_names_the_setting() {
    let desk = desk(
        Visibility::All,
        McpOptions {
            legacy_sessions: false,
            ..McpOptions::default()
        },
    );
    let answer = desk
        .send(desk.request(
            Method::POST,
            "manager",
            &[("mcp-protocol-version", "2025-11-25")],
            CALL,
        ))
        .await;
    let said = refused(&answer.result());
    assert!(
        said["message"]
            .as_str()
            .unwrap()
            .contains("legacy_sessions"),
        "{said}"
    );
    assert_eq!(desk.ledger.count(), 0);
}

async fn first_round(desk: &Desk, arguments: Value) -> (Value, String) {
    let asked = desk
        .modern_as(
            "manager",
            "tools/call",
            json!({ "name": "ticket_asked", "arguments": arguments }),
            form(),
        )
        .await
        .result();
    assert_eq!(asked["resultType"], "input_required");
    let question = asked["inputRequests"]["confirm"].clone();
    assert_eq!(question["method"], "elicitation/create");
    (
        yes(&question["params"]["requestedSchema"]),
        asked["requestState"].as_str().unwrap().to_owned(),
    )
}

async fn second_round(
    desk: &Desk,
    token: &str,
    arguments: Value,
    answer: &Value,
    state: &str,
) -> Answer {
    let params = json!({
        "name": "ticket_asked", "arguments": arguments, "inputResponses": { "confirm": answer }, "requestState": state,
    });
    desk.modern_as(token, "tools/call", params, form()).await
}

#[tokio::test]
async fn a_yes_in_a_second_round_lets_it_run_once_and_never_again() {
    let desk = asking_desk();
    let (answer, state) = first_round(&desk, json!({ "amount": 5 })).await;
    assert_eq!(desk.ledger.count(), 0);
    let done = second_round(&desk, "manager", json!({ "amount": 5 }), &answer, &state)
        .await
        .result();
    assert_eq!(done["structuredContent"], json!({ "amount": 5 }));
    let again = second_round(&desk, "manager", json!({ "amount": 5 }), &answer, &state).await;
    assert_eq!(again.error_code(), -32602);
    assert_eq!(desk.ledger.count(), 1);
}

#[tokio::test]
async fn a_second_round_that_is_not_the_first_ones_changes_nothing() {
    let desk = asking_desk();
    let arguments = json!({ "amount": 5 });
    let (answer, state) = first_round(&desk, arguments.clone()).await;
    let last = if state.ends_with('A') { 'E' } else { 'A' };
    let tampered = format!("{}{last}", &state[..state.len() - 1]);
    // No answer, and answers without a state, are asked about again.
    for params in [
        json!({ "name": "ticket_asked", "arguments": arguments, "requestState": state }),
        json!({ "name": "ticket_asked", "arguments": arguments, "inputResponses": { "confirm": answer } }),
    ] {
        let asked = desk
            .modern_as("manager", "tools/call", params, form())
            .await
            .result();
        assert_eq!(asked["resultType"], "input_required");
    }
    // Another state, other arguments, another caller.
    for (token, arguments, state) in [
        ("manager", json!({ "amount": 5 }), tampered.as_str()),
        ("manager", json!({ "amount": 5 }), ""),
        ("manager", json!({ "amount": 6 }), state.as_str()),
        ("clerk", json!({ "amount": 5 }), state.as_str()),
    ] {
        let answer = second_round(&desk, token, arguments, &answer, state)
            .await
            .last();
        assert!(
            answer["result"]["isError"] == true || answer.get("error").is_some(),
            "{answer}"
        );
    }
    assert_eq!(desk.ledger.count(), 0);
    for answer in [
        json!({ "action": "decline" }),
        json!({ "action": "cancel" }),
    ] {
        let (_, state) = first_round(&desk, arguments.clone()).await;
        let said = refused(
            &second_round(&desk, "manager", arguments.clone(), &answer, &state)
                .await
                .result(),
        );
        assert_eq!(said["code"], "mcp.confirmation_refused");
        // The no is spent: a yes after it does not turn it round.
        let (yes, _) = first_round(&desk, json!({ "amount": 7 })).await;
        second_round(&desk, "manager", arguments.clone(), &yes, &state).await;
    }
    assert_eq!(desk.ledger.count(), 0);
}

#[tokio::test]
async fn nobody_is_asked_about_a_call_that_would_be_refused_anyway() {
    let desk = asking_desk();
    let answer = desk
        .modern_as(
            "clerk",
            "tools/call",
            json!({ "name": "ticket_asked", "arguments": {} }),
            form(),
        )
        .await;
    assert_eq!(
        refused(&answer.result())["code"],
        "authorization.permission_denied"
    );
    assert_eq!(desk.ledger.count(), 0);
}

async fn narrate(desk: &Desk, tool: &str, more: Value) -> Value {
    let mut params = json!({ "name": tool, "arguments": {} });
    for (name, value) in more.as_object().unwrap() {
        params[name] = value.clone();
    }
    let sampling = json!({ "sampling": {}, "elicitation": {} });
    desk.modern_as("manager", "tools/call", params, sampling)
        .await
        .last()
}

fn said_by_a_model(text: &str) -> Value {
    json!({ "role": "assistant", "model": "m", "content": { "type": "text", "text": text } })
}

#[tokio::test]
async fn a_model_is_borrowed_by_a_second_round_and_an_answer_counts_once() {
    let desk = asking_desk();
    let asked = narrate(&desk, "desk_narrate", json!({})).await["result"].clone();
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    let question = &asked["inputRequests"]["model"];
    assert_eq!(question["method"], "sampling/createMessage");
    assert_eq!(
        question["params"]["messages"][0]["content"]["text"],
        "first"
    );
    let again = narrate(&desk, "desk_narrate", json!({})).await;
    assert_eq!(&again["result"]["inputRequests"]["model"], question);

    let state = &asked["requestState"];
    let answer = json!({ "model": said_by_a_model("because") });
    // A state without an answer is asked again; an answer without a state is none.
    for more in [
        json!({ "requestState": state }),
        json!({ "inputResponses": answer }),
    ] {
        let asked = narrate(&desk, "desk_narrate", more).await;
        assert_eq!(asked["result"]["resultType"], "input_required");
    }
    let more = json!({ "inputResponses": answer, "requestState": state });
    let done = narrate(&desk, "desk_narrate", more.clone()).await["result"].clone();
    assert_eq!(done["structuredContent"]["first"], "because", "{done}");
    assert!(
        done["structuredContent"]["second"]
            .as_str()
            .unwrap()
            .starts_with("none: "),
        "one question a call"
    );
    let replayed = narrate(&desk, "desk_narrate", more.clone()).await;
    assert_eq!(replayed["error"]["code"], -32602, "{replayed}");
    // A state of the other kind of question, or of another caller, opens nothing.
    let (_, confirming) = first_round(&desk, json!({})).await;
    let foreign = json!({ "inputResponses": answer, "requestState": confirming });
    let refused = narrate(&desk, "desk_narrate", foreign).await;
    assert_eq!(refused["error"]["code"], -32602, "{refused}");
    assert_eq!(desk.ledger.count(), 0);
}

#[tokio::test]
async fn a_call_that_changes_something_is_not_made_twice_for_a_model() {
    let desk = asking_desk();
    let done = narrate(&desk, "ticket_narrated", json!({})).await["result"].clone();
    assert!(
        done["structuredContent"]["first"]
            .as_str()
            .unwrap()
            .starts_with("none: "),
        "{done}"
    );
    assert_eq!(desk.ledger.count(), 1);
}

#[tokio::test]
async fn a_caller_without_a_model_is_told_that_it_has_none() {
    let desk = asking_desk();
    for era in crate::support::ERAS {
        let params = json!({ "name": "desk_narrate", "arguments": {} });
        let done = desk
            .ask(era, "manager", "tools/call", params)
            .await
            .result();
        for member in ["first", "second"] {
            assert_eq!(
                done["structuredContent"][member],
                "none: the caller has no model that can be asked in the middle of a call"
            );
        }
    }
}
