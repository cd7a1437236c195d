//! Borrowing the caller's model: no provider, no key, no traffic of our own.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use flowx_manifest::Json;
use futures_util::future::BoxFuture;

use crate::channel::{Ask, AskKind, Asking, Reply};
use crate::engine::Call;
use crate::invocation::CallOutcome;
use crate::refusal::{Refusal, codes};

/// What the caller's model is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelRequest {
    /// What it is told to be; optional.
    pub system: Option<String>,
    /// What it is asked.
    pub prompt: String,
    /// How much it may answer, in its tokens.
    pub max_tokens: u32,
}

/// Why there is no answer of a model. Never an error of the flow by itself: whoever asks has something to say without.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoModel {
    /// The caller has no model to lend, or not in the middle of a call.
    #[error("the caller has no model that can be asked in the middle of a call")]
    Unavailable,
    /// Its user, or the client itself, said no.
    #[error("the caller's client did not allow it")]
    Declined,
    /// It did not answer in time.
    #[error("the caller's model did not answer in time")]
    TimedOut,
    /// It answered with something that is no text.
    #[error("the caller's model answered with something that is no text")]
    NotText,
}

/// How a running call gets its caller's model.
#[derive(Default)]
pub(crate) struct Lending {
    /// Where the call may be ended with a question and made again (2026-07-28): asks the gate for the answer that came with it.
    by_retry: Option<ByRetry>,
    /// Whether the one question of that kind has been put.
    put: AtomicBool,
    /// What the call ends with instead of an output.
    end: Mutex<Option<CallOutcome>>,
}

/// What came with the call for that question, or what the call has to end with.
pub(crate) type ByRetry =
    Box<dyn Fn(Json) -> BoxFuture<'static, Result<Reply, CallOutcome>> + Send + Sync>;

impl Lending {
    pub(crate) fn new(by_retry: Option<ByRetry>) -> Lending {
        Lending {
            by_retry,
            ..Lending::default()
        }
    }

    /// What the call ends with instead of an output.
    pub(crate) fn take(&self) -> Option<CallOutcome> {
        self.end
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take()
    }
}

/// Asks: on the call's own stream where the transport can, else by ending the call with the question and having it made again.
///
/// The second way runs the flow from its beginning, so it is there for calls that change nothing, once per call; everywhere else such a
/// caller has no model.
pub(crate) async fn ask(call: &Call, request: &ModelRequest) -> Result<String, NoModel> {
    let asked = parameters(request);
    let reply = match call.channel.asking(AskKind::Model) {
        Asking::Cannot => return Err(NoModel::Unavailable),
        Asking::InCall => call.channel.ask(Ask::Model(asked)).await,
        Asking::ByRetry => match &call.lending.by_retry {
            Some(by_retry) if !call.lending.put.swap(true, Ordering::Relaxed) => {
                match by_retry(asked).await {
                    Ok(reply) => reply,
                    Err(outcome) => {
                        *call
                            .lending
                            .end
                            .lock()
                            .unwrap_or_else(PoisonError::into_inner) = Some(outcome);
                        // The driver ends the body at its next look; what it says is not what the caller hears.
                        let refusal = Refusal::internal(codes::INTERNAL, "a question");
                        match call.refuse(refusal).await {}
                    }
                }
            }
            _ => return Err(NoModel::Unavailable),
        },
    };
    match reply {
        Reply::Accept(result) => text(&result).ok_or(NoModel::NotText),
        Reply::Decline | Reply::Cancel => Err(NoModel::Declined),
        Reply::TimedOut => Err(NoModel::TimedOut),
        Reply::Gone => Err(NoModel::Unavailable),
        Reply::Invalid => Err(NoModel::NotText),
    }
}

/// The parameters of `sampling/createMessage`. A pure function of the request: the same request is the same bytes.
fn parameters(request: &ModelRequest) -> Json {
    let content = Json::object([
        ("type", Json::from("text")),
        ("text", Json::from(request.prompt.as_str())),
    ]);
    let message = Json::object([("role", Json::from("user")), ("content", content)]);
    let mut members = vec![
        ("messages", Json::Array(vec![message])),
        ("maxTokens", Json::from(request.max_tokens)),
        // What is asked about is in the prompt; nothing else of the client's conversation is wanted.
        ("includeContext", Json::from("none")),
    ];
    members.extend(
        request
            .system
            .as_deref()
            .map(|system| ("systemPrompt", Json::from(system))),
    );
    Json::object(members)
}

fn text(result: &Json) -> Option<String> {
    let content = result.get("content")?;
    let parts = content.as_array().unwrap_or(std::slice::from_ref(content));
    let texts: Vec<&str> = parts
        .iter()
        .filter(|p| p.get("type").and_then(Json::as_str) == Some("text"))
        .filter_map(|p| p.get("text")?.as_str())
        .collect();
    (!texts.is_empty()).then(|| texts.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::channel::{Channel, NoChannel};
    use crate::engine::call_over;
    use flowx_manifest::json::{Limits, parse};
    use std::sync::Arc;

    struct Model(Reply, Mutex<Vec<Ask>>);
    impl Channel for Model {
        fn asking(&self, kind: AskKind) -> Asking {
            if kind == AskKind::Model {
                Asking::InCall
            } else {
                Asking::Cannot
            }
        }
        fn ask(&self, ask: Ask) -> BoxFuture<'_, Reply> {
            self.1.lock().unwrap().push(ask);
            Box::pin(std::future::ready(self.0.clone()))
        }
        fn progress(&self, _: f64, _: Option<f64>, _: Option<&str>) {}
    }

    fn request() -> ModelRequest {
        ModelRequest {
            system: Some("be brief".into()),
            prompt: "why?".into(),
            max_tokens: 50,
        }
    }

    fn json(text: &str) -> Json {
        parse(text.as_bytes(), Limits::DOCUMENT).unwrap()
    }

    #[tokio::test]
    async fn a_model_is_asked_in_the_same_words_every_time_and_its_text_comes_back() {
        let reply =
            json(r#"{"role":"assistant","content":{"type":"text","text":"because"},"model":"m"}"#);
        let model = Arc::new(Model(Reply::Accept(reply), Mutex::default()));
        for _ in 0..2 {
            let call = call_over(model.clone());
            assert_eq!(ask(&call, &request()).await, Ok("because".into()));
        }
        let asked = model.1.lock().unwrap().clone();
        assert_eq!(asked[0], asked[1]);
        let Ask::Model(parameters) = &asked[0] else {
            panic!("not for a model")
        };
        assert_eq!(
            parameters.to_canonical(),
            r#"{"includeContext":"none","maxTokens":50,"messages":[{"content":{"text":"why?","type":"text"},"role":"user"}],"systemPrompt":"be brief"}"#
        );
    }

    #[tokio::test]
    async fn a_caller_without_a_model_or_without_an_answer_is_no_error_but_said() {
        let nobody = call_over(Arc::new(NoChannel));
        assert_eq!(ask(&nobody, &request()).await, Err(NoModel::Unavailable));
        for (reply, no) in [
            (Reply::Decline, NoModel::Declined),
            (Reply::TimedOut, NoModel::TimedOut),
            (Reply::Invalid, NoModel::NotText),
            (
                Reply::Accept(json(r#"{"content":{"type":"image","data":""}}"#)),
                NoModel::NotText,
            ),
            (Reply::Accept(Json::empty()), NoModel::NotText),
        ] {
            let call = call_over(Arc::new(Model(reply, Mutex::default())));
            assert_eq!(ask(&call, &request()).await, Err(no));
        }
    }
}
