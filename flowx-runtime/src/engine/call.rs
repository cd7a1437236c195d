//! What all parts of one running call share.

use std::any::{Any, TypeId};
use std::convert::Infallible;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio_util::task::TaskTracker;

use crate::channel::Channel;
use crate::invocation::{Clock, Ids, Invocation};
use crate::model::Lending;
use crate::refusal::Refusal;
use crate::traits::Effect;

/// One running call.
pub(crate) struct Call {
    pub(crate) invocation: Invocation,
    pub(crate) effects: Arc<Effects>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) ids: Arc<dyn Ids>,
    pub(crate) channel: Arc<dyn Channel>,
    /// Work that outlives the caller; a shutdown waits for it.
    pub(crate) tasks: TaskTracker,
    /// The longest one undo may take, attempts included.
    pub(crate) undo_limit: Duration,
    pub(crate) refused: Refused,
    /// How it gets its caller's model.
    pub(crate) lending: Lending,
    /// Steps with side effects that are not idempotent, begun, and neither refused by themselves nor undone.
    pub(crate) standing: AtomicUsize,
}

/// The platform's "no" to a running call. The first one stays.
#[derive(Default)]
pub(crate) struct Refused {
    // Looked at after every poll, so that the common case costs one load.
    is: AtomicBool,
    refusal: Mutex<Option<Refusal>>,
}

impl Refused {
    pub(crate) fn take(&self) -> Option<Refusal> {
        if !self.is.load(Ordering::Acquire) {
            return None;
        }
        self.refusal
            .lock()
            .unwrap_or_else(|e| e.into_inner())
            .take()
    }

    pub(crate) fn set(&self, refusal: Refusal) {
        self.refusal
            .lock()
            .unwrap_or_else(|e| e.into_inner())
            .get_or_insert(refusal);
        self.is.store(true, Ordering::Release);
    }
}

impl Call {
    /// Leaves the refusal with the call and never returns; the driver drops whoever waits.
    pub(crate) async fn refuse(&self, refusal: Refusal) -> Infallible {
        self.refused.set(refusal);
        std::future::pending().await
    }

    /// The refusal, knowing whether something may be standing.
    pub(crate) fn told(&self, mut refusal: Refusal) -> Refusal {
        refusal.standing = self.standing.load(Ordering::Relaxed) > 0;
        refusal
    }
}

/// The handles to the world, by type.
#[derive(Default)]
pub(crate) struct Effects(Vec<(TypeId, Box<dyn Any + Send + Sync>)>);

impl Effects {
    /// Adds the handle; gives back whether there was none of its type before.
    pub(crate) fn insert<E: Effect>(&mut self, effect: E) -> bool {
        let fresh = !self.contains(TypeId::of::<E>());
        self.0.push((TypeId::of::<E>(), Box::new(effect)));
        fresh
    }

    pub(crate) fn contains(&self, id: TypeId) -> bool {
        self.0.iter().any(|(t, _)| *t == id)
    }

    /// A program has a handful of effects: a walk is shorter than a hash.
    pub(crate) fn get<E: Effect>(&self) -> Option<&E> {
        self.0.iter().find_map(|(_, e)| e.downcast_ref())
    }
}
