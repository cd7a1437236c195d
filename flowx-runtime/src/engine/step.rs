//! One step: stance, deadline, timeout, retry.

use std::convert::Infallible;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::Poll;
use std::time::Duration;

use flowx_manifest::Category;
use tokio::task::unconstrained;
use tokio::time::{Instant, sleep, sleep_until};
use tracing::Instrument as _;

use super::Pinned;
use super::call::Call;
use super::undo::{Compensation, Kept};
use crate::context::{Cx, Place, Running, Site};
use crate::identity::Principal;
use crate::refusal::{Refusal, codes};
use crate::telemetry;
use crate::traits::{Capability, FlowError, Stance, StepInfo};

/// The longest wait between two attempts.
const LONGEST_BACKOFF: Duration = Duration::from_secs(30);

/// What a flow says of its step that calls `C`. As a value and not as a type of the flow, so that a step is compiled once per capability
/// and not once per flow that has it.
pub(crate) struct Declared<C: Capability> {
    pub(crate) site: Site,
    /// `HasStep::again`.
    pub(crate) again: fn(&C::Input) -> Option<C::Input>,
    /// `Undo::keep`.
    pub(crate) keep: fn(&C::Output) -> Option<Compensation>,
}

pub(crate) async fn step<C: Capability>(
    running: &Arc<Running>,
    declared: &'static Declared<C>,
    mut input: C::Input,
) -> Result<C::Output, C::Error> {
    let mut course = Course::begin(running, &declared.site);
    loop {
        let again = if course.may_repeat() {
            (declared.again)(&input)
        } else {
            None
        };
        let mut end = None;
        let way = course.open();
        {
            let cx = Cx::<C>::new(Arc::clone(running), course.place());
            let run = pin!(async { end = Some(C::run(&cx, input).await) });
            match way {
                Way::Free => (run as Pinned<'_>).await,
                way => course.watched(way, run).await,
            }
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
    running: &'a Arc<Running>,
    site: &'static Site,
    ordinal: u32,
    attempt: u32,
}

/// How one attempt runs.
enum Way {
    /// Nobody looks, and nothing but the driver's own deadline holds: the common case costs nothing more.
    Free,
    /// Until then.
    Limited(Instant),
    /// In a span, and until then.
    Seen(Option<Instant>),
    /// Not at all: the call has the refusal.
    Refused,
}

impl<'a> Course<'a> {
    fn begin(running: &'a Arc<Running>, site: &'static Site) -> Course<'a> {
        Course {
            running,
            site,
            ordinal: running.ordinal.fetch_add(1, Ordering::Relaxed),
            attempt: 1,
        }
    }

    /// Whether it has begun something that must not be done twice.
    fn counts(&self) -> bool {
        self.site.capability.side_effects && !self.site.capability.idempotent
    }

    fn may_repeat(&self) -> bool {
        self.attempt < self.site.policy.attempts && self.site.capability.idempotent
    }

    fn place(&self) -> Place {
        Place {
            site: self.site,
            ordinal: self.ordinal,
            undoing: false,
        }
    }

    /// Whether the next attempt may run, and how.
    fn open(&self) -> Way {
        let Running { call, deadline, .. } = &**self.running;
        let Site {
            policy, capability, ..
        } = self.site;
        if self.attempt == 1 {
            if !allows(capability.stance, &call.invocation.principal) {
                return self.denied();
            }
            if self.counts() {
                call.standing.fetch_add(1, Ordering::Relaxed);
            }
        }
        let limited = policy.timeout_ms > 0;
        let mut limit = None;
        if limited || deadline.is_some() {
            let now = Instant::now();
            if let Some(deadline) = deadline
                && *deadline <= now
            {
                return self.late();
            }
            if limited {
                let own = now + Duration::from_millis(policy.timeout_ms);
                limit = Some(deadline.map_or(own, |d| d.min(own)));
            }
        }
        match limit {
            limit if telemetry::steps_are_seen() => Way::Seen(limit),
            Some(limit) => Way::Limited(limit),
            None => Way::Free,
        }
    }

    #[cold]
    fn denied(&self) -> Way {
        let call = &self.running.call;
        let stance = self.site.capability.stance;
        call.refused.set(denial(stance, &call.invocation.principal));
        Way::Refused
    }

    #[cold]
    fn late(&self) -> Way {
        self.running.call.refused.set(deadline_exceeded());
        Way::Refused
    }

    /// One attempt, to its end or its limit: the future itself says which. Nothing of it is polled where it may not run.
    async fn watched(&self, way: Way, mut run: Pinned<'_>) {
        match way {
            Way::Free => run.await,
            Way::Limited(limit) => until(limit, run.as_mut()).await,
            Way::Seen(limit) => {
                let Site {
                    policy, capability, ..
                } = self.site;
                let span = telemetry::step_span(policy.name, capability, self.attempt);
                let run = pin!(run.instrument(span));
                match limit {
                    Some(limit) => until(limit, run).await,
                    None => run.await,
                }
            }
            Way::Refused => std::future::pending().await,
        }
    }

    /// Waits for the next attempt; `false` when there is no time for one.
    async fn wait(&mut self) -> bool {
        let Running { call, deadline, .. } = &**self.running;
        let policy = &self.site.policy;
        let Some(wait) = backoff(policy, self.attempt, *deadline, call) else {
            return false;
        };
        tracing::debug!(
            step = policy.name,
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
            .push(Kept {
                undo,
                path: self.running.path.clone(),
                place,
                counts: self.counts(),
            });
    }

    /// A capability that says no has done nothing: that is what a refusal is.
    fn said_no(&self) {
        if self.counts() {
            self.running.call.standing.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// The last attempt took too long.
    async fn give_up(&self) -> Infallible {
        let refusal = timed_out(&self.site.policy, self.running.deadline);
        self.running.call.refuse(refusal).await
    }
}

/// The future, to its end or to that moment. As `timeout_at`, but the timer is made when there is something to wait for: most steps that
/// have a limit end at their first poll, and cost no timer.
async fn until(limit: Instant, mut run: Pinned<'_>) {
    let mut timer = pin!(None);
    poll_fn(|task| {
        if run.as_mut().poll(task).is_ready() {
            return Poll::Ready(());
        }
        if timer.is_none() {
            // A step that never rests uses up what its task may do in one turn; the timer must be heard all the same.
            timer.set(Some(unconstrained(sleep_until(limit))));
        }
        timer
            .as_mut()
            .as_pin_mut()
            .map_or(Poll::Pending, |timer| timer.poll(task))
    })
    .await;
}

/// Whether that principal may, by the stance alone. The default arm of a caller is to refuse.
fn allows(stance: Stance, principal: &Principal) -> bool {
    match stance {
        Stance::Public | Stance::Internal => true,
        Stance::Authenticated => !principal.is_anonymous(),
        Stance::Permission(permission) => principal.holds(permission),
    }
}

/// What is said to somebody who may not.
fn denial(stance: Stance, principal: &Principal) -> Refusal {
    match stance {
        Stance::Permission(permission) if !principal.is_anonymous() => {
            Refusal::permission_denied(permission)
        }
        _ => Refusal::not_authenticated(),
    }
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
