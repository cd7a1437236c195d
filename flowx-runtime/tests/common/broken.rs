//! A store with one defect, to see that whoever should notice it does.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use flowx_manifest::audit_chain::{Head, Link};
use flowx_runtime::agents::StandingRule;
use flowx_runtime::audit::Record;
use flowx_runtime::gate::Key;
use flowx_runtime::proposals::Proposal;
use flowx_runtime::store::{
    Claim, Claiming, Millis, Page, Proposed, SharedStore, Store, StoreError, Wait,
};

macro_rules! defects {
    ($($(#[$doc:meta])* $name:ident at $operation:ident),* $(,)?) => {
        /// What is wrong with the store.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Defect { $($(#[$doc])* $name),* }
        impl Defect {
            pub const ALL: &'static [Defect] = &[$(Defect::$name),*];

            /// The operation that is wrong.
            pub fn operation(self) -> &'static str {
                match self { $(Defect::$name => stringify!($operation)),* }
            }
        }
    };
}
defects! {
    /// Changes a proposal whatever its revision.
    SwapsAnyRevision at swap,
    /// Changes a proposal without its records.
    SwapsWithoutRecords at swap,
    /// Writes the records of a change that does not take place.
    RecordsWithoutSwap at swap,
    /// Says that it changed what it did not.
    SwapsNothing at swap,
    /// Makes a second row of the same call.
    ProposesTwice at propose,
    /// Counts nobody's proposals.
    ProposesWithoutLimit at propose,
    /// Has nothing when it is asked for one.
    ReadsNothing at proposal,
    /// Finds no row of a call.
    FindsNoCall at latest,
    /// Does not answer when it is asked for the row of a call.
    CannotLook at latest,
    /// Lists every status.
    ListsEverything at list,
    /// Lists without an end.
    ListsWithoutLimit at list,
    /// Takes live instances for dead.
    BuriesTheLiving at orphans,
    /// Finds no run of a dead instance.
    FindsNoOrphans at orphans,
    /// Lets the dead come back under their names.
    RevivesTheDead at heartbeat,
    /// Gives every claim away.
    ClaimsAlwaysFresh at idempotency_claim,
    /// Takes over what nobody may.
    ClaimsTakeOver at idempotency_claim,
    /// Completes anybody's claim.
    CompletesForAnybody at idempotency_complete,
    /// Takes a nonce as often as it comes.
    NoncesTwice at nonce_consume,
    /// Takes a nonce whose time is over.
    NoncesForEver at nonce_consume,
    /// Takes a nonce without its record.
    NoncesWithoutRecords at nonce_consume,
    /// Forgets nonces before their time.
    ForgetsNonces at prune,
    /// Uses a rule that was taken back.
    RulesOutliveTheirEnd at rule_use,
    /// Gives one agent's rules to another.
    RulesForEverybody at rules,
    /// Lets anybody take a session.
    SessionsForAnybody at session_bind,
    /// Lets sessions live for ever.
    SessionsForEver at session_owner,
    /// Gives the trail in another order.
    AuditsBackwards at audit,
    /// Leaves a link out.
    AuditsWithGaps at audit,
    /// Gives a record as it was not.
    AuditsEdited at audit,
    /// Ends the trail early.
    AuditsCutOff at audit,
    /// Never begins a new key.
    KeysNeverRotate at keys,
    /// Forgets the keys that still open.
    KeysForgotten at keys,
    /// Does not answer a ping.
    PingsNot at ping,
    /// Makes a row without its records.
    ProposesWithoutRecords at propose,
    /// Finds the row of the highest id, open or not.
    FindsTheHighestId at latest,
    /// Sets a key aside as if that were an answer.
    SetsAsideAsAnAnswer at idempotency_set_aside,
    /// Lets anybody give a key back.
    ReleasesForAnybody at idempotency_release,
    /// Says that a key is free and keeps it.
    ReleasesNothing at idempotency_release,
    /// Takes no rule.
    RulesForgotten at rule_add,
    /// Takes a rule without its record.
    RulesWithoutRecords at rule_add,
    /// Uses a rule and does not count it.
    UsesUncounted at rule_use,
    /// Takes no rule back.
    RevokesNothing at rule_revoke,
    /// Takes a rule back without its record.
    RevokesWithoutRecords at rule_revoke,
    /// Ends no session.
    SessionsNeverEnd at session_end,
    /// Writes no record that stands alone.
    AppendsNothing at append,
    /// Writes every record twice.
    AppendsTwice at append,
    /// Links nothing.
    SealsNothing at seal,
    /// Knows of no end.
    HeadsNowhere at audit_head,
    /// Forgets nothing.
    PrunesNothing at prune,
    /// Forgets answers that are young.
    PrunesTheYoung at prune,
}

/// The store with its defect.
pub struct Broken {
    pub inner: SharedStore,
    pub defect: Defect,
}

impl Broken {
    fn has(&self, defect: Defect) -> bool {
        self.defect == defect
    }
}

impl Store for Broken {
    fn kind(&self) -> &'static str {
        "broken"
    }
    fn ping(&self) -> Wait<'_, ()> {
        if self.has(Defect::PingsNot) {
            return Box::pin(async { Err(StoreError::Unreachable("no answer".into())) });
        }
        self.inner.ping()
    }
    fn propose<'a>(
        &'a self,
        new: &'a Proposal,
        max: u32,
        records: &'a [Record],
    ) -> Wait<'a, Proposed> {
        let records = if self.has(Defect::ProposesWithoutRecords) {
            &[]
        } else {
            records
        };
        if self.has(Defect::ProposesTwice) {
            return Box::pin(async move {
                let other = Proposal {
                    call_key: format!("{} {}", new.call_key, new.id),
                    ..new.clone()
                };
                self.inner.propose(&other, max, records).await
            });
        }
        self.inner.propose(
            new,
            if self.has(Defect::ProposesWithoutLimit) {
                u32::MAX
            } else {
                max
            },
            records,
        )
    }
    fn swap<'a>(
        &'a self,
        expected: i64,
        next: &'a Proposal,
        records: &'a [Record],
    ) -> Wait<'a, bool> {
        Box::pin(async move {
            match self.defect {
                Defect::SwapsAnyRevision => {
                    let now = self.inner.proposal(&next.id).await?;
                    self.inner
                        .swap(now.map_or(expected, |p| p.revision), next, records)
                        .await
                }
                Defect::SwapsWithoutRecords => self.inner.swap(expected, next, &[]).await,
                Defect::RecordsWithoutSwap => {
                    let done = self.inner.swap(expected, next, &[]).await?;
                    self.inner.append(records).await?;
                    Ok(done)
                }
                Defect::SwapsNothing => Ok(true),
                _ => self.inner.swap(expected, next, records).await,
            }
        })
    }
    fn proposal<'a>(&'a self, id: &'a str) -> Wait<'a, Option<Proposal>> {
        if self.has(Defect::ReadsNothing) {
            Box::pin(async { Ok(None) })
        } else {
            self.inner.proposal(id)
        }
    }
    fn latest<'a>(&'a self, call_key: &'a str) -> Wait<'a, Option<Proposal>> {
        if self.has(Defect::CannotLook) {
            return Box::pin(async { Err(StoreError::Unreachable("connection reset".into())) });
        }
        if self.has(Defect::FindsTheHighestId) {
            return Box::pin(async move {
                let all = self.inner.list(Page {
                    status: None,
                    after: None,
                    limit: 1_000_000,
                });
                Ok(all.await?.into_iter().rfind(|p| p.call_key == call_key))
            });
        }
        if self.has(Defect::FindsNoCall) {
            Box::pin(async { Ok(None) })
        } else {
            self.inner.latest(call_key)
        }
    }
    fn list<'a>(&'a self, page: Page<'a>) -> Wait<'a, Vec<Proposal>> {
        let status = if self.has(Defect::ListsEverything) {
            None
        } else {
            page.status
        };
        let limit = if self.has(Defect::ListsWithoutLimit) {
            1_000_000
        } else {
            page.limit
        };
        self.inner.list(Page {
            status,
            limit,
            ..page
        })
    }
    fn orphans(&self, now: Millis, limit: u32) -> Wait<'_, Vec<Proposal>> {
        match self.defect {
            Defect::BuriesTheLiving => self.inner.orphans(Millis::MAX, limit),
            Defect::FindsNoOrphans => Box::pin(async { Ok(Vec::new()) }),
            _ => self.inner.orphans(now, limit),
        }
    }
    fn heartbeat<'a>(&'a self, owner: &'a str, now: Millis, until: Millis) -> Wait<'a, bool> {
        self.inner.heartbeat(
            owner,
            if self.has(Defect::RevivesTheDead) {
                0
            } else {
                now
            },
            until,
        )
    }
    fn idempotency_claim<'a>(&'a self, claim: Claiming<'a>) -> Wait<'a, Claim> {
        if self.has(Defect::ClaimsAlwaysFresh) {
            return Box::pin(async move {
                self.inner.idempotency_claim(claim).await?;
                Ok(Claim::Fresh)
            });
        }
        let take_over = claim.take_over || self.has(Defect::ClaimsTakeOver);
        self.inner
            .idempotency_claim(Claiming { take_over, ..claim })
    }
    fn idempotency_complete<'a>(
        &'a self,
        scope: &'a str,
        owner: &'a str,
        body: &'a str,
        now: Millis,
    ) -> Wait<'a, bool> {
        Box::pin(async move {
            let done = self
                .inner
                .idempotency_complete(scope, owner, body, now)
                .await?;
            Ok(done || self.has(Defect::CompletesForAnybody))
        })
    }
    fn idempotency_set_aside<'a>(
        &'a self,
        scope: &'a str,
        owner: &'a str,
        now: Millis,
    ) -> Wait<'a, bool> {
        if self.has(Defect::SetsAsideAsAnAnswer) {
            return self.inner.idempotency_complete(scope, owner, "=", now);
        }
        self.inner.idempotency_set_aside(scope, owner, now)
    }
    fn idempotency_release<'a>(&'a self, scope: &'a str, owner: &'a str) -> Wait<'a, bool> {
        Box::pin(async move {
            match self.defect {
                Defect::ReleasesNothing => Ok(true),
                Defect::ReleasesForAnybody => {
                    let released = self.inner.idempotency_release(scope, owner).await?;
                    Ok(released || owner == "other")
                }
                _ => self.inner.idempotency_release(scope, owner).await,
            }
        })
    }
    fn nonce_consume<'a>(
        &'a self,
        nonce: &'a str,
        expires: Millis,
        now: Millis,
        records: &'a [Record],
    ) -> Wait<'a, bool> {
        Box::pin(async move {
            match self.defect {
                Defect::NoncesTwice => Ok(self
                    .inner
                    .nonce_consume(nonce, expires, now, records)
                    .await?
                    || expires > now),
                Defect::NoncesForEver => {
                    self.inner
                        .nonce_consume(nonce, expires.max(now + 1), now, records)
                        .await
                }
                Defect::NoncesWithoutRecords => {
                    self.inner.nonce_consume(nonce, expires, now, &[]).await
                }
                _ => self.inner.nonce_consume(nonce, expires, now, records).await,
            }
        })
    }
    fn rule_add<'a>(&'a self, rule: &'a StandingRule, records: &'a [Record]) -> Wait<'a, ()> {
        match self.defect {
            Defect::RulesForgotten => Box::pin(async { Ok(()) }),
            Defect::RulesWithoutRecords => self.inner.rule_add(rule, &[]),
            _ => self.inner.rule_add(rule, records),
        }
    }
    fn rules<'a>(&'a self, agent: Option<&'a str>) -> Wait<'a, Vec<StandingRule>> {
        self.inner.rules(if self.has(Defect::RulesForEverybody) {
            None
        } else {
            agent
        })
    }
    fn rule_use<'a>(&'a self, id: &'a str, now: Millis) -> Wait<'a, bool> {
        if self.has(Defect::UsesUncounted) {
            return Box::pin(async move {
                let rules = self.inner.rules(None).await?;
                Ok(rules.iter().any(|rule| rule.id == id))
            });
        }
        Box::pin(async move {
            Ok(self.inner.rule_use(id, now).await? || self.has(Defect::RulesOutliveTheirEnd))
        })
    }
    fn rule_revoke<'a>(
        &'a self,
        id: &'a str,
        now: Millis,
        records: &'a [Record],
    ) -> Wait<'a, bool> {
        match self.defect {
            Defect::RevokesNothing => Box::pin(async { Ok(true) }),
            Defect::RevokesWithoutRecords => self.inner.rule_revoke(id, now, &[]),
            _ => self.inner.rule_revoke(id, now, records),
        }
    }
    fn session_bind<'a>(
        &'a self,
        id: &'a str,
        principal: &'a str,
        expires: Millis,
        now: Millis,
    ) -> Wait<'a, bool> {
        Box::pin(async move {
            Ok(self.inner.session_bind(id, principal, expires, now).await?
                || self.has(Defect::SessionsForAnybody))
        })
    }
    fn session_owner<'a>(&'a self, id: &'a str, now: Millis) -> Wait<'a, Option<String>> {
        self.inner.session_owner(
            id,
            if self.has(Defect::SessionsForEver) {
                0
            } else {
                now
            },
        )
    }
    fn session_end<'a>(&'a self, id: &'a str) -> Wait<'a, ()> {
        if self.has(Defect::SessionsNeverEnd) {
            return Box::pin(async { Ok(()) });
        }
        self.inner.session_end(id)
    }
    fn append<'a>(&'a self, records: &'a [Record]) -> Wait<'a, ()> {
        Box::pin(async move {
            if self.has(Defect::AppendsTwice) {
                self.inner.append(records).await?;
            }
            if self.has(Defect::AppendsNothing) {
                return Ok(());
            }
            self.inner.append(records).await
        })
    }
    fn seal(&self, limit: u32) -> Wait<'_, usize> {
        if self.has(Defect::SealsNothing) {
            return Box::pin(async { Ok(0) });
        }
        self.inner.seal(limit)
    }
    fn audit(&self, after: u64, limit: u32) -> Wait<'_, Vec<Link>> {
        Box::pin(async move {
            let mut links = self.inner.audit(after, limit).await?;
            match self.defect {
                Defect::AuditsBackwards => links.reverse(),
                Defect::AuditsWithGaps if links.len() > 2 => {
                    links.remove(links.len() / 2);
                }
                Defect::AuditsEdited => links.iter_mut().for_each(|l| l.at += 1),
                Defect::AuditsCutOff => {
                    links.pop();
                }
                _ => {}
            }
            Ok(links)
        })
    }
    fn audit_head(&self) -> Wait<'_, Head> {
        if self.has(Defect::HeadsNowhere) {
            return Box::pin(async { Ok(Head::default()) });
        }
        self.inner.audit_head()
    }
    fn keys<'a>(
        &'a self,
        candidate: &'a Key,
        now: Millis,
        rotate: Millis,
        drop: Millis,
    ) -> Wait<'a, Vec<Key>> {
        match self.defect {
            Defect::KeysNeverRotate => self.inner.keys(candidate, now, Millis::MIN, drop),
            Defect::KeysForgotten => self.inner.keys(candidate, now, rotate, Millis::MAX),
            _ => self.inner.keys(candidate, now, rotate, drop),
        }
    }
    fn prune(&self, now: Millis, keep_since: Millis) -> Wait<'_, ()> {
        if self.has(Defect::PrunesNothing) {
            return Box::pin(async { Ok(()) });
        }
        let keep_since = if self.has(Defect::PrunesTheYoung) {
            Millis::MAX
        } else {
            keep_since
        };
        self.inner.prune(
            if self.has(Defect::ForgetsNonces) {
                Millis::MAX
            } else {
                now
            },
            keep_since,
        )
    }
}

/// How the store fails at an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It is not reached: nothing happens.
    NotReached,
    /// It does what it was asked, and the answer is lost on the way.
    AnswerLost,
}

/// Where so many callers wait for each other, once: whoever comes later passes. So all of them have read before any of them writes, on a
/// machine of any speed.
pub struct Meeting {
    operation: &'static str,
    barrier: tokio::sync::Barrier,
    over: AtomicBool,
}

impl Meeting {
    /// Of so many callers, before that operation.
    pub fn before(operation: &'static str, callers: usize) -> Arc<Meeting> {
        assert!(OPERATIONS.contains(&operation), "{operation}");
        Arc::new(Meeting {
            operation,
            barrier: tokio::sync::Barrier::new(callers),
            over: AtomicBool::new(false),
        })
    }

    /// Whether all have come.
    pub fn took_place(&self) -> bool {
        self.over.load(Ordering::SeqCst)
    }

    async fn join(&self) {
        if !self.took_place() && self.barrier.wait().await.is_leader() {
            self.over.store(true, Ordering::SeqCst);
        }
    }
}

/// A store of which single operations can be taken away, and given back.
pub struct Failing {
    inner: SharedStore,
    faults: Mutex<BTreeMap<&'static str, Fault>>,
    hits: AtomicUsize,
    meeting: Mutex<Option<Arc<Meeting>>>,
}

impl Failing {
    pub fn over(inner: SharedStore) -> Arc<Failing> {
        Arc::new(Failing {
            inner,
            faults: Mutex::default(),
            hits: AtomicUsize::new(0),
            meeting: Mutex::default(),
        })
    }

    /// One at which callers meet.
    pub fn meeting(inner: SharedStore, meeting: &Arc<Meeting>) -> Arc<Failing> {
        let failing = Failing::over(inner);
        *failing.meeting.lock().unwrap() = Some(Arc::clone(meeting));
        failing
    }

    /// One that went dark after it was opened: nothing but its heartbeat and keys answers, so that an instance starts.
    pub fn dark(inner: SharedStore) -> Arc<Failing> {
        let failing = Failing::over(inner);
        for operation in OPERATIONS {
            if !["heartbeat", "keys"].contains(operation) {
                failing.fail(operation, Fault::NotReached);
            }
        }
        failing
    }

    /// From now on that operation fails.
    pub fn fail(&self, operation: &'static str, fault: Fault) {
        assert!(OPERATIONS.contains(&operation), "{operation}");
        self.faults.lock().unwrap().insert(operation, fault);
    }

    /// Everything works again; how often something failed.
    pub fn heal(&self) -> usize {
        self.faults.lock().unwrap().clear();
        self.hits.swap(0, Ordering::SeqCst)
    }

    async fn at<'a, T>(&self, operation: &str, asked: Wait<'a, T>) -> Result<T, StoreError> {
        let meeting = self.meeting.lock().unwrap().clone();
        if let Some(meeting) = meeting.filter(|m| m.operation == operation) {
            meeting.join().await;
        }
        let fault = self.faults.lock().unwrap().get(operation).copied();
        if let Some(fault) = fault {
            self.hits.fetch_add(1, Ordering::SeqCst);
            if fault == Fault::AnswerLost {
                asked.await?;
            }
            return Err(StoreError::Unreachable("connection reset".into()));
        }
        asked.await
    }
}

macro_rules! failing {
    ($($name:ident ( $($arg:ident : $ty:ty),* ) -> $out:ty;)*) => {
        /// Every operation of a store but its word for itself.
        pub const OPERATIONS: &[&str] = &[$(stringify!($name)),*];

        impl Store for Failing {
            fn kind(&self) -> &'static str {
                "failing"
            }
            $(
                fn $name<'a>(&'a self, $($arg: $ty),*) -> Wait<'a, $out> {
                    Box::pin(async move {
                        // Asked inside, so that a store that acts when it is called is not called.
                        let asked = Box::pin(async move { self.inner.$name($($arg),*).await });
                        self.at(stringify!($name), asked).await
                    })
                }
            )*
        }
    };
}
failing! {
    ping() -> ();
    propose(new: &'a Proposal, max: u32, records: &'a [Record]) -> Proposed;
    swap(expected: i64, next: &'a Proposal, records: &'a [Record]) -> bool;
    proposal(id: &'a str) -> Option<Proposal>;
    latest(call_key: &'a str) -> Option<Proposal>;
    list(page: Page<'a>) -> Vec<Proposal>;
    orphans(now: Millis, limit: u32) -> Vec<Proposal>;
    heartbeat(owner: &'a str, now: Millis, until: Millis) -> bool;
    idempotency_claim(claim: Claiming<'a>) -> Claim;
    idempotency_complete(scope: &'a str, owner: &'a str, body: &'a str, now: Millis) -> bool;
    idempotency_set_aside(scope: &'a str, owner: &'a str, now: Millis) -> bool;
    idempotency_release(scope: &'a str, owner: &'a str) -> bool;
    nonce_consume(nonce: &'a str, expires: Millis, now: Millis, records: &'a [Record]) -> bool;
    rule_add(rule: &'a StandingRule, records: &'a [Record]) -> ();
    rules(agent: Option<&'a str>) -> Vec<StandingRule>;
    rule_use(id: &'a str, now: Millis) -> bool;
    rule_revoke(id: &'a str, now: Millis, records: &'a [Record]) -> bool;
    session_bind(id: &'a str, principal: &'a str, expires: Millis, now: Millis) -> bool;
    session_owner(id: &'a str, now: Millis) -> Option<String>;
    session_end(id: &'a str) -> ();
    append(records: &'a [Record]) -> ();
    seal(limit: u32) -> usize;
    audit(after: u64, limit: u32) -> Vec<Link>;
    audit_head() -> Head;
    keys(candidate: &'a Key, now: Millis, rotate: Millis, drop: Millis) -> Vec<Key>;
    prune(now: Millis, keep_since: Millis) -> ();
}
