//! The driver: one flow from its input to its output or refusal.
//!
//! Nothing here but [`Runner::of`], `start` and `sub_flow` is generic over the flow: what a flow's types are needed for is done in those,
//! and everything else is compiled once, in this crate, instead of once per flow in the user's (decision 040).

use std::any::{Any, TypeId};
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::Duration;

use flowx_manifest::Json;
use futures_util::future::BoxFuture;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::task::unconstrained;
use tokio::time::{Instant, sleep_until};

use super::call::Call;
use super::step::deadline_exceeded;
use super::undo::{Kept, undo_all};
use crate::context::{FlowCx, Running};
use crate::invocation::Output;
use crate::refusal::{Refusal, codes};
use crate::traits::{Flow, FlowInfo, StepInfo};
use crate::unread;

/// What a flow's body came to: its output as text, why that could not be written, or the flow's own "no".
type Ended = Result<Result<String, String>, Refusal>;

/// A flow whose types are out of sight: reads its input, and gives its body, ready to be polled.
type Start = fn(Arc<Running>, &str) -> Result<BoxFuture<'static, Ended>, serde_json::Error>;

/// Runs one flow on an input that has met its contract.
#[derive(Clone, Copy)]
pub(crate) struct Runner {
    start: Start,
    deadline_ms: u64,
    takes_nothing: bool,
}

impl Runner {
    /// The runner of the flow `F`.
    pub(crate) fn of<F: Flow<Input: DeserializeOwned, Output: Serialize>>() -> Runner {
        Runner {
            start: start::<F>,
            deadline_ms: F::INFO.deadline_ms,
            takes_nothing: TypeId::of::<F::Input>() == TypeId::of::<()>(),
        }
    }

    /// From the input to the output's text or a refusal.
    pub(crate) async fn run(self, call: Arc<Call>, json: Json) -> Result<Output, Refusal> {
        // Through text, since it is `serde_json`'s reading that the contracts are proven against.
        let text = if self.takes_nothing {
            "null".to_owned()
        } else {
            json.to_canonical()
        };
        let deadline = deadline_of(self.deadline_ms, None);
        let running = Arc::new(Running::new(Arc::clone(&call), None, deadline));
        // Before the body, so dropped after it: a caller who leaves drops this whole future, and what was done is undone all the same.
        let rescue = Rescue { running: &running };
        let read = |text: &str| (self.start)(running.clone(), text);
        let reading = || read(&text).map_err(|e| unread::unreadable(&e, &json, &|t| read(t).err()));
        let body = match catch_unwind(AssertUnwindSafe(reading)) {
            Ok(body) => body?,
            Err(panic) => return Err(panicked(panic)),
        };
        match drive(&rescue, body).await {
            Ok(Ok(text)) => Ok(Output { text }),
            Ok(Err(why)) => {
                let what = format!("the output does not serialise: {why}");
                Err(call.told(Refusal::internal(codes::INTERNAL, what)))
            }
            Err(refusal) => Err(call.told(refusal)),
        }
    }
}

fn start<F: Flow<Input: DeserializeOwned, Output: Serialize>>(
    running: Arc<Running>,
    text: &str,
) -> Result<BoxFuture<'static, Ended>, serde_json::Error> {
    let input = serde_json::from_str::<F::Input>(text)?;
    let cx = FlowCx::<F>::of(running);
    Ok(Box::pin(async move {
        match F::run(&cx, input).await {
            Ok(output) => Ok(written(&output)),
            Err(error) => Err(Refusal::of(&error)),
        }
    }))
}

/// An output, its type out of sight.
trait Written {
    fn text(&self) -> serde_json::Result<String>;
}

impl<T: Serialize> Written for T {
    fn text(&self) -> serde_json::Result<String> {
        serde_json::to_string(self)
    }
}

/// A panic of a user's own `Serialize` stays here: the steps are done, and an output that cannot be written is no reason to undo them.
fn written(output: &dyn Written) -> Result<String, String> {
    match catch_unwind(AssertUnwindSafe(|| output.text())) {
        Ok(Ok(text)) => Ok(text),
        Ok(Err(error)) => Err(error.to_string()),
        Err(panic) => Err(panicked(panic).to_string()),
    }
}

/// How a body ended.
enum End {
    Returned(Ended),
    Refused(Refusal),
}

async fn drive(
    rescue: &Rescue<'_>,
    mut body: BoxFuture<'static, Ended>,
) -> Result<Result<String, String>, Refusal> {
    let (call, deadline) = (&rescue.running.call, rescue.running.deadline);
    let end = {
        let mut timer = pin!(async {
            match deadline {
                // A body that never rests uses up what its task may do in one turn; the deadline must be heard all the same.
                Some(deadline) => unconstrained(sleep_until(deadline)).await,
                None => std::future::pending().await,
            }
        });
        poll_fn(|task| {
            let polled = catch_unwind(AssertUnwindSafe(|| body.as_mut().poll(task)));
            // Also when the body has returned: a body that raced a denied step against another must not get away with it.
            if let Some(refusal) = call.refused.take() {
                return Poll::Ready(End::Refused(refusal));
            }
            match polled {
                Ok(Poll::Ready(result)) => Poll::Ready(End::Returned(result)),
                Ok(Poll::Pending) => timer
                    .as_mut()
                    .poll(task)
                    .map(|()| End::Refused(deadline_exceeded())),
                Err(panic) => Poll::Ready(End::Refused(panicked(panic))),
            }
        })
        .await
    };
    // Whatever the body still held is let go of before anything is undone.
    drop(body);
    let refusal = match end {
        End::Returned(Ok(output)) => {
            rescue.nothing_to_undo();
            return Ok(output);
        }
        End::Returned(Err(refusal)) | End::Refused(refusal) => refusal,
    };
    let list = rescue.take();
    if list.is_empty() {
        return Err(refusal);
    }
    match undo_all(call, list).await {
        Ok(true) => Err(refusal),
        // The caller has to know that something half done may be standing.
        _ => Err(refusal.with("compensation", "failed")),
    }
}

/// Undoes what a body had completed when it is dropped before its end.
struct Rescue<'a> {
    running: &'a Running,
}

impl Rescue<'_> {
    fn take(&self) -> Vec<Kept> {
        taken(&self.running.undo)
    }

    fn nothing_to_undo(&self) {
        drop(self.take());
    }
}

impl Drop for Rescue<'_> {
    fn drop(&mut self) {
        let list = self.take();
        // Without a runtime (the process is going down) there is nobody left to run it.
        if !list.is_empty() && tokio::runtime::Handle::try_current().is_ok() {
            drop(undo_all(&self.running.call, list));
        }
    }
}

fn taken(undo: &Mutex<Vec<Kept>>) -> Vec<Kept> {
    std::mem::take(&mut *undo.lock().unwrap_or_else(|e| e.into_inner()))
}

/// A sub-flow, in line. Its platform refusals and panics end the whole call.
pub(crate) async fn sub_flow<G: Flow>(
    parent: &Running,
    of: &'static FlowInfo,
    policy: StepInfo,
    input: G::Input,
) -> Result<G::Output, G::Error> {
    let child = match child(parent, of, policy, G::INFO.deadline_ms) {
        Ok(child) => child,
        Err(refusal) => match parent.call.refuse(refusal).await {},
    };
    // Whatever ends this future early, the parent takes over what the child had completed.
    let hand_over = HandOver {
        child: &child,
        parent,
    };
    let mut end = None;
    {
        let cx = FlowCx::<G>::of(Arc::clone(&child));
        let body = pin!(async { end = Some(G::run(&cx, input).await) });
        match child.deadline {
            Some(deadline) => {
                // Whether it ended in time is in `end`.
                let _ = tokio::time::timeout_at(deadline, body as super::Pinned<'_>).await;
            }
            None => body.await,
        }
    }
    let Some(result) = end else {
        match parent.call.refuse(deadline_exceeded()).await {}
    };
    if result.is_err() {
        let list = taken(&child.undo);
        if !list.is_empty() {
            // A failure is logged and counted there; the parent goes on with the child's own error.
            let _ = undo_all(&parent.call, list).await;
        }
    }
    drop(hand_over);
    result
}

/// Where a sub-flow runs; refused when there is no time left for it.
fn child(
    parent: &Running,
    of: &FlowInfo,
    policy: StepInfo,
    deadline_ms: u64,
) -> Result<Arc<Running>, Refusal> {
    let ordinal = parent.ordinal.fetch_add(1, Ordering::Relaxed);
    let above = parent.path.as_deref().unwrap_or("");
    let path: Arc<str> = format!("{above}{}:{}:{ordinal}/", of.id, policy.name).into();
    let timeout =
        (policy.timeout_ms > 0).then(|| Instant::now() + Duration::from_millis(policy.timeout_ms));
    let deadline = deadline_of(deadline_ms, earlier(parent.deadline, timeout));
    if deadline.is_some_and(|d| d <= Instant::now()) {
        return Err(deadline_exceeded());
    }
    Ok(Arc::new(Running::new(
        Arc::clone(&parent.call),
        Some(path),
        deadline,
    )))
}

struct HandOver<'a> {
    child: &'a Running,
    parent: &'a Running,
}

impl Drop for HandOver<'_> {
    fn drop(&mut self) {
        let mut list = taken(&self.child.undo);
        self.parent
            .undo
            .lock()
            .unwrap_or_else(|e| e.into_inner())
            .append(&mut list);
    }
}

fn deadline_of(deadline_ms: u64, outer: Option<Instant>) -> Option<Instant> {
    let own = (deadline_ms > 0).then(|| Instant::now() + Duration::from_millis(deadline_ms));
    earlier(outer, own)
}

fn earlier(a: Option<Instant>, b: Option<Instant>) -> Option<Instant> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}

fn panicked(panic: Box<dyn Any + Send>) -> Refusal {
    let text = panic
        .downcast_ref::<&str>()
        .map(|s| (*s).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned());
    Refusal::internal(
        codes::INTERNAL,
        format!(
            "panicked: {}",
            text.unwrap_or_else(|| "no message".to_owned())
        ),
    )
}
