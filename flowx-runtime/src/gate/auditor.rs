//! Writes the records that belong to no other step: calls, their outcomes, refusals. Many at a time, so that a call does not pay for a commit
//! of its own; and links what has been written into the chain.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};

use crate::audit::{Record, seal_all};
use crate::store::{SharedStore, StoreError};

const QUEUE: usize = 4_096;
const BATCH: usize = 256;
const SEAL_EVERY: Duration = Duration::from_millis(200);
const RETRY_AFTER: Duration = Duration::from_millis(250);

type Waiting = Option<oneshot::Sender<Result<(), StoreError>>>;

/// The way to the writer.
#[derive(Clone, Debug)]
pub(super) struct Auditor {
    queue: mpsc::Sender<(Record, Waiting)>,
    failing: Arc<AtomicBool>,
}

impl Auditor {
    /// Starts the writer. It ends when the last handle is dropped, after everything queued has been written.
    pub(super) fn start(store: SharedStore) -> Auditor {
        let (queue, records) = mpsc::channel(QUEUE);
        let failing = Arc::new(AtomicBool::new(false));
        tokio::spawn(write(store, records, Arc::clone(&failing)));
        Auditor { queue, failing }
    }

    /// Writes a record and waits until it is kept.
    pub(super) async fn write(&self, record: Record) -> Result<(), StoreError> {
        let (kept, wait) = oneshot::channel();
        let gone = || StoreError::Unreachable("the audit writer has stopped".to_owned());
        self.queue
            .send((record, Some(kept)))
            .await
            .map_err(|_| gone())?;
        wait.await.map_err(|_| gone())?
    }

    /// Hands a record over. It is written soon, and while records cannot be written this is refused.
    pub(super) async fn hand_over(&self, record: Record) -> Result<(), StoreError> {
        if self.failing.load(Ordering::Acquire) {
            // One is waited for, so that a store that is back is noticed.
            return self.write(record).await;
        }
        let gone = |_| StoreError::Unreachable("the audit writer has stopped".to_owned());
        self.queue.send((record, None)).await.map_err(gone)
    }
}

async fn write(
    store: SharedStore,
    mut records: mpsc::Receiver<(Record, Waiting)>,
    failing: Arc<AtomicBool>,
) {
    let mut seal = tokio::time::interval(SEAL_EVERY);
    seal.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let mut unwritten: Vec<Record> = Vec::new();
    loop {
        let mut batch = Vec::new();
        tokio::select! {
            biased;
            count = records.recv_many(&mut batch, BATCH) => {
                if count == 0 {
                    break;
                }
            }
            _ = seal.tick() => {
                // A store that does not answer now is tried again at the next tick.
                let _ = seal_all(&*store).await;
                if unwritten.is_empty() {
                    continue;
                }
            }
        }
        let (mut now, waiting): (Vec<_>, Vec<_>) = batch.into_iter().unzip();
        let mut all = std::mem::take(&mut unwritten);
        // Whoever waits is told the truth; what nobody waits for is kept until it can be written.
        let kept_back = all.len();
        all.append(&mut now);
        match store.append(&all).await {
            Ok(()) => {
                failing.store(false, Ordering::Release);
                for kept in waiting.into_iter().flatten() {
                    let _ = kept.send(Ok(()));
                }
            }
            Err(error) => {
                failing.store(true, Ordering::Release);
                tracing::error!(%error, "audit records cannot be written; calls are refused until they can");
                let mut at = 0;
                let waited: Vec<bool> = waiting.iter().map(Option::is_some).collect();
                all.retain(|_| {
                    at += 1;
                    at <= kept_back || !waited.get(at - 1 - kept_back).copied().unwrap_or(false)
                });
                unwritten = all;
                for kept in waiting.into_iter().flatten() {
                    let _ = kept.send(Err(error.clone()));
                }
                tokio::time::sleep(RETRY_AFTER).await;
            }
        }
    }
    let _ = store.append(&unwritten).await;
    let _ = seal_all(&*store).await;
}
