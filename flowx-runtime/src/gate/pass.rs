//! Leave to run a flow once, and what is written down when it has run.

use std::sync::Arc;
use std::time::Duration;

use flowx_manifest::Json;

use super::facts::Facts;
use super::{Gate, gate_codes};
use crate::audit::Record;
use crate::invocation::{Invocation, Output};
use crate::proposals::{Outcome, Proposal, Step, step};
use crate::refusal::{Refusal, codes};
use crate::store::{Millis, StoreError};

/// Leave to run a flow once. Given back with [`Gate::settle`]; dropped instead (the caller went away, the task was aborted), an
/// approved run counts as one whose outcome is not known.
pub struct Pass {
    gate: Arc<Gate>,
    held: Option<Held>,
    invocation: Invocation,
    side_effects: bool,
    /// Whether a person was asked for it.
    asked: bool,
    settled: bool,
}

/// An approved run that has begun.
struct Held {
    proposal: Box<Proposal>,
    token: String,
}

impl Pass {
    /// Without a proposal.
    pub(super) fn free(
        gate: &Arc<Gate>,
        facts: &Facts<'_>,
        side_effects: bool,
        asked: bool,
    ) -> Pass {
        Pass {
            asked,
            gate: Arc::clone(gate),
            held: None,
            invocation: facts.invocation.clone(),
            side_effects,
            settled: false,
        }
    }

    /// Of a proposal that was just made to execute.
    pub(super) fn held(gate: &Arc<Gate>, invocation: Invocation, proposal: Proposal) -> Pass {
        let token = proposal
            .execution
            .as_ref()
            .map(|run| run.token.clone())
            .unwrap_or_default();
        gate.running().insert(token.clone());
        Pass {
            gate: Arc::clone(gate),
            held: Some(Held {
                proposal: Box::new(proposal),
                token,
            }),
            invocation,
            side_effects: true,
            asked: true,
            settled: false,
        }
    }

    /// Whether the call may end with a question to its caller and be made again: it changes nothing, and uses up nobody's yes.
    pub(crate) fn may_end_with_a_question(&self) -> bool {
        self.held.is_none() && !self.side_effects && !self.asked
    }

    /// Gives it back when the call ended with a question.
    pub(super) fn ended_with_a_question(mut self) -> Invocation {
        self.settled = true;
        self.invocation.clone()
    }

    /// The idempotency key to run under: a proposal's own, so that every run of it is the same to what it calls.
    pub fn idempotency_key(&self) -> Option<&str> {
        let held = self.held.as_ref()?;
        held.proposal
            .execution
            .as_ref()
            .map(|run| run.idempotency_key.as_str())
    }
}

impl Drop for Pass {
    fn drop(&mut self) {
        if self.settled {
            return;
        }
        let gate = Arc::clone(&self.gate);
        let Some(held) = self.held.take() else { return };
        // Without a runtime the process is going down, and the heartbeat's end says the same.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            let tasks = gate.tasks.clone();
            tasks.spawn_on(
                async move { gate.close(held.proposal, &held.token, None).await },
                &runtime,
            );
        }
    }
}

/// Whether a refusal leaves open what was done: something was cut off while it ran, or could not be undone.
fn leaves_open(refusal: &Refusal) -> bool {
    let cut_off = [
        codes::DEADLINE_EXCEEDED,
        codes::STEP_TIMED_OUT,
        codes::INTERNAL,
    ]
    .contains(&&*refusal.code);
    let half_done = refusal
        .detail
        .as_ref()
        .is_some_and(|d| d.get("compensation").is_some());
    cut_off || half_done
}

impl Gate {
    /// Writes down how a flow ended. An approved run is closed before the caller hears of it; a store that does not answer then is
    /// tried again until it does, for as long as this process lives.
    pub async fn settle(self: &Arc<Self>, mut pass: Pass, result: &Result<Output, Refusal>) {
        pass.settled = true;
        let (kind, code) = match result {
            Ok(_) => ("call.done", Json::Null),
            Err(refusal) if pass.side_effects && leaves_open(refusal) => {
                ("call.unknown", Json::from(&*refusal.code))
            }
            Err(refusal) => ("call.failed", Json::from(&*refusal.code)),
        };
        let record = self.record(kind, &pass.invocation, [("code", code)]);
        if let Err(error) = self.auditor.hand_over(record).await {
            tracing::error!(%error, correlation_id = pass.invocation.correlation_id, "an outcome could not be recorded");
        }
        if let Some(held) = pass.held.take() {
            let at = self.now();
            let outcome = match result {
                Ok(output) => Some(Outcome::Done {
                    at,
                    output: output.text.clone(),
                }),
                Err(refusal) if leaves_open(refusal) => None,
                Err(refusal) => Some(Outcome::Failed {
                    at,
                    code: refusal.code.to_string(),
                    category: refusal.category.as_str().to_owned(),
                    message: refusal.message.to_string(),
                }),
            };
            let gate = Arc::clone(self);
            // A task of its own, so that a caller who leaves now does not keep the outcome from being written.
            let closing = self
                .tasks
                .spawn(async move { gate.close(held.proposal, &held.token, outcome).await });
            let _ = tokio::time::timeout(Duration::from_secs(5), closing).await;
        }
    }

    /// Writes the end of a run: its outcome, or that it is not known. Goes on until it is written or the row says otherwise.
    async fn close(
        self: &Arc<Self>,
        mut proposal: Box<Proposal>,
        token: &str,
        outcome: Option<Outcome>,
    ) {
        let mut wait = Duration::from_millis(50);
        let outcome = match outcome {
            None => None,
            Some(outcome) => loop {
                match self.enclosed(&proposal.id, outcome.clone()).await {
                    Ok(sealed) => break Some(sealed),
                    Err(error) => self.wait_for_store(&error, &mut wait).await,
                }
            },
        };
        loop {
            let wanted = match &outcome {
                Some(outcome) => Step::Finish {
                    token,
                    outcome: outcome.clone(),
                },
                None => Step::Orphan,
            };
            let verdict = step(&proposal, wanted, self.now());
            let Some(next) = verdict.next else {
                tracing::warn!(proposal = proposal.id, answer = ?verdict.answer, "a run ended after it had been settled otherwise");
                break;
            };
            match self.swap(&proposal, &next, &[]).await {
                Ok(true) => break,
                Ok(false) => match self.store.proposal(&proposal.id).await {
                    Ok(Some(current)) if same_run(&current, token) => *proposal = current,
                    Ok(_) => break,
                    Err(error) => self.wait_for_store(&error, &mut wait).await,
                },
                Err(error) => self.wait_for_store(&error, &mut wait).await,
            }
        }
        self.running().remove(token);
    }

    async fn wait_for_store(&self, error: &StoreError, wait: &mut Duration) {
        tracing::error!(%error, "the outcome of an approved run cannot be written yet");
        tokio::time::sleep(*wait).await;
        *wait = (*wait * 2).min(Duration::from_secs(5));
    }

    /// The one way by which this module changes a proposal: the judged revision, its replacement, and the record of it, at once.
    pub(super) async fn swap(
        &self,
        from: &Proposal,
        to: &Proposal,
        more: &[Record],
    ) -> Result<bool, StoreError> {
        let mut records = vec![proposal_record(
            self.now(),
            to,
            &format!("proposal.{}", to.status.as_str()),
        )];
        if from.decision != to.decision
            && let Some(decision) = &to.decision
        {
            let said = if decision.yes {
                "decision.yes"
            } else {
                "decision.no"
            };
            let mut members = members_of(to);
            members.push(("by", decision.by_key.as_str().into()));
            members.push((
                "reason",
                decision.reason.as_deref().map_or(Json::Null, Json::from),
            ));
            records.insert(0, Record::new(self.now(), said, members));
        }
        records.extend_from_slice(more);
        self.store.swap(from.revision, to, &records).await
    }
}

fn same_run(proposal: &Proposal, token: &str) -> bool {
    proposal
        .execution
        .as_ref()
        .is_some_and(|run| run.token == token)
}

fn members_of(proposal: &Proposal) -> Vec<(&'static str, Json)> {
    vec![
        ("proposal", proposal.id.as_str().into()),
        ("flow", proposal.flow.as_str().into()),
        ("fingerprint", proposal.fingerprint.as_str().into()),
        ("caller", proposal.requester.key.as_str().into()),
        ("revision", proposal.revision.into()),
    ]
}

/// The record of a proposal's state. Carries no argument and no output.
pub(super) fn proposal_record(at: Millis, proposal: &Proposal, kind: &str) -> Record {
    let mut members = members_of(proposal);
    members.push((
        "tenant",
        proposal
            .requester
            .tenant
            .as_deref()
            .map_or(Json::Null, Json::from),
    ));
    members.push(("correlationId", proposal.correlation_id.as_str().into()));
    members.push((
        "run",
        proposal
            .execution
            .as_ref()
            .map_or(Json::Null, |run| run.token.as_str().into()),
    ));
    if let Some(Outcome::Failed { code, .. }) = &proposal.outcome {
        members.push(("code", code.as_str().into()));
    }
    Record::new(at, kind, members)
}

/// A refusal as it was when the approved run failed.
pub(super) fn failed(code: &str, category: &str, message: &str) -> Refusal {
    let category =
        flowx_manifest::Category::parse(category).unwrap_or(flowx_manifest::Category::Internal);
    Refusal::new(code.to_owned(), category, message.to_owned())
}

/// The refusal of a call whose proposal stands there and does not let it run.
pub(super) fn not_now(
    code: &'static str,
    message: impl Into<std::borrow::Cow<'static, str>>,
) -> Refusal {
    let category = match code {
        gate_codes::REQUIRED | gate_codes::REJECTED => flowx_manifest::Category::Forbidden,
        gate_codes::TOO_MANY => flowx_manifest::Category::Unavailable,
        _ => flowx_manifest::Category::Conflict,
    };
    Refusal::new(code, category, message)
}
