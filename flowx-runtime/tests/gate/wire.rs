//! A client of protocol 2025-11-25 over HTTP, as far as the gate's cases need one: a session, a call, and what comes on its stream.

use std::time::Duration;

use axum::body::Body;
use flowx_manifest::Json;
use flowx_manifest::json::{Limits, parse};
use http::{Method, Request, Response, StatusCode};
use http_body_util::BodyExt;
use tower::ServiceExt;

use crate::lab::Lab;

async fn send(lab: &Lab, token: &str, session: Option<&str>, body: String) -> Response<Body> {
    let mut request = Request::builder()
        .method(Method::POST)
        .uri("/mcp")
        .header("host", "localhost")
        .header("authorization", format!("Bearer {token}"))
        .header("accept", "application/json, text/event-stream")
        .header("content-type", "application/json");
    if let Some(session) = session {
        request = request
            .header("mcp-session-id", session)
            .header("mcp-protocol-version", "2025-11-25");
    }
    let request = request.body(Body::from(body)).unwrap();
    lab.router.clone().oneshot(request).await.unwrap()
}

/// Opens a session of a client that can ask a person.
pub async fn open(lab: &Lab, token: &str) -> String {
    let hello = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{}},"clientInfo":{"name":"test","version":"1"}}}"#;
    let answer = send(lab, token, None, hello.to_owned()).await;
    assert_eq!(answer.status(), StatusCode::OK);
    let session = answer.headers()["mcp-session-id"].to_str().unwrap();
    let session = session.to_owned();
    answer.into_body().collect().await.unwrap();
    let ready = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    let status = say(lab, token, &session, ready).await;
    assert_eq!(status, StatusCode::ACCEPTED);
    session
}

/// Sends a message that nothing but its status answers.
pub async fn say(lab: &Lab, token: &str, session: &str, message: &str) -> StatusCode {
    send(lab, token, Some(session), message.to_owned())
        .await
        .status()
}

/// The stream of a call.
pub struct Call {
    body: Body,
    text: String,
}

/// Calls a tool without arguments.
pub async fn call(lab: &Lab, token: &str, session: &str, tool: &str) -> Call {
    let body = format!(
        r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{{"name":"{tool}","arguments":{{}}}}}}"#
    );
    let answer = send(lab, token, Some(session), body).await;
    assert_eq!(answer.status(), StatusCode::OK);
    Call {
        body: answer.into_body(),
        text: String::new(),
    }
}

/// The yes to a question.
pub fn accept(question: &Json) -> String {
    let id = question.get("id").unwrap().to_canonical();
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"result":{{"action":"accept","content":{{"approve":true}}}}}}"#
    )
}

impl Call {
    /// The question that a person is asked on it.
    pub async fn question(&mut self) -> Json {
        let text = self.until("elicitation/create").await;
        parse(text.as_bytes(), Limits::DOCUMENT).unwrap()
    }

    /// What the call is answered in the end.
    pub async fn answer(&mut self) -> String {
        self.until("\"id\":7").await
    }

    async fn until(&mut self, mark: &str) -> String {
        loop {
            while let Some((event, rest)) = self.text.split_once("\n\n") {
                let data: String = event
                    .lines()
                    .filter_map(|l| l.strip_prefix("data:"))
                    .map(str::trim_start)
                    .collect();
                self.text = rest.to_owned();
                if data.contains(mark) {
                    return data;
                }
            }
            let frame = tokio::time::timeout(Duration::from_secs(10), self.body.frame()).await;
            let frame = frame.unwrap().expect("the stream goes on").unwrap();
            let bytes = frame.into_data().unwrap();
            self.text.push_str(std::str::from_utf8(&bytes).unwrap());
        }
    }
}
