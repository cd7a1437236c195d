//! This server's own page for calls of high risk. A client's "yes" is only the client's word; here the person shows their own credential.
//!
//! The address that the client is given names no proposal: it is opaque to everybody but this server's keys, and opens nothing without
//! the credential of somebody who may decide.

use std::sync::Arc;
use std::time::Duration;

use ::http::HeaderValue;
use ::http::header::CONTENT_TYPE;
use axum::Router;
use axum::body::Body;
use axum::extract::{Path, Request, State};
use axum::response::Response;
use axum::routing::{get, post};
use flowx_manifest::digest;

use super::elicit::{QUESTION, cannot_ask, refused};
use super::facts::Facts;
use super::operator::{Asked, approved, nowhere, rejected, written};
use super::{Gate, unreachable};
use crate::channel::{Ask, AskKind, Asking, Channel, Reply};
use crate::http::Web;
use crate::invocation::CallOutcome;
use crate::proposals::{Proposal, Status};
use crate::refusal::Refusal;

const PAGE: &str = include_str!("page.html");
const SCRIPT: &str = include_str!("page.js");
/// How long a call waits for the page on its own stream, below the time at which clients give up by default.
const PATIENCE: Duration = Duration::from_secs(45);
const LOOK_EVERY: Duration = Duration::from_millis(250);

pub(super) fn add(router: Router<Web>) -> Router<Web> {
    router
        .route("/flowx/confirm.js", get(script))
        .route("/flowx/confirm/{handle}", get(page))
        .route("/flowx/confirm/{handle}/call", get(call))
        .route("/flowx/confirm/{handle}/approve", post(approve))
        .route("/flowx/confirm/{handle}/reject", post(reject))
}

impl Gate {
    /// Whether the person has said in the client that they will not go to the page. Nothing else that a client says about it counts.
    pub(super) fn page_declined(&self, channel: &Arc<dyn Channel>) -> Result<(), CallOutcome> {
        match channel
            .given()
            .and_then(|given| given.replies.get(QUESTION))
        {
            Some(Reply::Decline) => Err(CallOutcome::Refused(refused("declined"))),
            Some(Reply::Cancel) => Err(CallOutcome::Refused(refused("cancelled"))),
            _ => Ok(()),
        }
    }

    /// Sends the person to the page of a waiting proposal. Comes back when it was decided while the call could wait.
    pub(super) async fn send_to_page(
        &self,
        proposal: &Proposal,
        facts: &Facts<'_>,
        channel: &Arc<dyn Channel>,
    ) -> Result<(), CallOutcome> {
        let asking = channel.asking(AskKind::Url);
        if asking == Asking::Cannot {
            return Err(cannot_ask(AskKind::Url));
        }
        let Some(base) = &self.public_url else {
            let refusal = refused("no_page").because(
                "a flow of high risk is confirmed on this server's own page: set the public URL",
            );
            return Err(CallOutcome::Refused(refusal));
        };
        let Some(handle) = self.keyring().hide(&proposal.id) else {
            return Err(CallOutcome::Refused(Refusal::internal(
                crate::refusal::codes::INTERNAL,
                "there is no sealing key",
            )));
        };
        let url = format!("{}/flowx/confirm/{handle}", base.trim_end_matches('/'));
        let message = format!(
            "Decide about {} on the server's own page.",
            proposal.shown.title
        );
        let ask = Ask::Url {
            message,
            url,
            id: digest(handle.as_bytes())[..32].to_owned(),
        };
        if asking == Asking::ByRetry {
            return Err(self.input_required(facts, ask, "page", "").await);
        }
        match channel.ask(ask).await {
            Reply::Accept(_) => {}
            Reply::Decline => return Err(CallOutcome::Refused(refused("declined"))),
            Reply::Cancel => return Err(CallOutcome::Refused(refused("cancelled"))),
            Reply::TimedOut => return Err(CallOutcome::Refused(refused("timed_out"))),
            Reply::Gone | Reply::Invalid => return Err(CallOutcome::Refused(refused("gone"))),
        }
        let until = tokio::time::Instant::now() + PATIENCE;
        loop {
            let now = self
                .store
                .proposal(&proposal.id)
                .await
                .map_err(unreachable)?;
            if now.is_none_or(|p| p.status != Status::Waiting) {
                return Ok(());
            }
            if tokio::time::Instant::now() >= until {
                return Err(CallOutcome::Refused(super::approvals::required(proposal)));
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }
}

async fn script() -> Response {
    guarded(SCRIPT, "text/javascript; charset=utf-8")
}

/// The same page for every address: what it is about is read by its script with the person's credential.
async fn page() -> Response {
    guarded(PAGE, "text/html; charset=utf-8")
}

fn guarded(text: &'static str, kind: &'static str) -> Response {
    let mut response = Response::new(Body::from(text));
    let headers = response.headers_mut();
    for (name, value) in [
        (CONTENT_TYPE.as_str(), kind),
        ("cache-control", "no-store"),
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
        ("x-frame-options", "DENY"),
        (
            "content-security-policy",
            "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'unsafe-inline'; form-action 'none'; \
             base-uri 'none'; frame-ancestors 'none'",
        ),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

async fn call(State(web): State<Web>, Path(handle): Path<String>, request: Request) -> Response {
    let asked = match Asked::read(&web, request).await {
        Ok(asked) => asked,
        Err(response) => return response,
    };
    let gate = web.core.gate();
    let found = match gate.keyring().reveal(&handle) {
        Some(id) => gate.proposal_for(&asked.who, &id).await,
        None => Err(nowhere()),
    };
    asked.answer(found.map(|p| written(gate, &p, &asked.who)))
}

async fn approve(State(web): State<Web>, Path(handle): Path<String>, request: Request) -> Response {
    match Asked::read(&web, request).await {
        Ok(asked) => match web.core.gate().keyring().reveal(&handle) {
            Some(id) => asked.answer(approved(&web, &asked, &id).await),
            None => asked.answer(Err(nowhere())),
        },
        Err(response) => response,
    }
}

async fn reject(State(web): State<Web>, Path(handle): Path<String>, request: Request) -> Response {
    match Asked::read(&web, request).await {
        Ok(asked) => match web.core.gate().keyring().reveal(&handle) {
            Some(id) => asked.answer(rejected(&web, &asked, &id).await),
            None => asked.answer(Err(nowhere())),
        },
        Err(response) => response,
    }
}
