//! What has to outlive a call: proposals, standing rules, nonces, idempotency records, sessions and the audit chain.
//!
//! [`Store`] is one trait with three implementations: SQLite (embedded, the default), PostgreSQL (many instances) and, for
//! tests, memory. [`conformance`] is the suite that each of them passes and that a broken one must fail.
//!
//! Two rules hold everywhere. Time is supplied (`now`, milliseconds since 1970 in UTC), never read. A store that cannot be
//! reached is an error, which refuses the call; it is never read as "nothing there".

pub mod conformance;
mod memory;
mod sql;
mod url;

use std::sync::Arc;

use flowx_manifest::audit_chain::{Head, Link};
use futures_util::future::BoxFuture;

use crate::agents::StandingRule;
use crate::audit::Record;
use crate::gate::Key;
use crate::proposals::{Proposal, Status};

pub use memory::MemoryStore;
pub use sql::{PostgresStore, SqliteStore};
pub use url::{StoreOptions, open, open_with};

/// Milliseconds since 1970-01-01T00:00:00Z.
pub type Millis = i64;

/// What every method of a store gives.
pub type Wait<'a, T> = BoxFuture<'a, Result<T, StoreError>>;

/// A store that is shared by everything in one process.
pub type SharedStore = Arc<dyn Store>;

/// Why a store did not answer. The first two refuse the call as `server.unavailable`, the third is a defect.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// It cannot be reached, or did not answer in time. Whether a write took place is not known.
    #[error("the store cannot be reached: {0}")]
    Unreachable(String),
    /// It answered with an error of its own.
    #[error("the store refused: {0}")]
    Refused(String),
    /// What it holds is not what was written.
    #[error("the store holds something that this program did not write: {0}")]
    Corrupt(String),
    /// The address is not one.
    #[error("{0:?} is no store: use sqlite:FILE, sqlite::memory: or postgres://USER@HOST/DATABASE")]
    Address(String),
}

/// What came of [`Store::propose`].
#[derive(Clone, Debug, PartialEq)]
pub enum Proposed {
    /// The row is new.
    New,
    /// The same call by the same caller is open already; this is its row.
    Open(Box<Proposal>),
    /// The caller has as many waiting rows as it may have.
    TooMany,
}

/// The body of a key that was set aside. No answer is empty.
pub(crate) const SET_ASIDE: &str = "";

/// What came of [`Store::idempotency_claim`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claim {
    /// Nobody used the key before: run, then complete or release.
    Fresh,
    /// It ran to its end; this is the body that was stored.
    Replay(String),
    /// It runs now, here or on another instance.
    Running,
    /// It began, and the instance that ran it is gone: whether it took effect is not known.
    Interrupted,
    /// The key was used for another request.
    Mismatch,
}

/// A claim to an idempotency key.
#[derive(Clone, Copy, Debug)]
pub struct Claiming<'a> {
    /// Names caller, flow and key.
    pub scope: &'a str,
    /// The digest of the request.
    pub request: &'a str,
    /// The instance that would run it; see [`Store::heartbeat`].
    pub owner: &'a str,
    /// Now.
    pub now: Millis,
    /// Whether to take over what an instance that is gone had begun: only where running it again under its own key is safe.
    pub take_over: bool,
}

/// Which proposals to list.
#[derive(Clone, Copy, Debug, Default)]
pub struct Page<'a> {
    /// Those of one status; all without.
    pub status: Option<Status>,
    /// Those after this id, in the order of their ids, which is the order of their making.
    pub after: Option<&'a str>,
    /// At most so many.
    pub limit: u32,
}

/// What has to outlive a call. Each method is one atomic step: with the audit records that it is given, or not at all.
pub trait Store: Send + Sync + 'static {
    /// A word for logs: `sqlite`, `postgres`, `memory`.
    fn kind(&self) -> &'static str;

    /// Whether it can be reached.
    fn ping(&self) -> Wait<'_, ()>;

    /// Adds a waiting proposal, unless the same call (`call_key`) is open already or the caller has `max_waiting` waiting ones.
    /// The records are written only with a new row.
    fn propose<'a>(
        &'a self,
        new: &'a Proposal,
        max_waiting: u32,
        records: &'a [Record],
    ) -> Wait<'a, Proposed>;

    /// Replaces a proposal whose revision is still `expected` by `next`, and writes the records with it. `false`, and nothing
    /// written, when it is not. This is the one step by which a proposal ever changes.
    fn swap<'a>(
        &'a self,
        expected: i64,
        next: &'a Proposal,
        records: &'a [Record],
    ) -> Wait<'a, bool>;

    /// The proposal of that id.
    fn proposal<'a>(&'a self, id: &'a str) -> Wait<'a, Option<Proposal>>;

    /// The proposal of that call that is open, else its newest one. There is one open at most, and by its id it need not be the newest: ids are
    /// made by the clocks of many instances.
    fn latest<'a>(&'a self, call_key: &'a str) -> Wait<'a, Option<Proposal>>;

    /// Proposals in the order of their making.
    fn list<'a>(&'a self, page: Page<'a>) -> Wait<'a, Vec<Proposal>>;

    /// Proposals that are executing on an instance whose heartbeat has ended.
    fn orphans(&self, now: Millis, limit: u32) -> Wait<'_, Vec<Proposal>>;

    /// Says that `owner` lives until `until`. `false` when an earlier heartbeat of it has run out already: others may have taken
    /// it for dead, so it has to go on under a new name.
    fn heartbeat<'a>(&'a self, owner: &'a str, now: Millis, until: Millis) -> Wait<'a, bool>;

    /// Claims an idempotency key.
    fn idempotency_claim<'a>(&'a self, claim: Claiming<'a>) -> Wait<'a, Claim>;

    /// Keeps the answer to a claimed key. `false` when `owner` does not hold the claim.
    fn idempotency_complete<'a>(
        &'a self,
        scope: &'a str,
        owner: &'a str,
        body: &'a str,
        now: Millis,
    ) -> Wait<'a, bool>;

    /// Ends a claim without an answer, and keeps the key bound to its request: the same request claims it afresh, any other is a mismatch.
    /// `false` when `owner` does not hold the claim.
    fn idempotency_set_aside<'a>(
        &'a self,
        scope: &'a str,
        owner: &'a str,
        now: Millis,
    ) -> Wait<'a, bool> {
        self.idempotency_complete(scope, owner, SET_ASIDE, now)
    }

    /// Gives a claimed key back, where it is certain that nothing was done. `false` when `owner` does not hold the claim.
    fn idempotency_release<'a>(&'a self, scope: &'a str, owner: &'a str) -> Wait<'a, bool>;

    /// Spends a nonce, once. `false`, and no record written, when it has been spent or `expires` is not after `now`.
    fn nonce_consume<'a>(
        &'a self,
        nonce: &'a str,
        expires: Millis,
        now: Millis,
        records: &'a [Record],
    ) -> Wait<'a, bool>;

    /// Adds a standing rule.
    fn rule_add<'a>(&'a self, rule: &'a StandingRule, records: &'a [Record]) -> Wait<'a, ()>;

    /// The rules of an agent that have not been revoked, oldest first; of all agents without one.
    fn rules<'a>(&'a self, agent: Option<&'a str>) -> Wait<'a, Vec<StandingRule>>;

    /// Counts one use of a rule. `false` when it has been revoked.
    fn rule_use<'a>(&'a self, id: &'a str, now: Millis) -> Wait<'a, bool>;

    /// Takes a rule back. `false` when there is none, or it was taken back before.
    fn rule_revoke<'a>(&'a self, id: &'a str, now: Millis, records: &'a [Record])
    -> Wait<'a, bool>;

    /// Binds a session to a principal's key. `false` when it is bound to another.
    fn session_bind<'a>(
        &'a self,
        id: &'a str,
        principal: &'a str,
        expires: Millis,
        now: Millis,
    ) -> Wait<'a, bool>;

    /// The key of the principal that a session is bound to, unless it has expired.
    fn session_owner<'a>(&'a self, id: &'a str, now: Millis) -> Wait<'a, Option<String>>;

    /// Forgets a session.
    fn session_end<'a>(&'a self, id: &'a str) -> Wait<'a, ()>;

    /// Writes audit records.
    fn append<'a>(&'a self, records: &'a [Record]) -> Wait<'a, ()>;

    /// Links written records into the chain, oldest first, at most `limit`; gives how many.
    fn seal(&self, limit: u32) -> Wait<'_, usize>;

    /// Links after a sequence number, in order.
    fn audit(&self, after: u64, limit: u32) -> Wait<'_, Vec<Link>>;

    /// The newest link's number and hash.
    fn audit_head(&self) -> Wait<'_, Head>;

    /// The keys that seal questions, newest first, shared by every instance. `candidate` is added when the newest is older than
    /// `rotate_before`, or there is none; keys older than `drop_before` are forgotten, the newest never, nor one that the input of an open
    /// proposal is sealed under (`s1.` and the key's id stand at its beginning).
    fn keys<'a>(
        &'a self,
        candidate: &'a Key,
        now: Millis,
        rotate_before: Millis,
        drop_before: Millis,
    ) -> Wait<'a, Vec<Key>>;

    /// Forgets spent nonces and ended sessions whose time is over, and completed idempotency records older than `keep_since`.
    fn prune(&self, now: Millis, keep_since: Millis) -> Wait<'_, ()>;
}
