//! The way back to whoever called a tool, in both eras.
//!
//! 2025-11-25 clients are asked by a request of the server on the call's own stream, and the call waits. 2026-07-28 clients are asked by
//! ending the call with `input_required`; they repeat it with the answers. Either way the flow sees one [`Channel`].
//!
//! The library knows by a task-local which call a request of the server belongs to, and sends it on that call's stream. A flow may
//! be driven on another task, so what it says travels over a queue to [`Wire::drive`], which runs on the call's task.

// The caller's model is asked with what the protocol has deprecated since SEP-2577 and not yet replaced.
#![expect(deprecated)]

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::Duration;

use flowx_manifest::Json;
use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use rmcp::RoleServer;
use rmcp::model::{
    ClientCapabilities, ClientResult, CreateMessageRequest, ElicitRequest, ElicitRequestParams,
    ElicitResult, ElicitationAction, InputRequest, ProgressNotificationParam, ProgressToken,
    ServerRequest,
};
use rmcp::service::{Peer, PeerRequestOptions, ServiceError};
use tokio::sync::{mpsc, oneshot};

use super::envelope::Envelope;
use crate::channel::{Ask, AskKind, Asking, Channel, Given, Reply};

/// Reports of progress that wait to be sent; what does not fit is dropped, since a later one says more.
const PROGRESS_QUEUE: usize = 32;

/// Which kinds of question a client can put to its user.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Kinds {
    form: bool,
    url: bool,
    model: bool,
}

impl Kinds {
    /// As the client declares itself; a client that declares nothing can be asked nothing.
    pub(crate) fn of(capabilities: Option<&ClientCapabilities>) -> Kinds {
        let Some(capabilities) = capabilities else {
            return Kinds::default();
        };
        let elicitation = capabilities.elicitation.as_ref();
        Kinds {
            // `{}` means forms, as in the revisions before there were pages.
            form: elicitation.is_some_and(|e| e.form.is_some() || e.url.is_none()),
            url: elicitation.is_some_and(|e| e.url.is_some()),
            model: capabilities.sampling.is_some(),
        }
    }

    fn has(self, kind: AskKind) -> bool {
        match kind {
            AskKind::Form => self.form,
            AskKind::Url => self.url,
            AskKind::Model => self.model,
        }
    }
}

/// The capabilities that a client would need, as the error of the protocol names them.
pub(crate) fn needed(kind: AskKind) -> ClientCapabilities {
    let value = match kind {
        AskKind::Form => serde_json::json!({ "elicitation": { "form": {} } }),
        AskKind::Url => serde_json::json!({ "elicitation": { "url": {} } }),
        AskKind::Model => serde_json::json!({ "sampling": {} }),
    };
    serde_json::from_value(value).unwrap_or_default()
}

/// A question as the protocol writes it. `None` when it is none that the library can write.
pub(crate) fn request_of(ask: &Ask) -> Option<InputRequest> {
    let elicit = |params: Json| {
        let params: ElicitRequestParams = serde_json::from_value(params.to_value()).ok()?;
        Some(InputRequest::Elicitation(ElicitRequest::new(params)))
    };
    match ask {
        Ask::Form { message, schema } => elicit(Json::object([
            ("mode", Json::from("form")),
            ("message", Json::from(message.as_str())),
            ("requestedSchema", schema.clone()),
        ])),
        Ask::Url { message, url, id } => elicit(Json::object([
            ("mode", Json::from("url")),
            ("message", Json::from(message.as_str())),
            ("url", Json::from(url.as_str())),
            ("elicitationId", Json::from(id.as_str())),
        ])),
        Ask::Model(params) => {
            let params = serde_json::from_value(params.to_value()).ok()?;
            Some(InputRequest::CreateMessage(CreateMessageRequest::new(
                params,
            )))
        }
    }
}

/// A reply as a client of 2026-07-28 puts it into `inputResponses`.
fn reply_of(response: &Json) -> Reply {
    let action = response.get("action");
    match action.and_then(Json::as_str) {
        Some("accept") => match response.get("content") {
            None | Some(Json::Null) => Reply::Accept(Json::empty()),
            Some(content @ Json::Object(_)) => Reply::Accept(content.clone()),
            Some(_) => Reply::Invalid,
        },
        Some("decline") => Reply::Decline,
        Some("cancel") => Reply::Cancel,
        Some(_) => Reply::Invalid,
        // What a model said has no action; it has a role.
        None if action.is_none() && response.get("role").is_some() => {
            Reply::Accept(response.clone())
        }
        None => Reply::Invalid,
    }
}

/// What the repeated call brings along: nothing unless it brings back a state, since answers alone prove nothing.
pub(crate) fn given(envelope: &Envelope) -> Option<Given> {
    let state = envelope.request_state()?.to_owned();
    let none = BTreeMap::new();
    let replies = envelope
        .input_responses()
        .unwrap_or(&none)
        .iter()
        .map(|(name, r)| (name.clone(), reply_of(r)))
        .collect();
    Some(Given { state, replies })
}

/// One call's [`Channel`].
pub(crate) struct CallChannel {
    kinds: Kinds,
    asking: Asking,
    given: Option<Given>,
    session: Option<String>,
    asks: mpsc::UnboundedSender<(Ask, oneshot::Sender<Reply>)>,
    progress: Option<mpsc::Sender<Progress>>,
    done: Mutex<f64>,
}

struct Progress {
    done: f64,
    total: Option<f64>,
    message: Option<String>,
}

/// How often and how long the other end waits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patience {
    pub(crate) timeout: Duration,
    pub(crate) keep_alive: Duration,
}

/// The other end of a [`CallChannel`], on the call's own task.
pub(crate) struct Wire {
    peer: Peer<RoleServer>,
    token: Option<ProgressToken>,
    asks: mpsc::UnboundedReceiver<(Ask, oneshot::Sender<Reply>)>,
    progress: mpsc::Receiver<Progress>,
    patience: Patience,
    told: f64,
}

/// What a channel is made of.
pub(crate) struct Ends {
    pub(crate) peer: Peer<RoleServer>,
    pub(crate) token: Option<ProgressToken>,
    pub(crate) kinds: Kinds,
    /// How this client is asked, if it can be.
    pub(crate) asking: Asking,
    pub(crate) given: Option<Given>,
    pub(crate) session: Option<String>,
    pub(crate) patience: Patience,
}

/// Both ends.
pub(crate) fn channel(ends: Ends) -> (CallChannel, Wire) {
    let (asks, asked) = mpsc::unbounded_channel();
    let (progress, reports) = mpsc::channel(PROGRESS_QUEUE);
    let channel = CallChannel {
        kinds: ends.kinds,
        asking: ends.asking,
        given: ends.given,
        session: ends.session,
        asks,
        progress: ends.token.is_some().then_some(progress),
        done: Mutex::new(f64::NEG_INFINITY),
    };
    let wire = Wire {
        peer: ends.peer,
        token: ends.token,
        asks: asked,
        progress: reports,
        patience: ends.patience,
        told: f64::NEG_INFINITY,
    };
    (channel, wire)
}

impl Channel for CallChannel {
    fn asking(&self, kind: AskKind) -> Asking {
        if self.kinds.has(kind) {
            self.asking
        } else {
            Asking::Cannot
        }
    }

    fn ask(&self, ask: Ask) -> BoxFuture<'_, Reply> {
        if self.asking(ask.kind()) != Asking::InCall {
            return Box::pin(std::future::ready(Reply::Gone));
        }
        let (answer, answered) = oneshot::channel();
        let sent = self.asks.send((ask, answer));
        Box::pin(async move {
            match sent {
                Ok(()) => answered.await.unwrap_or(Reply::Gone),
                Err(_) => Reply::Gone,
            }
        })
    }

    fn given(&self) -> Option<&Given> {
        self.given.as_ref()
    }

    fn progress(&self, done: f64, total: Option<f64>, message: Option<&str>) {
        let Some(progress) = &self.progress else {
            return;
        };
        // The protocol wants every report to be beyond the one before.
        let mut last = self
            .done
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        if !done.is_finite() || done <= *last {
            return;
        }
        if progress
            .try_send(Progress {
                done,
                total,
                message: message.map(str::to_owned),
            })
            .is_ok()
        {
            *last = done;
        }
    }

    fn session(&self) -> Option<&str> {
        self.session.as_deref()
    }
}

impl Wire {
    /// Runs a call and, meanwhile, says and asks what it wants said and asked.
    pub(crate) async fn drive<T>(mut self, call: impl Future<Output = T>) -> T {
        tokio::pin!(call);
        let mut open = FuturesUnordered::new();
        let mut alive =
            tokio::time::interval(self.patience.keep_alive.max(Duration::from_millis(10)));
        alive.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        alive.reset();
        loop {
            tokio::select! {
                biased;
                // Reports first, so that none comes after the answer.
                Some(report) = self.progress.recv() => self.tell(report).await,
                outcome = &mut call => {
                    while let Ok(report) = self.progress.try_recv() {
                        self.tell(report).await;
                    }
                    return outcome;
                }
                Some((ask, answer)) = self.asks.recv() => {
                    let asked = put(self.peer.clone(), ask, self.patience.timeout);
                    open.push(async move {
                        // The flow may have stopped waiting; then nobody wants the reply.
                        let _ = answer.send(asked.await);
                    });
                }
                Some(()) = open.next(), if !open.is_empty() => {}
                _ = alive.tick(), if !open.is_empty() => {
                    // Some clients give their call more time whenever it tells that it is alive.
                    let done = if self.told.is_finite() { self.told + 1e-6 } else { 0.0 };
                    self.tell(Progress { done, total: None, message: Some("waiting for an answer".to_owned()) }).await;
                }
            }
        }
    }

    async fn tell(&mut self, report: Progress) {
        let Some(token) = &self.token else { return };
        // A sign of life may have gone a hair beyond what the flow says next.
        let done = if report.done > self.told {
            report.done
        } else {
            self.told + 1e-9
        };
        let mut param = ProgressNotificationParam::new(token.clone(), done);
        param.total = report.total;
        param.message = report.message;
        if self.peer.notify_progress(param).await.is_ok() {
            self.told = done;
        }
    }
}

/// Puts one question to a 2025-11-25 client and waits.
async fn put(peer: Peer<RoleServer>, ask: Ask, timeout: Duration) -> Reply {
    let request = match request_of(&ask) {
        Some(InputRequest::Elicitation(request)) => ServerRequest::ElicitRequest(request),
        Some(InputRequest::CreateMessage(request)) => ServerRequest::CreateMessageRequest(request),
        _ => {
            tracing::error!(kind = ?ask.kind(), "a question that cannot be written in the protocol");
            return Reply::Invalid;
        }
    };
    let sent = peer
        .send_request_with_option(request, PeerRequestOptions::with_timeout(timeout))
        .await;
    let answer = match sent {
        Ok(handle) => handle.await_response().await,
        Err(error) => Err(error),
    };
    match answer {
        Ok(ClientResult::ElicitResult(ElicitResult {
            action, content, ..
        })) => match (action, content) {
            (ElicitationAction::Accept, None) => Reply::Accept(Json::empty()),
            (ElicitationAction::Accept, Some(content @ serde_json::Value::Object(_))) => {
                Reply::Accept(Json::from_value(&content))
            }
            (ElicitationAction::Decline, _) => Reply::Decline,
            (ElicitationAction::Cancel, _) => Reply::Cancel,
            _ => Reply::Invalid,
        },
        Ok(ClientResult::CreateMessageResult(result)) => serde_json::to_value(&*result)
            .map_or(Reply::Invalid, |value| {
                Reply::Accept(Json::from_value(&value))
            }),
        Ok(_) => Reply::Invalid,
        Err(ServiceError::Timeout { .. }) => Reply::TimedOut,
        Err(ServiceError::McpError(error)) => {
            tracing::info!(%error, "the client answered a question with an error");
            Reply::Invalid
        }
        Err(_) => Reply::Gone,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flowx_manifest::json::Limits;

    fn kinds(capabilities: &str) -> Kinds {
        Kinds::of(Some(
            &serde_json::from_str(capabilities).expect("capabilities"),
        ))
    }

    #[test]
    fn a_client_is_asked_only_what_it_declares() {
        let none = Kinds::default();
        assert_eq!(Kinds::of(None), none);
        assert_eq!(kinds("{}"), none);
        assert_eq!(kinds(r#"{"elicitation":{}}"#), Kinds { form: true, ..none });
        assert_eq!(
            kinds(r#"{"elicitation":{"url":{}}}"#),
            Kinds { url: true, ..none }
        );
        assert_eq!(
            kinds(r#"{"elicitation":{"form":{},"url":{}}}"#),
            Kinds {
                form: true,
                url: true,
                ..none
            }
        );
        assert_eq!(
            kinds(r#"{"sampling":{}}"#),
            Kinds {
                model: true,
                ..none
            }
        );
    }

    #[test]
    fn what_is_needed_is_what_would_be_enough() {
        for kind in [AskKind::Form, AskKind::Url, AskKind::Model] {
            assert!(Kinds::of(Some(&needed(kind))).has(kind), "{kind:?}");
        }
    }

    #[test]
    fn every_question_can_be_written() {
        let form = Ask::Form {
            message: "Refund 10.00?".to_owned(),
            schema: Json::from_value(&serde_json::json!({
                "type": "object",
                "properties": { "confirm": { "type": "boolean", "title": "Go ahead" } },
                "required": ["confirm"],
            })),
        };
        let url = Ask::Url {
            message: "Confirm".to_owned(),
            url: "https://desk.example/confirm/1".to_owned(),
            id: "1".to_owned(),
        };
        let model = Ask::Model(Json::from_value(&serde_json::json!({
            "messages": [{ "role": "user", "content": { "type": "text", "text": "Why?" } }],
            "maxTokens": 100,
        })));
        for (ask, method) in [
            (form, "elicitation/create"),
            (url, "elicitation/create"),
            (model, "sampling/createMessage"),
        ] {
            let written = serde_json::to_value(request_of(&ask).expect("written")).expect("JSON");
            assert_eq!(written["method"], method);
        }
    }

    #[test]
    fn a_reply_is_a_yes_only_when_it_says_so() {
        let reply = |text: &str| {
            reply_of(&flowx_manifest::json::parse(text.as_bytes(), Limits::REQUEST).expect("JSON"))
        };
        assert_eq!(
            reply(r#"{"action":"accept"}"#),
            Reply::Accept(Json::empty())
        );
        assert_eq!(reply(r#"{"action":"decline"}"#), Reply::Decline);
        assert_eq!(reply(r#"{"action":"cancel"}"#), Reply::Cancel);
        for text in [
            r#"{}"#,
            r#"null"#,
            r#"{"action":true,"role":"user"}"#,
            r#"{"action":"ACCEPT"}"#,
            r#"{"action":"accept","content":[1]}"#,
            r#"{"content":{"confirm":true}}"#,
        ] {
            assert_eq!(reply(text), Reply::Invalid, "{text}");
        }
    }

    #[test]
    fn answers_without_a_state_are_not_looked_at() {
        let envelope = |params: &str| {
            let text =
                format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{params}}}"#);
            Envelope::read(text.as_bytes(), Limits::REQUEST).expect("well-formed")
        };
        assert_eq!(
            given(&envelope(
                r#"{"inputResponses":{"confirm":{"action":"accept"}}}"#
            )),
            None
        );
        assert_eq!(given(&envelope(r#"{"requestState":7}"#)), None);
        let both = given(&envelope(
            r#"{"requestState":"s","inputResponses":{"confirm":{"action":"decline"}}}"#,
        ))
        .expect("a state");
        assert_eq!(both.state, "s");
        assert_eq!(both.replies["confirm"], Reply::Decline);
    }
}
