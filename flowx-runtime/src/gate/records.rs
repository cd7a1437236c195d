//! Idempotency keys of HTTP calls, kept in the gate's store.

use super::{Gate, store_refusal};
use crate::refusal::{Refusal, codes};
use crate::store::{Claim, Claiming};

impl Gate {
    /// Claims a key for the input of that fingerprint. A claim lives as long as the instance that made it; `take_over` is for calls that
    /// may be made again under their own key.
    pub(crate) async fn claim_key(
        &self,
        key: &str,
        fingerprint: &str,
        take_over: bool,
    ) -> Result<Claim, Refusal> {
        let owner = self.instance();
        let claim = Claiming {
            scope: key,
            request: fingerprint,
            owner: &owner,
            now: self.now(),
            take_over,
        };
        self.store
            .idempotency_claim(claim)
            .await
            .map_err(|e| store_refusal(&e))
    }

    /// Keeps the answer of a claimed key.
    pub(crate) async fn finish_key(&self, key: &str, answer: &str) -> Result<(), Refusal> {
        let done = self
            .store
            .idempotency_complete(key, &self.instance(), answer, self.now())
            .await;
        match done.map_err(|e| store_refusal(&e))? {
            true => Ok(()),
            false => Err(Refusal::internal(
                codes::INTERNAL,
                "the claim of an idempotency key was lost meanwhile",
            )),
        }
    }

    /// Ends a claim whose call waits for a person: the same call may come again under the key, no other.
    pub(crate) async fn set_key_aside(&self, key: &str) -> Result<(), Refusal> {
        let aside = self
            .store
            .idempotency_set_aside(key, &self.instance(), self.now())
            .await;
        aside.map(|_| ()).map_err(|e| store_refusal(&e))
    }

    /// Gives a claimed key back.
    pub(crate) async fn release_key(&self, key: &str) -> Result<(), Refusal> {
        let released = self.store.idempotency_release(key, &self.instance()).await;
        released.map(|_| ()).map_err(|e| store_refusal(&e))
    }
}
