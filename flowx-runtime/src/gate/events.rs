//! How a person hears of a proposal: a stream of events over HTTP, and signed calls to addresses that the deployment names. Both follow the
//! audit trail, so every instance tells of what happened on any of them, and nothing is lost over a restart.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use axum::extract::{Request, State};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use flowx_manifest::Json;
use flowx_manifest::audit_chain::Link;
use flowx_manifest::json::{Limits, parse};
use futures_util::stream;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use super::operator::{Asked, is_supervisor, timestamp};
use super::records::ClaimEnd;
use super::{Gate, millis, visible_short};
use crate::http::Web;
use crate::identity::{Current, Principal, PrincipalKind};
use crate::proposals::may_see;
use crate::store::{Claim, Claiming, Millis, StoreError};

const LOOK_EVERY: Duration = Duration::from_millis(500);
const PAGE: u32 = 200;
/// After a start, so many links back are looked at for calls that were not made yet.
const LOOK_BACK: u64 = 100_000;
/// How often what another instance was telling is looked at again.
const LOOK_AGAIN_EVERY: Duration = Duration::from_secs(10);
/// How old what is told can be. That a hook was told is remembered for longer, so that a restart tells nothing twice.
const TOLD_FOR: Duration = Duration::from_secs(82_800);
/// How long a hook that does not answer is tried with one event.
const TRIED_FOR: Duration = Duration::from_secs(3_600);
const LONGEST_WAIT: Duration = Duration::from_secs(60);
/// How long a stream goes on. Whoever hears it comes back with the last id, and with a credential that is looked at again.
const HEARD_FOR: Duration = Duration::from_secs(900);

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
/// `TIME.BODY`. A receiver checks it, and that the time is not long ago. docs/approvals.md says how, with an example.
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
            "tenant",
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
    // A person's words, which end up before other people.
    if let Some(reason) = members.get("reason").and_then(Json::as_str) {
        let reason = visible_short(reason);
        members.insert("reason".to_owned(), reason.into());
    }
    members.insert("seq".to_owned(), link.seq.into());
    members.insert("at".to_owned(), timestamp(link.at).into());
    Some(out)
}

struct Following {
    web: Web,
    who: Arc<Principal>,
    after: u64,
    ready: VecDeque<(u64, Json)>,
    until: Instant,
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
        until: Instant::now() + HEARD_FOR,
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
            let over = following.web.core.is_stopping() || Instant::now() >= following.until;
            if over || !following.look().await.unwrap_or(false) {
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
    /// Looks for what came since. `false` when whoever hears it is nobody any more.
    async fn look(&mut self) -> Result<bool, StoreError> {
        let core = Arc::clone(&self.web.core);
        let gate = core.gate();
        let links = gate.store.audit(self.after, PAGE).await?;
        let mut looked_up = false;
        for link in links {
            self.after = link.seq;
            let Some(event) = told(&link) else { continue };
            if !looked_up {
                // They hear what they may read now, not what they might when they began to listen.
                match core.current(&self.who).await {
                    Ok(Current::Known(permissions)) if permissions == self.who.permissions => {}
                    Ok(Current::Known(permissions)) => {
                        self.who = Arc::new(Principal {
                            permissions,
                            ..(*self.who).clone()
                        });
                    }
                    Ok(Current::CannotSay) => {}
                    Ok(Current::Gone) | Err(_) => return Ok(false),
                }
                looked_up = true;
            }
            let for_them = match event.get("proposal").and_then(Json::as_str) {
                Some(id) => gate
                    .store
                    .proposal(id)
                    .await?
                    .is_some_and(|p| may_see(&p, &self.who)),
                // Rules concern supervisors of their tenant; whoever made one knows of it.
                None => {
                    self.who.kind == PrincipalKind::Person
                        && is_supervisor(&self.who)
                        && event.get("tenant").and_then(Json::as_str) == self.who.tenant.as_deref()
                }
            };
            if for_them {
                self.ready.push_back((link.seq, event));
            }
        }
        Ok(true)
    }
}

/// Why a webhook cannot be one.
///
/// # Errors
/// What is wrong with it.
pub(crate) fn usable(hook: &Webhook) -> Result<(), String> {
    let url = reqwest::Url::parse(&hook.url).map_err(|e| format!("{:?}: {e}", hook.url))?;
    if !["http", "https"].contains(&url.scheme()) {
        return Err(format!("{url}: it is neither http nor https"));
    }
    if hook.secret.len() < 16 {
        return Err(format!("{url}: its secret has fewer than 16 bytes"));
    }
    Ok(())
}

/// Starts telling the webhooks. Each has a task of its own: one that does not answer keeps no other waiting, and no decision. Ends when the gate
/// is dropped.
pub(super) fn start(gate: &Arc<Gate>) {
    for hook in gate.options.webhooks.clone() {
        let gate = Arc::downgrade(gate);
        tokio::spawn(async move {
            // Another part of the process may have chosen it already; either is as good.
            let _ = rustls::crypto::ring::default_provider().install_default();
            let client = reqwest::Client::builder()
                .timeout(Duration::from_secs(10))
                // What is signed for one address is sent to no other.
                .redirect(reqwest::redirect::Policy::none())
                .build();
            match client {
                Ok(client) => Teller::new(gate, client, hook).run().await,
                Err(error) => tracing::error!(%error, url = hook.url, "a webhook cannot be called"),
            }
        });
    }
}

/// Tells one hook of what stands in the trail, in its order.
struct Teller {
    gate: Weak<Gate>,
    client: reqwest::Client,
    hook: Webhook,
    after: Option<u64>,
    ready: VecDeque<Link>,
    /// What other instances tell just now, to be looked at again: one of them may not get to the end of it.
    elsewhere: VecDeque<Link>,
    looked_again: Instant,
}

/// An event that this instance tells.
struct Claimed {
    scope: String,
    owner: String,
    body: String,
}

impl Teller {
    fn new(gate: Weak<Gate>, client: reqwest::Client, hook: Webhook) -> Teller {
        Teller {
            gate,
            client,
            hook,
            after: None,
            ready: VecDeque::new(),
            elsewhere: VecDeque::new(),
            looked_again: Instant::now(),
        }
    }

    async fn run(mut self) {
        while let Some(gate) = self.gate.upgrade() {
            let next = self.next(&gate).await;
            drop(gate);
            match next {
                Ok(Some(event)) => {
                    let Some(end) = self.tell(&event.body).await else {
                        return;
                    };
                    let Some(gate) = self.gate.upgrade() else {
                        return;
                    };
                    let end = ClaimEnd::Answer(end.to_owned());
                    gate.end_claim(&event.scope, &event.owner, end).await;
                }
                Ok(None) => tokio::time::sleep(LOOK_EVERY).await,
                Err(error) => {
                    tracing::warn!(%error, "the webhooks wait for the store");
                    tokio::time::sleep(LOOK_EVERY).await;
                }
            }
        }
    }

    /// The next event that nobody tells yet. One instance tells; the next takes over what one that is gone had begun.
    async fn next(&mut self, gate: &Gate) -> Result<Option<Claimed>, StoreError> {
        let since = gate.now().saturating_sub(millis(TOLD_FOR));
        if self.ready.is_empty() {
            let after = match self.after {
                Some(after) => after,
                None => beginning(gate, since).await?,
            };
            self.ready = gate.store.audit(after, PAGE).await?.into();
            self.after = Some(self.ready.back().map_or(after, |link| link.seq));
            if self.looked_again.elapsed() >= LOOK_AGAIN_EVERY {
                self.ready.append(&mut self.elsewhere);
                self.looked_again = Instant::now();
            }
        }
        while let Some(link) = self.ready.front() {
            if link.at >= since
                && let Some(event) = told(link)
            {
                let scope = format!("webhook|{}|{}|{}", self.hook.url, link.seq, link.hash);
                let owner = gate.instance();
                let claim = Claiming {
                    scope: &scope,
                    request: "",
                    owner: &owner,
                    now: gate.now(),
                    take_over: true,
                };
                let claimed = gate.store.idempotency_claim(claim).await?;
                let link = self.ready.pop_front();
                match claimed {
                    Claim::Fresh => {
                        let body = event.to_canonical();
                        return Ok(Some(Claimed { scope, owner, body }));
                    }
                    Claim::Running => self.elsewhere.extend(link),
                    _ => {}
                }
            } else {
                self.ready.pop_front();
            }
        }
        Ok(None)
    }

    /// Sends an event until the hook takes it. A word for how that ended; `None` when this instance goes down first.
    async fn tell(&self, body: &str) -> Option<&'static str> {
        let (hook, begun) = (&self.hook, Instant::now());
        let mut wait = Duration::from_millis(200);
        loop {
            let seconds = self.gate.upgrade()?.now() / 1_000;
            let sent = self
                .client
                .post(&hook.url)
                .header("content-type", "application/json")
                .header("flowx-signature", signature(&hook.secret, seconds, body))
                .body(body.to_owned())
                .send()
                .await;
            match sent.map(|answer| answer.status()) {
                Ok(status) if status.is_success() => return Some("told"),
                // It has read this and wants none of it; the next is another matter.
                Ok(status)
                    if !status.is_server_error() && ![408, 425, 429].contains(&status.as_u16()) =>
                {
                    tracing::error!(
                        url = hook.url,
                        status = status.as_u16(),
                        body,
                        "a webhook refused"
                    );
                    return Some("refused");
                }
                Ok(status) => {
                    tracing::warn!(
                        url = hook.url,
                        status = status.as_u16(),
                        "a webhook did not take an event"
                    );
                }
                Err(error) => {
                    tracing::warn!(%error, url = hook.url, "a webhook could not be called");
                }
            }
            if begun.elapsed() >= TRIED_FOR {
                tracing::error!(url = hook.url, body, "a webhook was not told");
                return Some("not told");
            }
            tokio::time::sleep(wait).await;
            wait = (wait * 3).min(LONGEST_WAIT);
        }
    }
}

/// After which link an instance that starts begins to tell: nothing older than `since`, and not without end.
async fn beginning(gate: &Gate, since: Millis) -> Result<u64, StoreError> {
    let head = gate.store.audit_head().await?.seq;
    let mut after = head;
    while after > 0 && head - after < LOOK_BACK {
        after = after.saturating_sub(1_000);
        let oldest = gate.store.audit(after, 1).await?;
        if oldest.first().is_some_and(|link| link.at < since) {
            break;
        }
    }
    Ok(after)
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
