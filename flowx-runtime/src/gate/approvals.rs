//! A call that needs a person's yes: one row for the same call by the same caller, and what the caller hears of it. Nothing that the
//! caller hears names the row.

use std::sync::Arc;

use flowx_manifest::{Approval, DecidedBy, Finish, Json, digest};

use super::facts::Facts;
use super::pass::{failed, not_now, proposal_record};
use super::shown::shown;
use super::vault::Place;
use super::{Gate, Pass, gate_codes, is_agent, millis, store_refusal, unreachable};
use crate::channel::Channel;
use crate::identity::PrincipalKind;
use crate::invocation::{CallOutcome, Output};
use crate::proposals::{Execution, No, Outcome, Proposal, Requester, Status, Step, step};
use crate::refusal::Refusal;
use crate::store::{Proposed, StoreError};

/// Why a yes is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Why {
    /// The flow's declaration, or the agent's leave.
    Approval,
    /// The deployment confirms out of band.
    Confirmation,
    /// A flow of high risk, confirmed on the server's own page.
    OwnPage,
}

/// Tries at a row that others change at the same time. Each try sees a change that somebody else completed, so nobody starves.
const TRIES: u32 = 16;

impl Gate {
    /// A pass when a yes for exactly this call stands there unused; otherwise what the caller is answered.
    pub(super) async fn approved(
        self: &Arc<Self>,
        facts: &Facts<'_>,
        channel: &Arc<dyn Channel>,
        why: Why,
    ) -> Result<Pass, CallOutcome> {
        if why == Why::OwnPage {
            self.page_declined(channel)?;
        }
        let version = self
            .hooks
            .version_of(&facts.flow.reference, &facts.input)
            .await
            .map_err(CallOutcome::Refused)?;
        let fingerprint = facts.fingerprint(version.as_deref());
        for _ in 0..TRIES {
            let found = match &facts.invocation.redeem {
                Some(id) => self.named(id, facts).await?,
                None => self
                    .store
                    .latest(&facts.call_key)
                    .await
                    .map_err(unreachable)?,
            };
            let looked = match found {
                None => Look::Ask,
                Some(found) => self
                    .look(found, facts, &fingerprint)
                    .await
                    .map_err(unreachable)?,
            };
            match looked {
                Look::Again => {}
                Look::Begun(proposal) => {
                    let pass = Pass::held(self, facts.invocation.clone(), *proposal);
                    return Ok(pass);
                }
                Look::Answer(outcome) => return Err(outcome),
                Look::Waits(proposal) => {
                    self.wait_for_person(&proposal, facts, channel, why).await?
                }
                Look::Ask => {
                    if let Some(proposal) =
                        self.ask(facts, version.clone(), &fingerprint, why).await?
                    {
                        self.wait_for_person(&proposal, facts, channel, why).await?;
                    }
                }
            }
        }
        Err(CallOutcome::Refused(not_now(
            gate_codes::RUNNING,
            "The same call is being decided just now. Try again.",
        )))
    }

    /// The proposal that a header names, when it is this caller's and about this call.
    async fn named(&self, id: &str, facts: &Facts<'_>) -> Result<Option<Proposal>, CallOutcome> {
        let found = match uuid::Uuid::try_parse(id) {
            Ok(_) => self.store.proposal(id).await.map_err(unreachable)?,
            Err(_) => None,
        };
        match found {
            Some(found)
                if found.call_key == facts.call_key && found.requester.key == facts.caller =>
            {
                Ok(Some(found))
            }
            // One answer for "not there", "not yours" and "not this call".
            _ => Err(CallOutcome::Refused(not_now(
                gate_codes::REQUIRED,
                "There is no approval of that name for this call by this caller.",
            ))),
        }
    }

    /// What the newest row of this call means for the call now.
    async fn look(
        &self,
        found: Proposal,
        facts: &Facts<'_>,
        fingerprint: &str,
    ) -> Result<Look, StoreError> {
        let now = self.now();
        // First what time and change have done to it.
        if let Some(mut over) = step(
            &found,
            Step::Look {
                current: Some(fingerprint),
            },
            now,
        )
        .next
        {
            over.told = true;
            let answer = Look::Answer(CallOutcome::Refused(ended(over.status)));
            return Ok(if self.swap(&found, &over, &[]).await? {
                answer
            } else {
                Look::Again
            });
        }
        let recently = now.saturating_sub(found.settled_at) < millis(self.options.remember);
        Ok(match found.status {
            Status::Waiting => Look::Waits(Box::new(found)),
            Status::Approved => {
                let run = self.execution(&found);
                let verdict = step(
                    &found,
                    Step::Redeem {
                        by: &facts.caller,
                        current: fingerprint,
                        run,
                    },
                    now,
                );
                match (verdict.next, verdict.answer) {
                    (Some(next), Ok(())) => match self.begin(&found, &next).await? {
                        true => Look::Begun(Box::new(next)),
                        false => Look::Again,
                    },
                    (Some(next), Err(no)) => match self.swap(&found, &next, &[]).await? {
                        true => Look::Answer(CallOutcome::Refused(refused(&no))),
                        false => Look::Again,
                    },
                    (None, Err(no)) => Look::Answer(CallOutcome::Refused(refused(&no))),
                    (None, Ok(())) => Look::Again,
                }
            }
            Status::Executing => Look::Answer(CallOutcome::Refused(not_now(
                gate_codes::RUNNING,
                "This call was approved and is running. Repeat it later to learn how it ended.",
            ))),
            Status::Unknown => Look::Answer(CallOutcome::Refused(not_now(
                gate_codes::UNKNOWN,
                "This call was begun, and how it ended is not known. A person looks into it; it is not run again meanwhile.",
            ))),
            Status::Done if recently => match &found.outcome {
                Some(Outcome::Done { output, .. }) => {
                    let output = self.disclose(&found.id, Place::Output, output).await?;
                    Look::Answer(match output {
                        Some(text) => CallOutcome::Done(Output { text }),
                        // It ran, and is not run again because its answer is lost.
                        None => CallOutcome::Refused(ended(found.status)),
                    })
                }
                _ => Look::Ask,
            },
            Status::Rejected if recently => {
                let reason = found.decision.as_ref().and_then(|d| d.reason.as_deref());
                // A model reads it, and a person what the model says of it: nothing in it is disguised.
                let reason = super::visible_short(reason.unwrap_or_default());
                let message = format!("A person said no to this call: {reason}");
                Look::Answer(CallOutcome::Refused(
                    not_now(gate_codes::REJECTED, message).with("reason", reason),
                ))
            }
            Status::Failed | Status::Stale | Status::Expired if !found.told => {
                let refusal = match &found.outcome {
                    Some(Outcome::Failed {
                        code,
                        category,
                        message,
                        ..
                    }) => failed(code, category, message),
                    _ => ended(found.status),
                };
                match step(&found, Step::Tell, now).next {
                    Some(next) if self.swap(&found, &next, &[]).await? => {
                        Look::Answer(CallOutcome::Refused(refusal))
                    }
                    _ => Look::Again,
                }
            }
            Status::Done
            | Status::Rejected
            | Status::Failed
            | Status::Stale
            | Status::Expired
            | Status::Withdrawn => {
                match facts.invocation.redeem {
                    // A header redeems; it asks for nothing.
                    Some(_) => Look::Answer(CallOutcome::Refused(ended(found.status))),
                    None => Look::Ask,
                }
            }
        })
    }

    /// A new row. `None` when somebody else made one meanwhile that is not waiting any more.
    async fn ask(
        &self,
        facts: &Facts<'_>,
        subject_version: Option<String>,
        fingerprint: &str,
        why: Why,
    ) -> Result<Option<Box<Proposal>>, CallOutcome> {
        let new = self
            .proposal(facts, subject_version, fingerprint, why)
            .await
            .map_err(CallOutcome::Refused)?;
        let record = proposal_record(self.now(), &new, "proposal.waiting");
        match self
            .store
            .propose(&new, self.options.max_waiting, &[record])
            .await
            .map_err(unreachable)?
        {
            Proposed::New => Ok(Some(Box::new(new))),
            Proposed::Open(open) if open.status == Status::Waiting => Ok(Some(open)),
            Proposed::Open(_) => Ok(None),
            Proposed::TooMany => Err(CallOutcome::Refused(not_now(
                gate_codes::TOO_MANY,
                "Too many calls of this caller wait for a person already. Nothing was asked; try again when some are decided.",
            ))),
        }
    }

    async fn proposal(
        &self,
        facts: &Facts<'_>,
        subject_version: Option<String>,
        fingerprint: &str,
        why: Why,
    ) -> Result<Proposal, Refusal> {
        let (flow, invocation) = (&facts.flow.published, facts.invocation);
        let principal = &*invocation.principal;
        let names = self
            .hooks
            .names_of(&facts.flow.reference, &facts.input)
            .await?;
        let declared = flow.approval.clone().unwrap_or(Approval {
            required: false,
            decided_by: DecidedBy::Requester,
            // A confirmation is the caller's own person saying yes to what a model asked in their name.
            self_approval: why != Why::Approval
                && principal.kind == PrincipalKind::Person
                && !is_agent(principal),
            finish: if why == Why::OwnPage {
                Finish::Redeem
            } else {
                Finish::Run
            },
            expires: None,
            grant_expires: None,
            subject_version: false,
        });
        let now = self.now();
        let decide_ms = declared
            .expires
            .map(|d| millis(d.to_std()))
            .or(self.options.decide_within.map(millis));
        let id = self.ids.new_id().to_string();
        let input = self
            .enclose(&id, Place::Input, &facts.input)
            .await
            .map_err(of_store)?;
        Ok(Proposal {
            id,
            call_key: facts.call_key.clone(),
            fingerprint: fingerprint.to_owned(),
            status: Status::Waiting,
            revision: 1,
            flow: facts.flow.reference.clone(),
            descriptor: facts.descriptor.to_owned(),
            agent_declaration: facts.agent_declaration.map(str::to_owned),
            input: Some(input),
            input_digest: facts.input_digest.clone(),
            subject_version,
            requester: Requester::of(principal, invocation.skill.as_deref()),
            correlation_id: invocation.correlation_id.clone(),
            shown: shown(
                &self.surface.manifest,
                flow,
                principal,
                facts.json(),
                &names,
            ),
            decided_by: declared.decided_by,
            sponsor: facts.agent.map(|a| a.sponsor.clone()),
            self_approval: declared.self_approval,
            finish: declared.finish,
            asked_at: now,
            decide_before: decide_ms.map(|ms| now.saturating_add(ms)),
            grant_ms: declared
                .grant_expires
                .map(|d| millis(d.to_std()))
                .or(self.options.use_within.map(millis)),
            decision: None,
            execution: None,
            outcome: None,
            settled_at: now,
            told: false,
        })
    }

    /// What the caller hears of a call that waits for a person. Comes back when a person decided while the call could wait for it.
    async fn wait_for_person(
        &self,
        proposal: &Proposal,
        facts: &Facts<'_>,
        channel: &Arc<dyn Channel>,
        why: Why,
    ) -> Result<(), CallOutcome> {
        match why {
            Why::OwnPage => self.send_to_page(proposal, facts, channel).await,
            Why::Approval | Why::Confirmation => Err(CallOutcome::Refused(required(proposal))),
        }
    }

    /// A run of a proposal, begun here and now. Every run of it has the same idempotency key.
    pub(super) fn execution(&self, proposal: &Proposal) -> Execution {
        Execution {
            token: self.ids.new_id().to_string(),
            owner: self.instance(),
            // Handlers pass it on, and answers can hold it: it names the row to nobody.
            idempotency_key: format!(
                "proposal:{}",
                &digest(format!("flowx run key 1|{}", proposal.id).as_bytes())[..32]
            ),
            at: self.now(),
            again: false,
        }
    }

    /// Writes that a run begins. Known to this instance before it is written, so that the upkeep does not take it for one that was lost.
    /// When the store does not answer, or the caller goes away meanwhile, it is not known here any more: should it have been written all
    /// the same, the upkeep finds a run that never began.
    pub(super) async fn begin(&self, from: &Proposal, to: &Proposal) -> Result<bool, StoreError> {
        let token = to
            .execution
            .as_ref()
            .map(|run| run.token.clone())
            .unwrap_or_default();
        let mut guard = Beginning {
            gate: self,
            token,
            began: false,
        };
        self.running().insert(guard.token.clone());
        guard.began = self.swap(from, to, &[]).await?;
        Ok(guard.began)
    }
}

struct Beginning<'a> {
    gate: &'a Gate,
    token: String,
    began: bool,
}

impl Drop for Beginning<'_> {
    fn drop(&mut self) {
        if !self.began {
            self.gate.running().remove(&self.token);
        }
    }
}

/// What comes of looking at the newest row of a call.
enum Look {
    /// It changed meanwhile; look again.
    Again,
    /// A person has not decided.
    Waits(Box<Proposal>),
    /// The yes was used for this call, which runs now.
    Begun(Box<Proposal>),
    /// The caller is answered this.
    Answer(CallOutcome),
    /// There is nothing to go by; ask a person.
    Ask,
}

/// 428. Says who is asked, in words of the declaration, and what to do; never which row it is.
pub(super) fn required(proposal: &Proposal) -> Refusal {
    let who = match &proposal.decided_by {
        DecidedBy::Requester if proposal.requester.on_behalf_of.is_some() => {
            "the person it is done for".to_owned()
        }
        DecidedBy::Requester if proposal.self_approval => {
            "the person who asked, outside of this conversation".to_owned()
        }
        DecidedBy::Requester if proposal.sponsor.is_some() => "the agent's sponsor".to_owned(),
        DecidedBy::Requester => "a person who may decide it".to_owned(),
        DecidedBy::Sponsor => "the agent's sponsor".to_owned(),
        DecidedBy::Queue(role) => format!("somebody with the role {role}"),
        DecidedBy::Person(_) => "the person it is put to".to_owned(),
    };
    let then = match proposal.finish {
        Finish::Run => "It runs at the yes; repeat the same call later to learn how it ended.",
        Finish::Redeem => "Nothing has been done. Repeat exactly the same call after the yes.",
    };
    not_now(
        gate_codes::REQUIRED,
        format!("This call waits for a decision by {who}. {then}"),
    )
    .with("decidedBy", who)
    .with("finish", proposal.finish.as_str())
}

fn ended(status: Status) -> Refusal {
    match status {
        Status::Stale => not_now(
            gate_codes::STALE,
            "What this call is about has changed since it was asked, so it was not run. Look again, and ask again if it still makes sense.",
        ),
        Status::Expired => not_now(
            gate_codes::EXPIRED,
            "Nobody decided this call in time, or its approval was not used in time. It was not run. Repeat it to ask again.",
        ),
        status => not_now(
            gate_codes::DECIDED,
            format!("This call is {} already.", status.as_str()),
        )
        .with("status", status.as_str()),
    }
}

/// A refused step as a refusal.
pub(super) fn refused(no: &No) -> Refusal {
    match no {
        No::Expired => ended(Status::Expired),
        No::Stale => ended(Status::Stale),
        No::ShownOther => not_now(gate_codes::STALE, no.to_string()),
        No::Status(status) => {
            not_now(gate_codes::DECIDED, no.to_string()).with("status", Json::from(status.as_str()))
        }
        No::NotYours(_) | No::OtherCaller => Refusal::new(
            crate::refusal::codes::PERMISSION_DENIED,
            flowx_manifest::Category::Forbidden,
            no.to_string(),
        ),
        No::Reason => Refusal::new(
            crate::refusal::codes::INPUT_INVALID,
            flowx_manifest::Category::Validation,
            no.to_string(),
        ),
        No::OtherRun => not_now(gate_codes::RUNNING, no.to_string()),
    }
}

/// Store errors inside of an operation that answers with refusals.
pub(super) fn of_store(error: StoreError) -> Refusal {
    store_refusal(&error)
}
