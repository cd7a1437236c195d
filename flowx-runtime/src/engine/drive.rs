//! The driver: one flow from its input to its output or refusal.

use std::any::{Any, TypeId};
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::Duration;

use flowx_manifest::Json;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use tokio::time::{Instant, sleep_until};

use super::call::Call;
use super::step::deadline_exceeded;
use super::undo::{Compensation, undo_all};
use crate::context::FlowCx;
use crate::invocation::Output;
use crate::refusal::{Refusal, codes};
use crate::traits::{Flow, HasFlow};
use crate::unread;

/// Runs one flow on an input that has met its contract.
pub(crate) type Runner = fn(Arc<Call>, Json) -> BoxFuture<'static, Result<Output, Refusal>>;

/// The runner of the flow `F`.
pub(crate) fn runner<F: Flow>() -> Runner {
    |call, json| run::<F>(call, json).boxed()
}

async fn run<F: Flow>(call: Arc<Call>, json: Json) -> Result<Output, Refusal> {
    // Through text, since it is `serde_json`'s reading that the contracts are proven against.
    let nothing = TypeId::of::<F::Input>() == TypeId::of::<()>();
    let text = if nothing {
        "null".to_owned()
    } else {
        json.to_canonical()
    };
    let read = |text: &str| serde_json::from_str::<F::Input>(text);
    let reading = || read(&text).map_err(|e| unread::unreadable(&e, &json, &|t| read(t).err()));
    let input = match catch_unwind(AssertUnwindSafe(reading)) {
        Ok(input) => input?,
        Err(panic) => return Err(panicked(panic)),
    };
    let output = drive::<F>(&call, input)
        .await
        .map_err(|refusal| call.told(refusal))?;
    let written = match catch_unwind(AssertUnwindSafe(|| serde_json::to_string(&output))) {
        Ok(Ok(text)) => return Ok(Output { text }),
        Ok(Err(error)) => format!("the output does not serialise: {error}"),
        Err(panic) => format!("the output does not serialise: {}", panicked(panic)),
    };
    Err(call.told(Refusal::internal(codes::INTERNAL, written)))
}

/// How a body ended.
enum End<T, E> {
    Returned(Result<T, E>),
    Refused(Refusal),
}

async fn drive<F: Flow>(call: &Arc<Call>, input: F::Input) -> Result<F::Output, Refusal> {
    let deadline = deadline_of::<F>(None);
    let cx = FlowCx::<F>::new(Arc::clone(call), None, deadline);
    // Before the body, so dropped after it: a caller who leaves drops this whole future, and what was done is undone all the same.
    let rescue = Rescue {
        call,
        undo: &cx.undo,
    };
    let end = {
        let mut body = pin!(async { F::run(&cx, input).await });
        let mut timer = pin!(async {
            match deadline {
                Some(deadline) => sleep_until(deadline).await,
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
    let refusal = match end {
        End::Returned(Ok(output)) => {
            rescue.nothing_to_undo();
            return Ok(output);
        }
        End::Returned(Err(error)) => Refusal::of(&error),
        End::Refused(refusal) => refusal,
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
    call: &'a Arc<Call>,
    undo: &'a Mutex<Vec<Compensation>>,
}

impl Rescue<'_> {
    fn take(&self) -> Vec<Compensation> {
        std::mem::take(&mut *self.undo.lock().unwrap_or_else(|e| e.into_inner()))
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
            drop(undo_all(self.call, list));
        }
    }
}

/// A sub-flow, in line. Its platform refusals and panics end the whole call.
pub(crate) async fn sub_flow<F, G>(
    parent: &FlowCx<F>,
    input: G::Input,
) -> Result<G::Output, G::Error>
where
    F: Flow + HasFlow<G>,
    G: Flow,
{
    let policy = <F as HasFlow<G>>::STEP;
    let ordinal = parent.ordinal.fetch_add(1, Ordering::Relaxed);
    let above = parent.path.as_deref().unwrap_or("");
    let path: Arc<str> = format!("{above}{}:{}:{ordinal}/", F::INFO.id, policy.name).into();
    let timeout =
        (policy.timeout_ms > 0).then(|| Instant::now() + Duration::from_millis(policy.timeout_ms));
    let deadline = deadline_of::<G>(earlier(parent.deadline, timeout));
    if deadline.is_some_and(|d| d <= Instant::now()) {
        return parent.call.refuse(deadline_exceeded()).await;
    }
    let child = FlowCx::<G>::new(Arc::clone(&parent.call), Some(path), deadline);
    // Whatever ends this future early, the parent takes over what the child had completed.
    let hand_over = HandOver {
        child: &child.undo,
        parent: &parent.undo,
    };
    let result = match deadline {
        Some(deadline) => match tokio::time::timeout_at(deadline, G::run(&child, input)).await {
            Ok(result) => result,
            Err(_) => return parent.call.refuse(deadline_exceeded()).await,
        },
        None => G::run(&child, input).await,
    };
    if result.is_err() {
        let list = std::mem::take(&mut *child.undo.lock().unwrap_or_else(|e| e.into_inner()));
        if !list.is_empty() {
            // A failure is logged and counted there; the parent goes on with the child's own error.
            let _ = undo_all(&parent.call, list).await;
        }
    }
    drop(hand_over);
    result
}

struct HandOver<'a> {
    child: &'a Mutex<Vec<Compensation>>,
    parent: &'a Mutex<Vec<Compensation>>,
}

impl Drop for HandOver<'_> {
    fn drop(&mut self) {
        let mut list = std::mem::take(&mut *self.child.lock().unwrap_or_else(|e| e.into_inner()));
        self.parent
            .lock()
            .unwrap_or_else(|e| e.into_inner())
            .append(&mut list);
    }
}

fn deadline_of<F: Flow>(outer: Option<Instant>) -> Option<Instant> {
    let own = (F::INFO.deadline_ms > 0)
        .then(|| Instant::now() + Duration::from_millis(F::INFO.deadline_ms));
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
