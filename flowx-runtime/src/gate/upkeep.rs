//! What an instance does beside answering calls: it says that it lives, clears up after those that do not, lets time run out for what waits,
//! and keeps the keys.

use std::collections::HashSet;
use std::sync::{Arc, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use super::{Gate, Key, Keyring, millis};
use crate::proposals::{Proposal, Status, Step, step};
use crate::store::{Page, StoreError};

/// Rows at a time.
const BATCH: u32 = 500;
/// How long completed idempotency records are kept.
const KEEP_ANSWERS: Duration = Duration::from_secs(86_400);

/// Starts the upkeep. It ends when the gate is dropped.
pub(super) fn start(gate: &Arc<Gate>) {
    let weak = Arc::downgrade(gate);
    // Thrice within a lease, so that one late answer of the store does not end it.
    let every = (gate.options.lease / 3).max(Duration::from_millis(20));
    tokio::spawn(async move {
        let mut tick = tokio::time::interval(every);
        tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            tick.tick().await;
            let Some(gate) = Weak::upgrade(&weak) else {
                return;
            };
            if let Err(error) = gate.keep_up().await {
                tracing::warn!(%error, "the upkeep could not reach the store; it goes on trying");
            }
        }
    });
}

impl Gate {
    /// One round. Public for tests alone, so that they need not wait for the clock.
    #[doc(hidden)]
    pub async fn keep_up(&self) -> Result<(), StoreError> {
        self.heartbeat().await?;
        self.refresh_keys().await?;
        let now = self.now();
        for orphan in self.store.orphans(now, BATCH).await? {
            self.advance(&orphan, Step::Orphan).await?;
        }
        let me = self.instance();
        for run in self.each(Status::Executing).await? {
            // Written as begun while this instance was told that it was not.
            let lost = run
                .execution
                .as_ref()
                .filter(|e| e.owner == me && !self.running().contains(&e.token));
            if let Some(token) = lost.map(|e| e.token.clone()) {
                self.advance(&run, Step::NotBegun { token: &token }).await?;
            }
        }
        for status in [Status::Waiting, Status::Approved] {
            for waiting in self.each(status).await? {
                self.advance(&waiting, Step::Look { current: None }).await?;
                self.renew(&waiting).await?;
            }
        }
        for interrupted in self.each(Status::Unknown).await? {
            self.renew(&interrupted).await?;
        }
        self.store
            .prune(now, now.saturating_sub(millis(KEEP_ANSWERS)))
            .await
    }

    /// Changes a row if the step says so. Somebody else being faster is as good.
    async fn advance(&self, from: &Proposal, wanted: Step<'_>) -> Result<(), StoreError> {
        if let Some(next) = step(from, wanted, self.now()).next {
            self.swap(from, &next, &[]).await?;
        }
        Ok(())
    }

    async fn each(&self, status: Status) -> Result<Vec<Proposal>, StoreError> {
        let mut all: Vec<Proposal> = Vec::new();
        loop {
            let after = all.last().map(|p| p.id.clone());
            let page = self
                .store
                .list(Page {
                    status: Some(status),
                    after: after.as_deref(),
                    limit: BATCH,
                })
                .await?;
            let more = page.len() == BATCH as usize;
            all.extend(page);
            if !more {
                return Ok(all);
            }
        }
    }

    async fn heartbeat(&self) -> Result<(), StoreError> {
        let now = self.now();
        let until = now.saturating_add(millis(self.options.lease));
        if !self.store.heartbeat(&self.instance(), now, until).await? {
            // Others may have settled what ran under the old name; its runs still report by their tokens.
            let name = self.ids.new_id().to_string();
            tracing::warn!(
                "this instance was silent for longer than its lease and goes on under a new name"
            );
            self.store.heartbeat(&name, now, until).await?;
            *self
                .instance
                .write()
                .unwrap_or_else(PoisonError::into_inner) = name;
        }
        Ok(())
    }

    pub(super) async fn refresh_keys(&self) -> Result<(), StoreError> {
        let mut secret = [0; 32];
        getrandom::fill(&mut secret)
            .map_err(|e| StoreError::Refused(format!("no randomness: {e}")))?;
        let candidate = Key {
            id: self.ids.new_id().simple().to_string(),
            secret,
        };
        let now = self.now();
        let rotate = millis(self.options.rotate_keys);
        // Whatever question an old key sealed has run out long before it is forgotten; for an open proposal's input the store keeps it.
        let keep = rotate
            .saturating_mul(2)
            .saturating_add(millis(self.options.question_ttl));
        let keys = self
            .store
            .keys(
                &candidate,
                now,
                now.saturating_sub(rotate),
                now.saturating_sub(keep),
            )
            .await?;
        *self.keys.write().unwrap_or_else(PoisonError::into_inner) = Keyring(keys);
        Ok(())
    }

    pub(super) fn running(&self) -> MutexGuard<'_, HashSet<String>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
