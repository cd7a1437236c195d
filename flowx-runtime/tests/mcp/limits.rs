//! What one caller, known or not, can take of a server.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use flowx_runtime::mcp::McpOptions;
use flowx_runtime::{Limits, Rate, Visibility};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;

use crate::support::{Ledger, app};

/// The desk on a port of this machine.
struct Served {
    address: SocketAddr,
    ledger: Ledger,
    stop: CancellationToken,
    running: tokio::task::JoinHandle<()>,
}

impl Served {
    async fn with(limits: Limits, options: McpOptions) -> Served {
        let (app, ledger) = app();
        let app = app.limits(limits).visibility(Visibility::All).mcp(options);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let stop = CancellationToken::new();
        let stopped = stop.clone().cancelled_owned();
        let running =
            tokio::spawn(async move { app.serve_until(listener, stopped).await.unwrap() });
        Served {
            address,
            ledger,
            stop,
            running,
        }
    }

    async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).await.unwrap()
    }

    /// Sends the text and reads until the server closes.
    async fn exchange(&self, text: &str) -> String {
        let mut stream = self.connect().await;
        stream.write_all(text.as_bytes()).await.unwrap();
        rest(&mut stream).await
    }

    async fn call(&self, token: Option<&str>, body: &str) -> String {
        let bearer = token.map_or_else(String::new, |t| format!("authorization: Bearer {t}\r\n"));
        let name = if body.contains("tools/call") {
            "mcp-name: ticket_refund\r\n"
        } else {
            ""
        };
        let method = if body.contains("tools/call") {
            "tools/call"
        } else {
            "tools/list"
        };
        self.exchange(&format!(
            "POST /mcp HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-type: application/json\r\n{bearer}{name}\
             accept: application/json, text/event-stream\r\nmcp-protocol-version: 2026-07-28\r\nmcp-method: {method}\r\n\
             content-length: {}\r\n\r\n{body}",
            body.len()
        ))
        .await
    }

    async fn end(self) {
        self.stop.cancel();
        self.running.await.unwrap();
    }
}

async fn rest(stream: &mut TcpStream) -> String {
    let mut text = Vec::new();
    let read = stream.read_to_end(&mut text);
    let _ = tokio::time::timeout(Duration::from_secs(10), read)
        .await
        .expect("the server closes");
    String::from_utf8_lossy(&text).into_owned()
}

const CALL: &str = r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"ticket_refund","arguments":{},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#;
const SOON: Duration = Duration::from_millis(300);

#[tokio::test]
async fn a_head_that_does_not_come_holds_no_connection() {
    let limits = Limits {
        head_time: SOON,
        ..Limits::default()
    };
    let served = Served::with(limits, McpOptions::default()).await;
    for begun in [
        "",
        "P",
        "PRI",
        "POST /mcp HTTP/1.1\r\nhost: local",
        "GET /flowx/health HTTP/1.1\r\nhost: localhost\r\n\r\n",
    ] {
        let mut stream = served.connect().await;
        stream.write_all(begun.as_bytes()).await.unwrap();
        let since = Instant::now();
        let text = rest(&mut stream).await;
        assert!(since.elapsed() < Duration::from_secs(5), "{begun:?}");
        assert_eq!(begun.starts_with("GET"), text.contains("200 OK"), "{text}");
    }
    assert_eq!(served.ledger.count(), 0);
    served.end().await;
}

#[tokio::test]
async fn a_body_that_does_not_come_is_refused_and_nothing_is_done() {
    let limits = Limits {
        body_time: SOON,
        ..Limits::default()
    };
    let served = Served::with(limits, McpOptions::default()).await;
    let head = format!(
        "POST /mcp HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer manager\r\ncontent-type: application/json\r\n\
         accept: application/json, text/event-stream\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{}",
        CALL.len(),
        &CALL[..CALL.len() - 1]
    );
    let answer = served.exchange(&head).await;
    assert!(answer.starts_with("HTTP/1.1 408 "), "{answer}");
    let head = "POST /flowx/proposals/1/approve HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer manager\r\n\
                content-type: application/json\r\ncontent-length: 100\r\nconnection: close\r\n\r\n{";
    let answer = served.exchange(head).await;
    assert!(
        answer.starts_with("HTTP/1.1 408 ") && answer.contains(r#""code":"input.too_slow""#),
        "{answer}"
    );
    assert_eq!(served.ledger.count(), 0);
    served.end().await;
}

#[tokio::test]
async fn more_connections_than_there_may_be_are_told_so() {
    let limits = Limits {
        connections: 2,
        ..Limits::default()
    };
    let served = Served::with(limits, McpOptions::default()).await;
    let held = [served.connect().await, served.connect().await];
    // The server has taken those two before it takes the third.
    let answer = served.call(Some("manager"), CALL).await;
    assert!(
        answer.starts_with("HTTP/1.1 503 ") && answer.contains("limits.connections_exceeded"),
        "{answer}"
    );
    assert_eq!(served.ledger.count(), 0);
    drop(held);
    tokio::time::sleep(SOON).await;
    let answer = served.call(Some("manager"), CALL).await;
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    assert_eq!(served.ledger.count(), 1);
    served.end().await;
}

#[tokio::test]
async fn callers_who_are_nobody_share_a_rate_that_is_no_business_of_those_who_are_known() {
    let limits = Limits {
        anonymous_rate: Some(Rate {
            per_second: 1,
            burst: 5,
        }),
        ..Limits::default()
    };
    let served = Served::with(limits, McpOptions::default()).await;
    let mut refused = 0;
    for i in 0..30 {
        // With no token, with a wrong one, and at an address that is none: one and the same count.
        let answer = match i % 3 {
            0 => served.call(None, CALL).await,
            1 => served.call(Some("guess"), CALL).await,
            _ => {
                served
                    .exchange("GET /nope HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")
                    .await
            }
        };
        if answer.starts_with("HTTP/1.1 429 ") {
            assert!(
                answer.contains("limits.rate_exceeded") && answer.contains("retry-after: 1"),
                "{answer}"
            );
            refused += 1;
        }
    }
    assert!(refused >= 20, "{refused} of 30");
    assert_eq!(served.ledger.count(), 0);
    let known = served.call(Some("manager"), CALL).await;
    assert!(known.starts_with("HTTP/1.1 200 "), "{known}");
    assert_eq!(served.ledger.count(), 1);
    served.end().await;
}

#[tokio::test]
async fn one_known_caller_has_a_rate_of_its_own() {
    let limits = Limits {
        rate: Some(Rate {
            per_second: 1,
            burst: 3,
        }),
        ..Limits::default()
    };
    let served = Served::with(limits, McpOptions::default()).await;
    let mut done = 0;
    for _ in 0..10 {
        let answer = served.call(Some("manager"), CALL).await;
        done += usize::from(answer.starts_with("HTTP/1.1 200 "));
    }
    assert!((3..=4).contains(&done), "{done}");
    assert_eq!(served.ledger.count(), done, "a refused call does nothing");
    let other = served.call(Some("clerk"), CALL).await;
    assert!(other.starts_with("HTTP/1.1 200 ") && other.contains("permission_denied"));
    assert_eq!(served.ledger.count(), done);
    served.end().await;
}

#[tokio::test]
async fn sessions_of_callers_who_are_nobody_are_capped() {
    let options = McpOptions {
        max_anonymous_sessions: 4,
        ..McpOptions::default()
    };
    let served = Served::with(Limits::default(), options).await;
    let open = async |token: Option<&str>| {
        let bearer = token.map_or_else(String::new, |t| format!("authorization: Bearer {t}\r\n"));
        let body = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#;
        let text = format!(
            "POST /mcp HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-type: application/json\r\n{bearer}\
             accept: application/json, text/event-stream\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        served.exchange(&text).await
    };
    for _ in 0..4 {
        assert!(open(None).await.contains("mcp-session-id"));
    }
    let full = open(None).await;
    assert!(
        full.starts_with("HTTP/1.1 503 ") && full.contains("limits.sessions_exceeded"),
        "{full}"
    );
    assert!(open(Some("clerk")).await.contains("mcp-session-id"));
    assert_eq!(served.ledger.count(), 0);
    served.end().await;
}
