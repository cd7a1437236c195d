//! Idempotency keys of HTTP calls, kept in the gate's store.

use std::time::Duration;

use super::{Gate, store_refusal};
use crate::refusal::Refusal;
use crate::store::{Claim, Claiming};

impl Gate {
    /// Claims a key for the input of that fingerprint. A claim lives as long as the instance that made it; `take_over` is for calls that
    /// may be made again under their own key. The name that holds it goes with it: this instance may have another one when the call ends.
    pub(crate) async fn claim_key(
        &self,
        key: &str,
        fingerprint: &str,
        take_over: bool,
    ) -> Result<(Claim, String), Refusal> {
        let owner = self.instance();
        let claim = Claiming {
            scope: key,
            request: fingerprint,
            owner: &owner,
            now: self.now(),
            take_over,
        };
        let claimed = self.store.idempotency_claim(claim).await;
        claimed
            .map(|claimed| (claimed, owner))
            .map_err(|e| store_refusal(&e))
    }

    /// Ends a claim. A store that does not answer is tried again until it does, for as long as this process lives: until then the key says
    /// that its call is running.
    pub(crate) async fn end_claim(&self, key: &str, owner: &str, end: ClaimEnd) {
        let mut wait = Duration::from_millis(50);
        loop {
            let ended = match &end {
                ClaimEnd::Answer(answer) => {
                    let now = self.now();
                    self.store
                        .idempotency_complete(key, owner, answer, now)
                        .await
                }
                ClaimEnd::Waits => {
                    self.store
                        .idempotency_set_aside(key, owner, self.now())
                        .await
                }
                ClaimEnd::NothingDone => self.store.idempotency_release(key, owner).await,
            };
            match ended {
                Ok(true) => return,
                Ok(false) => return tracing::warn!(key, "the claim of a key was lost meanwhile"),
                Err(error) => tracing::error!(%error, "an answer cannot be recorded yet"),
            }
            tokio::time::sleep(wait).await;
            wait = (wait * 2).min(Duration::from_secs(5));
        }
    }
}

/// How the call of a claimed key ended.
#[derive(Debug)]
pub(crate) enum ClaimEnd {
    /// With that answer, which is kept.
    Answer(String),
    /// It waits for a person: the same call may come again under the key, no other.
    Waits,
    /// Nothing was done that must not be done again: the key is free.
    NothingDone,
}
