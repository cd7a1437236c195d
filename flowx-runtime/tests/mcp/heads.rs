//! Heads of requests that must not reach a flow.

use flowx_runtime::Visibility;
use flowx_runtime::mcp::McpOptions;
use http::{Method, StatusCode};
use serde_json::json;

use crate::support::{Desk, desk};

const CALL: &str = r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"ticket_refund","arguments":{},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#;
const MODERN: [(&str, &str); 3] = [
    ("mcp-protocol-version", "2026-07-28"),
    ("mcp-method", "tools/call"),
    ("mcp-name", "ticket_refund"),
];

async fn status(desk: &Desk, host: &[&str], extra: &[(&str, &str)]) -> StatusCode {
    let mut request = desk.request(Method::POST, "manager", &MODERN, CALL);
    request.headers_mut().remove("host");
    for host in host {
        request.headers_mut().append("host", host.parse().unwrap());
    }
    for (name, value) in extra {
        request.headers_mut().append(
            http::HeaderName::from_bytes(name.as_bytes()).unwrap(),
            value.parse().unwrap(),
        );
    }
    desk.send(request).await.status
}

#[tokio::test]
async fn a_foreign_host_or_origin_reaches_no_flow() {
    let desk = desk(Visibility::All, McpOptions::default());
    for host in [
        "evil.example",
        "127.0.0.1:8080.evil.example",
        "localhost.evil.example",
    ] {
        assert!(
            status(&desk, &[host], &[]).await.is_client_error(),
            "{host}"
        );
    }
    for origin in [
        "http://evil.example",
        "http://127.0.0.1:8080.evil.example",
        "null",
        "https://localhost:1",
    ] {
        assert_eq!(
            status(&desk, &["localhost"], &[("origin", origin)]).await,
            StatusCode::FORBIDDEN,
            "{origin}"
        );
    }
    assert_eq!(status(&desk, &[], &[]).await, StatusCode::BAD_REQUEST);
    assert_eq!(desk.ledger.count(), 0);
    assert_eq!(
        status(
            &desk,
            &["127.0.0.1:8080"],
            &[("origin", "http://localhost:6274")]
        )
        .await,
        StatusCode::OK
    );
    assert_eq!(desk.ledger.count(), 1);
}

#[tokio::test]
async fn a_header_that_stands_twice_reaches_no_flow() {
    let desk = desk(Visibility::All, McpOptions::default());
    assert_eq!(
        status(&desk, &["localhost", "localhost"], &[]).await,
        StatusCode::BAD_REQUEST
    );
    for twice in [
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", "tools/call"),
        ("mcp-name", "ticket_refund"),
        ("authorization", "Bearer manager"),
        ("content-type", "application/json"),
    ] {
        assert_eq!(
            status(&desk, &["localhost"], &[twice]).await,
            StatusCode::BAD_REQUEST,
            "{twice:?}"
        );
    }
    assert_eq!(desk.ledger.count(), 0);
}

#[tokio::test]
async fn a_deployment_names_its_own_hosts_and_origins() {
    let options = McpOptions {
        allowed_hosts: vec!["desk.example".into()],
        allowed_origins: vec!["https://app.example".into()],
        ..McpOptions::default()
    };
    let desk = desk(Visibility::All, options);
    assert_eq!(
        status(&desk, &["localhost"], &[]).await,
        StatusCode::FORBIDDEN
    );
    assert_eq!(
        status(
            &desk,
            &["desk.example:443"],
            &[("origin", "https://app.example")]
        )
        .await,
        StatusCode::OK
    );
    assert_eq!(desk.ledger.count(), 1);
}

#[tokio::test]
async fn a_revision_that_is_not_served_is_refused_by_name() {
    let desk = desk(Visibility::All, McpOptions::default());
    let session = desk.open("manager", json!({})).await;
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "1999-01-01"] {
        let headers = [
            ("mcp-session-id", session.as_str()),
            ("mcp-protocol-version", version),
        ];
        let body = r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"ticket_refund","arguments":{}}}"#;
        let answer = desk
            .send(desk.request(Method::POST, "manager", &headers, body))
            .await;
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{version}");
    }
    assert_eq!(desk.ledger.count(), 0);
}

#[tokio::test]
async fn an_old_client_is_offered_the_revision_that_is_served() {
    let desk = desk(Visibility::All, McpOptions::default());
    let params = json!({ "protocolVersion": "2024-11-05", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" } });
    let body =
        json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params }).to_string();
    let answer = desk
        .send(desk.request(Method::POST, "clerk", &[], body))
        .await;
    assert_eq!(answer.result()["protocolVersion"], "2025-11-25");
}

#[tokio::test]
async fn other_methods_are_answered_with_what_is_allowed() {
    for (legacy_sessions, allow) in [(true, "GET, POST, DELETE"), (false, "POST")] {
        let desk = desk(
            Visibility::All,
            McpOptions {
                legacy_sessions,
                ..McpOptions::default()
            },
        );
        let answer = desk.send(desk.request(Method::PUT, "clerk", &[], "")).await;
        assert_eq!(
            (answer.status, answer.headers["allow"].to_str().unwrap()),
            (StatusCode::METHOD_NOT_ALLOWED, allow)
        );
    }
}
