//! What every store must do, as a suite that runs on any [`Store`]. It is part of the library so that a store of somebody else's can
//! be held to it; a suite that a deliberately broken store passes would be worth nothing, so the tests run it on such ones too.

use std::sync::Arc;

use flowx_manifest::audit_chain;
use flowx_manifest::{DecidedBy, Finish};
use futures_util::future::join_all;
use uuid::Uuid;

use super::{Claim, Claiming, Page, Proposed, SharedStore, StoreError};
use crate::agents::{ReachOfRule, StandingRule};
use crate::audit::{Record, export};
use crate::gate::Key;
use crate::proposals::{Execution, Proposal, Requester, Shown, Status};

/// What the store got wrong: which requirement, and how it showed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The requirement, as a sentence.
    pub requirement: &'static str,
    /// What was seen.
    pub seen: String,
}

/// Runs the whole suite on a store that can be reached. Needs nothing to be there and leaves rows behind; ids are new in every run.
pub async fn run(store: &SharedStore) -> Vec<Violation> {
    let mut seen = Suite {
        store: Arc::clone(store),
        violations: Vec::new(),
    };
    let results = [
        seen.proposals().await,
        seen.limits().await,
        seen.races().await,
        seen.lists().await,
        seen.instances().await,
        seen.idempotency().await,
        seen.nonces().await,
        seen.rules().await,
        seen.sessions().await,
        seen.audit().await,
        seen.keys().await,
    ];
    for error in results.into_iter().filter_map(Result::err) {
        seen.check("a store that can be reached answers", false, error);
    }
    seen.violations
}

struct Suite {
    store: SharedStore,
    violations: Vec<Violation>,
}

type Checked = Result<(), StoreError>;

impl Suite {
    fn check(&mut self, requirement: &'static str, holds: bool, seen: impl std::fmt::Debug) {
        if !holds {
            self.violations.push(Violation {
                requirement,
                seen: format!("{seen:?}"),
            });
        }
    }

    async fn records_of(&self, mark: &str) -> Result<usize, StoreError> {
        let mut after = 0;
        let mut found = 0;
        loop {
            let (links, _) = export(&*self.store, after, 1000).await?;
            let Some(last) = links.last() else {
                return Ok(found);
            };
            after = last.seq;
            found += links.iter().filter(|l| l.record.contains(mark)).count();
        }
    }

    async fn proposals(&mut self) -> Checked {
        let store = Arc::clone(&self.store);
        store.ping().await?;
        let new = sample("caller", "call");
        let mark = new.id.clone();
        let record = [Record::new(1, "test", [("mark", mark.as_str().into())])];
        let missing = store.proposal(&new.id).await?;
        self.check(
            "a proposal that was never made is not there",
            missing.is_none(),
            missing,
        );
        let first = store.propose(&new, 10, &record).await?;
        self.check("a new proposal is taken", first == Proposed::New, &first);
        let kept = store.proposal(&new.id).await?;
        self.check(
            "what is read is what was written",
            kept.as_ref() == Some(&new),
            kept,
        );
        let again = Proposal {
            id: id(),
            ..new.clone()
        };
        let second = store.propose(&again, 10, &record).await?;
        let same = matches!(&second, Proposed::Open(open) if **open == new);
        self.check(
            "the same call by the same caller is one row while it is open",
            same,
            second,
        );
        let absent = store.proposal(&again.id).await?;
        self.check(
            "a proposal that was not taken is not there",
            absent.is_none(),
            absent,
        );

        let next = Proposal {
            status: Status::Approved,
            revision: 2,
            ..new.clone()
        };
        let stale = Proposal {
            status: Status::Rejected,
            revision: 9,
            ..new.clone()
        };
        let took = store.swap(7, &stale, &record).await?;
        self.check("a change under another revision does nothing", !took, took);
        let took = store.swap(1, &next, &record).await?;
        self.check("a change under the judged revision takes place", took, took);
        let took = store.swap(1, &stale, &record).await?;
        self.check("a revision is replaced once", !took, took);
        let kept = store.proposal(&new.id).await?;
        self.check(
            "the change is what is read next",
            kept.as_ref() == Some(&next),
            kept,
        );
        let nobody = Proposal {
            id: id(),
            revision: 2,
            ..new.clone()
        };
        let took = store.swap(1, &nobody, &record).await?;
        self.check("what is not there cannot be changed", !took, took);
        let records = self.records_of(&mark).await?;
        self.check(
            "records are written with their step, and not without it",
            records == 2,
            records,
        );

        let closed = Proposal {
            status: Status::Rejected,
            revision: 3,
            ..next.clone()
        };
        store.swap(2, &closed, &[]).await?;
        let reopened = store.propose(&again, 10, &[]).await?;
        self.check(
            "the same call may be asked again once its row is closed",
            reopened == Proposed::New,
            reopened,
        );
        let latest = store.latest(&new.call_key).await?;
        self.check(
            "the newest row of a call is found by the call",
            latest.as_ref() == Some(&again),
            latest,
        );
        // Made by an instance whose clock is behind: its id is lower than that of a row that is over.
        let mut ids = [id(), id()];
        ids.sort();
        let [low, high] = ids;
        let over = Proposal {
            id: high,
            ..sample("caller", "skewed")
        };
        store.propose(&over, 10, &[]).await?;
        let over = Proposal {
            status: Status::Rejected,
            revision: 2,
            ..over
        };
        store.swap(1, &over, &[]).await?;
        let open = Proposal {
            id: low,
            status: Status::Waiting,
            revision: 1,
            ..over
        };
        store.propose(&open, 10, &[]).await?;
        let latest = store.latest(&open.call_key).await?;
        self.check(
            "the open row of a call is found before any that is over, whatever their ids",
            latest.as_ref() == Some(&open),
            latest,
        );
        let other = store.latest("no such call").await?;
        self.check(
            "a call that was never made has no row",
            other.is_none(),
            other,
        );
        Ok(())
    }

    async fn limits(&mut self) -> Checked {
        let caller = id();
        let rows: Vec<_> = (0..8)
            .map(|i| sample(&caller, &format!("limit {i}")))
            .collect();
        let took = join_all(rows.iter().map(|row| self.store.propose(row, 3, &[]))).await;
        let took = took.into_iter().collect::<Result<Vec<_>, _>>()?;
        let new = took.iter().filter(|p| **p == Proposed::New).count();
        let refused = took.iter().filter(|p| **p == Proposed::TooMany).count();
        self.check(
            "a caller has no more waiting rows than it may, also at once",
            (new, refused) == (3, 5),
            took,
        );
        let other = sample(&id(), "limit of another");
        let took = self.store.propose(&other, 3, &[]).await?;
        self.check(
            "one caller's rows do not count against another",
            took == Proposed::New,
            took,
        );
        Ok(())
    }

    async fn races(&mut self) -> Checked {
        let one = sample(&id(), "race");
        let rows: Vec<_> = (0..8)
            .map(|_| Proposal {
                id: id(),
                ..one.clone()
            })
            .collect();
        let took = join_all(rows.iter().map(|row| self.store.propose(row, 100, &[]))).await;
        let took = took.into_iter().collect::<Result<Vec<_>, _>>()?;
        let new = took.iter().filter(|p| **p == Proposed::New).count();
        self.check(
            "of identical calls at once one makes the row",
            new == 1,
            took,
        );
        let Some(kept) = self.store.latest(&one.call_key).await? else {
            return Ok(());
        };
        let nexts: Vec<_> = (0..8)
            .map(|i| Proposal {
                revision: 2,
                correlation_id: format!("racer {i}"),
                status: Status::Approved,
                ..kept.clone()
            })
            .collect();
        let took = join_all(nexts.iter().map(|next| self.store.swap(1, next, &[]))).await;
        let took = took.into_iter().collect::<Result<Vec<_>, _>>()?;
        self.check(
            "of changes at once one takes place",
            took.iter().filter(|t| **t).count() == 1,
            took,
        );
        Ok(())
    }

    async fn lists(&mut self) -> Checked {
        let caller = id();
        let mut rows: Vec<_> = (0..5)
            .map(|i| sample(&caller, &format!("list {i}")))
            .collect();
        rows.sort_by(|a, b| a.id.cmp(&b.id));
        for row in &rows {
            self.store.propose(row, 100, &[]).await?;
        }
        let done = Proposal {
            status: Status::Rejected,
            revision: 2,
            ..rows[2].clone()
        };
        self.store.swap(1, &done, &[]).await?;
        // A page starts right before the first of this run, so that other rows do not matter.
        let before = &rows[0].id[..rows[0].id.len() - 1];
        let ours = |found: Vec<Proposal>| -> Vec<String> {
            found
                .into_iter()
                .filter(|p| p.requester.key == caller)
                .map(|p| p.id)
                .collect()
        };
        let ids = |which: &[usize]| {
            which
                .iter()
                .map(|i| rows[*i].id.clone())
                .collect::<Vec<_>>()
        };
        let waiting = Page {
            status: Some(Status::Waiting),
            after: Some(before),
            limit: 1000,
        };
        let found = ours(self.store.list(waiting).await?);
        self.check(
            "a list holds the rows of its status, in order",
            found == ids(&[0, 1, 3, 4]),
            found,
        );
        let found = ours(
            self.store
                .list(Page {
                    status: None,
                    after: Some(&rows[1].id),
                    limit: 1000,
                })
                .await?,
        );
        self.check(
            "a list goes on after a row",
            found == ids(&[2, 3, 4]),
            found,
        );
        let found = self
            .store
            .list(Page {
                status: None,
                after: None,
                limit: 2,
            })
            .await?;
        self.check(
            "a list holds no more rows than asked for",
            found.len() == 2,
            found.len(),
        );
        Ok(())
    }

    async fn instances(&mut self) -> Checked {
        let store = Arc::clone(&self.store);
        let (alive, gone) = (id(), id());
        let beat = store.heartbeat(&alive, 1_000, 5_000).await?;
        self.check("a first heartbeat is taken", beat, beat);
        let beat = store.heartbeat(&alive, 4_000, 9_000).await?;
        self.check("a heartbeat in time is taken", beat, beat);
        store.heartbeat(&gone, 1_000, 2_000).await?;
        let mut run = Vec::new();
        for owner in [&alive, &gone, &id()] {
            let new = sample(&id(), "instance");
            store.propose(&new, 10, &[]).await?;
            let execution = Execution {
                token: id(),
                owner: owner.clone(),
                idempotency_key: id(),
                at: 1_000,
                again: false,
            };
            let next = Proposal {
                status: Status::Executing,
                revision: 2,
                execution: Some(execution),
                ..new
            };
            store.swap(1, &next, &[]).await?;
            run.push(next.id);
        }
        let orphans: Vec<_> = store
            .orphans(5_000, 10_000)
            .await?
            .into_iter()
            .map(|p| p.id)
            .collect();
        self.check(
            "a run of a live instance is left alone",
            !orphans.contains(&run[0]),
            &orphans,
        );
        let both = orphans.contains(&run[1]) && orphans.contains(&run[2]);
        self.check(
            "a run of an instance that is gone, or was never there, is an orphan",
            both,
            &orphans,
        );
        let beat = store.heartbeat(&gone, 3_000, 9_000).await?;
        self.check(
            "an instance that was taken for dead does not come back under its name",
            !beat,
            beat,
        );
        Ok(())
    }

    async fn idempotency(&mut self) -> Checked {
        let store = Arc::clone(&self.store);
        let (scope, alive, gone) = (id(), id(), id());
        store.heartbeat(&alive, 1_000, 9_000).await?;
        store.heartbeat(&gone, 1_000, 2_000).await?;
        let claim = Claiming {
            scope: &scope,
            request: "r",
            owner: &alive,
            now: 3_000,
            take_over: false,
        };
        let fresh = store.idempotency_claim(claim).await?;
        self.check("an unused key is free", fresh == Claim::Fresh, &fresh);
        let running = store
            .idempotency_claim(Claiming {
                owner: "other",
                ..claim
            })
            .await?;
        self.check(
            "a claimed key is running",
            running == Claim::Running,
            &running,
        );
        let mismatch = store
            .idempotency_claim(Claiming {
                request: "other",
                ..claim
            })
            .await?;
        self.check(
            "a key is for one request",
            mismatch == Claim::Mismatch,
            &mismatch,
        );
        let took = store
            .idempotency_complete(&scope, "other", "no", 3_000)
            .await?;
        self.check("only the holder of a claim completes it", !took, took);
        let took = store
            .idempotency_complete(&scope, &alive, "body", 3_000)
            .await?;
        self.check("the holder of a claim completes it", took, took);
        let replay = store.idempotency_claim(claim).await?;
        self.check(
            "a completed key gives the first answer",
            replay == Claim::Replay("body".into()),
            &replay,
        );
        let took = store.idempotency_release(&scope, &alive).await?;
        self.check("a completed key cannot be given back", !took, took);

        let scope = id();
        let claim = Claiming {
            scope: &scope,
            ..claim
        };
        store.idempotency_claim(claim).await?;
        let took = store.idempotency_set_aside(&scope, "other", 3_000).await?;
        self.check("only the holder of a claim sets it aside", !took, took);
        let took = store.idempotency_set_aside(&scope, &alive, 3_000).await?;
        self.check("the holder of a claim sets it aside", took, took);
        let seen = store
            .idempotency_claim(Claiming {
                request: "another",
                ..claim
            })
            .await?;
        self.check(
            "a key that was set aside stays with its request",
            seen == Claim::Mismatch,
            &seen,
        );
        let seen = store.idempotency_claim(claim).await?;
        self.check(
            "the request of a key that was set aside claims it afresh",
            seen == Claim::Fresh,
            &seen,
        );
        let seen = store.idempotency_claim(claim).await?;
        self.check(
            "and then it is claimed as any other",
            seen == Claim::Running,
            &seen,
        );

        let scope = id();
        let dead = Claiming {
            scope: &scope,
            request: "r",
            owner: &gone,
            now: 1_500,
            take_over: false,
        };
        store.idempotency_claim(dead).await?;
        let later = Claiming {
            owner: &alive,
            now: 3_000,
            ..dead
        };
        let seen = store.idempotency_claim(later).await?;
        self.check(
            "what an instance that is gone began is interrupted",
            seen == Claim::Interrupted,
            &seen,
        );
        let seen = store
            .idempotency_claim(Claiming {
                take_over: true,
                ..later
            })
            .await?;
        self.check(
            "an interrupted key can be taken over",
            seen == Claim::Fresh,
            &seen,
        );
        let took = store
            .idempotency_complete(&scope, &gone, "late", 3_000)
            .await?;
        self.check("whoever lost a claim cannot complete it", !took, took);
        let took = store.idempotency_release(&scope, "other").await?;
        self.check("only the holder of a claim gives it back", !took, took);
        let took = store.idempotency_release(&scope, &alive).await?;
        self.check("a claim can be given back", took, took);
        let seen = store.idempotency_claim(later).await?;
        self.check(
            "a key that was given back is free",
            seen == Claim::Fresh,
            &seen,
        );

        // `later` is claimed and not ended; this one is ended.
        let ended = id();
        let answered = Claiming {
            scope: &ended,
            ..later
        };
        store.idempotency_claim(answered).await?;
        store
            .idempotency_complete(&ended, &alive, "body", 3_000)
            .await?;
        store.prune(0, 3_000).await?;
        let seen = store.idempotency_claim(answered).await?;
        self.check(
            "a young answer is kept",
            seen == Claim::Replay("body".into()),
            &seen,
        );
        store.prune(0, 3_001).await?;
        let seen = store.idempotency_claim(answered).await?;
        self.check("an old answer is forgotten", seen == Claim::Fresh, &seen);
        let seen = store.idempotency_claim(later).await?;
        self.check(
            "what has no answer yet is never forgotten",
            seen == Claim::Running,
            &seen,
        );

        let scope = id();
        let claim = Claiming {
            scope: &scope,
            ..claim
        };
        let took = join_all((0..8).map(|_| store.idempotency_claim(claim))).await;
        let took = took.into_iter().collect::<Result<Vec<_>, _>>()?;
        let fresh = took.iter().filter(|c| **c == Claim::Fresh).count();
        self.check("of claims at once one is free", fresh == 1, took);
        Ok(())
    }

    async fn nonces(&mut self) -> Checked {
        let store = Arc::clone(&self.store);
        let nonce = id();
        let record = [Record::new(1, "test", [("mark", nonce.as_str().into())])];
        let took = store.nonce_consume(&nonce, 1_000, 1_000, &record).await?;
        self.check("a nonce whose time is over is not taken", !took, took);
        let took =
            join_all((0..8).map(|_| store.nonce_consume(&nonce, 2_000, 1_000, &record))).await;
        let took = took.into_iter().collect::<Result<Vec<_>, _>>()?;
        self.check(
            "a nonce is spent once",
            took.iter().filter(|t| **t).count() == 1,
            took,
        );
        let records = self.records_of(&nonce).await?;
        self.check(
            "a nonce's record is written once, with it",
            records == 1,
            records,
        );
        store.prune(1_500, 0).await?;
        let took = store.nonce_consume(&nonce, 2_000, 1_600, &[]).await?;
        self.check(
            "a spent nonce is remembered until its time is over",
            !took,
            took,
        );
        Ok(())
    }

    async fn rules(&mut self) -> Checked {
        let store = Arc::clone(&self.store);
        let agent = id();
        let rule = StandingRule {
            id: id(),
            agent: agent.clone(),
            agent_declaration: "d".into(),
            flow: "a.b@1.0.0".into(),
            skill: None,
            tenant: None,
            reach: ReachOfRule::Everybody,
            input_digest: None,
            said_by: "p".into(),
            said_at: 1,
            used: 0,
            last_used: None,
        };
        let record = [Record::new(1, "test", [("mark", agent.as_str().into())])];
        store.rule_add(&rule, &record).await?;
        let used = store.rule_use(&rule.id, 5).await? && store.rule_use(&rule.id, 6).await?;
        self.check("a standing rule can be used", used, used);
        let rules = store.rules(Some(&agent)).await?;
        let counted = StandingRule {
            used: 2,
            last_used: Some(6),
            ..rule.clone()
        };
        self.check(
            "a rule is found by its agent, with its uses counted",
            rules == [counted],
            &rules,
        );
        let others = store.rules(Some(&id())).await?;
        self.check("a rule is for one agent", others.is_empty(), others);
        let all = store.rules(None).await?;
        self.check(
            "every rule can be listed",
            all.iter().any(|r| r.id == rule.id),
            all.len(),
        );
        let took = store.rule_revoke(&rule.id, 7, &record).await?;
        self.check("a rule can be taken back", took, took);
        let took = store.rule_revoke(&rule.id, 8, &record).await?;
        self.check("a rule is taken back once", !took, took);
        let records = self.records_of(&agent).await?;
        self.check(
            "a rule's records are written with its steps, and not without",
            records == 2,
            records,
        );
        let used = store.rule_use(&rule.id, 9).await?;
        self.check("a rule that was taken back cannot be used", !used, used);
        let rules = store.rules(Some(&agent)).await?;
        self.check(
            "a rule that was taken back is not listed",
            rules.is_empty(),
            rules,
        );
        Ok(())
    }

    async fn sessions(&mut self) -> Checked {
        let store = Arc::clone(&self.store);
        let session = id();
        let took = store.session_bind(&session, "a", 2_000, 1_000).await?;
        self.check("a new session is bound", took, took);
        let took = store.session_bind(&session, "a", 3_000, 1_500).await?;
        self.check("its own principal can prolong a session", took, took);
        let took = store.session_bind(&session, "b", 9_000, 1_500).await?;
        self.check("a session is bound to one principal", !took, took);
        let owner = store.session_owner(&session, 2_500).await?;
        self.check(
            "a session knows its principal",
            owner.as_deref() == Some("a"),
            owner,
        );
        let owner = store.session_owner(&session, 3_000).await?;
        self.check("a session ends at its time", owner.is_none(), owner);
        let other = id();
        store.session_bind(&other, "a", 3_000, 1_500).await?;
        store.session_end(&session).await?;
        let owner = store.session_owner(&other, 2_500).await?;
        self.check("one session's end is no other's", owner.is_some(), owner);
        let owner = store.session_owner(&session, 2_500).await?;
        self.check("an ended session has no principal", owner.is_none(), owner);
        Ok(())
    }

    async fn keys(&mut self) -> Checked {
        let key = |byte: u8| Key {
            id: id(),
            secret: [byte; 32],
        };
        let (first, second, third) = (key(1), key(2), key(3));
        // In thousandths of milliseconds, so that it is later than whatever an earlier run left behind.
        let millis = Uuid::now_v7().get_timestamp().map_or(0, |t| {
            let (seconds, nanos) = t.to_unix();
            seconds * 1_000 + u64::from(nanos) / 1_000_000
        });
        let now = i64::try_from(millis).unwrap_or(0) * 1_000;
        let keys = self.store.keys(&first, now, now - 1_000, 0).await?;
        self.check(
            "without a young key the candidate is added, first",
            keys.first() == Some(&first),
            &keys,
        );
        let keys = self.store.keys(&second, now + 500, now - 500, 0).await?;
        let kept = keys.first() == Some(&first) && !keys.contains(&second);
        self.check("a young key is kept on using", kept, &keys);
        let keys = self
            .store
            .keys(&third, now + 5_000, now + 4_000, now - 1)
            .await?;
        self.check(
            "keys are rotated, and older ones stay for a while",
            keys == [third.clone(), first],
            &keys,
        );
        let sealed = Proposal {
            input: Some(format!("s1.{}.AAAA", third.id)),
            ..sample("sealed", "call")
        };
        self.store.propose(&sealed, 10, &[]).await?;
        let (fourth, long_after) = (key(4), now + 9_000);
        let keys = self
            .store
            .keys(&fourth, long_after, long_after, long_after)
            .await?;
        self.check(
            "a key that an open proposal's input is sealed under is not forgotten",
            keys == [fourth.clone(), third.clone()],
            &keys,
        );
        let over = Proposal {
            status: Status::Rejected,
            revision: 2,
            input: None,
            ..sealed
        };
        self.store.swap(1, &over, &[]).await?;
        let keys = self
            .store
            .keys(&second, long_after + 1_000, now + 4_000, long_after + 900)
            .await?;
        self.check(
            "old keys are forgotten, the newest never",
            keys == [fourth],
            &keys,
        );
        Ok(())
    }

    async fn audit(&mut self) -> Checked {
        let store = Arc::clone(&self.store);
        let mark = id();
        let record =
            |i: i64| Record::new(i, "test", [("mark", mark.as_str().into()), ("n", i.into())]);
        let (_, before) = export(&*store, 0, 0).await?;
        for i in 0..20 {
            store.append(&[record(i)]).await?;
        }
        // Sealing at once from several sides neither repeats nor loses a record.
        let sealed = join_all((0..4).map(|_| store.seal(7))).await;
        sealed.into_iter().collect::<Result<Vec<_>, _>>()?;
        let (links, head) = export(&*store, before.seq, 10_000).await?;
        let ours: Vec<_> = links
            .iter()
            .filter(|l| l.record.contains(&mark))
            .map(|l| l.at)
            .collect();
        self.check(
            "every record is in the chain once, in the order of writing",
            ours == (0..20).collect::<Vec<_>>(),
            ours,
        );
        let mut verifier = audit_chain::Verifier::new(before, Some(head.clone()));
        let whole = links.iter().try_for_each(|l| verifier.next(l));
        let end = whole.and_then(|()| verifier.finish());
        self.check(
            "the chain is whole up to its head",
            end.as_ref() == Ok(&head),
            end,
        );
        Ok(())
    }
}

fn id() -> String {
    Uuid::now_v7().to_string()
}

/// A waiting proposal of that caller and call.
fn sample(caller: &str, call: &str) -> Proposal {
    Proposal {
        id: id(),
        call_key: format!("{caller} {call} {}", id()),
        fingerprint: "f".into(),
        status: Status::Waiting,
        revision: 1,
        flow: "ticket.refund@1.0.0".into(),
        descriptor: "d".into(),
        agent_declaration: None,
        input: Some("{\"text\":\"ü \\u0000 \u{202e}\"}".into()),
        input_digest: "i".into(),
        subject_version: None,
        requester: Requester {
            key: caller.into(),
            kind: "agent".into(),
            subject: "bot".into(),
            issuer: String::new(),
            tenant: None,
            permissions: Default::default(),
            agent: None,
            skill: None,
            on_behalf_of: None,
        },
        correlation_id: id(),
        shown: Shown {
            title: "t".into(),
            asked_by: "bot".into(),
            effects: vec![],
            permissions: vec![],
            fields: vec![],
            withheld: vec![],
        },
        decided_by: DecidedBy::Requester,
        sponsor: None,
        self_approval: false,
        finish: Finish::Run,
        asked_at: 1_000,
        decide_before: None,
        grant_ms: None,
        decision: None,
        execution: None,
        outcome: None,
        settled_at: 1_000,
        told: false,
    }
}
