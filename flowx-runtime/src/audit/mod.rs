//! The audit trail: every call, refusal, proposal, decision, run and outcome, one record each.
//!
//! A record is written in the same step as what it tells of. The chain (see [`flowx_manifest::audit_chain`]) is linked right after, in
//! batches, so that no two writers wait for each other's hash; [`seal_all`] does it at once.

use flowx_manifest::Json;
use flowx_manifest::audit_chain::{Head, Link};

use crate::store::{Millis, Store, StoreError};

/// How many records are linked at a time.
const BATCH: u32 = 500;

/// One record, before it has a place in the chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// When it was made.
    pub at: Millis,
    /// What happened: one canonical JSON object with at least `kind`.
    pub body: String,
}

impl Record {
    /// A record of that kind (`call.refused`, `proposal.approved`, …). `null` members are left out.
    pub fn new<'a>(
        at: Millis,
        kind: &str,
        members: impl IntoIterator<Item = (&'a str, Json)>,
    ) -> Record {
        let members = members
            .into_iter()
            .filter(|(_, value)| *value != Json::Null);
        let mut body = Json::object(members);
        if let Some(map) = body.as_object_mut() {
            map.insert("kind".to_owned(), kind.into());
        }
        Record {
            at,
            body: body.to_canonical(),
        }
    }
}

/// Links everything that has been written.
///
/// # Errors
/// When the store does not answer.
pub async fn seal_all(store: &dyn Store) -> Result<(), StoreError> {
    while store.seal(BATCH).await? >= BATCH as usize {}
    Ok(())
}

/// The links after a number, and the head, with everything linked that had been written.
///
/// # Errors
/// When the store does not answer.
pub async fn export(
    store: &dyn Store,
    after: u64,
    limit: u32,
) -> Result<(Vec<Link>, Head), StoreError> {
    seal_all(store).await?;
    Ok((store.audit(after, limit).await?, store.audit_head().await?))
}
