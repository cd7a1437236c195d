//! `Idempotency-Key`: the same call again is answered with the answer it had.

use std::sync::Arc;
use std::time::Duration;

use ::http::HeaderName;
use ::http::request::Parts;
use flowx_manifest::json::{self, Limits};
use flowx_manifest::{Category, Json};

use super::Web;
use crate::channel::NoChannel;
use crate::core::{Core, ServedFlow};
use crate::gate::{ClaimEnd, gate_codes};
use crate::invocation::{CallOutcome, Invocation, Output};
use crate::refusal::{Refusal, codes};
use crate::store::Claim;

const KEY: HeaderName = HeaderName::from_static("idempotency-key");
/// A call with that key began on an instance that is gone. 409.
const INTERRUPTED: &str = "idempotency.interrupted";

/// How long an answer waits for its record.
const PATIENCE: Duration = Duration::from_secs(5);

/// The key of a request.
///
/// # Errors
/// When there are two, one that is none, or none where one is required.
pub(super) fn key(parts: &Parts, required: bool) -> Result<Option<String>, Refusal> {
    let mut all = parts.headers.get_all(KEY).iter();
    let wrong = |message| {
        Err(Refusal::new(
            codes::KEY_INVALID,
            Category::Validation,
            message,
        ))
    };
    match (all.next(), all.next()) {
        (None, _) if required => Err(Refusal::new(
            codes::KEY_REQUIRED,
            Category::Validation,
            "This call needs an Idempotency-Key header, so that it can be repeated safely.",
        )),
        (None, _) => Ok(None),
        (Some(_), Some(_)) => wrong("There are two Idempotency-Key headers."),
        (Some(key), None) => match key.to_str() {
            // The draft's structured string and the bare word that everybody sends are the same key.
            Ok(text) => match text.trim().trim_matches('"') {
                "" => wrong("The Idempotency-Key is empty."),
                key if key.len() > 255 => {
                    wrong("The Idempotency-Key is longer than 255 characters.")
                }
                key => Ok(Some(key.to_owned())),
            },
            Err(_) => wrong("The Idempotency-Key is not plain text."),
        },
    }
}

/// A caller's key under which nobody else's call and no other flow's can meet it, of one length.
pub(super) fn scoped(key: &str, principal: &str, flow: &str) -> String {
    let mut hash = blake3::Hasher::new();
    for part in [principal, flow, key] {
        hash.update(&(part.len() as u64).to_le_bytes());
        hash.update(part.as_bytes());
    }
    hash.finalize().to_hex()[..32].to_owned()
}

/// Makes the call under its key, or gives the answer it had, and says which.
///
/// The call goes on when its caller leaves: whoever comes back with the key gets its answer.
pub(super) async fn call(
    web: &Web,
    flow: &ServedFlow,
    invocation: Invocation,
    key: String,
) -> Result<(CallOutcome, bool), Refusal> {
    let fingerprint = blake3::hash(invocation.input.to_canonical().as_bytes()).to_hex();
    let again = web.core.is_safe_to_repeat(flow);
    let (claimed, owner) = web.core.gate().claim_key(&key, &fingerprint, again).await?;
    match claimed {
        Claim::Replay(answer) => return recorded(&answer).map(|outcome| (outcome, true)),
        Claim::Running => {
            let message = "The same call is still running; ask again in a moment.";
            return Err(Refusal::new(
                codes::IN_PROGRESS,
                Category::Conflict,
                message,
            ));
        }
        Claim::Mismatch => {
            let message =
                "This Idempotency-Key came with another input before; a new call needs a new key.";
            return Err(Refusal::new(
                codes::KEY_REUSED,
                Category::Validation,
                message,
            ));
        }
        Claim::Interrupted => {
            let message = "A call with this key was begun, and how it ended is not known. Find out before you call again with a new key.";
            return Err(Refusal::new(INTERRUPTED, Category::Conflict, message));
        }
        Claim::Fresh => {}
    }
    let core = Arc::clone(&web.core);
    let running = web.core.tasks().spawn(async move {
        let outcome = core.call(invocation, Arc::new(NoChannel)).await;
        keep(&core, key, owner, &outcome, again).await;
        outcome
    });
    match running.await {
        Ok(outcome) => Ok((outcome, false)),
        Err(error) => Err(Refusal::internal(codes::INTERNAL, error.to_string())),
    }
}

/// Whether a row stands for the call, whatever its state.
fn stands_as_a_proposal(refusal: &Refusal) -> bool {
    refusal.code.starts_with("approval.") && refusal.code != gate_codes::TOO_MANY
}

/// Records the answer, or gives the key back where nothing can have been done that must not be done again. What has been done is done: a
/// record that cannot be written turns no answer into a failure, and goes on being tried after the caller has it.
async fn keep(core: &Core, key: String, owner: String, outcome: &CallOutcome, again: bool) {
    let gate = Arc::clone(core.gate());
    let end = match outcome {
        CallOutcome::Done(output) => ClaimEnd::Answer(format!("={}", output.text)),
        CallOutcome::Refused(refusal) if refusal.may_have_taken_effect() && !again => {
            ClaimEnd::Answer(format!("!{}", written(refusal)))
        }
        // What was proposed under the key is this call; another one needs another key.
        CallOutcome::Refused(refusal) if stands_as_a_proposal(refusal) => ClaimEnd::Waits,
        _ => ClaimEnd::NothingDone,
    };
    let recorded = core
        .tasks()
        .spawn(async move { gate.end_claim(&key, &owner, end).await });
    let _ = tokio::time::timeout(PATIENCE, recorded).await;
}

fn written(refusal: &Refusal) -> Json {
    let mut members = vec![
        ("code", Json::from(&*refusal.code)),
        ("category", Json::from(refusal.category.as_str())),
        ("message", Json::from(&*refusal.message)),
    ];
    members.extend(refusal.detail.clone().map(|detail| ("detail", detail)));
    Json::object(members)
}

fn recorded(answer: &str) -> Result<CallOutcome, Refusal> {
    if let Some(text) = answer.strip_prefix('=') {
        return Ok(CallOutcome::Done(Output {
            text: text.to_owned(),
        }));
    }
    let read = answer.strip_prefix('!').and_then(|text| {
        let json = json::parse(text.as_bytes(), Limits::DOCUMENT).ok()?;
        let word = |name: &str| json.get(name)?.as_str().map(str::to_owned);
        let category = Category::parse(&word("category")?)?;
        let mut refusal = Refusal::new(word("code")?, category, word("message")?);
        refusal.detail = json.get("detail").cloned();
        refusal.standing = true;
        Some(CallOutcome::Refused(refusal))
    });
    read.ok_or_else(|| Refusal::internal(codes::INTERNAL, "a recorded answer cannot be read"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn one_key_of_two_callers_is_two_keys() {
        let all: BTreeSet<String> = [
            ("k", "a", "f"),
            ("k", "b", "f"),
            ("k", "a", "g"),
            ("ka", "", "f"),
            ("k", "", "af"),
        ]
        .map(|(k, p, f)| scoped(k, p, f))
        .into();
        assert_eq!(all.len(), 5);
    }

    #[test]
    fn a_recorded_refusal_is_read_as_it_was_written() {
        let refusal =
            Refusal::new("step.timed_out", Category::Unavailable, "late").with("step", "pay");
        let Ok(CallOutcome::Refused(read)) = recorded(&format!("!{}", written(&refusal))) else {
            panic!("not a refusal");
        };
        assert_eq!(
            (read.code, read.category, read.message, read.detail),
            (
                refusal.code,
                refusal.category,
                refusal.message,
                refusal.detail
            )
        );
        assert!(recorded("neither").is_err());
    }
}
