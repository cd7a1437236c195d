//! Undoing completed steps, in reverse.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use flowx_manifest::Category;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use tokio::time::{sleep, timeout};

use super::call::Call;
use crate::context::{Cx, Place, Running};
use crate::traits::{Capability, FlowError};

/// How often an idempotent undo is tried while what it needs is unavailable. One that is not idempotent is tried once.
const ATTEMPTS: u32 = 5;
const FIRST_WAIT: Duration = Duration::from_millis(100);

type Run = Box<dyn FnOnce(Arc<Running>, Place) -> BoxFuture<'static, Result<(), String>> + Send>;

/// What undoes one completed step: a capability and the copy of the step's output that it takes.
///
/// It runs on the platform's behalf, not the caller's: whoever was let do the step is owed its undoing, even after the caller has left.
pub struct Compensation {
    capability: &'static str,
    run: Run,
}

/// What undoes one step that is done, and which step that was.
pub(crate) struct Kept {
    pub(crate) undo: Compensation,
    /// The flow's own, as in [`Running`].
    pub(crate) path: Option<Arc<str>>,
    pub(crate) place: Place,
    /// Whether the step counts among those that must not be done twice.
    pub(crate) counts: bool,
}

impl Compensation {
    /// By the capability `R` with that input.
    pub fn of<R>(input: R::Input) -> Compensation
    where
        R: Capability,
        R::Input: Clone,
    {
        Compensation {
            capability: R::INFO.id,
            run: Box::new(move |running, place| undo::<R>(running, place, input).boxed()),
        }
    }
}

impl std::fmt::Debug for Compensation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Compensation")
            .field("capability", &self.capability)
            .finish_non_exhaustive()
    }
}

async fn undo<R>(running: Arc<Running>, place: Place, input: R::Input) -> Result<(), String>
where
    R: Capability,
    R::Input: Clone,
{
    let attempts = if R::INFO.idempotent { ATTEMPTS } else { 1 };
    let cx = Cx::<R>::new(running, place);
    let mut wait = FIRST_WAIT;
    let mut left = attempts;
    loop {
        left -= 1;
        match R::run(&cx, input.clone()).await {
            Ok(_) => return Ok(()),
            Err(error) if left == 0 || error.category() != Category::Unavailable => {
                return Err(format!("{}: {error}", error.code()));
            }
            Err(_) => {
                sleep(wait).await;
                wait *= 2;
            }
        }
    }
}

/// Undoes everything on the list, last first, in a task of its own that no caller can cancel. Waiting for it is optional.
/// Gives back whether all of it was undone.
pub(crate) fn undo_all(call: &Arc<Call>, list: Vec<Kept>) -> tokio::task::JoinHandle<bool> {
    let call = Arc::clone(call);
    let tasks = call.tasks.clone();
    tasks.spawn(async move {
        let mut all = true;
        // One undo that fails is no reason to leave the others undone.
        for kept in list.into_iter().rev() {
            all &= undo_one(&call, kept).await;
        }
        all
    })
}

async fn undo_one(call: &Arc<Call>, kept: Kept) -> bool {
    let Kept {
        undo: Compensation { capability, run },
        path,
        place,
        counts,
    } = kept;
    let correlation_id = call.invocation.correlation_id.as_str();
    let (flow, step) = (place.site.flow, place.site.policy.name);
    let running = Arc::new(Running::new(Arc::clone(call), path, None));
    // The call to `run` is inside, so that a panic while the future is made is caught as well.
    let task = AssertUnwindSafe(async { run(running, place).await }).catch_unwind();
    let why = match timeout(call.undo_limit, task).await {
        Ok(Ok(Ok(()))) => {
            tracing::info!(flow, step, capability, correlation_id, "undone");
            if counts {
                call.standing.fetch_sub(1, Ordering::Relaxed);
            }
            return true;
        }
        Ok(Ok(Err(why))) => why,
        Ok(Err(_)) => "it panicked".to_owned(),
        Err(_) => "it took too long".to_owned(),
    };
    tracing::error!(
        flow,
        step,
        capability,
        correlation_id,
        why,
        "a step could not be undone and needs a person"
    );
    crate::telemetry::compensation_failed(flow, step);
    false
}
