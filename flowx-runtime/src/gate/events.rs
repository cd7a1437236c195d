//! How a person hears of a proposal: a stream of events over HTTP, and signed calls to addresses that the deployment names. Both follow the
//! audit trail, so every instance tells of what happened on any of them, and nothing is lost over a restart.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::{Arc, Weak};
use std::time::Duration;

use axum::extract::{Request, State};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use flowx_manifest::Json;
use flowx_manifest::audit_chain::Link;
use flowx_manifest::json::{Limits, parse};
use futures_util::stream;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use super::Gate;
use super::operator::{Asked, is_supervisor, timestamp};
use crate::http::Web;
use crate::identity::{Principal, PrincipalKind};
use crate::proposals::may_see;
use crate::store::{Claim, Claiming, StoreError};

const LOOK_EVERY: Duration = Duration::from_millis(500);
const PAGE: u32 = 200;
/// After a start, so many links back are looked at for calls that were not made yet.
const LOOK_BACK: u64 = 1_000;
const ATTEMPTS: u32 = 6;

/// An address that is told of proposals.
#[derive(Clone)]
pub struct Webhook {
    /// Where: `https://…`, or `http://…` on a private network.
    pub url: String,
    /// What signs it. At least 16 bytes.
    pub secret: Vec<u8>,
}

impl std::fmt::Debug for Webhook {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Webhook")
            .field("url", &self.url)
            .finish_non_exhaustive()
    }
}

/// The value of `FlowX-Signature` for a body sent at a time (seconds since 1970): `t=TIME,v1=HEX`, HEX being HMAC-SHA256 over
/// `TIME.BODY`. A receiver checks it, and that the time is not long ago.
pub fn signature(secret: &[u8], time: i64, body: &str) -> String {
    // HMAC takes keys of every length.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(secret) else {
        return String::new();
    };
    mac.update(format!("{time}.{body}").as_bytes());
    let bytes = mac.finalize().into_bytes();
    let hex: String = bytes.iter().map(|b| format!("{b:02x}")).collect();
    format!("t={time},v1={hex}")
}

/// What is told of a link: proposals, decisions and rules. No argument and no output is in it.
fn told(link: &Link) -> Option<Json> {
    let record = parse(link.record.as_bytes(), Limits::DOCUMENT).ok()?;
    let kind = record.get("kind").and_then(Json::as_str)?;
    if !["proposal.", "decision.", "rule."]
        .iter()
        .any(|k| kind.starts_with(k))
    {
        return None;
    }
    let mut out = record.clone();
    let members = out.as_object_mut()?;
    members.retain(|name, _| {
        [
            "kind",
            "proposal",
            "flow",
            "rule",
            "agent",
            "code",
            "by",
            "reason",
            "correlationId",
        ]
        .contains(&name.as_str())
    });
    members.insert("seq".to_owned(), link.seq.into());
    members.insert("at".to_owned(), timestamp(link.at).into());
    Some(out)
}

struct Following {
    web: Web,
    who: Arc<Principal>,
    after: u64,
    ready: VecDeque<(u64, Json)>,
}

/// `GET /flowx/events`: server-sent events from now on, or after `Last-Event-ID`. Each person hears of what they may read.
pub(super) async fn stream(State(web): State<Web>, request: Request) -> Response {
    let asked = match Asked::read(&web, request).await {
        Ok(asked) => asked,
        Err(response) => return response,
    };
    let last = asked
        .parts
        .headers
        .get("last-event-id")
        .and_then(|v| v.to_str().ok()?.parse::<u64>().ok());
    let after = match last {
        Some(after) => after,
        None => match web.core.gate().store.audit_head().await {
            Ok(head) => head.seq,
            Err(error) => return asked.answer(Err(super::store_refusal(&error))),
        },
    };
    let following = Following {
        web,
        who: Arc::clone(&asked.who),
        after,
        ready: VecDeque::new(),
    };
    let events = stream::unfold(following, |mut following| async move {
        loop {
            if let Some((seq, event)) = following.ready.pop_front() {
                let kind = event
                    .get("kind")
                    .and_then(Json::as_str)
                    .unwrap_or("event")
                    .to_owned();
                let event = Event::default()
                    .id(seq.to_string())
                    .event(kind)
                    .data(event.to_canonical());
                return Some((Ok::<_, Infallible>(event), following));
            }
            if following.web.core.is_stopping() || following.look().await.is_err() {
                // The client comes back with the last id that it has.
                return None;
            }
            if following.ready.is_empty() {
                tokio::time::sleep(LOOK_EVERY).await;
            }
        }
    });
    Sse::new(events)
        .keep_alive(KeepAlive::default())
        .into_response()
}

impl Following {
    async fn look(&mut self) -> Result<(), StoreError> {
        let gate = self.web.core.gate();
        let links = gate.store.audit(self.after, PAGE).await?;
        for link in links {
            self.after = link.seq;
            let Some(event) = told(&link) else { continue };
            let for_them = match event.get("proposal").and_then(Json::as_str) {
                Some(id) => gate
                    .store
                    .proposal(id)
                    .await?
                    .is_some_and(|p| may_see(&p, &self.who)),
                // Rules concern supervisors; whoever made one knows of it.
                None => self.who.kind == PrincipalKind::Person && is_supervisor(&self.who),
            };
            if for_them {
                self.ready.push_back((link.seq, event));
            }
        }
        Ok(())
    }
}

/// Starts telling the webhooks. Ends when the gate is dropped.
pub(super) fn start(gate: &Arc<Gate>) {
    for hook in gate.options.webhooks.clone() {
        let weak = Arc::downgrade(gate);
        tokio::spawn(async move {
            // Another part of the process may have chosen it already; either is as good.
            let _ = rustls::crypto::ring::default_provider().install_default();
            let client = match reqwest::Client::builder()
                .timeout(Duration::from_secs(10))
                .build()
            {
                Ok(client) => client,
                Err(error) => {
                    return tracing::error!(%error, url = hook.url, "a webhook cannot be called");
                }
            };
            let mut after: Option<u64> = None;
            while let Some(gate) = Weak::upgrade(&weak) {
                match gate.tell(&client, &hook, after).await {
                    Ok(to) => after = Some(to),
                    Err(error) => tracing::warn!(%error, "the webhooks wait for the store"),
                }
                drop(gate);
                tokio::time::sleep(LOOK_EVERY).await;
            }
        });
    }
}

impl Gate {
    /// Tells one hook of what came after a link; gives the last link that was looked at.
    async fn tell(
        &self,
        client: &reqwest::Client,
        hook: &Webhook,
        after: Option<u64>,
    ) -> Result<u64, StoreError> {
        let mut at = match after {
            Some(after) => after,
            None => self.store.audit_head().await?.seq.saturating_sub(LOOK_BACK),
        };
        let links = self.store.audit(at, PAGE).await?;
        for link in links {
            if let Some(event) = told(&link) {
                let body = event.to_canonical();
                // One instance tells; the next takes over what one that is gone had begun.
                let scope = format!("webhook|{}|{}|{}", hook.url, link.seq, link.hash);
                let owner = self.instance();
                let claim = Claiming {
                    scope: &scope,
                    request: "",
                    owner: &owner,
                    now: self.now(),
                    take_over: true,
                };
                if self.store.idempotency_claim(claim).await? == Claim::Fresh {
                    let told = self.call_hook(client, hook, &body).await;
                    self.store
                        .idempotency_complete(&scope, &owner, told, self.now())
                        .await?;
                }
            }
            at = link.seq;
        }
        Ok(at)
    }

    async fn call_hook(
        &self,
        client: &reqwest::Client,
        hook: &Webhook,
        body: &str,
    ) -> &'static str {
        let mut wait = Duration::from_millis(200);
        for _ in 0..ATTEMPTS {
            let sent = client
                .post(&hook.url)
                .header("content-type", "application/json")
                .header(
                    "flowx-signature",
                    signature(&hook.secret, self.now() / 1_000, body),
                )
                .body(body.to_owned())
                .send()
                .await;
            match sent {
                Ok(answer) if answer.status().is_success() => return "told",
                Ok(answer) => tracing::warn!(
                    status = answer.status().as_u16(),
                    url = hook.url,
                    "a webhook refused"
                ),
                Err(error) => {
                    tracing::warn!(%error, url = hook.url, "a webhook could not be called")
                }
            }
            tokio::time::sleep(wait).await;
            wait *= 3;
        }
        tracing::error!(url = hook.url, body, "a webhook was not told");
        "not told"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_covers_time_and_body() {
        // RFC 4231, test case 2, in the form of this signature: key "Jefe", data "what do ya want for nothing?".
        let plain = {
            let mut mac = Hmac::<Sha256>::new_from_slice(b"Jefe").unwrap();
            mac.update(b"what do ya want for nothing?");
            let bytes = mac.finalize().into_bytes();
            bytes.iter().map(|b| format!("{b:02x}")).collect::<String>()
        };
        assert_eq!(
            plain,
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        );
        let base = signature(b"secret-secret-16", 1_000, "{}");
        assert!(
            base.starts_with("t=1000,v1=") && base.len() == "t=1000,v1=".len() + 64,
            "{base}"
        );
        for other in [
            signature(b"secret-secret-17", 1_000, "{}"),
            signature(b"secret-secret-16", 1_001, "{}"),
            signature(b"secret-secret-16", 1_000, "{ }"),
        ] {
            assert_ne!(other, base);
        }
    }
}
