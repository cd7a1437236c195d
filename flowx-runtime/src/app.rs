//! The builder of a served application.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use flowx_manifest::{
    Direction, EffectClass, EffectId, Flow as PublishedFlow, Manifest, StepTarget, Trigger,
    VersionedId, closure,
};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::core::{Core, ServedFlow};
use crate::embedded::{Embedded, Registry};
use crate::engine::Effects;
use crate::gate::{Gate, GateOptions, GateParts, Hooks};
use crate::http::{PublicUrl, RouteError, Web};
use crate::identity::Identity;
use crate::input::Contract;
use crate::invocation::{Clock, Ids, System};
use crate::limits::{Limits, RateLimiter};
use crate::mcp::{McpOptions, McpStartError};
use crate::refusal::Refusal;
use crate::store::{MemoryStore, SharedStore};
use crate::traits::{Effect, Flow};
use crate::visible::{Demands, Visibility};

/// An application before it is served.
pub struct App {
    embedded: &'static Embedded,
    effects: Effects,
    given: Vec<&'static str>,
    twice: Vec<&'static str>,
    identity: Option<Arc<dyn Identity>>,
    visibility: Visibility,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn Ids>,
    undo_limit: Duration,
    limits: Limits,
    store: Option<SharedStore>,
    gate: GateOptions,
    hooks: Hooks,
    mcp: McpOptions,
    public_url: PublicUrl,
    routes: axum::Router,
}

/// Why an application does not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The embedded document is not one.
    #[error("the embedded manifest cannot be used: {0}")]
    Manifest(#[from] flowx_manifest::ReadError),
    /// The text is not what its digest says.
    #[error(
        "the embedded manifest is not the one that was built in: its digest is {found}, not {expected}"
    )]
    Digest {
        /// What it should be.
        expected: String,
        /// What it is.
        found: String,
    },
    /// Published and compiled differ.
    #[error("published and compiled are not the same: {}", .0.join("; "))]
    Bindings(Vec<String>),
    /// Effects without a handle, or handles without an effect.
    #[error("the effects are not what the manifest declares: {}", .0.join("; "))]
    Effects(Vec<String>),
    /// A contract that inputs cannot be held against.
    #[error("the input contract of {flow} cannot be used: {why}")]
    Contract {
        /// The flow.
        flow: String,
        /// Why.
        why: String,
    },
    /// Hooks without a flow, or flows without their hook.
    #[error("what the application says about its calls does not fit: {}", .0.join("; "))]
    Hooks(Vec<String>),
    /// A webhook that cannot be one.
    #[error("a webhook cannot be used: {0}")]
    Webhook(String),
    /// The gate keeps itself up in the background.
    #[error("an application is built inside of a tokio runtime")]
    NoRuntime,
    /// Routes that cannot be served.
    #[error(transparent)]
    Routes(#[from] RouteError),
    /// The MCP endpoint does not start.
    #[error(transparent)]
    Mcp(#[from] McpStartError),
}

impl App {
    /// An application that serves that manifest.
    pub fn new(embedded: &'static Embedded) -> App {
        App {
            embedded,
            effects: Effects::default(),
            given: Vec::new(),
            twice: Vec::new(),
            identity: None,
            visibility: Visibility::default(),
            clock: Arc::new(System),
            ids: Arc::new(System),
            undo_limit: Duration::from_secs(30),
            limits: Limits::default(),
            store: None,
            gate: GateOptions::default(),
            hooks: Hooks::default(),
            mcp: McpOptions::default(),
            public_url: PublicUrl::default(),
            routes: axum::Router::new(),
        }
    }

    /// The handle to a declared effect. Each declared effect needs one.
    #[must_use]
    pub fn effect<E: Effect>(mut self, effect: E) -> App {
        if !self.effects.insert(effect) {
            self.twice.push(E::ID);
        }
        self.given.push(E::ID);
        self
    }

    /// How callers are known. Without one, every caller is anonymous and every token is refused.
    #[must_use]
    pub fn identity(mut self, identity: impl Identity) -> App {
        self.identity = Some(Arc::new(identity));
        self
    }

    /// What callers see of what they may not use.
    #[must_use]
    pub fn visibility(mut self, visibility: Visibility) -> App {
        self.visibility = visibility;
        self
    }

    /// What callers may send, and how often.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> App {
        self.limits = limits;
        self
    }

    /// What outlives a call: proposals, rules, spent questions, answers by key, the audit trail. The default is memory, which one process
    /// sees and which is lost with it: for trying things out.
    #[must_use]
    pub fn store(mut self, store: SharedStore) -> App {
        self.store = Some(store);
        self
    }

    /// The settings of the gate.
    #[must_use]
    pub fn gate(mut self, options: GateOptions) -> App {
        self.gate = options;
        self
    }

    /// What a person reads for the values of a call of the flow `F`: pairs of an argument's path (`ticket_id`, `lines/0/part`) and words
    /// (`Ticket T-7`). They stand beside the values, never instead of them.
    #[must_use]
    pub fn names<F, Fut>(mut self, hook: impl Fn(F::Input) -> Fut + Send + Sync + 'static) -> App
    where
        F: Flow<Input: serde::de::DeserializeOwned>,
        Fut: Future<Output = Vec<(String, String)>> + Send + 'static,
    {
        self.hooks.names::<F, Fut>(hook);
        self
    }

    /// Which version of its subject a call of the flow `F` is about. A yes covers that version alone. Needed by every flow whose
    /// declaration says `subject_version`.
    #[must_use]
    pub fn subject_version<F, Fut>(
        mut self,
        hook: impl Fn(F::Input) -> Fut + Send + Sync + 'static,
    ) -> App
    where
        F: Flow<Input: serde::de::DeserializeOwned>,
        Fut: Future<Output = Result<String, Refusal>> + Send + 'static,
    {
        self.hooks.subject_version::<F, Fut>(hook);
        self
    }

    /// The settings of the MCP endpoint.
    #[must_use]
    pub fn mcp(mut self, options: McpOptions) -> App {
        self.mcp = options;
        self
    }

    /// Where this server is for the world (`https://desk.example`), for the addresses that it tells. Without, the caller's `Host` says it.
    #[must_use]
    pub fn public_url(mut self, url: impl Into<Arc<str>>) -> App {
        self.public_url = PublicUrl(Some(url.into()));
        self
    }

    /// Further routes of the program's own. They are outside of what FlowX promises of calls: no identity, no gate,
    /// no limits on what they take. The guard against foreign hosts and pages stands before them too.
    #[must_use]
    pub fn routes(mut self, routes: axum::Router) -> App {
        self.routes = self.routes.merge(routes);
        self
    }

    /// The longest one undo of a completed step may take, retries included. The default is 30 s.
    #[must_use]
    pub fn undo_limit(mut self, limit: Duration) -> App {
        self.undo_limit = limit;
        self
    }

    /// Another clock, for tests.
    #[must_use]
    pub fn clock(mut self, clock: impl Clock) -> App {
        self.clock = Arc::new(clock);
        self
    }

    /// Another source of ids, for tests.
    #[must_use]
    pub fn ids(mut self, ids: impl Ids) -> App {
        self.ids = Arc::new(ids);
        self
    }

    pub(crate) fn mcp_options(&self) -> &McpOptions {
        &self.mcp
    }

    /// The application with its routes, for a server of the program's own. Whoever serves it makes connections `TCP_NODELAY` and passes
    /// the peer's address on (`into_make_service_with_connect_info::<SocketAddr>()`), as [`App::serve`] does.
    ///
    /// # Errors
    /// When what is published, compiled in and given are not the same, or something of it cannot be served.
    pub fn into_router(self) -> Result<(Arc<Core>, axum::Router), StartError> {
        let web_parts = (
            self.public_url.clone(),
            self.mcp.clone(),
            self.routes.clone(),
        );
        let core = self.into_core()?;
        let (public_url, mcp, routes) = web_parts;
        let web = Web {
            core: Arc::clone(&core),
            public_url,
        };
        let guard = mcp
            .guard(web.public_url.0.as_deref())
            .map_err(McpStartError::from)?;
        let mcp = crate::mcp::routes(Arc::clone(&core), &mcp, core.stopping().clone())?;
        let router = crate::http::router(web, mcp, routes)?;
        Ok((core, guard.before(router)))
    }

    /// Holds every embedded contract against the compiled type (proof P4): generated values must be read exactly when the
    /// published schema accepts them. Costs some milliseconds for each contract; the test that `include_manifest!()` adds does more.
    pub fn verify(&self) -> crate::verify::Verification {
        crate::verify::verify(self.embedded)
    }

    /// Checks that what is published, what is compiled in and what is given are the same, and gives the core that transports talk to.
    ///
    /// # Errors
    /// Names everything that does not fit.
    pub fn into_core(self) -> Result<Arc<Core>, StartError> {
        let embedded = self.embedded;
        let found = flowx_manifest::digest(embedded.text.as_bytes());
        if found != embedded.digest {
            return Err(StartError::Digest {
                expected: embedded.digest.to_owned(),
                found,
            });
        }
        let manifest = Arc::new(Manifest::read(embedded.text.as_bytes())?);
        let mut registry = Registry::default();
        (embedded.register)(&mut registry);
        check_bindings(&manifest, &registry)?;
        check_effects(&manifest, &registry, &self)?;

        check_hooks(&manifest, &self.hooks)?;
        if tokio::runtime::Handle::try_current().is_err() {
            return Err(StartError::NoRuntime);
        }

        let mut flows = Vec::new();
        let (mut by_reference, mut by_tool) = (HashMap::new(), HashMap::new());
        for published in &manifest.flows {
            let reference = published.reference().to_string();
            let Some(binding) = registry
                .flows
                .iter()
                .find(|b| reference_of(b.info.id, b.info.version) == reference)
            else {
                continue; // check_bindings has seen that there is one
            };
            let tool = match published.agent_trigger() {
                Some(Trigger::Agent { name, .. }) => Some(name.to_string()),
                _ => None,
            };
            by_reference.insert(reference.clone(), flows.len());
            by_tool.extend(tool.iter().map(|t| (t.clone(), flows.len())));
            let demands = Demands::of(&manifest, published);
            let schema = closure(&manifest, &published.input.name, Direction::Request);
            if schema.is_none() && published.input.name != "()" {
                return Err(StartError::Contract {
                    flow: reference,
                    why: "it is not in the manifest".to_owned(),
                });
            }
            let contract = Contract::new(schema.as_ref()).map_err(|why| StartError::Contract {
                flow: reference.clone(),
                why,
            })?;
            flows.push(ServedFlow {
                published: published.clone(),
                reference,
                demands,
                tool,
                contract,
                repeatable: repeatable(&manifest, published, 0),
                binding: *binding,
            });
        }
        let tasks = TaskTracker::new();
        let store = self.store.unwrap_or_else(|| {
            tracing::warn!(
                "no store is set: what is approved, asked and recorded is lost with this process"
            );
            Arc::new(MemoryStore::for_tests())
        });
        for hook in &self.gate.webhooks {
            crate::gate::usable(hook).map_err(StartError::Webhook)?;
        }
        let gate = Gate::start(GateParts {
            store,
            options: self.gate,
            policy: self.mcp.confirmation,
            public_url: self.public_url.0,
            hooks: self.hooks,
            embedded,
            manifest: Arc::clone(&manifest),
            clock: Arc::clone(&self.clock),
            ids: Arc::clone(&self.ids),
            tasks: tasks.clone(),
        });
        Ok(Arc::new(Core {
            gate,
            embedded,
            manifest,
            flows,
            by_reference,
            by_tool,
            effects: Arc::new(self.effects),
            identity: self.identity,
            visibility: self.visibility,
            clock: self.clock,
            ids: self.ids,
            tasks,
            undo_limit: self.undo_limit,
            limits: self.limits,
            rate: self.limits.rate.map(RateLimiter::new),
            anonymous_rate: self.limits.anonymous_rate.map(RateLimiter::new),
            stopping: CancellationToken::new(),
        }))
    }
}

/// Whether the flow may be made again under its own key: nothing that it can reach and that changes the world minds being repeated.
fn repeatable(manifest: &Manifest, flow: &PublishedFlow, depth: usize) -> bool {
    let harmless = |reference: &VersionedId| {
        let capability = manifest
            .capabilities
            .iter()
            .find(|c| c.reference() == *reference);
        capability.is_some_and(|c| {
            let reads = |id: &EffectId| {
                manifest
                    .effects
                    .iter()
                    .any(|e| e.id == *id && e.class == EffectClass::Reads)
            };
            c.idempotent || c.effects.iter().all(reads)
        })
    };
    depth <= 32
        && flow.steps.iter().all(|step| match &step.calls {
            StepTarget::Capability(reference) => harmless(reference),
            StepTarget::Flow(reference) => manifest
                .flows
                .iter()
                .find(|f| f.reference() == *reference)
                .is_some_and(|f| repeatable(manifest, f, depth + 1)),
        })
}

fn reference_of(id: &str, version: &str) -> String {
    format!("{id}@{version}")
}

/// Every flow whose yes covers one version of its subject has the hook that says it, and no hook is of a flow that is not there.
fn check_hooks(manifest: &Manifest, hooks: &Hooks) -> Result<(), StartError> {
    let mut wrong = Vec::new();
    for flow in &manifest.flows {
        let reference = flow.reference().to_string();
        let declared = flow.approval.as_ref().is_some_and(|a| a.subject_version);
        match (declared, hooks.knows_version_of(&reference)) {
            (true, false) => wrong.push(format!(
                "{reference} declares `subject_version`: add .subject_version::<…>(…) to the App"
            )),
            (false, true) => wrong.push(format!(
                "{reference} has a hook for its subject's version and does not declare `subject_version`"
            )),
            _ => {}
        }
    }
    for flow in hooks.flows() {
        if !manifest
            .flows
            .iter()
            .any(|f| f.reference().to_string() == flow)
        {
            wrong.push(format!(
                "there is a hook for {flow}, which is not published"
            ));
        }
    }
    if wrong.is_empty() {
        Ok(())
    } else {
        Err(StartError::Hooks(wrong))
    }
}

/// Everything published is compiled in, and the reverse. P1 proves it at build time; this catches a manifest that was swapped since.
fn check_bindings(manifest: &Manifest, registry: &Registry) -> Result<(), StartError> {
    let mut wrong = Vec::new();
    let mut compare = |kind: &str, published: BTreeSet<String>, compiled: Vec<String>| {
        let set: BTreeSet<String> = compiled.iter().cloned().collect();
        if set.len() != compiled.len() {
            wrong.push(format!("a {kind} is compiled in twice"));
        }
        wrong.extend(
            published
                .difference(&set)
                .map(|id| format!("{kind} {id} is published and not compiled in")),
        );
        wrong.extend(
            set.difference(&published)
                .map(|id| format!("{kind} {id} is compiled in and not published")),
        );
    };
    compare(
        "effect",
        manifest.effects.iter().map(|e| e.id.to_string()).collect(),
        registry.effects.iter().map(|e| e.id.to_owned()).collect(),
    );
    compare(
        "capability",
        manifest
            .capabilities
            .iter()
            .map(|c| c.reference().to_string())
            .collect(),
        registry
            .capabilities
            .iter()
            .map(|c| reference_of(c.id, c.version))
            .collect(),
    );
    compare(
        "flow",
        manifest
            .flows
            .iter()
            .map(|f| f.reference().to_string())
            .collect(),
        registry
            .flows
            .iter()
            .map(|f| reference_of(f.info.id, f.info.version))
            .collect(),
    );
    compare(
        "agent",
        manifest.agents.iter().map(|a| a.id.to_string()).collect(),
        registry.agents.iter().map(|a| (*a).to_owned()).collect(),
    );
    compare(
        "entity",
        manifest.entities.iter().map(|e| e.id.to_string()).collect(),
        registry.entities.iter().map(|e| (*e).to_owned()).collect(),
    );
    if wrong.is_empty() {
        Ok(())
    } else {
        Err(StartError::Bindings(wrong))
    }
}

/// Every declared effect has exactly one handle of its own type and class, and no handle is of an undeclared effect.
fn check_effects(manifest: &Manifest, registry: &Registry, app: &App) -> Result<(), StartError> {
    let mut wrong = Vec::new();
    for effect in &registry.effects {
        if !app.effects.contains(effect.type_id) {
            wrong.push(format!(
                "{} is declared and has no handle: add .effect(…) for it to the App",
                effect.id
            ));
        }
        let class = manifest
            .effects
            .iter()
            .find(|e| e.id == effect.id)
            .map(|e| e.class);
        if class.is_some_and(|c| c != effect.class) {
            wrong.push(format!(
                "{} is published as another class than it is compiled with",
                effect.id
            ));
        }
    }
    for id in &app.given {
        if !registry.effects.iter().any(|e| e.id == *id) {
            wrong.push(format!("{id} has a handle and is not declared"));
        }
    }
    wrong.extend(app.twice.iter().map(|id| format!("{id} has two handles")));
    if wrong.is_empty() {
        Ok(())
    } else {
        Err(StartError::Effects(wrong))
    }
}
