//! Idempotency keys of HTTP calls, kept in the gate's store.

use flowx_manifest::Category;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use time::OffsetDateTime;

use super::{Gate, store_refusal};
use crate::http::{Claim, Records};
use crate::refusal::Refusal;
use crate::store::{Claim as Claimed, Claiming};

/// A call with that key began on an instance that is gone. 409.
const INTERRUPTED: &str = "idempotency.interrupted";

impl Records for Gate {
    /// A claim lives as long as the instance that made it, not until `held`.
    fn claim<'a>(
        &'a self,
        key: &'a str,
        fingerprint: &'a str,
        _: OffsetDateTime,
        _: OffsetDateTime,
    ) -> BoxFuture<'a, Result<Claim, Refusal>> {
        async move {
            let owner = self.instance();
            let claim = Claiming { scope: key, request: fingerprint, owner: &owner, now: self.now(), take_over: false };
            match self.store.idempotency_claim(claim).await.map_err(|e| store_refusal(&e))? {
                Claimed::Fresh => Ok(Claim::Fresh),
                Claimed::Replay(answer) => Ok(Claim::Recorded(answer)),
                Claimed::Running => Ok(Claim::Running),
                Claimed::Mismatch => Ok(Claim::Other),
                Claimed::Interrupted => Err(Refusal::new(
                    INTERRUPTED,
                    Category::Conflict,
                    "A call with this key was begun, and how it ended is not known. Find out before you call again with a new key.",
                )),
            }
        }
        .boxed()
    }

    fn finish<'a>(
        &'a self,
        key: &'a str,
        answer: &'a str,
        _: OffsetDateTime,
    ) -> BoxFuture<'a, Result<(), Refusal>> {
        async move {
            let done = self
                .store
                .idempotency_complete(key, &self.instance(), answer, self.now())
                .await;
            match done.map_err(|e| store_refusal(&e))? {
                true => Ok(()),
                false => Err(Refusal::internal(
                    INTERRUPTED,
                    "the claim of an idempotency key was lost meanwhile",
                )),
            }
        }
        .boxed()
    }

    fn release<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<(), Refusal>> {
        async move {
            let released = self.store.idempotency_release(key, &self.instance()).await;
            released.map(|_| ()).map_err(|e| store_refusal(&e))
        }
        .boxed()
    }
}
