//! A store in memory, for tests: one process, nothing survives it.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use flowx_manifest::audit_chain::{Head, Link};

use super::{Claim, Claiming, Millis, Page, Proposed, SET_ASIDE, Store, StoreError, Wait};
use crate::agents::StandingRule;
use crate::audit::Record;
use crate::gate::Key;
use crate::proposals::{Proposal, Status};

/// A store in memory. For tests: it belongs to one process and is lost with it, so a program that approves anything with it forgets
/// what it did.
#[derive(Debug, Default)]
pub struct MemoryStore(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    proposals: BTreeMap<String, Proposal>,
    instances: HashMap<String, Millis>,
    idempotency: HashMap<String, Kept>,
    nonces: HashMap<String, Millis>,
    rules: BTreeMap<String, (StandingRule, bool)>,
    sessions: HashMap<String, (String, Millis)>,
    inbox: VecDeque<Record>,
    chain: Vec<Link>,
    keys: Vec<(Millis, Key)>,
}

#[derive(Debug)]
struct Kept {
    request: String,
    owner: String,
    at: Millis,
    body: Option<String>,
}

impl MemoryStore {
    /// An empty one.
    pub fn for_tests() -> MemoryStore {
        MemoryStore::default()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing in here panics halfway through a change.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn now<T: Send + 'static>(&self, step: impl FnOnce(&mut State) -> T) -> Wait<'_, T> {
        let value = step(&mut self.state());
        Box::pin(std::future::ready(Ok::<T, StoreError>(value)))
    }
}

impl State {
    fn alive(&self, owner: &str, now: Millis) -> bool {
        self.instances.get(owner).is_some_and(|until| *until > now)
    }

    fn head(&self) -> Head {
        self.chain.last().map(Link::head).unwrap_or_default()
    }
}

impl Store for MemoryStore {
    fn kind(&self) -> &'static str {
        "memory"
    }

    fn ping(&self) -> Wait<'_, ()> {
        self.now(|_| ())
    }

    fn propose<'a>(
        &'a self,
        new: &'a Proposal,
        max_waiting: u32,
        records: &'a [Record],
    ) -> Wait<'a, Proposed> {
        self.now(|state| {
            if let Some(open) = state
                .proposals
                .values()
                .find(|p| p.call_key == new.call_key && p.status.is_open())
            {
                return Proposed::Open(Box::new(open.clone()));
            }
            let waiting = state.proposals.values().filter(|p| {
                p.requester.key == new.requester.key
                    && p.status == Status::Waiting
                    && p.decide_before.is_none_or(|until| until > new.asked_at)
            });
            if waiting.count() >= max_waiting as usize {
                return Proposed::TooMany;
            }
            state.proposals.insert(new.id.clone(), new.clone());
            state.inbox.extend(records.iter().cloned());
            Proposed::New
        })
    }

    fn swap<'a>(
        &'a self,
        expected: i64,
        next: &'a Proposal,
        records: &'a [Record],
    ) -> Wait<'a, bool> {
        self.now(|state| match state.proposals.get_mut(&next.id) {
            Some(at) if at.revision == expected => {
                *at = next.clone();
                state.inbox.extend(records.iter().cloned());
                true
            }
            _ => false,
        })
    }

    fn proposal<'a>(&'a self, id: &'a str) -> Wait<'a, Option<Proposal>> {
        self.now(|state| state.proposals.get(id).cloned())
    }

    fn latest<'a>(&'a self, call_key: &'a str) -> Wait<'a, Option<Proposal>> {
        self.now(|state| {
            let mut of_call = state
                .proposals
                .values()
                .rev()
                .filter(|p| p.call_key == call_key);
            let newest = of_call.clone().next();
            of_call.find(|p| p.status.is_open()).or(newest).cloned()
        })
    }

    fn list<'a>(&'a self, page: Page<'a>) -> Wait<'a, Vec<Proposal>> {
        self.now(|state| {
            let wanted = |p: &&Proposal| {
                page.status.is_none_or(|s| p.status == s)
                    && page.after.is_none_or(|after| p.id.as_str() > after)
            };
            state
                .proposals
                .values()
                .filter(wanted)
                .take(page.limit as usize)
                .cloned()
                .collect()
        })
    }

    fn orphans(&self, now: Millis, limit: u32) -> Wait<'_, Vec<Proposal>> {
        self.now(|state| {
            let orphaned = |p: &&Proposal| {
                p.status == Status::Executing
                    && !p
                        .execution
                        .as_ref()
                        .is_some_and(|run| state.alive(&run.owner, now))
            };
            state
                .proposals
                .values()
                .filter(orphaned)
                .take(limit as usize)
                .cloned()
                .collect()
        })
    }

    fn heartbeat<'a>(&'a self, owner: &'a str, now: Millis, until: Millis) -> Wait<'a, bool> {
        self.now(|state| {
            if state.instances.contains_key(owner) && !state.alive(owner, now) {
                return false;
            }
            state.instances.insert(owner.to_owned(), until);
            true
        })
    }

    fn idempotency_claim<'a>(&'a self, claim: Claiming<'a>) -> Wait<'a, Claim> {
        self.now(|state| {
            let taken =
                |kept: &Kept| kept.owner == claim.owner || state.alive(&kept.owner, claim.now);
            let answer = match state.idempotency.get(claim.scope) {
                None => Claim::Fresh,
                Some(kept) if kept.request != claim.request => Claim::Mismatch,
                Some(Kept {
                    body: Some(body), ..
                }) if body == SET_ASIDE => Claim::Fresh,
                Some(Kept {
                    body: Some(body), ..
                }) => Claim::Replay(body.clone()),
                Some(kept) if taken(kept) => Claim::Running,
                Some(_) if claim.take_over => Claim::Fresh,
                Some(_) => Claim::Interrupted,
            };
            if answer == Claim::Fresh {
                let kept = Kept {
                    request: claim.request.to_owned(),
                    owner: claim.owner.to_owned(),
                    at: claim.now,
                    body: None,
                };
                state.idempotency.insert(claim.scope.to_owned(), kept);
            }
            answer
        })
    }

    fn idempotency_complete<'a>(
        &'a self,
        scope: &'a str,
        owner: &'a str,
        body: &'a str,
        now: Millis,
    ) -> Wait<'a, bool> {
        self.now(|state| match state.idempotency.get_mut(scope) {
            Some(kept) if kept.owner == owner && kept.body.is_none() => {
                kept.body = Some(body.to_owned());
                kept.at = now;
                true
            }
            _ => false,
        })
    }

    fn idempotency_release<'a>(&'a self, scope: &'a str, owner: &'a str) -> Wait<'a, bool> {
        self.now(|state| match state.idempotency.get(scope) {
            Some(kept) if kept.owner == owner && kept.body.is_none() => {
                state.idempotency.remove(scope).is_some()
            }
            _ => false,
        })
    }

    fn nonce_consume<'a>(
        &'a self,
        nonce: &'a str,
        expires: Millis,
        now: Millis,
        records: &'a [Record],
    ) -> Wait<'a, bool> {
        self.now(|state| {
            if expires <= now || state.nonces.contains_key(nonce) {
                return false;
            }
            state.nonces.insert(nonce.to_owned(), expires);
            state.inbox.extend(records.iter().cloned());
            true
        })
    }

    fn rule_add<'a>(&'a self, rule: &'a StandingRule, records: &'a [Record]) -> Wait<'a, ()> {
        self.now(|state| {
            state.rules.insert(rule.id.clone(), (rule.clone(), false));
            state.inbox.extend(records.iter().cloned());
        })
    }

    fn rules<'a>(&'a self, agent: Option<&'a str>) -> Wait<'a, Vec<StandingRule>> {
        self.now(|state| {
            let standing = state
                .rules
                .values()
                .filter(|(rule, revoked)| !revoked && agent.is_none_or(|a| rule.agent == a));
            standing.map(|(rule, _)| rule.clone()).collect()
        })
    }

    fn rule_use<'a>(&'a self, id: &'a str, now: Millis) -> Wait<'a, bool> {
        self.now(|state| match state.rules.get_mut(id) {
            Some((rule, false)) => {
                rule.used += 1;
                rule.last_used = Some(now);
                true
            }
            _ => false,
        })
    }

    fn rule_revoke<'a>(&'a self, id: &'a str, _: Millis, records: &'a [Record]) -> Wait<'a, bool> {
        self.now(|state| match state.rules.get_mut(id) {
            Some((_, revoked)) if !*revoked => {
                *revoked = true;
                state.inbox.extend(records.iter().cloned());
                true
            }
            _ => false,
        })
    }

    fn session_bind<'a>(
        &'a self,
        id: &'a str,
        principal: &'a str,
        expires: Millis,
        now: Millis,
    ) -> Wait<'a, bool> {
        self.now(|state| match state.sessions.get(id) {
            Some((owner, until)) if owner != principal && *until > now => false,
            _ => {
                state
                    .sessions
                    .insert(id.to_owned(), (principal.to_owned(), expires));
                true
            }
        })
    }

    fn session_owner<'a>(&'a self, id: &'a str, now: Millis) -> Wait<'a, Option<String>> {
        self.now(|state| {
            state
                .sessions
                .get(id)
                .filter(|(_, until)| *until > now)
                .map(|(owner, _)| owner.clone())
        })
    }

    fn session_end<'a>(&'a self, id: &'a str) -> Wait<'a, ()> {
        self.now(|state| {
            state.sessions.remove(id);
        })
    }

    fn append<'a>(&'a self, records: &'a [Record]) -> Wait<'a, ()> {
        self.now(|state| state.inbox.extend(records.iter().cloned()))
    }

    fn seal(&self, limit: u32) -> Wait<'_, usize> {
        self.now(|state| {
            let count = state.inbox.len().min(limit as usize);
            for _ in 0..count {
                if let Some(record) = state.inbox.pop_front() {
                    let link = state.head().link(record.at, record.body);
                    state.chain.push(link);
                }
            }
            count
        })
    }

    fn audit(&self, after: u64, limit: u32) -> Wait<'_, Vec<Link>> {
        self.now(|state| {
            state
                .chain
                .iter()
                .filter(|l| l.seq > after)
                .take(limit as usize)
                .cloned()
                .collect()
        })
    }

    fn audit_head(&self) -> Wait<'_, Head> {
        self.now(|state| state.head())
    }

    fn keys<'a>(
        &'a self,
        candidate: &'a Key,
        now: Millis,
        rotate_before: Millis,
        drop_before: Millis,
    ) -> Wait<'a, Vec<Key>> {
        self.now(|state| {
            if state.keys.first().is_none_or(|(at, _)| *at < rotate_before) {
                state.keys.insert(0, (now, candidate.clone()));
            }
            let mut at = 0;
            let open: Vec<String> = state
                .proposals
                .values()
                .filter(|p| p.status.is_open())
                .filter_map(|p| p.input.clone())
                .collect();
            state.keys.retain(|(made, key)| {
                at += 1;
                let needed = format!("s1.{}.", key.id);
                at == 1 || *made >= drop_before || open.iter().any(|i| i.starts_with(&needed))
            });
            state.keys.iter().map(|(_, key)| key.clone()).collect()
        })
    }

    fn prune(&self, now: Millis, keep_since: Millis) -> Wait<'_, ()> {
        self.now(|state| {
            state.nonces.retain(|_, expires| *expires > now);
            state.sessions.retain(|_, (_, expires)| *expires > now);
            state
                .idempotency
                .retain(|_, kept| kept.body.is_none() || kept.at >= keep_since);
        })
    }
}
