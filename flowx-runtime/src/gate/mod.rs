//! The gate: the one place where it is decided whether a call runs now, after a person was asked, or not at all.
//!
//! It asks who calls, not how the call arrived, so an agent's token meets the same gate over MCP and over HTTP. In order: the leave of a
//! declared agent ([`crate::agents`]), an approval where the flow or the leave demands one ([`crate::proposals`]), a confirmation where
//! the flow's declaration and the deployment's policy demand one. Nothing here defaults to yes: what cannot be asked, found or
//! reached refuses the call.
//!
//! An approval, a confirmation and a standing rule grant no permission. Each step of the flow checks its own.

mod approvals;
mod auditor;
mod borrow;
mod confirm;
mod decide;
mod elicit;
mod events;
mod facts;
mod hooks;
mod operator;
mod page;
mod pass;
mod records;
mod seal;
mod shown;
mod text;
mod upkeep;
mod vault;

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use flowx_manifest::{Json, Leave, Manifest};
use tokio_util::task::TaskTracker;

use crate::agents::{Asked as AskedOfRule, matching};
use crate::audit::Record;
use crate::channel::Channel;
use crate::core::ServedFlow;
use crate::embedded::Embedded;
use crate::identity::Principal;
use crate::invocation::{CallOutcome, Clock, Ids, Invocation};
use crate::mcp::ConfirmationPolicy;
use crate::refusal::{Refusal, codes};
use crate::store::{Millis, SharedStore, StoreError};

use auditor::Auditor;
use confirm::Asked;
use facts::{Facts, Surface};

pub use confirm::is_agent;
pub(crate) use events::usable;
pub use events::{Webhook, signature};
pub use hooks::Hooks;
pub(crate) use operator::router;
pub use pass::Pass;
pub(crate) use records::ClaimEnd;
pub use seal::{Bound, Key, Keyring, NotOurs, Opened};
pub use shown::{NamesOfCall, prompt, shown};
pub(crate) use text::is_seen;
pub use text::{visible, visible_short};
pub use vault::{Closed, Place};

/// Settings of the gate.
#[derive(Clone, Debug)]
pub struct GateOptions {
    /// How long a question in a client can be answered.
    pub question_ttl: Duration,
    /// How long a proposal waits undecided, where the flow says nothing. `None`: for ever.
    pub decide_within: Option<Duration>,
    /// How long a yes can be used, where the flow says nothing. `None`: for ever.
    pub use_within: Option<Duration>,
    /// How long the same call is answered with the first outcome, or with the no, instead of asking again.
    pub remember: Duration,
    /// How many proposals of one caller may wait at once.
    pub max_waiting: u32,
    /// How long an instance that says nothing counts as alive.
    pub lease: Duration,
    /// How old a sealing key gets before a new one seals.
    pub rotate_keys: Duration,
    /// What seals the inputs and outputs of proposals at rest, newest first: the first seals, all of them open. The same on every instance,
    /// and kept outside of the store. Empty: the keys that the store keeps for its instances, which whoever reads all of the store has too.
    pub sealing_keys: Vec<Key>,
    /// How long after it was asked a call still runs at a yes as whoever asked, where the identity cannot say what they may now
    /// ([`Current::CannotSay`](crate::Current)). After that the yes finds it stale, and the caller has to ask again.
    pub believe_asker: Duration,
    /// Whom to tell of proposals.
    pub webhooks: Vec<Webhook>,
}

impl Default for GateOptions {
    fn default() -> GateOptions {
        GateOptions {
            question_ttl: Duration::from_secs(180),
            decide_within: Some(Duration::from_secs(7 * 86_400)),
            use_within: Some(Duration::from_secs(3_600)),
            remember: Duration::from_secs(600),
            max_waiting: 20,
            lease: Duration::from_secs(30),
            rotate_keys: Duration::from_secs(7 * 86_400),
            sealing_keys: Vec::new(),
            believe_asker: Duration::from_secs(86_400),
            webhooks: Vec::new(),
        }
    }
}

/// The codes of the gate.
pub mod gate_codes {
    /// A person has to decide first. 428.
    pub const REQUIRED: &str = "approval.required";
    /// A person said no. The reason is in the detail.
    pub const REJECTED: &str = "approval.rejected";
    /// What was approved is not what stands there now.
    pub const STALE: &str = "approval.stale";
    /// Nobody decided in time, or the yes was not used in time.
    pub const EXPIRED: &str = "approval.expired";
    /// The approved call is running.
    pub const RUNNING: &str = "approval.running";
    /// The approved call began, and nobody knows how it ended; a person decides.
    pub const UNKNOWN: &str = "approval.unknown";
    /// The caller has too many proposals waiting. 429.
    pub const TOO_MANY: &str = "approval.too_many_waiting";
    /// The proposal is in no state for that.
    pub const DECIDED: &str = "approval.decided";
    /// No person confirmed. `detail.outcome` says why.
    pub const CONFIRMATION_REFUSED: &str = "mcp.confirmation_refused";
    /// The agent has no such skill.
    pub const UNKNOWN_SKILL: &str = "agent.unknown_skill";
    /// The standing rule cannot be made.
    pub const RULE_REFUSED: &str = "agent.rule_refused";
    /// The store does not answer. 503.
    pub const STORE: &str = codes_of_core::UNAVAILABLE;
    use crate::refusal::codes as codes_of_core;
}

/// The gate of one application. Made by the application's builder; see the module's words.
pub struct Gate {
    pub(crate) store: SharedStore,
    pub(crate) options: GateOptions,
    policy: ConfirmationPolicy,
    /// The origin under which people reach this server, for its own pages.
    public_url: Option<Arc<str>>,
    surface: Surface,
    hooks: Hooks,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn Ids>,
    tasks: TaskTracker,
    auditor: Auditor,
    keys: RwLock<Keyring>,
    /// This instance; a new name after its heartbeat has run out.
    instance: RwLock<String>,
    /// The runs that have begun here and not ended.
    running: Mutex<HashSet<String>>,
}

/// What a gate is made of.
pub(crate) struct GateParts {
    pub(crate) store: SharedStore,
    pub(crate) options: GateOptions,
    pub(crate) policy: ConfirmationPolicy,
    pub(crate) public_url: Option<Arc<str>>,
    pub(crate) hooks: Hooks,
    pub(crate) embedded: &'static Embedded,
    pub(crate) manifest: Arc<Manifest>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) ids: Arc<dyn Ids>,
    pub(crate) tasks: TaskTracker,
}

impl Gate {
    /// Starts the gate: its audit writer, its heartbeat, and the clearing up after instances that are gone. Needs a tokio runtime.
    pub(crate) fn start(parts: GateParts) -> Arc<Gate> {
        let gate = Arc::new(Gate {
            auditor: Auditor::start(Arc::clone(&parts.store)),
            surface: Surface::new(parts.manifest, parts.embedded.digest),
            instance: RwLock::new(parts.ids.new_id().to_string()),
            store: parts.store,
            options: parts.options,
            policy: parts.policy,
            public_url: parts.public_url,
            hooks: parts.hooks,
            clock: parts.clock,
            ids: parts.ids,
            tasks: parts.tasks,
            keys: RwLock::default(),
            running: Mutex::default(),
        });
        upkeep::start(&gate);
        events::start(&gate);
        gate
    }

    /// The name under which this instance claims what it runs; see [`Store::heartbeat`](crate::store::Store::heartbeat).
    pub fn instance(&self) -> String {
        self.instance
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// The store.
    pub fn store(&self) -> &SharedStore {
        &self.store
    }

    /// Whether the tool is one that this caller never has, so that it is not there: not listed, not called, not proposed.
    pub fn never(&self, principal: &Principal, flow: &flowx_manifest::Flow) -> bool {
        is_agent(principal) && self.surface.leave(principal, None, flow) == Ok(Some(Leave::Never))
    }

    /// Decides about one call whose input has met its contract. Whoever gets a pass runs the flow once and gives the pass back with
    /// [`Gate::settle`].
    ///
    /// # Errors
    /// What the caller is answered instead. Nothing has been done then.
    pub async fn admit(
        self: &Arc<Self>,
        flow: &ServedFlow,
        invocation: &Invocation,
        channel: &Arc<dyn Channel>,
    ) -> Result<Pass, CallOutcome> {
        let decided = self.decide(flow, invocation, channel).await;
        if let Err(outcome) = &decided {
            self.note_outcome(invocation, outcome).await;
        }
        decided
    }

    async fn decide(
        self: &Arc<Self>,
        flow: &ServedFlow,
        invocation: &Invocation,
        channel: &Arc<dyn Channel>,
    ) -> Result<Pass, CallOutcome> {
        let principal = &*invocation.principal;
        let published = &flow.published;
        let skill = invocation.skill.as_deref();
        let leave = self
            .surface
            .leave(principal, skill, published)
            .map_err(|error| {
                let category = flowx_manifest::Category::Validation;
                CallOutcome::Refused(Refusal::new(
                    gate_codes::UNKNOWN_SKILL,
                    category,
                    error.to_string(),
                ))
            })?;
        if leave == Some(Leave::Never) {
            return Err(CallOutcome::Unknown);
        }
        let facts = Facts::of(&self.surface, flow, invocation);
        let required = published.approval.as_ref().is_some_and(|a| a.required);
        let proposed = match leave {
            None | Some(Leave::Alone) => false,
            // A flow that every caller needs an approval for is not a matter of an agent's leave.
            Some(leave) if !required => {
                !self.rule_lets(leave, &facts).await.map_err(unreachable)?
            }
            Some(_) => true,
        };
        let asked = confirm::asked(
            self.policy,
            &self.surface.manifest,
            published,
            principal,
            invocation.transport,
        );
        if (required || proposed || asked != Asked::No)
            && let Some(refusal) = flow.demands.refusal(principal)
        {
            // Nobody is asked about what the steps would refuse whatever they said.
            return Err(CallOutcome::Refused(refusal));
        }
        let stored = required || proposed || matches!(asked, Asked::OnOwnPage | Asked::OutOfBand);
        if stored && principal.is_anonymous() {
            // A yes is for the same caller to use, and nobody in particular is not the same as anybody.
            return Err(CallOutcome::Refused(Refusal::not_authenticated()));
        }
        if required || proposed {
            return self
                .approved(&facts, channel, approvals::Why::Approval)
                .await;
        }
        match asked {
            Asked::No => self.pass(&facts, false).await.map_err(unreachable),
            Asked::InClient => self.confirmed_in_client(&facts, channel).await,
            Asked::OnOwnPage => {
                self.approved(&facts, channel, approvals::Why::OwnPage)
                    .await
            }
            Asked::OutOfBand => {
                self.approved(&facts, channel, approvals::Why::Confirmation)
                    .await
            }
        }
    }

    /// Whether a standing rule lets the agent do this call alone. Counts the use in the same step that finds the rule still stands.
    async fn rule_lets(&self, leave: Leave, facts: &Facts<'_>) -> Result<bool, StoreError> {
        let principal = &*facts.invocation.principal;
        let (Leave::Propose, Some(agent)) = (leave, &principal.agent) else {
            return Ok(false);
        };
        let Some(declaration) = facts.agent_declaration else {
            return Ok(false);
        };
        let rules = self.store.rules(Some(agent.as_str())).await?;
        let asked = AskedOfRule {
            principal,
            agent_declaration: declaration,
            flow: &facts.flow.reference,
            skill: facts.invocation.skill.as_deref(),
            input_digest: &facts.input_digest,
        };
        match matching(leave, &rules, &asked) {
            Some(rule) => self.store.rule_use(&rule.id, self.now()).await,
            None => Ok(false),
        }
    }

    /// Lets a call through, after its beginning has been written down.
    /// `asked`: a person said yes to it.
    async fn pass(self: &Arc<Self>, facts: &Facts<'_>, asked: bool) -> Result<Pass, StoreError> {
        let side_effects = confirm::has_side_effects(&self.surface.manifest, &facts.flow.published);
        let record = self.record("call.started", facts.invocation, []);
        if side_effects {
            self.auditor.write(record).await?;
        } else {
            self.auditor.hand_over(record).await?;
        }
        Ok(Pass::free(self, facts, side_effects, asked))
    }

    /// Writes down a call that did not get to its flow.
    pub(crate) async fn note_outcome(&self, invocation: &Invocation, outcome: &CallOutcome) {
        let (kind, code) = match outcome {
            CallOutcome::Done(_) => ("call.repeated", Json::Null),
            CallOutcome::Refused(refusal) => ("call.refused", Json::from(&*refusal.code)),
            CallOutcome::Unknown => ("call.refused", Json::from(codes::UNKNOWN_FLOW)),
            CallOutcome::InputRequired { .. } => ("call.asked", Json::Null),
            CallOutcome::CannotAsk { refusal, .. } => ("call.refused", Json::from(&*refusal.code)),
        };
        // The caller is refused either way; that the record is missing is in the log.
        if let Err(error) = self
            .auditor
            .hand_over(self.record(kind, invocation, [("code", code)]))
            .await
        {
            tracing::error!(%error, correlation_id = invocation.correlation_id, "a refusal could not be recorded");
        }
    }

    fn record<'a>(
        &self,
        kind: &str,
        invocation: &'a Invocation,
        members: impl IntoIterator<Item = (&'a str, Json)>,
    ) -> Record {
        let principal = &invocation.principal;
        let own = [
            ("flow", Json::from(invocation.flow.as_str())),
            ("caller", principal.key().into()),
            ("transport", invocation.transport.as_str().into()),
            ("correlationId", invocation.correlation_id.as_str().into()),
            ("manifest", self.surface.digest.into()),
        ];
        Record::new(self.now(), kind, own.into_iter().chain(members))
    }

    pub(crate) fn now(&self) -> Millis {
        let nanos = self.clock.now().unix_timestamp_nanos();
        Millis::try_from(nanos / 1_000_000).unwrap_or(Millis::MAX)
    }
}

/// What a caller reads when the store does not answer.
pub(crate) fn unreachable(error: StoreError) -> CallOutcome {
    CallOutcome::Refused(store_refusal(&error))
}

pub(crate) fn store_refusal(error: &StoreError) -> Refusal {
    Refusal::new(
        gate_codes::STORE,
        flowx_manifest::Category::Unavailable,
        "The server cannot reach its store, so nothing was done. Try again later.",
    )
    .because(error.to_string())
}

fn millis(duration: Duration) -> Millis {
    Millis::try_from(duration.as_millis()).unwrap_or(Millis::MAX)
}
