//! What a person does about a proposal: reads it, says yes or no, takes it back, or says "from now on, alone".

use std::collections::BTreeSet;
use std::sync::Arc;

use flowx_manifest::json::{Limits, parse};
use flowx_manifest::{Category, Finish, Json, Leave, PermissionName};

use super::approvals::{of_store, refused};
use super::pass::not_now;
use super::{Gate, Pass, gate_codes, millis};
use crate::agents::{ReachOfRule, StandingRule};
use crate::audit::Record;
use crate::channel::NoChannel;
use crate::core::Core;
use crate::identity::{Current, Principal, PrincipalKind};
use crate::invocation::{Invocation, Transport};
use crate::proposals::{
    Covered, DECIDE_PERMISSION, No, Proposal, Status, Step, fingerprint, may_decide, may_see, step,
};
use crate::refusal::{Refusal, codes};
use crate::store::Page;

/// How far a "from now on, alone" reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Always {
    /// For exactly these arguments.
    pub exactly_these_arguments: bool,
    /// For the work of everybody; else only for work done for whoever says so.
    pub for_everybody: bool,
}

impl Gate {
    /// The proposals of a status that this person may read, in the order of their making.
    ///
    /// # Errors
    /// When the store does not answer.
    pub async fn proposals_for(
        &self,
        who: &Principal,
        status: Option<Status>,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Proposal>, Refusal> {
        let mut found = Vec::new();
        let mut after = after.map(str::to_owned);
        loop {
            let page = Page {
                status,
                after: after.as_deref(),
                limit: 200,
            };
            let page = self.store.list(page).await.map_err(of_store)?;
            let Some(last) = page.last() else {
                return Ok(found);
            };
            after = Some(last.id.clone());
            found.extend(page.into_iter().filter(|p| may_see(p, who)));
            if found.len() >= limit {
                found.truncate(limit);
                return Ok(found);
            }
        }
    }

    /// A proposal that this person may read.
    ///
    /// # Errors
    /// "Not there" and "not for you" are the same answer.
    pub async fn proposal_for(&self, who: &Principal, id: &str) -> Result<Proposal, Refusal> {
        // No store is asked for what cannot be an id; PostgreSQL refuses some texts, which is not the same as not being there.
        let found = match uuid::Uuid::try_parse(id) {
            Ok(_) => self.store.proposal(id).await.map_err(of_store)?,
            Err(_) => None,
        };
        found.filter(|p| may_see(p, who)).ok_or_else(|| {
            Refusal::new(
                "approval.not_found",
                Category::NotFound,
                "There is no such proposal for you.",
            )
        })
    }

    /// Says yes. Where the flow finishes at the yes it runs now, as requester and approver together, and the proposal that comes back
    /// says how it ended.
    ///
    /// # Errors
    /// Why the yes does not count. Nothing has run then.
    pub async fn approve(
        self: &Arc<Self>,
        core: &Arc<Core>,
        who: &Principal,
        id: &str,
        shown: &str,
    ) -> Result<Proposal, Refusal> {
        loop {
            let found = self.proposal_for(who, id).await?;
            let asker = self.asker_now(core, &found).await?;
            let current = match &asker {
                // There is nobody any more whose call it would be.
                Asker::Gone => "nobody asks this any more".to_owned(),
                _ => self.fingerprint_now(&found).await?,
            };
            let run = (found.finish == Finish::Run).then(|| self.execution(&found));
            let wanted = Step::Approve {
                by: who,
                shown,
                current: &current,
                run,
            };
            let verdict = step(&found, wanted, self.now());
            let Some(next) = verdict.next else {
                return Err(self
                    .refused_decision(&found, who, verdict.answer.err())
                    .await);
            };
            let swapped = match next.status {
                Status::Executing => self.begin(&found, &next).await,
                _ => self.swap(&found, &next, &[]).await,
            };
            if !swapped.map_err(of_store)? {
                continue;
            }
            if let Err(no) = verdict.answer {
                return Err(match (&asker, &no) {
                    (Asker::Gone, No::Stale) => not_now(
                        gate_codes::STALE,
                        "Whoever asked this is not known any more, or asked too long ago to be believed, so it was not run.",
                    ),
                    _ => refused(&no),
                });
            }
            if next.status != Status::Executing {
                return Ok(next);
            }
            let together = found.requester.together_with(asker.permissions(), who);
            let (gate, core) = (Arc::clone(self), Arc::clone(core));
            // A task of its own: an approver who closes the page does not stop what they set going.
            let running = self
                .tasks
                .spawn(async move { gate.run_approved(&core, next, together).await });
            let _ = running.await;
            return self.proposal_for(who, id).await;
        }
    }

    async fn run_approved(
        self: Arc<Self>,
        core: &Arc<Core>,
        proposal: Proposal,
        together: Principal,
    ) {
        // Opened a moment ago for its fingerprint; a key that is gone since leaves nothing to run.
        let input = self.input_of(&proposal).await.ok().flatten();
        let read = input.as_deref().and_then(|input| {
            let read = parse(input.as_bytes(), Limits::DOCUMENT).ok();
            read.filter(|read| read.to_canonical() == input)
        });
        let mut invocation = Invocation::new(
            proposal.flow.clone(),
            Arc::new(together),
            Json::Null,
            Transport::Proposal,
        );
        invocation.correlation_id = proposal.correlation_id.clone();
        let pass = Pass::held(&self, invocation.clone(), proposal);
        match read {
            Some(input) => {
                invocation.input = input;
                core.run_admitted(invocation, Arc::new(NoChannel), pass)
                    .await;
            }
            None => {
                let wrong =
                    Refusal::internal(codes::INTERNAL, "the stored input is not what was proposed");
                self.settle(pass, &Err(wrong)).await;
            }
        }
    }

    /// Says no, and why.
    ///
    /// # Errors
    /// Why the no does not count.
    pub async fn reject(
        &self,
        who: &Principal,
        id: &str,
        reason: &str,
    ) -> Result<Proposal, Refusal> {
        loop {
            let found = self.proposal_for(who, id).await?;
            let verdict = step(&found, Step::Reject { by: who, reason }, self.now());
            let Some(next) = verdict.next else {
                return Err(self
                    .refused_decision(&found, who, verdict.answer.err())
                    .await);
            };
            if self.swap(&found, &next, &[]).await.map_err(of_store)? {
                return verdict.answer.map(|()| next).map_err(|no| refused(&no));
            }
        }
    }

    /// Takes a proposal back. Only whoever asked.
    ///
    /// # Errors
    /// When it is another caller's, or over.
    pub async fn withdraw(&self, who: &Principal, id: &str) -> Result<Proposal, Refusal> {
        loop {
            let found = self.proposal_for(who, id).await?;
            let verdict = step(&found, Step::Withdraw { by: &who.key() }, self.now());
            let Some(next) = verdict.next else {
                return Err(self
                    .refused_decision(&found, who, verdict.answer.err())
                    .await);
            };
            if self.swap(&found, &next, &[]).await.map_err(of_store)? {
                return verdict.answer.map(|()| next).map_err(|no| refused(&no));
            }
        }
    }

    async fn refused_decision(
        &self,
        proposal: &Proposal,
        who: &Principal,
        no: Option<No>,
    ) -> Refusal {
        let refusal = no.as_ref().map_or_else(
            || not_now(gate_codes::DECIDED, "There is nothing to decide."),
            refused,
        );
        let record = Record::new(
            self.now(),
            "decision.refused",
            [
                ("proposal", Json::from(proposal.id.as_str())),
                ("by", who.key().into()),
                ("code", (&*refusal.code).into()),
                ("why", no.map_or(Json::Null, |no| no.to_string().into())),
            ],
        );
        if let Err(error) = self.auditor.hand_over(record).await {
            tracing::error!(%error, "a refused decision could not be recorded");
        }
        refusal
    }

    /// The fingerprint of the proposed call as it would run now: everything but the call itself is read anew.
    pub(super) async fn fingerprint_now(&self, proposal: &Proposal) -> Result<String, Refusal> {
        let Some(input) = self.input_of(proposal).await.map_err(of_store)? else {
            return Ok("what would run is not what was asked".to_owned());
        };
        let version = self.hooks.version_of(&proposal.flow, &input).await?;
        let requester = &proposal.requester;
        let agent = requester.agent.as_ref().map(|a| a.as_str());
        Ok(fingerprint(&Covered {
            descriptor: self.surface.descriptor(&proposal.flow).unwrap_or("gone"),
            input: &input,
            requester: &requester.key,
            tenant: requester.tenant.as_deref(),
            agent,
            agent_declaration: agent.and_then(|a| self.surface.agent_digest(a)),
            skill: requester.skill.as_deref(),
            subject_version: version.as_deref(),
        }))
    }

    /// Who asked, as far as it can be said now. Only a run at the yes needs to know: whoever redeems comes with a credential again.
    async fn asker_now(&self, core: &Core, proposal: &Proposal) -> Result<Asker, Refusal> {
        if proposal.finish != Finish::Run {
            return Ok(Asker::AsItWas);
        }
        let believed = proposal
            .asked_at
            .saturating_add(millis(self.options.believe_asker));
        Ok(match core.current(&proposal.requester.principal()).await? {
            Current::Known(permissions) => Asker::Has(permissions),
            Current::Gone => Asker::Gone,
            Current::CannotSay if self.now() < believed => Asker::AsItWas,
            Current::CannotSay => Asker::Gone,
        })
    }

    /// Whether this person may say "from now on, alone" about calls like this one.
    ///
    /// # Errors
    /// When the declaration gives them no such word, or the leave cannot be widened.
    pub fn may_allow_alone(
        &self,
        who: &Principal,
        proposal: &Proposal,
        always: Always,
    ) -> Result<(), Refusal> {
        let no = |why: &str| {
            Refusal::new(
                gate_codes::RULE_REFUSED,
                Category::Forbidden,
                why.to_owned(),
            )
        };
        let requester = &proposal.requester;
        let agent = requester
            .agent
            .as_ref()
            .and_then(|id| self.surface.manifest.agents.iter().find(|a| a.id == *id));
        let (Some(agent), Some(flow)) = (agent, self.surface.flow(&proposal.flow)) else {
            return Err(no("Only a declared agent can be let do something alone."));
        };
        if who.kind != PrincipalKind::Person || who.tenant != requester.tenant {
            return Err(no("Only a person can say that."));
        }
        let supervisor = who.holds(DECIDE_PERMISSION);
        let widens = agent
            .widened_by
            .as_ref()
            .is_some_and(|p| who.holds(p.as_str()));
        if !widens {
            return Err(no(
                "The agent's declaration does not let you widen what it does alone.",
            ));
        }
        if always.for_everybody && !supervisor {
            return Err(no("Only a supervisor can say that for everybody's work."));
        }
        let own = requester.issuer == who.issuer
            && requester.on_behalf_of.as_deref() == Some(who.subject.as_str());
        if !always.for_everybody && !own {
            return Err(no("You can say that only for work that is done for you."));
        }
        // A rule is a yes to what has not been asked yet, and a yes does no more than whoever says it may.
        let lacking = flow.permissions.iter().find(|p| !who.holds(p.as_str()));
        if let Some(lacking) = lacking {
            return Err(no(&format!(
                "You cannot let it do alone what you may not do: this needs the permission {lacking}."
            )));
        }
        if flow.approval.as_ref().is_some_and(|a| a.required) {
            return Err(no(
                "Every caller needs an approval for this, so no rule can lift it.",
            ));
        }
        match crate::agents::leave(
            &self.surface.manifest,
            Some(agent),
            requester.skill.as_deref(),
            flow,
        ) {
            Ok(Leave::Propose) => {}
            Ok(Leave::Alone) => return Err(no("The agent does this alone already.")),
            Ok(Leave::ProposeEveryTime | Leave::Never) | Err(_) => {
                return Err(no(
                    "The declaration says that this is asked every time, or never done; no rule goes past it.",
                ));
            }
        }
        Ok(())
    }

    /// From now on the agent does calls like this one alone. Holds from its next call on, until it is taken back, or the agent's declaration
    /// changes.
    ///
    /// # Errors
    /// As [`Gate::may_allow_alone`], and when the store does not answer.
    pub async fn allow_alone(
        &self,
        who: &Principal,
        proposal: &Proposal,
        always: Always,
    ) -> Result<StandingRule, Refusal> {
        self.may_allow_alone(who, proposal, always)?;
        let requester = &proposal.requester;
        let agent = requester
            .agent
            .as_ref()
            .map(|a| a.as_str())
            .unwrap_or_default();
        let rule = StandingRule {
            id: self.ids.new_id().to_string(),
            agent: agent.to_owned(),
            agent_declaration: self
                .surface
                .agent_digest(agent)
                .unwrap_or_default()
                .to_owned(),
            flow: proposal.flow.clone(),
            skill: requester.skill.clone(),
            tenant: who.tenant.clone(),
            reach: if always.for_everybody {
                ReachOfRule::Everybody
            } else {
                ReachOfRule::Person {
                    issuer: who.issuer.clone(),
                    subject: who.subject.clone(),
                }
            },
            input_digest: always
                .exactly_these_arguments
                .then(|| proposal.input_digest.clone()),
            said_by: who.key(),
            said_at: self.now(),
            used: 0,
            last_used: None,
        };
        let record = rule_record(self.now(), "rule.added", &rule, &who.key(), None);
        self.store
            .rule_add(&rule, &[record])
            .await
            .map_err(of_store)?;
        Ok(rule)
    }

    /// The standing rules that this person may read: their own, and all of their tenant for a supervisor.
    ///
    /// # Errors
    /// When the store does not answer.
    pub async fn rules_for(&self, who: &Principal) -> Result<Vec<StandingRule>, Refusal> {
        let rules = self.store.rules(None).await.map_err(of_store)?;
        Ok(rules
            .into_iter()
            .filter(|rule| rule_is_for(rule, who))
            .collect())
    }

    /// Takes a rule back; the agent's next call proposes again.
    ///
    /// # Errors
    /// When there is no such rule for this person.
    pub async fn revoke_rule(&self, who: &Principal, id: &str, why: &str) -> Result<(), Refusal> {
        let rules = self.rules_for(who).await?;
        let missing = || {
            Refusal::new(
                "agent.no_such_rule",
                Category::NotFound,
                "There is no such rule for you.",
            )
        };
        let rule = rules.iter().find(|r| r.id == id).ok_or_else(missing)?;
        let record = rule_record(self.now(), "rule.revoked", rule, &who.key(), Some(why));
        let revoked = self
            .store
            .rule_revoke(id, self.now(), &[record])
            .await
            .map_err(of_store)?;
        if revoked { Ok(()) } else { Err(missing()) }
    }

    /// Whether that person may decide that proposal, for a list to say so.
    pub fn may_decide(&self, who: &Principal, proposal: &Proposal) -> bool {
        may_decide(proposal, who).is_ok()
    }
}

/// Who asked, at the time of the yes.
enum Asker {
    /// Has these permissions now.
    Has(BTreeSet<PermissionName>),
    /// Cannot be looked up, and asked not long ago.
    AsItWas,
    /// Is nobody any more, or asked too long ago to be believed.
    Gone,
}

impl Asker {
    fn permissions(&self) -> Option<&BTreeSet<PermissionName>> {
        match self {
            Asker::Has(permissions) => Some(permissions),
            Asker::AsItWas | Asker::Gone => None,
        }
    }
}

fn rule_is_for(rule: &StandingRule, who: &Principal) -> bool {
    let own = match &rule.reach {
        ReachOfRule::Person { issuer, subject } => *issuer == who.issuer && *subject == who.subject,
        ReachOfRule::Everybody => rule.said_by == who.key(),
    };
    who.kind == PrincipalKind::Person
        && rule.tenant == who.tenant
        && (own || who.holds(DECIDE_PERMISSION))
}

fn rule_record(at: i64, kind: &str, rule: &StandingRule, by: &str, why: Option<&str>) -> Record {
    Record::new(
        at,
        kind,
        [
            ("rule", Json::from(rule.id.as_str())),
            (
                "tenant",
                rule.tenant.as_deref().map_or(Json::Null, Json::from),
            ),
            ("agent", rule.agent.as_str().into()),
            ("flow", rule.flow.as_str().into()),
            ("by", by.into()),
            (
                "forEverybody",
                (rule.reach == ReachOfRule::Everybody).into(),
            ),
            ("exactArguments", rule.input_digest.is_some().into()),
            ("why", why.map_or(Json::Null, Json::from)),
        ],
    )
}
