//! What every transport talks to: who calls, what they see, and the one path of a call.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::ConnectInfo;
use flowx_manifest::{Direction, Flow, Json, Manifest, closure};
use http::request::Parts;
use time::OffsetDateTime;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::channel::Channel;
use crate::embedded::{Embedded, FlowBinding};
use crate::engine::{Call, Effects};
use crate::gate::{Gate, Pass};
use crate::identity::{Current, Identity, Principal};
use crate::input::Contract;
use crate::invocation::{CallOutcome, Clock, Ids, Invocation};
use crate::limits::{Limits, RateLimiter, counted_as};
use crate::model::Lending;
use crate::refusal::{Refusal, codes};
use crate::telemetry;
use crate::visible::{Demands, Visibility};

/// The permission to read the whole manifest.
pub(crate) const MANIFEST_READ: &str = "flowx.manifest.read";

/// A running application, as its transports see it. Made by [`App`](crate::App).
pub struct Core {
    pub(crate) embedded: &'static Embedded,
    pub(crate) manifest: Arc<Manifest>,
    pub(crate) flows: Vec<ServedFlow>,
    pub(crate) by_reference: HashMap<String, usize>,
    pub(crate) by_tool: HashMap<String, usize>,
    pub(crate) effects: Arc<Effects>,
    pub(crate) identity: Option<Arc<dyn Identity>>,
    pub(crate) visibility: Visibility,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) ids: Arc<dyn Ids>,
    pub(crate) tasks: TaskTracker,
    pub(crate) gate: Arc<Gate>,
    pub(crate) undo_limit: Duration,
    pub(crate) limits: Limits,
    pub(crate) rate: Option<RateLimiter>,
    pub(crate) anonymous_rate: Option<RateLimiter>,
    pub(crate) stopping: CancellationToken,
}

/// A flow that is published and compiled in.
pub struct ServedFlow {
    /// As published.
    pub published: Flow,
    /// `id@version`.
    pub reference: String,
    /// What it demands of callers.
    pub demands: Demands,
    /// The tool's name, when it is one.
    pub tool: Option<String>,
    pub(crate) contract: Contract,
    pub(crate) repeatable: bool,
    pub(crate) binding: FlowBinding,
}

impl ServedFlow {
    /// What a caller is told of a call that cannot be read: that it may not make it, where that is so, before what is wrong with it.
    pub(crate) fn first_of(&self, principal: &Principal, wrong: Refusal) -> Refusal {
        self.demands.refusal(principal).unwrap_or(wrong)
    }
}

impl std::fmt::Debug for ServedFlow {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("ServedFlow").field(&self.reference).finish()
    }
}

impl Core {
    /// The document that was reviewed.
    pub fn embedded(&self) -> &'static Embedded {
        self.embedded
    }

    /// The same, read. For decisions; what is sent is [`Core::embedded`]'s bytes.
    pub fn manifest(&self) -> &Arc<Manifest> {
        &self.manifest
    }

    /// Who calls, from the request's `Authorization` header; anonymous without one. Tokens elsewhere are refused.
    ///
    /// # Errors
    /// `authorization.not_authenticated` for a credential that stands for nobody, `server.unavailable` when that cannot be said now.
    /// `limits.rate_exceeded` for one who calls too often: every request counts once, with a wrong credential as one of nobody.
    pub async fn authenticate(&self, parts: &Parts) -> Result<Arc<Principal>, Refusal> {
        let known = crate::identity::from_request(self.identity.as_deref(), parts).await;
        let nobody = Principal::anonymous();
        let counted = known.as_ref().unwrap_or(&nobody);
        let rate = if counted.is_anonymous() {
            &self.anonymous_rate
        } else {
            &self.rate
        };
        if let Some(rate) = rate {
            rate.take(&self.counted_as(counted, parts), Instant::now())?;
        }
        known.map(Arc::new)
    }

    /// What somebody who asked earlier may now; see [`Identity::current`]. Without an identity nobody is known.
    pub(crate) async fn current(&self, who: &Principal) -> Result<Current, Refusal> {
        match &self.identity {
            Some(identity) => identity.current(who).await,
            None => Ok(Current::CannotSay),
        }
    }

    /// What the limits of one caller are kept under: who it is, and for somebody unknown where it comes from.
    pub(crate) fn counted_as(&self, principal: &Principal, parts: &Parts) -> String {
        let mut key = principal.key();
        if principal.is_anonymous()
            && let Some(ConnectInfo(peer)) = parts.extensions.get::<ConnectInfo<SocketAddr>>()
        {
            key.push_str(&counted_as(peer.ip()).to_string());
        }
        key
    }

    /// Every flow, sorted by id and version.
    pub fn flows(&self) -> &[ServedFlow] {
        &self.flows
    }

    /// The flow behind a tool, when that caller can see it.
    pub fn tool(&self, principal: &Principal, name: &str) -> Option<&ServedFlow> {
        self.by_tool
            .get(name)
            .map(|i| &self.flows[*i])
            .filter(|f| self.visible(principal, f))
    }

    /// The flow of that `id@version`, when that caller can see it.
    pub fn flow(&self, principal: &Principal, reference: &str) -> Option<&ServedFlow> {
        self.by_reference
            .get(reference)
            .map(|i| &self.flows[*i])
            .filter(|f| self.visible(principal, f))
    }

    /// The one predicate: whether that flow exists for that caller. Lists, calls, resources and routes all ask it.
    pub fn visible(&self, principal: &Principal, flow: &ServedFlow) -> bool {
        // What a declared agent never does is not there for it, whatever the visibility.
        if self.gate.never(principal, &flow.published) {
            return false;
        }
        match self.visibility {
            Visibility::All => true,
            Visibility::Permitted => flow.demands.met_by(principal),
        }
    }

    /// The gate: who needs whose yes for what.
    pub fn gate(&self) -> &Arc<Gate> {
        &self.gate
    }

    /// Whether two callers can see different tools, so that a list of one must not be kept for another. Declared agents do not see what
    /// they never do, whatever the visibility.
    pub fn list_depends_on_caller(&self) -> bool {
        self.visibility != Visibility::All || !self.manifest.agents.is_empty()
    }

    /// Whether that caller may read the whole manifest.
    pub fn may_read_manifest(&self, principal: &Principal) -> bool {
        principal.holds(MANIFEST_READ)
    }

    /// The issuers whose tokens are taken.
    pub fn authorization_servers(&self) -> Vec<String> {
        self.identity
            .as_ref()
            .map(|i| i.authorization_servers())
            .unwrap_or_default()
    }

    /// Whether a caller can become known here at all.
    pub(crate) fn knows_callers(&self) -> bool {
        self.identity.is_some()
    }

    /// Whether there is anything here for somebody unknown. Where there is not, a transport asks for a credential at its door.
    pub fn has_anything_for_anonymous(&self) -> bool {
        let nobody = Principal::anonymous();
        self.identity.is_none() || self.flows.iter().any(|flow| self.visible(&nobody, flow))
    }

    /// Every permission that any flow can need, sorted.
    pub fn permissions(&self) -> Vec<String> {
        let all: std::collections::BTreeSet<&String> = self
            .flows
            .iter()
            .flat_map(|f| &f.demands.permissions)
            .collect();
        all.into_iter().cloned().collect()
    }

    /// What callers see of what they may not use.
    pub fn visibility(&self) -> Visibility {
        self.visibility
    }

    /// The limits of every transport.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Whether a call of that flow may be made again under its own key, however it ended.
    pub fn is_safe_to_repeat(&self, flow: &ServedFlow) -> bool {
        flow.repeatable
    }

    /// The schema of the flow's input, as it is accepted, standing alone. `None` when it takes nothing.
    pub fn input_schema(&self, flow: &ServedFlow) -> Option<Json> {
        closure(
            &self.manifest,
            &flow.published.input.name,
            Direction::Request,
        )
    }

    /// Now, from the application's clock.
    pub fn now(&self) -> OffsetDateTime {
        self.clock.now()
    }

    /// Whether the server is going down: what runs is ended, nothing new is begun.
    pub fn is_stopping(&self) -> bool {
        self.stopping.is_cancelled()
    }

    /// Cancelled when the server goes down.
    pub fn stopping(&self) -> &CancellationToken {
        &self.stopping
    }

    /// Work that outlives its caller; a shutdown waits for it.
    pub fn tasks(&self) -> &TaskTracker {
        &self.tasks
    }

    /// The one path of a call: visible, input against its contract, gate, flow, output. Dropping the future cancels the call; what it had
    /// done by then and can undo is undone.
    pub async fn call(&self, invocation: Invocation, channel: Arc<dyn Channel>) -> CallOutcome {
        let Some(flow) = self.flow(&invocation.principal, &invocation.flow) else {
            return CallOutcome::Unknown;
        };
        let span = telemetry::call_span(flow, &invocation);
        let observed = telemetry::Observed::begin(&flow.published, invocation.transport);
        let outcome =
            tracing::Instrument::instrument(self.enter(flow, invocation, channel), span).await;
        observed.end(&outcome);
        outcome
    }

    async fn enter(
        &self,
        flow: &ServedFlow,
        mut invocation: Invocation,
        channel: Arc<dyn Channel>,
    ) -> CallOutcome {
        match flow.contract.read(invocation.input) {
            Ok(input) => invocation.input = input,
            Err(refusal) => {
                let outcome = CallOutcome::Refused(flow.first_of(&invocation.principal, refusal));
                // The reader has taken the input along; what is recorded holds none of it.
                let empty = Invocation {
                    input: Json::Null,
                    ..invocation
                };
                self.gate.note_outcome(&empty, &outcome).await;
                return outcome;
            }
        }
        match self.gate.admit(flow, &invocation, &channel).await {
            Ok(pass) => self.run(flow, invocation, channel, pass).await,
            Err(outcome) => outcome,
        }
    }

    /// Runs what a person approved, and writes down how it ended.
    pub(crate) async fn run_admitted(
        &self,
        mut invocation: Invocation,
        channel: Arc<dyn Channel>,
        pass: Pass,
    ) {
        // By its name alone: who may see it was settled when it was asked, and each step checks who may do it.
        let flow = self
            .by_reference
            .get(&invocation.flow)
            .map(|i| &self.flows[*i]);
        let Some(flow) = flow else {
            let gone = Refusal::internal(codes::INTERNAL, "the approved flow is not here");
            self.gate.settle(pass, &Err(gone)).await;
            return;
        };
        match flow.contract.read(invocation.input) {
            Ok(input) => invocation.input = input,
            Err(refusal) => {
                self.gate.settle(pass, &Err(refusal)).await;
                return;
            }
        }
        let span = telemetry::call_span(flow, &invocation);
        let observed = telemetry::Observed::begin(&flow.published, invocation.transport);
        let run = self.run(flow, invocation, channel, pass);
        observed.end(&tracing::Instrument::instrument(run, span).await);
    }

    /// The flow itself, once.
    async fn run(
        &self,
        flow: &ServedFlow,
        mut invocation: Invocation,
        channel: Arc<dyn Channel>,
        pass: Pass,
    ) -> CallOutcome {
        if let Some(key) = pass.idempotency_key() {
            invocation.idempotency_key = key.to_owned();
        }
        let input = invocation.input.clone();
        let lending = Lending::new(
            pass.may_end_with_a_question()
                .then(|| self.gate.lender(&invocation, &channel)),
        );
        let call = Arc::new(Call {
            invocation,
            effects: Arc::clone(&self.effects),
            clock: Arc::clone(&self.clock),
            ids: Arc::clone(&self.ids),
            channel,
            tasks: self.tasks.clone(),
            undo_limit: self.undo_limit,
            refused: Default::default(),
            lending,
            standing: Default::default(),
        });
        let kept = Arc::clone(&call);
        let result = flow.binding.run.run(call, input).await;
        if let Some(question) = kept.lending.take() {
            self.gate.settle_with_question(pass, &question).await;
            return question;
        }
        self.gate.settle(pass, &result).await;
        match result {
            Ok(output) => CallOutcome::Done(output),
            Err(refusal) => CallOutcome::Refused(refusal),
        }
    }
}
