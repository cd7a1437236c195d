//! Every interleaving of a proposal's life, small but whole: an approver and a rejecter, two redeemers, an instance that dies, the one that
//! clears up after it, a clock that runs out and a world that changes. The real step function, the real revision rule; the
//! invariants hold in every reachable state, and with any one guard taken out some state breaks them.
#![allow(clippy::unwrap_used)]

use std::collections::{HashMap, HashSet, VecDeque};

use flowx_manifest::{DecidedBy, Finish};
use flowx_runtime::proposals::{
    Execution, Outcome, Proposal, Requester, Shown, Status, Step, shown_fingerprint, step,
};
use flowx_runtime::{Principal, PrincipalKind};

/// A guard that can be taken out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Without {
    /// All guards stand.
    Nothing,
    /// A row is replaced whatever its revision.
    Revision,
    /// Nobody looks at the time.
    Time,
    /// Nobody compares what was approved with what would run.
    Fingerprint,
    /// A yes can be used while it is being used.
    SingleUse,
    /// The effect comes before it is written that it begins.
    ExecutingFirst,
    /// A run that was interrupted counts as approved still.
    Unknown,
    /// Whoever asked may say yes.
    Decider,
    /// Another caller may use the yes.
    Caller,
    /// A run reports under any token.
    Token,
}

const DECIDE_BEFORE: i64 = 1;
const GRANT: i64 = 2;
const LATEST: i64 = 2;

/// Somebody with a program of a few steps.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Actor {
    role: Role,
    at: u8,
    /// What it read.
    read: RowId,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Role {
    /// Says yes, once.
    Approver,
    /// Says no, once.
    Rejecter,
    /// The asker says yes to themselves.
    Asker,
    /// Uses the yes and runs, then reports. The number is its token's.
    Runner(u8),
    /// Another caller tries to.
    Thief,
    /// Takes the dead for dead.
    Sweeper,
}

/// What became of an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Instance {
    /// It lives.
    Lives,
    /// It is gone, and what it ran with it.
    Dead,
    /// It was silent for so long that it counts as gone, and goes on.
    Silent,
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct World {
    row: RowId,
    now: i64,
    changed: bool,
    /// What became of the first runner's instance.
    first: Instance,
    actors: Vec<Actor>,
    effects: u8,
    yeses: u8,
    /// Whether a row ever told that something ran.
    told: bool,
    /// What was broken on the way here.
    broken: Option<String>,
}

/// A version of the row. Equal versions are one, so that worlds are small and equal worlds are equal.
type RowId = usize;

/// Every version of the row that any world has had.
#[derive(Default)]
struct Rows {
    all: Vec<Proposal>,
    ids: HashMap<String, RowId>,
    /// What a step on a version comes to; the step function is pure, so it is asked once.
    judged: HashMap<Question, Option<RowId>>,
}

/// A version, who acts, the time, whether the world changed, and whether the run reports.
type Question = (RowId, Role, i64, bool, bool);

impl Rows {
    fn id(&mut self, mut row: Proposal) -> RowId {
        // When something happened matters to no guard; until when it may does.
        row.settled_at = 0;
        if let Some(decision) = &mut row.decision {
            decision.at = 0;
        }
        let text = serde_json::to_string(&row).unwrap();
        let next = self.all.len();
        let id = *self.ids.entry(text).or_insert(next);
        if id == next {
            self.all.push(row);
        }
        id
    }
}

fn person(subject: &str) -> Principal {
    Principal {
        kind: PrincipalKind::Person,
        subject: subject.into(),
        permissions: ["flowx.proposals.decide".parse().unwrap()].into(),
        ..Principal::anonymous()
    }
}

fn start() -> Proposal {
    let asker = person("asker");
    Proposal {
        id: "p".into(),
        call_key: "k".into(),
        fingerprint: "then".into(),
        status: Status::Waiting,
        revision: 1,
        flow: "f".into(),
        descriptor: "d".into(),
        agent_declaration: None,
        input: Some("{}".into()),
        input_digest: "i".into(),
        subject_version: None,
        requester: Requester::of(&asker, None),
        correlation_id: "c".into(),
        shown: Shown {
            title: "t".into(),
            asked_by: "a".into(),
            effects: vec![],
            permissions: vec![],
            fields: vec![],
            withheld: vec![],
        },
        decided_by: DecidedBy::Queue("nobody".into()),
        sponsor: None,
        self_approval: false,
        finish: Finish::Redeem,
        asked_at: 0,
        decide_before: Some(DECIDE_BEFORE),
        grant_ms: Some(GRANT),
        decision: None,
        execution: None,
        outcome: None,
        settled_at: 0,
        told: false,
    }
}

fn run_of(runner: u8) -> Execution {
    Execution {
        token: format!("t{runner}"),
        owner: format!("o{runner}"),
        idempotency_key: "p".into(),
        at: 0,
        again: false,
    }
}

/// Judges a step on what an actor read, with a guard taken out by making it see what it wants to see.
fn judge(seen: &Proposal, role: Role, world: &World, without: Without) -> Option<Proposal> {
    let mut seen = seen.clone();
    let revision = seen.revision;
    let current = if world.changed && without != Without::Fingerprint {
        "now"
    } else {
        "then"
    };
    if without == Without::Time {
        seen.decide_before = None;
        if let Some(decision) = &mut seen.decision {
            decision.use_before = None;
        }
    }
    let takes_it_for_approved = (without == Without::SingleUse && seen.status == Status::Executing)
        || (without == Without::Unknown && seen.status == Status::Unknown);
    if takes_it_for_approved && matches!(role, Role::Runner(_)) {
        seen.status = Status::Approved;
    }
    let shown = shown_fingerprint(&seen);
    let (approver, asker) = (person("approver"), person("asker"));
    let key = seen.requester.key.clone();
    let wanted = match role {
        Role::Approver => Step::Approve {
            by: &approver,
            shown: &shown,
            current,
            run: None,
        },
        Role::Asker => {
            seen.self_approval = without == Without::Decider;
            Step::Approve {
                by: &asker,
                shown: &shown,
                current,
                run: None,
            }
        }
        Role::Rejecter => Step::Reject {
            by: &approver,
            reason: "no",
        },
        Role::Runner(n) => Step::Redeem {
            by: &key,
            current,
            run: run_of(n),
        },
        Role::Thief if without == Without::Caller => Step::Redeem {
            by: &key,
            current,
            run: run_of(9),
        },
        Role::Thief => Step::Redeem {
            by: "thief",
            current,
            run: run_of(9),
        },
        Role::Sweeper => Step::Orphan,
    };
    let mut next = step(&seen, wanted, world.now).next?;
    (next.revision, next.self_approval) = (revision + 1, false);
    Some(next)
}

impl Rows {
    fn judged(
        &mut self,
        read: RowId,
        role: Role,
        world: &World,
        without: Without,
    ) -> Option<RowId> {
        let question = (read, role, world.now, world.changed, false);
        if let Some(known) = self.judged.get(&question) {
            return *known;
        }
        let next = judge(&self.all[read], role, world, without).map(|next| self.id(next));
        self.judged.insert(question, next);
        next
    }

    fn reported(&mut self, read: RowId, n: u8, world: &World, without: Without) -> Option<RowId> {
        let question = (read, Role::Runner(n), world.now, world.changed, true);
        if let Some(known) = self.judged.get(&question) {
            return *known;
        }
        let seen = &self.all[read];
        let token = match (&seen.execution, without) {
            (Some(run), Without::Token) => run.token.clone(),
            _ => format!("t{n}"),
        };
        let outcome = Outcome::Done {
            at: 0,
            output: format!("t{n}"),
        };
        let next = step(
            seen,
            Step::Finish {
                token: &token,
                outcome,
            },
            world.now,
        )
        .next
        .map(|next| self.id(next));
        self.judged.insert(question, next);
        next
    }
}

impl World {
    fn new(rows: &mut Rows, roles: &[Role]) -> World {
        let row = rows.id(start());
        World {
            row,
            now: 0,
            changed: false,
            first: Instance::Lives,
            actors: roles
                .iter()
                .map(|role| Actor {
                    role: *role,
                    at: 0,
                    read: row,
                })
                .collect(),
            effects: 0,
            yeses: 0,
            told: false,
            broken: None,
        }
    }

    fn breaks(&mut self, what: String) {
        self.broken.get_or_insert(what);
    }

    /// The store's rule: the row is replaced if it still has the revision that was judged. What must hold of every change is held here.
    fn swap(&mut self, rows: &Rows, read: RowId, to: RowId, role: Role, without: Without) -> bool {
        let (judged, now, next) = (&rows.all[read], &rows.all[self.row], &rows.all[to]);
        if without != Without::Revision && now.revision != judged.revision {
            return false;
        }
        let until = match judged.status {
            Status::Waiting => judged.decide_before,
            Status::Approved => judged.decision.as_ref().and_then(|d| d.use_before),
            _ => None,
        };
        let goes_on = matches!(next.status, Status::Approved | Status::Executing);
        if goes_on && until.is_some_and(|until| self.now >= until) {
            self.breaks(format!(
                "{} became {} too late",
                now.status.as_str(),
                next.status.as_str()
            ));
        }
        if next.status == Status::Approved {
            self.yeses += 1;
            if role == Role::Asker {
                self.breaks("the asker said yes".into());
            }
        }
        let allowed: &[Status] = match now.status {
            Status::Waiting => &[
                Status::Approved,
                Status::Rejected,
                Status::Stale,
                Status::Expired,
            ],
            Status::Approved => &[
                Status::Executing,
                Status::Rejected,
                Status::Stale,
                Status::Expired,
            ],
            Status::Executing => &[Status::Done, Status::Failed, Status::Unknown],
            Status::Unknown => &[
                Status::Done,
                Status::Failed,
                Status::Approved,
                Status::Rejected,
            ],
            _ => &[],
        };
        if !allowed.contains(&next.status) {
            self.breaks(format!(
                "{} became {}",
                now.status.as_str(),
                next.status.as_str()
            ));
        }
        if let (Some(Outcome::Done { output, .. }), Some(run)) = (&next.outcome, &next.execution)
            && *output != run.token
        {
            self.breaks(format!("{output} reported for {}", run.token));
        }
        self.told |= !matches!(next.status, Status::Waiting | Status::Approved);
        self.row = to;
        true
    }

    /// Every state that one step leads to.
    fn steps(&self, rows: &mut Rows, without: Without) -> Vec<World> {
        let mut out = Vec::new();
        if self.now < LATEST {
            out.push(World {
                now: self.now + 1,
                ..self.clone()
            });
        }
        if !self.changed {
            out.push(World {
                changed: true,
                ..self.clone()
            });
        }
        if self.first == Instance::Lives {
            out.push(World {
                first: Instance::Dead,
                ..self.clone()
            });
            out.push(World {
                first: Instance::Silent,
                ..self.clone()
            });
        }
        for (index, actor) in self.actors.iter().enumerate() {
            let gone = actor.role == Role::Runner(1) && self.first == Instance::Dead;
            if !gone {
                out.extend(self.act(rows, index, actor, without));
            }
        }
        out
    }

    fn act(&self, rows: &mut Rows, index: usize, actor: &Actor, without: Without) -> Option<World> {
        let mut next = self.clone();
        next.actors[index].at += 1;
        match (actor.role, actor.at) {
            // Reads.
            (_, 0) => next.actors[index].read = self.row,
            // Judges what it read and writes, in one step of the store; a run that has begun has its effect.
            (role, 1) => {
                if role == Role::Sweeper {
                    // Only the dead are orphaned; it looks again as long as there is nothing to do.
                    let owner = rows.all[actor.read]
                        .execution
                        .as_ref()
                        .map(|r| r.owner.as_str());
                    if self.first == Instance::Lives || owner != Some("o1") {
                        return None;
                    }
                }
                let judged = rows.judged(actor.read, role, self, without);
                let begins = judged.is_some_and(|j| rows.all[j].status == Status::Executing);
                let swapped = judged.is_some_and(|j| next.swap(rows, actor.read, j, role, without));
                let runs = matches!(role, Role::Runner(_) | Role::Thief);
                if runs && begins && (swapped || without == Without::ExecutingFirst) {
                    next.effects += 1;
                    if self.changed {
                        next.breaks("what had changed ran".into());
                    }
                    if role == Role::Thief {
                        next.breaks("another caller's yes was used".into());
                    }
                }
                if !(runs && begins && swapped) {
                    next.actors[index].at = 9;
                }
            }
            // Reads, and reports; reads again when somebody was faster, as the gate does.
            (Role::Runner(_), 2) => next.actors[index].read = self.row,
            (Role::Runner(n), 3) => {
                if let Some(done) = rows.reported(actor.read, n, self, without)
                    && !next.swap(rows, actor.read, done, actor.role, without)
                {
                    next.actors[index].at = 2;
                }
            }
            _ => return None,
        }
        if next.actors[index].at == 9 {
            // What somebody who is done once read is of no interest any more.
            next.actors[index].read = 0;
        }
        if next.effects > next.yeses {
            let (effects, yeses) = (next.effects, next.yeses);
            next.breaks(format!("{effects} effects of {yeses} yeses"));
        }
        // Nothing is lost: an effect shows in the row.
        if next.effects > 0 && !next.told {
            next.breaks("an effect that no row ever told of".into());
        }
        Some(next)
    }
}

/// Who takes part, in games small enough to be looked at whole.
const GAMES: &[&[Role]] = &[
    &[
        Role::Approver,
        Role::Rejecter,
        Role::Runner(1),
        Role::Runner(2),
    ],
    &[
        Role::Approver,
        Role::Approver,
        Role::Runner(1),
        Role::Runner(2),
        Role::Sweeper,
    ],
    &[Role::Approver, Role::Asker, Role::Thief, Role::Runner(1)],
    &[
        Role::Approver,
        Role::Rejecter,
        Role::Rejecter,
        Role::Runner(1),
        Role::Sweeper,
    ],
];

/// Looks at every reachable state of every game; gives how many there are, and the first thing that is broken.
fn explore(without: Without) -> (usize, Option<String>) {
    let mut states = 0;
    for roles in GAMES {
        let mut rows = Rows::default();
        let first = World::new(&mut rows, roles);
        let mut seen = HashSet::from([first.clone()]);
        let mut todo = VecDeque::from([first]);
        while let Some(world) = todo.pop_front() {
            states += 1;
            if world.broken.is_some() {
                return (states, world.broken);
            }
            for next in world.steps(&mut rows, without) {
                if seen.insert(next.clone()) {
                    todo.push_back(next);
                }
            }
        }
    }
    (states, None)
}

#[test]
fn in_every_interleaving_the_invariants_hold() {
    let (states, broken) = explore(Without::Nothing);
    println!("{states} states");
    assert_eq!(broken, None);
    assert!(
        states > 10_000,
        "the model has become too small to mean anything: {states}"
    );
}

#[test]
fn with_any_one_guard_taken_out_some_interleaving_breaks_them() {
    for without in [
        Without::Revision,
        Without::Time,
        Without::Fingerprint,
        Without::SingleUse,
        Without::ExecutingFirst,
        Without::Unknown,
        Without::Decider,
        Without::Caller,
        Without::Token,
    ] {
        let (states, broken) = explore(without);
        println!(
            "{without:?}: {} after {states} states",
            broken.as_deref().unwrap_or("nothing broke")
        );
        assert!(
            broken.is_some(),
            "taking out {without:?} changes nothing: the guard or the model is not there"
        );
    }
}
