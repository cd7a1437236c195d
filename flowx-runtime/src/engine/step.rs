//! One step: stance, deadline, timeout, retry.

use std::convert::Infallible;
use std::pin::pin;
use std::sync::atomic::Ordering;
use std::time::Duration;

use flowx_manifest::Category;
use tokio::time::{Instant, sleep, timeout_at};

use super::Pinned;
use super::call::Call;
use super::undo::Compensation;
use crate::context::{Cx, Place, Running};
use crate::identity::Principal;
use crate::refusal::{Refusal, codes};
use crate::traits::{Capability, CapabilityInfo, FlowError, Stance, StepInfo};

/// The longest wait between two attempts.
const LONGEST_BACKOFF: Duration = Duration::from_secs(30);

/// What a flow says of its step that calls `C`. As a value and not as a type of the flow, so that a step is compiled once per capability
/// and not once per flow that has it.
pub(crate) struct Declared<C: Capability> {
    /// The flow.
    pub(crate) flow: &'static str,
    /// Its policies.
    pub(crate) policy: StepInfo,
    /// `HasStep::again`.
    pub(crate) again: fn(&C::Input) -> Option<C::Input>,
    /// `Undo::keep`.
    pub(crate) keep: fn(&C::Output) -> Option<Compensation>,
}

pub(crate) async fn step<C: Capability>(
    running: &Running,
    declared: &'static Declared<C>,
    mut input: C::Input,
) -> Result<C::Output, C::Error> {
    let mut course = Course::begin(running, &C::INFO, &declared.policy, declared.flow);
    loop {
        let again = if course.may_repeat() {
            (declared.again)(&input)
        } else {
            None
        };
        let mut end = None;
        {
            let cx = Cx::<C>::new(running.call.clone(), course.place());
            let run = pin!(async { end = Some(C::run(&cx, input).await) });
            course.attempt(run).await;
        }
        let unavailable = match end {
            Some(Ok(output)) => {
                if let Some(undo) = (declared.keep)(&output) {
                    course.keep(undo);
                }
                return Ok(output);
            }
            Some(Err(error)) if error.category() != Category::Unavailable => {
                course.said_no();
                return Err(error);
            }
            Some(Err(error)) => Some(error),
            None => None,
        };
        if let Some(next) = again
            && course.wait().await
        {
            input = next;
            continue;
        }
        match unavailable {
            Some(error) => {
                course.said_no();
                return Err(error);
            }
            None => match course.give_up().await {},
        }
    }
}

/// One step on its way, its types out of sight.
struct Course<'a> {
    running: &'a Running,
    capability: &'static CapabilityInfo,
    policy: &'static StepInfo,
    flow: &'static str,
    ordinal: u32,
    attempt: u32,
    /// Whether it has begun something that must not be done twice.
    counts: bool,
}

impl<'a> Course<'a> {
    fn begin(
        running: &'a Running,
        capability: &'static CapabilityInfo,
        policy: &'static StepInfo,
        flow: &'static str,
    ) -> Course<'a> {
        Course {
            running,
            capability,
            policy,
            flow,
            ordinal: running.ordinal.fetch_add(1, Ordering::Relaxed),
            attempt: 1,
            counts: capability.side_effects && !capability.idempotent,
        }
    }

    fn may_repeat(&self) -> bool {
        self.attempt < self.policy.attempts && self.capability.idempotent
    }

    fn place(&self) -> Place {
        Place {
            path: self.running.path.clone(),
            flow: self.flow,
            step: self.policy.name,
            ordinal: self.ordinal,
            undoing: false,
        }
    }

    /// One attempt, to its end or its limit: the future itself says which. Nothing of it is polled where it may not run.
    async fn attempt(&mut self, run: Pinned<'_>) {
        let call = &self.running.call;
        if self.attempt == 1 {
            if let Err(refusal) = admit(self.capability.stance, &call.invocation.principal) {
                match call.refuse(refusal).await {}
            }
            if self.counts {
                call.standing.fetch_add(1, Ordering::Relaxed);
            }
        }
        let limit = match limits(self.policy, self.running.deadline) {
            Ok(limit) => limit,
            Err(refusal) => match call.refuse(refusal).await {},
        };
        let span = crate::telemetry::step_span(self.policy.name, self.capability, self.attempt);
        let run = tracing::Instrument::instrument(run, span);
        match limit {
            Some(limit) => {
                let _ = timeout_at(limit, run).await;
            }
            None => run.await,
        }
    }

    /// Waits for the next attempt; `false` when there is no time for one.
    async fn wait(&mut self) -> bool {
        let Running { call, deadline, .. } = self.running;
        let Some(wait) = backoff(self.policy, self.attempt, *deadline, call) else {
            return false;
        };
        tracing::debug!(
            step = self.policy.name,
            attempt = self.attempt,
            wait_ms = wait.as_millis() as u64,
            "retrying"
        );
        sleep(wait).await;
        self.attempt += 1;
        true
    }

    /// It is done, and this undoes it.
    fn keep(&self, undo: Compensation) {
        let place = Place {
            undoing: true,
            ..self.place()
        };
        self.running
            .undo
            .lock()
            .unwrap_or_else(|e| e.into_inner())
            .push(undo.at(place, self.counts));
    }

    /// A capability that says no has done nothing: that is what a refusal is.
    fn said_no(&self) {
        if self.counts {
            self.running.call.standing.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// The last attempt took too long.
    async fn give_up(&self) -> Infallible {
        let refusal = timed_out(self.policy, self.running.deadline);
        self.running.call.refuse(refusal).await
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
