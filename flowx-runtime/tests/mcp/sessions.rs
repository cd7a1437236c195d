//! Sessions of 2025-11-25 clients belong to who opened them.

use flowx_runtime::Visibility;
use flowx_runtime::mcp::McpOptions;
use http::{Method, StatusCode};
use http_body_util::BodyExt;
use serde_json::json;
use tower::ServiceExt;

use crate::support::desk;

#[tokio::test]
async fn another_callers_session_does_not_exist() {
    let desk = desk(Visibility::All, McpOptions::default());
    let session = desk.open("clerk", json!({})).await;
    let refund = json!({ "name": "ticket_refund", "arguments": {} });
    // Not even for a caller who may do more.
    let stolen = desk.legacy("manager", &session, "tools/call", refund).await;
    assert_eq!(stolen.status, StatusCode::NOT_FOUND);
    let unknown = desk
        .legacy(
            "manager",
            "5b6f6a7e-0000-4000-8000-000000000000",
            "tools/list",
            json!({}),
        )
        .await;
    assert_eq!(
        (stolen.status, &stolen.body),
        (unknown.status, &unknown.body),
        "a foreign session is told from none"
    );
    for token in ["other", ""] {
        let answer = desk.legacy_text(token, &session, r#"{"jsonrpc":"2.0","id":0,"result":{"action":"accept","content":{"confirm":true}}}"#).await;
        assert_eq!(
            answer.status,
            StatusCode::NOT_FOUND,
            "an answer to somebody else's question was taken"
        );
        let headers = [
            ("mcp-session-id", session.as_str()),
            ("mcp-protocol-version", "2025-11-25"),
        ];
        for method in [Method::GET, Method::DELETE] {
            let answer = desk
                .send(desk.request(method.clone(), token, &headers, ""))
                .await;
            assert_eq!(answer.status, StatusCode::NOT_FOUND, "{method}");
        }
    }
    assert_eq!(desk.ledger.count(), 0);
    desk.legacy("clerk", &session, "tools/list", json!({}))
        .await
        .result();
}

#[tokio::test]
async fn a_session_that_was_ended_is_gone() {
    let desk = desk(Visibility::All, McpOptions::default());
    let session = desk.open("clerk", json!({})).await;
    let headers = [
        ("mcp-session-id", session.as_str()),
        ("mcp-protocol-version", "2025-11-25"),
    ];
    assert_eq!(
        desk.send(desk.request(Method::DELETE, "clerk", &headers, ""))
            .await
            .status,
        StatusCode::ACCEPTED
    );
    assert_eq!(
        desk.legacy("clerk", &session, "tools/list", json!({}))
            .await
            .status,
        StatusCode::NOT_FOUND
    );
}

#[tokio::test]
async fn an_idle_session_ends() {
    let options = McpOptions {
        session_idle: std::time::Duration::from_millis(100),
        ..McpOptions::default()
    };
    let desk = desk(Visibility::All, options);
    let session = desk.open("clerk", json!({})).await;
    tokio::time::sleep(std::time::Duration::from_millis(400)).await;
    assert_eq!(
        desk.legacy("clerk", &session, "tools/list", json!({}))
            .await
            .status,
        StatusCode::NOT_FOUND
    );
}

#[tokio::test]
async fn sessions_are_capped() {
    let desk = desk(
        Visibility::All,
        McpOptions {
            max_sessions: 2,
            ..McpOptions::default()
        },
    );
    desk.open("clerk", json!({})).await;
    desk.open("manager", json!({})).await;
    let third = desk.initialize("other", json!({})).await;
    assert_eq!(third.status, StatusCode::SERVICE_UNAVAILABLE);
    assert!(third.headers.contains_key("retry-after"));
}

#[tokio::test]
async fn without_sessions_both_eras_are_still_served() {
    let desk = desk(
        Visibility::All,
        McpOptions {
            legacy_sessions: false,
            ..McpOptions::default()
        },
    );
    let answer = desk.initialize("clerk", json!({})).await;
    assert!(!answer.headers.contains_key("mcp-session-id"));
    answer.result();
    let list = desk
        .send(desk.request(
            Method::POST,
            "clerk",
            &[("mcp-protocol-version", "2025-11-25")],
            r#"{"jsonrpc":"2.0","id":7,"method":"tools/list"}"#,
        ))
        .await;
    assert_eq!(list.result()["tools"].as_array().unwrap().len(), 8);
    desk.modern("clerk", "tools/list", json!({})).await.result();
}

#[tokio::test]
async fn open_streams_end_with_the_server() {
    let desk = desk(Visibility::All, McpOptions::default());
    let session = desk.open("clerk", json!({})).await;
    let headers = [
        ("mcp-session-id", session.as_str()),
        ("mcp-protocol-version", "2025-11-25"),
    ];
    let shutdown = desk.shutdown.clone();
    tokio::spawn(async move {
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        shutdown.cancel();
    });
    let stream = desk.send(desk.request(Method::GET, "clerk", &headers, ""));
    tokio::time::timeout(std::time::Duration::from_secs(5), stream)
        .await
        .unwrap();
}

#[tokio::test]
async fn a_stream_that_broke_is_resumed_by_its_own_caller_alone() {
    let desk = desk(Visibility::All, McpOptions::default());
    let session = desk.open("clerk", json!({})).await;
    let with = |last: &str| {
        [
            ("mcp-session-id", session.clone()),
            ("mcp-protocol-version", "2025-11-25".to_owned()),
            ("last-event-id", last.to_owned()),
        ]
    };
    let call = r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"desk_count","arguments":{"wait_ms":500}}}"#;
    let headers = [
        ("mcp-session-id", session.as_str()),
        ("mcp-protocol-version", "2025-11-25"),
    ];
    let response = desk
        .router
        .clone()
        .oneshot(desk.request(Method::POST, "clerk", &headers, call))
        .await
        .unwrap();
    let mut body = response.into_body();
    let first = body.frame().await.unwrap().unwrap().into_data().unwrap();
    let first = String::from_utf8(first.to_vec()).unwrap();
    let id = first
        .lines()
        .find_map(|l| l.strip_prefix("id:"))
        .unwrap()
        .trim()
        .to_owned();
    drop(body);
    let resume = |token: &'static str| {
        let headers = with(&id);
        let headers: Vec<(&str, &str)> = headers.iter().map(|(n, v)| (*n, v.as_str())).collect();
        desk.send(desk.request(Method::GET, token, &headers, ""))
    };
    assert_eq!(resume("other").await.status, StatusCode::NOT_FOUND);
    let resumed = tokio::time::timeout(std::time::Duration::from_secs(10), resume("clerk"))
        .await
        .unwrap();
    assert_eq!(resumed.result()["structuredContent"]["wait_ms"], 500);
}
