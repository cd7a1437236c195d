//! A store with one defect, to see that whoever should notice it does.

use flowx_manifest::audit_chain::{Head, Link};
use flowx_runtime::agents::StandingRule;
use flowx_runtime::audit::Record;
use flowx_runtime::gate::Key;
use flowx_runtime::proposals::Proposal;
use flowx_runtime::store::{
    Claim, Claiming, Millis, Page, Proposed, SharedStore, Store, StoreError, Wait,
};

macro_rules! defects {
    ($($(#[$doc:meta])* $name:ident),* $(,)?) => {
        /// What is wrong with the store.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Defect { $($(#[$doc])* $name),* }
        impl Defect {
            pub const ALL: &'static [Defect] = &[$(Defect::$name),*];
        }
    };
}
defects! {
    /// Changes a proposal whatever its revision.
    SwapsAnyRevision,
    /// Changes a proposal without its records.
    SwapsWithoutRecords,
    /// Writes the records of a change that does not take place.
    RecordsWithoutSwap,
    /// Says that it changed what it did not.
    SwapsNothing,
    /// Makes a second row of the same call.
    ProposesTwice,
    /// Counts nobody's proposals.
    ProposesWithoutLimit,
    /// Has nothing when it is asked for one.
    ReadsNothing,
    /// Finds no row of a call.
    FindsNoCall,
    /// Does not answer when it is asked for the row of a call.
    CannotLook,
    /// Lists every status.
    ListsEverything,
    /// Lists without an end.
    ListsWithoutLimit,
    /// Takes live instances for dead.
    BuriesTheLiving,
    /// Finds no run of a dead instance.
    FindsNoOrphans,
    /// Lets the dead come back under their names.
    RevivesTheDead,
    /// Gives every claim away.
    ClaimsAlwaysFresh,
    /// Takes over what nobody may.
    ClaimsTakeOver,
    /// Completes anybody's claim.
    CompletesForAnybody,
    /// Takes a nonce as often as it comes.
    NoncesTwice,
    /// Takes a nonce whose time is over.
    NoncesForEver,
    /// Takes a nonce without its record.
    NoncesWithoutRecords,
    /// Forgets nonces before their time.
    ForgetsNonces,
    /// Uses a rule that was taken back.
    RulesOutliveTheirEnd,
    /// Gives one agent's rules to another.
    RulesForEverybody,
    /// Lets anybody take a session.
    SessionsForAnybody,
    /// Lets sessions live for ever.
    SessionsForEver,
    /// Gives the trail in another order.
    AuditsBackwards,
    /// Leaves a link out.
    AuditsWithGaps,
    /// Gives a record as it was not.
    AuditsEdited,
    /// Ends the trail early.
    AuditsCutOff,
    /// Never begins a new key.
    KeysNeverRotate,
    /// Forgets the keys that still open.
    KeysForgotten,
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
        self.inner.ping()
    }
    fn propose<'a>(
        &'a self,
        new: &'a Proposal,
        max: u32,
        records: &'a [Record],
    ) -> Wait<'a, Proposed> {
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
    fn idempotency_release<'a>(&'a self, scope: &'a str, owner: &'a str) -> Wait<'a, bool> {
        self.inner.idempotency_release(scope, owner)
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
        self.inner.rule_add(rule, records)
    }
    fn rules<'a>(&'a self, agent: Option<&'a str>) -> Wait<'a, Vec<StandingRule>> {
        self.inner.rules(if self.has(Defect::RulesForEverybody) {
            None
        } else {
            agent
        })
    }
    fn rule_use<'a>(&'a self, id: &'a str, now: Millis) -> Wait<'a, bool> {
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
        self.inner.rule_revoke(id, now, records)
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
        self.inner.session_end(id)
    }
    fn append<'a>(&'a self, records: &'a [Record]) -> Wait<'a, ()> {
        self.inner.append(records)
    }
    fn seal(&self, limit: u32) -> Wait<'_, usize> {
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

/// A store that went dark after it was opened: nothing but its heartbeat and keys answers, so that an instance starts.
pub struct Dark(pub SharedStore);

fn dark<'a, T: Send + 'a>() -> Wait<'a, T> {
    Box::pin(async { Err(StoreError::Unreachable("connection refused".into())) })
}

impl Store for Dark {
    fn kind(&self) -> &'static str {
        "dark"
    }
    fn ping(&self) -> Wait<'_, ()> {
        dark()
    }
    fn propose<'a>(&'a self, _: &'a Proposal, _: u32, _: &'a [Record]) -> Wait<'a, Proposed> {
        dark()
    }
    fn swap<'a>(&'a self, _: i64, _: &'a Proposal, _: &'a [Record]) -> Wait<'a, bool> {
        dark()
    }
    fn proposal<'a>(&'a self, _: &'a str) -> Wait<'a, Option<Proposal>> {
        dark()
    }
    fn latest<'a>(&'a self, _: &'a str) -> Wait<'a, Option<Proposal>> {
        dark()
    }
    fn list<'a>(&'a self, _: Page<'a>) -> Wait<'a, Vec<Proposal>> {
        dark()
    }
    fn orphans(&self, _: Millis, _: u32) -> Wait<'_, Vec<Proposal>> {
        dark()
    }
    fn heartbeat<'a>(&'a self, owner: &'a str, now: Millis, until: Millis) -> Wait<'a, bool> {
        self.0.heartbeat(owner, now, until)
    }
    fn idempotency_claim<'a>(&'a self, _: Claiming<'a>) -> Wait<'a, Claim> {
        dark()
    }
    fn idempotency_complete<'a>(
        &'a self,
        _: &'a str,
        _: &'a str,
        _: &'a str,
        _: Millis,
    ) -> Wait<'a, bool> {
        dark()
    }
    fn idempotency_release<'a>(&'a self, _: &'a str, _: &'a str) -> Wait<'a, bool> {
        dark()
    }
    fn nonce_consume<'a>(
        &'a self,
        _: &'a str,
        _: Millis,
        _: Millis,
        _: &'a [Record],
    ) -> Wait<'a, bool> {
        dark()
    }
    fn rule_add<'a>(&'a self, _: &'a StandingRule, _: &'a [Record]) -> Wait<'a, ()> {
        dark()
    }
    fn rules<'a>(&'a self, _: Option<&'a str>) -> Wait<'a, Vec<StandingRule>> {
        dark()
    }
    fn rule_use<'a>(&'a self, _: &'a str, _: Millis) -> Wait<'a, bool> {
        dark()
    }
    fn rule_revoke<'a>(&'a self, _: &'a str, _: Millis, _: &'a [Record]) -> Wait<'a, bool> {
        dark()
    }
    fn session_bind<'a>(&'a self, _: &'a str, _: &'a str, _: Millis, _: Millis) -> Wait<'a, bool> {
        dark()
    }
    fn session_owner<'a>(&'a self, _: &'a str, _: Millis) -> Wait<'a, Option<String>> {
        dark()
    }
    fn session_end<'a>(&'a self, _: &'a str) -> Wait<'a, ()> {
        dark()
    }
    fn append<'a>(&'a self, _: &'a [Record]) -> Wait<'a, ()> {
        dark()
    }
    fn seal(&self, _: u32) -> Wait<'_, usize> {
        dark()
    }
    fn audit(&self, _: u64, _: u32) -> Wait<'_, Vec<Link>> {
        dark()
    }
    fn audit_head(&self) -> Wait<'_, Head> {
        dark()
    }
    fn keys<'a>(
        &'a self,
        candidate: &'a Key,
        now: Millis,
        rotate: Millis,
        drop: Millis,
    ) -> Wait<'a, Vec<Key>> {
        self.0.keys(candidate, now, rotate, drop)
    }
    fn prune(&self, _: Millis, _: Millis) -> Wait<'_, ()> {
        dark()
    }
}
