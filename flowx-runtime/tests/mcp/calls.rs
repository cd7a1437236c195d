//! Calls: what comes back, what is refused, and that a refusal has done nothing.

use std::sync::atomic::Ordering;
use std::time::Duration;

use flowx_runtime::Visibility;
use flowx_runtime::mcp::McpOptions;
use http::{Method, StatusCode};
use serde_json::{Value, json};

use crate::support::{ABANDONED, ABANDONED_MS, Desk, ERAS, desk};

fn open_desk() -> Desk {
    desk(Visibility::All, McpOptions::default())
}

#[tokio::test]
async fn an_output_comes_as_structured_content_and_as_the_same_text() {
    let desk = open_desk();
    for era in ERAS {
        let arguments = json!({ "text": "é\n", "n": [1, 2.5, null] });
        let result = desk
            .ask(
                era,
                "clerk",
                "tools/call",
                json!({ "name": "desk_echo", "arguments": arguments }),
            )
            .await
            .result();
        assert_eq!(result["structuredContent"], arguments);
        assert_eq!(
            serde_json::from_str::<Value>(result["content"][0]["text"].as_str().unwrap()).unwrap(),
            arguments
        );
        assert_ne!(result["isError"], json!(true));
    }
}

#[tokio::test]
async fn a_call_without_arguments_is_a_call_with_none() {
    let desk = open_desk();
    for era in ERAS {
        let result = desk
            .ask(era, "clerk", "tools/call", json!({ "name": "desk_echo" }))
            .await
            .result();
        assert_eq!(result["structuredContent"], json!({}));
    }
}

#[tokio::test]
async fn a_caller_without_the_permission_is_refused_and_nothing_is_done() {
    let desk = open_desk();
    for era in ERAS {
        let result = desk
            .ask(
                era,
                "clerk",
                "tools/call",
                json!({ "name": "ticket_refund", "arguments": {} }),
            )
            .await
            .result();
        assert_eq!(result["isError"], true);
        let said: Value =
            serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
        assert_eq!(said["code"], "authorization.permission_denied");
        assert_eq!(said["category"], "forbidden");
        assert_eq!(said["detail"]["permission"], "payment.refund");
        assert_eq!(result["_meta"]["dev.flowx/refusal"], said);
        // Clients hold it against the output schema, error or not, and throw the refusal away.
        assert_eq!(result.get("structuredContent"), None);
        assert_eq!(desk.ledger.count(), 0);
    }
    let result = desk
        .modern(
            "manager",
            "tools/call",
            json!({ "name": "ticket_refund", "arguments": {} }),
        )
        .await
        .result();
    assert_ne!(result["isError"], json!(true));
    assert_eq!(desk.ledger.count(), 1);
}

#[tokio::test]
async fn a_tool_that_is_hidden_is_told_apart_from_none_by_nothing() {
    let desk = desk(Visibility::Permitted, McpOptions::default());
    for era in ERAS {
        let hidden = desk
            .ask(
                era,
                "clerk",
                "tools/call",
                json!({ "name": "ticket_refund", "arguments": {} }),
            )
            .await;
        let none = desk
            .ask(
                era,
                "clerk",
                "tools/call",
                json!({ "name": "no_such", "arguments": {} }),
            )
            .await;
        assert_eq!(hidden.error_code(), -32602);
        let normal = |answer: &crate::support::Answer| {
            (
                answer.status,
                answer
                    .last()
                    .to_string()
                    .replace("ticket_refund", "NAME")
                    .replace("no_such", "NAME"),
            )
        };
        assert_eq!(normal(&hidden), normal(&none));
        assert_eq!(desk.ledger.count(), 0);
    }
}

#[tokio::test]
async fn a_header_that_contradicts_an_argument_is_refused_for_a_tool_that_the_caller_sees() {
    let desk = desk(Visibility::Permitted, McpOptions::default());
    let call = |token: &'static str, tool: &'static str, header: &'static str| {
        let params = json!({
            "name": tool, "arguments": { "region": "eu" },
            "_meta": { "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {} },
        });
        let body = json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params })
            .to_string();
        let headers = [
            ("mcp-protocol-version", "2026-07-28"),
            ("mcp-method", "tools/call"),
            ("mcp-name", tool),
            ("mcp-param-region", header),
        ];
        desk.send(desk.request(Method::POST, token, &headers, body))
    };
    let wrong = call("manager", "ticket_refund", "us").await;
    assert_eq!(
        (wrong.status, wrong.error_code()),
        (StatusCode::BAD_REQUEST, -32020)
    );
    assert_eq!(desk.ledger.count(), 0);
    // The check must not tell a caller that a tool exists which it cannot see.
    let hidden = call("clerk", "ticket_refund", "us").await;
    assert_eq!(
        (hidden.status, hidden.error_code()),
        (StatusCode::OK, -32602)
    );
    call("manager", "ticket_refund", "eu").await.result();
    assert_eq!(desk.ledger.count(), 1);
}

#[tokio::test]
async fn progress_comes_before_the_answer_and_always_goes_up() {
    let desk = open_desk();
    for era in ERAS {
        let params =
            json!({ "name": "desk_count", "arguments": {}, "_meta": { "progressToken": "p" } });
        let answer = desk.ask(era, "clerk", "tools/call", params).await;
        let messages: Vec<Value> = answer
            .messages()
            .iter()
            .map(|m| serde_json::from_str(m).unwrap())
            .collect();
        let told: Vec<f64> = messages
            .iter()
            .filter(|m| m["method"] == "notifications/progress")
            .map(|m| {
                assert_eq!(m["params"]["progressToken"], "p");
                assert_eq!(m["params"]["total"], 100.0);
                m["params"]["progress"].as_f64().unwrap()
            })
            .collect();
        assert_eq!(told, [0.0, 50.0, 100.0], "{era:?}");
        assert!(messages.last().unwrap().get("result").is_some());
        // Who did not ask for it is not told.
        let silent = desk
            .ask(
                era,
                "clerk",
                "tools/call",
                json!({ "name": "desk_count", "arguments": {} }),
            )
            .await;
        assert_eq!(silent.messages().len(), 1);
    }
}

#[tokio::test]
async fn the_flow_runs_on_the_one_strict_reading() {
    let desk = open_desk();
    let session = desk.open("manager", json!({})).await;
    for bad in [
        r#"{"confirm":false,"confirm":true}"#,
        r#"{"a":"\u0000"}"#,
        r#"{"a":1e999}"#,
        r#"{"a":"\ud800"}"#,
        r#"[]"#,
        r#""text""#,
        "{",
    ] {
        let body = format!(
            r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{{"name":"ticket_refund","arguments":{bad}}}}}"#
        );
        let answer = desk.legacy_text("manager", &session, &body).await;
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{bad}");
        assert!(
            matches!(answer.error_code(), -32600 | -32700 | -32602),
            "{bad}"
        );
    }
    let deep = format!("{}{}", "[".repeat(100), "]".repeat(100));
    let body = format!(
        r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{{"name":"ticket_refund","arguments":{{"a":{deep}}}}}}}"#
    );
    assert_eq!(
        desk.legacy_text("manager", &session, &body).await.status,
        StatusCode::BAD_REQUEST
    );
    let large = format!(
        r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{{"name":"ticket_refund","arguments":{{"a":"{}"}}}}}}"#,
        "x".repeat(2 << 20)
    );
    assert_eq!(
        desk.legacy_text("manager", &session, &large).await.status,
        StatusCode::PAYLOAD_TOO_LARGE
    );
    assert_eq!(desk.ledger.count(), 0);

    let exact = r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"desk_wide","arguments":{"n":340282366920938463463374607431768211455}}}"#;
    let wide = r#"{"n":340282366920938463463374607431768211455}"#;
    let legacy = desk.legacy_text("manager", &session, exact).await;
    let modern = exact.replace(r#""params":{"#, r#""params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}},"#);
    let headers = [
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", "tools/call"),
        ("mcp-name", "desk_wide"),
    ];
    let modern = desk
        .send(desk.request(http::Method::POST, "manager", &headers, modern))
        .await;
    for answer in [legacy, modern] {
        assert_eq!(
            answer.result()["content"][0]["text"],
            wide,
            "the library's own reading would have rounded it"
        );
        let sent = answer.messages().concat();
        assert!(
            sent.contains(&format!(r#""structuredContent":{wide}"#)),
            "{sent}"
        );
    }
}

#[tokio::test]
async fn a_token_of_nobody_is_refused_before_anything_is_read() {
    let desk = open_desk();
    let answer = desk
        .modern(
            "stolen",
            "tools/call",
            json!({ "name": "ticket_refund", "arguments": {} }),
        )
        .await;
    assert_eq!(answer.status, StatusCode::UNAUTHORIZED);
    assert!(answer.headers.contains_key("www-authenticate"));
    assert_eq!(desk.ledger.count(), 0);
}

#[tokio::test]
async fn a_caller_that_leaves_ends_its_call() {
    let desk = open_desk();
    let call = || {
        desk.modern(
            "clerk",
            "tools/call",
            json!({ "name": "desk_count", "arguments": { "wait_ms": ABANDONED_MS } }),
        )
    };
    call().await.result();
    assert_eq!(
        ABANDONED.load(Ordering::SeqCst),
        1,
        "whoever stays gets to the end"
    );
    assert!(
        tokio::time::timeout(Duration::from_millis(200), call())
            .await
            .is_err()
    );
    tokio::time::sleep(Duration::from_millis(2 * ABANDONED_MS)).await;
    assert_eq!(ABANDONED.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_legacy_call_ends_when_its_client_says_so() {
    let desk = open_desk();
    let session = desk.open("clerk", json!({})).await;
    let params = json!({ "name": "desk_count", "arguments": { "wait_ms": 60_000 } });
    let call = desk.legacy("clerk", &session, "tools/call", params);
    let cancel = async {
        tokio::time::sleep(Duration::from_millis(200)).await;
        let text =
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}"#;
        assert_eq!(
            desk.legacy_text("clerk", &session, text).await.status,
            StatusCode::ACCEPTED
        );
    };
    let ended = tokio::time::timeout(Duration::from_secs(10), async {
        tokio::join!(call, cancel)
    })
    .await;
    assert!(ended.is_ok(), "the call goes on");
}
