//! One step: stance, deadline, timeout, retry.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use flowx_manifest::Category;
use tokio::time::{Instant, sleep, timeout_at};

use super::call::Call;
use crate::context::{Cx, FlowCx, Place};
use crate::identity::Principal;
use crate::refusal::{Refusal, codes};
use crate::traits::{Capability, Flow, FlowError, HasStep, Stance, StepInfo, Undo};

/// The longest wait between two attempts.
const LONGEST_BACKOFF: Duration = Duration::from_secs(30);

pub(crate) async fn step<F, C>(flow: &FlowCx<F>, mut input: C::Input) -> Result<C::Output, C::Error>
where
    F: Flow + HasStep<C>,
    C: Capability,
{
    let call = &flow.call;
    if let Err(refusal) = admit(C::INFO.stance, &call.invocation.principal) {
        return call.refuse(refusal).await;
    }
    let policy = F::STEP;
    let ordinal = flow.ordinal.fetch_add(1, Ordering::Relaxed);
    let counts = C::INFO.side_effects && !C::INFO.idempotent;
    if counts {
        call.standing.fetch_add(1, Ordering::Relaxed);
    }
    let mut attempt = 1;
    loop {
        let limit = match limits(&policy, flow.deadline) {
            Ok(limit) => limit,
            Err(refusal) => return call.refuse(refusal).await,
        };
        let again = if attempt < policy.attempts && C::INFO.idempotent {
            F::again(&input)
        } else {
            None
        };
        let end =
            attempt_once::<C>(call, place(flow, &policy, ordinal), input, limit, attempt).await;
        match end {
            Some(Ok(output)) => {
                if let Some(undo) = <F::Undo as Undo<C>>::keep(&output) {
                    let place = Place {
                        undoing: true,
                        ..place(flow, &policy, ordinal)
                    };
                    let undo = undo.at(place, counts);
                    flow.undo
                        .lock()
                        .unwrap_or_else(|e| e.into_inner())
                        .push(undo);
                }
                return Ok(output);
            }
            Some(Err(error)) if error.category() != Category::Unavailable => {
                said_no(call, counts);
                return Err(error);
            }
            unavailable => match again.zip(backoff(&policy, attempt, flow.deadline, call)) {
                Some((next, wait)) => {
                    tracing::debug!(
                        step = policy.name,
                        attempt,
                        wait_ms = wait.as_millis() as u64,
                        "retrying"
                    );
                    sleep(wait).await;
                    input = next;
                    attempt += 1;
                }
                None => match unavailable {
                    Some(result) => {
                        said_no(call, counts);
                        return result;
                    }
                    None => return call.refuse(timed_out(&policy, flow.deadline)).await,
                },
            },
        }
    }
}

fn place<F: Flow>(flow: &FlowCx<F>, policy: &StepInfo, ordinal: u32) -> Place {
    Place {
        path: flow.path.clone(),
        flow: F::INFO.id,
        step: policy.name,
        ordinal,
        undoing: false,
    }
}

/// A capability that says no has done nothing: that is what a refusal is.
fn said_no(call: &Call, counts: bool) {
    if counts {
        call.standing.fetch_sub(1, Ordering::Relaxed);
    }
}

/// One attempt; `None` when it did not end in time.
async fn attempt_once<C: Capability>(
    call: &Arc<Call>,
    place: Place,
    input: C::Input,
    limit: Option<Instant>,
    attempt: u32,
) -> Option<Result<C::Output, C::Error>> {
    let span = crate::telemetry::step_span(&place, &C::INFO, attempt);
    let cx = Cx::<C>::new(Arc::clone(call), place);
    let run = tracing::Instrument::instrument(C::run(&cx, input), span);
    match limit {
        Some(limit) => timeout_at(limit, run).await.ok(),
        None => Some(run.await),
    }
}

/// Whether that principal may, by the stance alone. The default arm of a caller is to refuse.
pub(crate) fn admit(stance: Stance, principal: &Principal) -> Result<(), Refusal> {
    match stance {
        Stance::Public | Stance::Internal => Ok(()),
        Stance::Authenticated | Stance::Permission(_) if principal.is_anonymous() => {
            Err(Refusal::not_authenticated())
        }
        Stance::Authenticated => Ok(()),
        Stance::Permission(permission) if principal.holds(permission) => Ok(()),
        Stance::Permission(permission) => Err(Refusal::permission_denied(permission)),
    }
}

/// When one attempt has to have ended: `None` where only the driver's own deadline holds.
fn limits(policy: &StepInfo, deadline: Option<Instant>) -> Result<Option<Instant>, Refusal> {
    if deadline.is_none() && policy.timeout_ms == 0 {
        return Ok(None);
    }
    let now = Instant::now();
    if deadline.is_some_and(|d| d <= now) {
        return Err(deadline_exceeded());
    }
    if policy.timeout_ms == 0 {
        return Ok(None);
    }
    let own = now + Duration::from_millis(policy.timeout_ms);
    Ok(Some(deadline.map_or(own, |d| d.min(own))))
}

fn timed_out(policy: &StepInfo, deadline: Option<Instant>) -> Refusal {
    if deadline.is_some_and(|d| d <= Instant::now()) {
        return deadline_exceeded();
    }
    Refusal::new(
        codes::STEP_TIMED_OUT,
        Category::Unavailable,
        format!("The step {} took too long.", policy.name),
    )
    .with("step", policy.name)
}

pub(crate) fn deadline_exceeded() -> Refusal {
    Refusal::new(
        codes::DEADLINE_EXCEEDED,
        Category::Unavailable,
        "The call took longer than it may.",
    )
}

/// How long to wait before the next attempt: anything up to the doubled base (full jitter). `None` when the flow's deadline would
/// pass meanwhile, since a retry that cannot answer only adds load.
fn backoff(
    policy: &StepInfo,
    attempt: u32,
    deadline: Option<Instant>,
    call: &Call,
) -> Option<Duration> {
    let ceiling = Duration::from_millis(policy.backoff_ms)
        .saturating_mul(1_u32.checked_shl(attempt - 1).unwrap_or(u32::MAX))
        .min(LONGEST_BACKOFF);
    let millis = u64::try_from(ceiling.as_millis()).unwrap_or(u64::MAX);
    let random = call.ids.new_id().as_u128() as u64;
    let wait = Duration::from_millis(random % millis.saturating_add(1));
    match deadline {
        Some(deadline) if Instant::now() + wait >= deadline => None,
        _ => Some(wait),
    }
}
