//! How a proposal changes: one pure function from a proposal, a step and a time to the proposal that replaces it.
//!
//! Whoever calls it writes the replacement with [`Store::swap`](crate::store::Store::swap) under the revision that was judged, together with the
//! audit record; so of two who judge the same revision one wins, and what was judged is what was stored.

use flowx_manifest::Finish;

use super::decider::{NotYours, may_decide};
use super::fingerprint::shown_fingerprint;
use super::model::{Decision, Execution, Outcome, Proposal, Status};
use crate::gate::is_seen;
use crate::identity::Principal;
use crate::store::Millis;

/// What is to happen to a proposal.
#[derive(Clone, Debug)]
pub enum Step<'a> {
    /// A person says yes.
    Approve {
        /// Who.
        by: &'a Principal,
        /// What they carried along: [`shown_fingerprint`] of what they read.
        shown: &'a str,
        /// The fingerprint of the call as it would run now.
        current: &'a str,
        /// The run that begins with the yes, where the flow finishes at the yes.
        run: Option<Execution>,
    },
    /// A person says no.
    Reject {
        /// Who.
        by: &'a Principal,
        /// Why; not empty.
        reason: &'a str,
    },
    /// Whoever asked takes it back.
    Withdraw {
        /// Who, as [`Principal::key`].
        by: &'a str,
    },
    /// The same caller repeats the approved call.
    Redeem {
        /// Who, as [`Principal::key`].
        by: &'a str,
        /// The fingerprint of the call as it would run now.
        current: &'a str,
        /// The run that begins.
        run: Execution,
    },
    /// The run ended.
    Finish {
        /// Which run.
        token: &'a str,
        /// How.
        outcome: Outcome,
    },
    /// It is certain that the run did not begin: its record was written and nothing else was done.
    NotBegun {
        /// Which run.
        token: &'a str,
    },
    /// The instance that ran it is gone.
    Orphan,
    /// Time went by, or the world changed: `current` is the fingerprint of the call as it would run now.
    Look {
        /// The fingerprint now; absent where it cannot be said.
        current: Option<&'a str>,
    },
    /// The caller has been told how it ended.
    Tell,
}

/// The longest reason of a no, in characters.
pub const LONGEST_REASON: usize = 2_000;

/// Why a step was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum No {
    /// It stands where this step does not lead on.
    #[error("this is {} already", .0.as_str())]
    Status(Status),
    /// Its time is over.
    #[error("its time is over")]
    Expired,
    /// What it is about has changed since.
    #[error("what it is about has changed since it was asked")]
    Stale,
    /// The decision was about other words or another call.
    #[error("what was decided is not what stands here now; read it again")]
    ShownOther,
    /// The person may not decide it.
    #[error("{0}")]
    NotYours(#[from] NotYours),
    /// A no needs a reason that can be read.
    #[error("a no needs a reason, of {LONGEST_REASON} characters at most")]
    Reason,
    /// Another caller.
    #[error("this is another caller's")]
    OtherCaller,
    /// Another run.
    #[error("this is another run")]
    OtherRun,
}

/// What comes of a step: what replaces the proposal, if anything does, and the answer. A refused step can still change it (a yes that
/// comes too late makes it expired).
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// The replacement, under the next revision.
    pub next: Option<Proposal>,
    /// Whether the step took place.
    pub answer: Result<(), No>,
}

/// The one function by which a proposal changes.
pub fn step(proposal: &Proposal, step: Step<'_>, now: Millis) -> Verdict {
    // Time and change come first, whatever is asked for: nothing that is over can be decided or used.
    if let Some(over) = over(proposal, now) {
        let wanted = matches!(step, Step::Look { .. });
        let answer = if wanted { Ok(()) } else { Err(over) };
        return Verdict {
            next: Some(settle(proposal, Status::Expired, now)),
            answer,
        };
    }
    match step {
        Step::Approve {
            by,
            shown,
            current,
            run,
        } => approve(proposal, by, shown, current, run, now),
        Step::Reject { by, reason } => reject(proposal, by, reason, now),
        Step::Withdraw { by } => {
            if proposal.requester.key != by {
                return refuse(No::OtherCaller);
            }
            match proposal.status {
                Status::Waiting | Status::Approved => {
                    accept(settle(proposal, Status::Withdrawn, now))
                }
                status => refuse(No::Status(status)),
            }
        }
        Step::Redeem { by, current, run } => redeem(proposal, by, current, run, now),
        Step::Finish { token, outcome } => finish(proposal, token, outcome, now),
        Step::NotBegun { token } => match (&proposal.status, &proposal.execution) {
            (Status::Executing, Some(run)) if run.token == token => {
                // Where the yes itself runs it, that yes came to nothing, and whoever said it was told so. Left standing it could be used by the
                // asker alone, without the approver's part in it.
                let back = match proposal.finish {
                    Finish::Run if run.again => Status::Unknown,
                    Finish::Run => Status::Waiting,
                    Finish::Redeem => Status::Approved,
                };
                let mut next = settle(proposal, back, now);
                if back != Status::Unknown {
                    next.execution = None;
                }
                if back == Status::Waiting {
                    next.decision = None;
                }
                accept(next)
            }
            (Status::Executing, _) => refuse(No::OtherRun),
            (status, _) => refuse(No::Status(*status)),
        },
        Step::Orphan => match proposal.status {
            Status::Executing => accept(settle(proposal, Status::Unknown, now)),
            status => refuse(No::Status(status)),
        },
        Step::Look { current } => match (proposal.status, current) {
            (Status::Waiting | Status::Approved, Some(current))
                if current != proposal.fingerprint =>
            {
                accept(settle(proposal, Status::Stale, now))
            }
            _ => Verdict {
                next: None,
                answer: Ok(()),
            },
        },
        Step::Tell => {
            if proposal.status.is_open() || proposal.told {
                return refuse(No::Status(proposal.status));
            }
            let mut next = proposal.clone();
            next.revision += 1;
            next.told = true;
            accept(next)
        }
    }
}

/// Whether its time is over. The last moment is not included: at `decide_before` it is too late.
fn over(proposal: &Proposal, now: Millis) -> Option<No> {
    let until = match proposal.status {
        Status::Waiting => proposal.decide_before,
        Status::Approved => proposal.decision.as_ref().and_then(|d| d.use_before),
        _ => None,
    };
    until
        .is_some_and(|until| now >= until)
        .then_some(No::Expired)
}

fn approve(
    proposal: &Proposal,
    by: &Principal,
    shown: &str,
    current: &str,
    run: Option<Execution>,
    now: Millis,
) -> Verdict {
    if let Err(why) = may_decide(proposal, by) {
        return refuse(No::NotYours(why));
    }
    // A yes to an unknown outcome is a yes to running it again.
    if !matches!(proposal.status, Status::Waiting | Status::Unknown) {
        return refuse(No::Status(proposal.status));
    }
    if shown != shown_fingerprint(proposal) {
        return refuse(No::ShownOther);
    }
    if current != proposal.fingerprint {
        // An unknown outcome stays one; it is not settled by the world having moved on.
        let next =
            (proposal.status == Status::Waiting).then(|| settle(proposal, Status::Stale, now));
        return Verdict {
            next,
            answer: Err(No::Stale),
        };
    }
    let begins = proposal.finish == Finish::Run && run.is_some();
    let mut next = settle(
        proposal,
        if begins {
            Status::Executing
        } else {
            Status::Approved
        },
        now,
    );
    next.decision = Some(decision(
        by,
        true,
        None,
        now,
        proposal.grant_ms.map(|ms| now.saturating_add(ms)),
    ));
    let again = proposal.status == Status::Unknown;
    next.execution = run.filter(|_| begins).map(|run| Execution { again, ..run });
    accept(next)
}

fn reject(proposal: &Proposal, by: &Principal, reason: &str, now: Millis) -> Verdict {
    if let Err(why) = may_decide(proposal, by) {
        return refuse(No::NotYours(why));
    }
    // One that nobody can see is none, and one that nobody reads to its end helps nobody.
    if !reason.chars().any(is_seen) || reason.chars().count() > LONGEST_REASON {
        return refuse(No::Reason);
    }
    // A no to an unknown outcome leaves it at that: it is not run again, and whoever asked hears why.
    if !matches!(
        proposal.status,
        Status::Waiting | Status::Approved | Status::Unknown
    ) {
        return refuse(No::Status(proposal.status));
    }
    let mut next = settle(proposal, Status::Rejected, now);
    next.decision = Some(decision(
        by,
        false,
        Some(reason.trim().to_owned()),
        now,
        None,
    ));
    accept(next)
}

fn redeem(proposal: &Proposal, by: &str, current: &str, run: Execution, now: Millis) -> Verdict {
    if proposal.requester.key != by {
        return refuse(No::OtherCaller);
    }
    // What runs at the yes runs as asker and approver together, and never as the asker alone.
    if proposal.status != Status::Approved || proposal.finish != Finish::Redeem {
        return refuse(No::Status(proposal.status));
    }
    if current != proposal.fingerprint {
        return Verdict {
            next: Some(settle(proposal, Status::Stale, now)),
            answer: Err(No::Stale),
        };
    }
    let mut next = settle(proposal, Status::Executing, now);
    next.execution = Some(run);
    accept(next)
}

fn finish(proposal: &Proposal, token: &str, outcome: Outcome, now: Millis) -> Verdict {
    match (&proposal.status, &proposal.execution) {
        // Unknown too: the instance was taken for dead and was not, and nobody knows better than the run itself.
        (Status::Executing | Status::Unknown, Some(run)) if run.token == token => {
            let status = match outcome {
                Outcome::Done { .. } => Status::Done,
                Outcome::Failed { .. } => Status::Failed,
            };
            let mut next = settle(proposal, status, now);
            next.outcome = Some(outcome);
            accept(next)
        }
        (Status::Executing | Status::Unknown, _) => refuse(No::OtherRun),
        (status, _) => refuse(No::Status(*status)),
    }
}

fn decision(
    by: &Principal,
    yes: bool,
    reason: Option<String>,
    at: Millis,
    use_before: Option<Millis>,
) -> Decision {
    Decision {
        by: by.subject.clone(),
        by_key: by.key(),
        yes,
        reason,
        at,
        use_before,
    }
}

/// The proposal in another status, under the next revision. What it would be run from is kept only while it may still be run.
fn settle(proposal: &Proposal, status: Status, now: Millis) -> Proposal {
    let mut next = proposal.clone();
    next.revision += 1;
    next.status = status;
    next.settled_at = now;
    next.told = false;
    if !status.is_open() {
        next.input = None;
    }
    next
}

fn accept(next: Proposal) -> Verdict {
    Verdict {
        next: Some(next),
        answer: Ok(()),
    }
}

fn refuse(no: No) -> Verdict {
    Verdict {
        next: None,
        answer: Err(no),
    }
}
