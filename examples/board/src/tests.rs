//! What the board promises, from outside.

use axum::body::Body;
use flowx_runtime::store;
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tower::ServiceExt;

use crate::app;
use crate::cards::Board;

struct Desk {
    router: axum::Router,
    board: Board,
}

impl Desk {
    async fn open() -> Desk {
        let board = Board::open();
        let store = store::open("sqlite::memory:").await.unwrap();
        let (_, router) = app(board.clone(), store).unwrap().into_router().unwrap();
        Desk { router, board }
    }

    async fn send(
        &self,
        token: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: Value,
    ) -> (u16, Value) {
        let mut request = axum::http::Request::builder()
            .method(if body.is_null() { "GET" } else { "POST" })
            .uri(path)
            .header("authorization", format!("Bearer {token}"))
            .header("accept", "application/json, text/event-stream")
            .header("host", "127.0.0.1:8082")
            .header("content-type", "application/json");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let body = if body.is_null() {
            Body::empty()
        } else {
            Body::from(body.to_string())
        };
        let answer = self
            .router
            .clone()
            .oneshot(request.body(body).unwrap())
            .await
            .unwrap();
        let status = answer.status().as_u16();
        let bytes = answer.into_body().collect().await.unwrap().to_bytes();
        (status, serde_json::from_slice(&bytes).unwrap_or_default())
    }

    async fn archive(&self, token: &str, headers: &[(&str, &str)], card: &str) -> (u16, Value) {
        self.send(token, "/cards/archive", headers, json!({ "card_id": card }))
            .await
    }

    /// The same tool over MCP.
    async fn call(&self, token: &str, arguments: Value) -> Value {
        let headers = [
            ("mcp-protocol-version", "2026-07-28"),
            ("mcp-method", "tools/call"),
            ("mcp-name", "card_archive"),
        ];
        let message = json!({
            "jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": { "name": "card_archive", "arguments": arguments, "_meta": {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": { "elicitation": {} },
                "io.modelcontextprotocol/clientInfo": { "name": "tests", "version": "1" },
            } },
        });
        self.send(token, "/mcp", &headers, message).await.1
    }

    /// The lead says yes to the only card that waits; gives the id of what was decided.
    async fn yes(&self) -> String {
        let (_, list) = self
            .send(
                "lead-token",
                "/flowx/proposals?status=waiting",
                &[],
                Value::Null,
            )
            .await;
        assert_eq!(
            list["proposals"].as_array().map(Vec::len),
            Some(1),
            "{list}"
        );
        let waiting = &list["proposals"][0];
        let id = waiting["id"].as_str().unwrap().to_owned();
        let body = json!({ "fingerprint": waiting["fingerprint"] });
        let (status, decided) = self
            .send(
                "lead-token",
                &format!("/flowx/proposals/{id}/approve"),
                &[],
                body,
            )
            .await;
        assert_eq!(
            (status, &decided["status"]),
            (200, &json!("approved")),
            "{decided}"
        );
        id
    }
}

#[tokio::test]
async fn archiving_needs_a_yes_on_every_transport() {
    let desk = Desk::open().await;
    let (status, problem) = desk.archive("member-token", &[], "c-1").await;
    assert_eq!(
        (status, &problem["code"]),
        (428, &json!("approval.required"))
    );
    let answer = desk.call("member-token", json!({ "card_id": "c-1" })).await;
    assert_eq!(answer["result"]["isError"], true, "{answer}");
    assert!(answer.to_string().contains("approval.required"), "{answer}");
    let (_, list) = desk
        .send(
            "lead-token",
            "/flowx/proposals?status=waiting",
            &[],
            Value::Null,
        )
        .await;
    assert_eq!(
        list["proposals"].as_array().map(Vec::len),
        Some(1),
        "the same call is one question: {list}"
    );
    assert_eq!(desk.board.archived("c-1"), Some(0));
}

#[tokio::test]
async fn the_same_caller_redeems_it_by_repeating_the_call_once() {
    let desk = Desk::open().await;
    desk.archive("member-token", &[], "c-1").await;
    desk.yes().await;
    assert_eq!(
        desk.board.archived("c-1"),
        Some(0),
        "a yes archives nothing by itself"
    );
    assert_eq!(
        desk.archive("other-token", &[], "c-1").await.0,
        428,
        "another caller has a yes of their own to get"
    );
    assert_eq!(
        desk.archive("member-token", &[], "c-2").await.0,
        428,
        "and so has another card"
    );
    assert_eq!(desk.archive("member-token", &[], "c-1").await.0, 200);
    assert_eq!(
        desk.archive("member-token", &[], "c-1").await.0,
        200,
        "again, it is answered with what happened"
    );
    assert_eq!(
        (desk.board.archived("c-1"), desk.board.archived("c-2")),
        (Some(1), Some(0))
    );
}

#[tokio::test]
async fn asked_over_http_it_can_be_redeemed_over_mcp() {
    let desk = Desk::open().await;
    desk.archive("member-token", &[], "c-1").await;
    desk.yes().await;
    let answer = desk.call("member-token", json!({ "card_id": "c-1" })).await;
    assert_eq!(
        answer["result"]["structuredContent"]["card_id"], "c-1",
        "{answer}"
    );
    assert_eq!(desk.board.archived("c-1"), Some(1));
}

#[tokio::test]
async fn the_approval_is_named_in_a_header_and_never_in_the_input() {
    let desk = Desk::open().await;
    desk.archive("member-token", &[], "c-1").await;
    let id = desk.yes().await;
    for input in [
        json!({ "card_id": "c-1", "approval": id }),
        json!({ "card_id": "c-1", "flowx-approval": id }),
    ] {
        let answer = desk.call("member-token", input).await;
        assert!(answer.to_string().contains("input.invalid"), "{answer}");
    }
    assert_eq!(
        desk.archive("other-token", &[("flowx-approval", &id)], "c-1")
            .await
            .0,
        428
    );
    assert_eq!(
        desk.archive("member-token", &[("flowx-approval", &id)], "c-2")
            .await
            .0,
        428
    );
    assert_eq!(desk.board.archived("c-1"), Some(0));
    assert_eq!(
        desk.archive("member-token", &[("flowx-approval", &id)], "c-1")
            .await
            .0,
        200
    );
    assert_eq!(desk.board.archived("c-1"), Some(1));
}
