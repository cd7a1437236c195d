//! A small repair desk, put together by hand, whose every effect is counted.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use flowx_manifest::{
    Agent, Application, Approval, Authorization, Capability as PublishedCapability, Category,
    Confirmation, Contract, DecidedBy, Effect as PublishedEffect, EffectClass, Finish,
    Flow as PublishedFlow, Json, Leave, Manifest, Profile, Risk, SCHEMA_ID, SCHEMA_VERSION, Skill,
    Step, StepTarget, Tool, ToolAnnotations, ToolMeta, Trigger, TypeRef,
};
use flowx_runtime::__private::{
    Capability, CapabilityInfo, Declares, Effect, Flow, FlowInfo, HasStep, NoUndo, Registry, Slice,
    Stance, StepInfo,
};
use flowx_runtime::store::{SharedStore, open};
use flowx_runtime::{
    App, Ask, AskKind, Asking, CallOutcome, Channel, Clock, ConfirmationPolicy, Core, Current, Cx,
    Embedded, FlowCx, FlowError, GateOptions, Given, Identity, Invocation, McpOptions, Principal,
    PrincipalKind, Refusal, Reply, Transport, Visibility,
};
use futures_util::future::BoxFuture;
use http::request::Parts;
use http::{Method, Request, StatusCode};
use http_body_util::BodyExt;
use tower::ServiceExt;

/// What has really happened: which capability, as whom, with what.
#[derive(Clone, Default)]
pub struct World(Arc<Inner>);

#[derive(Default)]
struct Inner {
    done: Mutex<Vec<(&'static str, Principal, String)>>,
    revision: AtomicI64,
    /// Where every effect is written down outside of the process, which may be killed at any moment.
    log: Option<std::fs::File>,
}

impl World {
    /// How often that capability took effect.
    pub fn count(&self, capability: &str) -> usize {
        self.0
            .done
            .lock()
            .unwrap()
            .iter()
            .filter(|(id, ..)| *id == capability)
            .count()
    }

    /// One whose effects are lines of a file: the key that each ran under.
    pub fn logging(path: &std::path::Path) -> World {
        let log = std::fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(path)
            .unwrap();
        World(Arc::new(Inner {
            log: Some(log),
            ..Inner::default()
        }))
    }

    /// How often anything took effect.
    pub fn total(&self) -> usize {
        self.0.done.lock().unwrap().len()
    }

    /// As whom it happened last.
    pub fn last(&self) -> (Principal, String) {
        let (_, who, input) = self.0.done.lock().unwrap().last().cloned().unwrap();
        (who, input)
    }

    /// Somebody else changes the repair.
    pub fn change(&self) {
        self.0.revision.fetch_add(1, Ordering::SeqCst);
    }

    pub fn revision(&self) -> i64 {
        self.0.revision.load(Ordering::SeqCst)
    }
}

macro_rules! effects {
    ($($name:ident $id:literal $class:ident),*) => {$(
        #[derive(Clone)]
        pub struct $name(World);
        impl Effect for $name {
            const ID: &'static str = $id;
            const CLASS: EffectClass = EffectClass::$class;
        }
        impl Reach for $name {
            fn world(&self) -> &World {
                &self.0
            }
        }
    )*};
}
effects!(Data "data" Changes, Till "till" Spends, Mail "mail" Sends);

trait Reach: Effect {
    fn world(&self) -> &World;
}

/// How a capability says no.
#[derive(Debug)]
pub struct Broken;
impl std::fmt::Display for Broken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the tool broke")
    }
}
impl FlowError for Broken {
    fn code(&self) -> &'static str {
        "repair.broke"
    }
    fn category(&self) -> Category {
        Category::Conflict
    }
    fn catalogue() -> Vec<(&'static str, Category)> {
        vec![("repair.broke", Category::Conflict)]
    }
}

/// Takes effect, and then does what its input says: fails, hangs or waits.
async fn act<E: Reach, C: Capability + Declares<E>>(
    cx: &Cx<C>,
    input: Json,
) -> Result<Json, Broken> {
    let world = &cx.effect::<E>().world().0;
    if let Some(mut log) = world.log.as_ref() {
        // One write of one short line: whole, or not at all.
        std::io::Write::write_all(&mut log, format!("{}\n", cx.idempotency_key()).as_bytes())
            .unwrap();
    }
    world
        .done
        .lock()
        .unwrap()
        .push((C::INFO.id, cx.principal().clone(), input.to_canonical()));
    let flag = |name: &str| input.get(name).and_then(Json::as_bool) == Some(true);
    if let Some(ms) = input.get("wait_ms").and_then(Json::as_number) {
        tokio::time::sleep(Duration::from_millis(ms.as_u128().unwrap() as u64)).await;
    }
    if flag("hang") {
        std::future::pending::<()>().await;
    }
    if flag("fail") {
        Err(Broken)
    } else {
        Ok(Json::object([("done", Json::from(cx.idempotency_key()))]))
    }
}

macro_rules! flows {
    ($($flow:ident $capability:ident $flow_id:literal $id:literal $effect:ident $effect_id:literal $stance:expr;)*) => {
        $(
            pub struct $capability;
            impl Declares<$effect> for $capability {}
            impl Capability for $capability {
                type Input = Json;
                type Output = Json;
                type Error = Broken;
                const INFO: CapabilityInfo = CapabilityInfo {
                    id: $id,
                    version: "1.0.0",
                    stance: $stance,
                    effects: &[$effect_id],
                    side_effects: true,
                    idempotent: false,
                };
                async fn run(cx: &Cx<Self>, input: Json) -> Result<Json, Broken> {
                    act::<$effect, Self>(cx, input).await
                }
            }
            pub struct $flow;
            impl HasStep<$capability> for $flow {
                const STEP: StepInfo = StepInfo { name: "act", timeout_ms: 0, attempts: 1, backoff_ms: 0 };
                type Undo = NoUndo;
                fn again(_: &Json) -> Option<Json> {
                    None
                }
            }
            impl Flow for $flow {
                type Input = Json;
                type Output = Json;
                type Error = Broken;
                const INFO: FlowInfo = FlowInfo { id: $flow_id, version: "1.0.0", deadline_ms: 0 };
                const EFFECTS: &'static [&'static [&'static str]] = &[&[$effect_id]];
                const SIDE_EFFECTS: bool = true;
                async fn run(cx: &FlowCx<Self>, input: Json) -> Result<Json, Broken> {
                    cx.step::<$capability>(input).await
                }
            }
        )*

        fn register(registry: &mut Registry) {
            registry.effect::<Data>();
            registry.effect::<Till>();
            registry.effect::<Mail>();
            $(registry.capability::<$capability>(); registry.flow::<$flow>();)*
            registry.flow::<Find>();
            registry.agent("estimator");
        }

        /// Flow, capability, effect, permission.
        const PARTS: &[(&str, &str, &str, Stance)] = &[$(($flow_id, $id, $effect_id, $stance)),*];
    };
}
flows! {
    NoteFlow NoteCap "repair.note" "notes.write" Data "data" Stance::Authenticated;
    PriceFlow PriceCap "repair.price" "price.set" Data "data" Stance::Permission("repair.price");
    ScrapFlow ScrapCap "repair.scrap" "repair.drop" Data "data" Stance::Authenticated;
    FleetFlow FleetCap "fleet.price" "fleet.set" Data "data" Stance::Authenticated;
    MailFlow MailCap "customer.mail" "mail.send" Mail "mail" Stance::Authenticated;
    PartsFlow PartsCap "parts.order" "parts.buy" Till "till" Stance::Authenticated;
    ArchiveFlow ArchiveCap "card.archive" "card.drop" Data "data" Stance::Authenticated;
    SelfFlow SelfCap "card.rename" "card.name" Data "data" Stance::Authenticated;
    RefundFlow RefundCap "ticket.refund" "payment.refund" Till "till" Stance::Permission("payment.refund");
    PayoutFlow PayoutCap "till.empty" "till.payout" Till "till" Stance::Authenticated;
}

/// Looks, and touches nothing.
pub struct Find;
impl Flow for Find {
    type Input = Json;
    type Output = Json;
    type Error = Broken;
    const INFO: FlowInfo = FlowInfo {
        id: "ticket.search",
        version: "1.0.0",
        deadline_ms: 0,
    };
    const EFFECTS: &'static [&'static [&'static str]] = &[];
    const SIDE_EFFECTS: bool = false;
    async fn run(_: &FlowCx<Self>, _: Json) -> Result<Json, Broken> {
        Ok(Json::object([("found", Json::from(0))]))
    }
}

fn approval(decided_by: DecidedBy, finish: Finish) -> Approval {
    Approval {
        required: false,
        decided_by,
        self_approval: false,
        finish,
        expires: Some("PT1H".parse().unwrap()),
        grant_expires: Some("PT10M".parse().unwrap()),
        subject_version: false,
    }
}

fn approval_of(flow: &str) -> Option<Approval> {
    let requester = || approval(DecidedBy::Requester, Finish::Run);
    match flow {
        "repair.price" => Some(Approval {
            subject_version: true,
            ..requester()
        }),
        "fleet.price" => Some(approval(
            DecidedBy::Queue("fleet.manage".into()),
            Finish::Run,
        )),
        "card.archive" => Some(Approval {
            required: true,
            ..approval(DecidedBy::Queue("board.lead".into()), Finish::Redeem)
        }),
        "card.rename" => Some(Approval {
            required: true,
            self_approval: true,
            ..approval(DecidedBy::Requester, Finish::Redeem)
        }),
        _ => None,
    }
}

fn published(id: &str, capability: Option<(&str, &str, Stance)>) -> PublishedFlow {
    let any = |sensitive: &[&str]| TypeRef {
        name: "crate::Any".into(),
        sensitive: sensitive.iter().map(|s| (*s).to_owned()).collect(),
    };
    PublishedFlow {
        id: id.parse().unwrap(),
        version: "1.0.0".parse().unwrap(),
        title: None,
        description: None,
        owner: None,
        deadline: None,
        profile: Profile::Ephemeral,
        input: any(&["/card", "/lines/*/pin"]),
        output: any(&[]),
        triggers: vec![
            Trigger::Agent {
                name: id.replace('.', "_").parse().unwrap(),
                description: None,
                confirmation: if id == "repair.note" {
                    Confirmation::Never
                } else {
                    Confirmation::RequiredForSideEffects
                },
                risk: if id == "till.empty" {
                    Risk::High
                } else {
                    Risk::Normal
                },
            },
            Trigger::Http {
                method: "POST".into(),
                route: format!("/{}", id.replace('.', "/")),
                idempotent: false,
            },
        ],
        steps: capability
            .iter()
            .map(|(capability, ..)| Step {
                name: "act".parse().unwrap(),
                calls: StepTarget::Capability(format!("{capability}@1.0.0").parse().unwrap()),
                timeout: None,
                attempts: None,
                backoff: None,
                compensation: None,
            })
            .collect(),
        effects: capability
            .iter()
            .map(|(_, effect, _)| effect.parse().unwrap())
            .collect(),
        permissions: capability
            .iter()
            .filter_map(|(.., stance)| match stance {
                Stance::Permission(p) => Some(p.parse().unwrap()),
                _ => None,
            })
            .collect(),
        errors: None,
        approval: approval_of(id),
        deprecated: None,
        renamed_from: None,
    }
}

/// One descriptor, so that a call over the wire is answered with what it gave.
fn refund_tool() -> Tool {
    let any = || Json::object([("type", Json::from("object"))]);
    let flow: flowx_manifest::FlowId = "ticket.refund".parse().unwrap();
    let effects: BTreeSet<_> = [("till".parse().unwrap())].into();
    let permissions: BTreeSet<_> = ["payment.refund".parse().unwrap()].into();
    Tool {
        name: "ticket_refund".parse().unwrap(),
        title: None,
        description: "Refunds a ticket".into(),
        input_schema: any(),
        output_schema: any(),
        annotations: ToolAnnotations {
            title: None,
            read_only_hint: false,
            destructive_hint: true,
            idempotent_hint: false,
            open_world_hint: false,
            flow_id: flow.clone(),
            idempotent: false,
            confirmation_required: true,
            side_effects: effects.clone(),
            required_permissions: permissions.clone(),
        },
        meta: ToolMeta {
            flow_id: flow,
            idempotent: false,
            confirmation_required: true,
            side_effects: effects,
            required_permissions: permissions,
        },
    }
}

/// The desk's surface. `edit` makes another one of it, as a later release would.
pub fn manifest(edit: impl FnOnce(&mut Manifest)) -> Manifest {
    let any = || TypeRef {
        name: "crate::Any".into(),
        sensitive: BTreeSet::new(),
    };
    let effect = |id: &str, class| PublishedEffect {
        id: id.parse().unwrap(),
        class,
        description: None,
    };
    let flow = |id: &str| id.parse().unwrap();
    let mut manifest = Manifest {
        schema: SCHEMA_ID.into(),
        schema_version: SCHEMA_VERSION.into(),
        application: Application {
            name: "desk".into(),
            version: "0.1.0".into(),
        },
        effects: vec![
            effect("data", EffectClass::Changes),
            effect("till", EffectClass::Spends),
            effect("mail", EffectClass::Sends),
        ],
        capabilities: PARTS
            .iter()
            .map(|(_, capability, effect, stance)| PublishedCapability {
                id: capability.parse().unwrap(),
                version: "1.0.0".parse().unwrap(),
                description: None,
                input: any(),
                output: any(),
                authorization: match stance {
                    Stance::Permission(p) => Authorization::Permission {
                        permission: p.parse().unwrap(),
                    },
                    _ => Authorization::Authenticated {},
                },
                effects: [effect.parse().unwrap()].into(),
                idempotent: false,
                errors: None,
                deprecated: None,
            })
            .collect(),
        flows: PARTS
            .iter()
            .map(|(flow, capability, effect, stance)| {
                published(flow, Some((capability, effect, *stance)))
            })
            .chain([published("ticket.search", None)])
            .collect(),
        events: Vec::new(),
        agents: vec![Agent {
            id: "estimator".parse().unwrap(),
            purpose: "Estimates repairs".into(),
            sponsor: "sponsor".into(),
            changes: Leave::Propose,
            sends: Leave::ProposeEveryTime,
            spends: Leave::Propose,
            reaches_out: Leave::Propose,
            tools: BTreeMap::from([
                (flow("repair.note"), Leave::Alone),
                (flow("repair.scrap"), Leave::Never),
            ]),
            skills: vec![Skill {
                name: "looking".into(),
                purpose: "Looks at prices".into(),
                uses: [
                    flow("repair.price"),
                    flow("repair.note"),
                    flow("repair.scrap"),
                ]
                .into(),
                tools: BTreeMap::from([
                    (flow("repair.note"), Leave::Propose),
                    (flow("repair.scrap"), Leave::Alone),
                ]),
            }],
            widened_by: Some("agents.widen".parse().unwrap()),
        }],
        entities: Vec::new(),
        contracts: vec![Contract {
            id: "crate::Any".into(),
            schema: Some(Json::object([("type", Json::from("object"))])),
            request: None,
            response: None,
            renamed_from: None,
        }],
        tools: vec![refund_tool()],
    };
    edit(&mut manifest);
    manifest.canonicalise();
    manifest
}

fn embed(manifest: &Manifest) -> &'static Embedded {
    let document = manifest.write();
    let text: &'static str = document.text.leak();
    let index: Vec<Slice> = document
        .index
        .into_iter()
        .map(|e| Slice {
            kind: e.kind,
            id: e.id.leak(),
            start: e.range.start,
            end: e.range.end,
        })
        .collect();
    Box::leak(Box::new(Embedded {
        text,
        digest: flowx_manifest::digest(text.as_bytes()).leak(),
        index: index.leak(),
        register,
    }))
}

/// A clock that goes when it is told to, or the system's.
#[derive(Clone)]
pub struct Watch(Option<Arc<AtomicI64>>);

impl Watch {
    pub fn real() -> Watch {
        Watch(None)
    }

    pub fn forward(&self, by: Duration) {
        self.0
            .as_ref()
            .unwrap()
            .fetch_add(by.as_millis() as i64, Ordering::SeqCst);
    }
}

impl Clock for Watch {
    fn now(&self) -> time::OffsetDateTime {
        match &self.0 {
            Some(ms) => {
                let nanos = i128::from(ms.load(Ordering::SeqCst)) * 1_000_000;
                time::OffsetDateTime::from_unix_timestamp_nanos(nanos).unwrap()
            }
            None => time::OffsetDateTime::now_utc(),
        }
    }
}

/// Everybody of the desk, by token.
pub fn who(token: &str) -> Principal {
    // `bob.north` is Bob of the tenant north.
    if let Some((token, tenant)) = token.split_once('.') {
        return Principal {
            tenant: Some(tenant.to_owned()),
            ..who(token)
        };
    }
    let (kind, permissions, agent, on_behalf_of): (_, &[&str], _, Option<&str>) = match token {
        "estimator" => (
            PrincipalKind::Agent,
            &["repair.price", "payment.refund"],
            Some("estimator"),
            Some("ada"),
        ),
        "estimator-for-bob" => (
            PrincipalKind::Agent,
            &["repair.price"],
            Some("estimator"),
            Some("bob"),
        ),
        "estimator-for-manager" => (
            PrincipalKind::Agent,
            &["repair.price"],
            Some("estimator"),
            Some("manager"),
        ),
        "estimator-alone" => (
            PrincipalKind::Agent,
            &["repair.price"],
            Some("estimator"),
            None,
        ),
        "estimator-for-apprentice" => (
            PrincipalKind::Agent,
            &["repair.price"],
            Some("estimator"),
            Some("apprentice"),
        ),
        // May widen what agents do alone, and set no prices.
        "apprentice" => (PrincipalKind::Person, &["agents.widen"], None, None),
        "auditor-bot" => (PrincipalKind::Agent, &["flowx.audit.read"], None, None),
        "stranger-bot" => (PrincipalKind::Agent, &["payment.refund"], None, None),
        "ada" => (
            PrincipalKind::Person,
            &["repair.price", "agents.widen"],
            None,
            None,
        ),
        "mechanic" => (
            PrincipalKind::Person,
            &["flowx.proposals.decide"],
            None,
            None,
        ),
        "bob" => (PrincipalKind::Person, &["payment.refund"], None, None),
        "sponsor" => (PrincipalKind::Person, &["repair.price"], None, None),
        // Somebody else's sponsor: the name is the same, and who vouches for it is not.
        "sponsor-elsewhere" => (PrincipalKind::Person, &["repair.price"], None, None),
        "fleet-manager" => (PrincipalKind::Person, &["fleet.manage"], None, None),
        "lead" => (PrincipalKind::Person, &["board.lead"], None, None),
        "manager" => (
            PrincipalKind::Person,
            &[
                "repair.price",
                "payment.refund",
                "flowx.proposals.decide",
                "flowx.audit.read",
                "agents.widen",
            ],
            None,
            None,
        ),
        other => panic!("nobody is called {other}"),
    };
    let (subject, issuer) = match token {
        "sponsor-elsewhere" => ("sponsor", "elsewhere"),
        _ if agent.is_some() => ("estimator", "desk"),
        _ => (token, "desk"),
    };
    Principal {
        kind,
        subject: subject.to_owned(),
        issuer: issuer.to_owned(),
        permissions: permissions.iter().map(|p| p.parse().unwrap()).collect(),
        agent: agent.map(|a| a.parse().unwrap()),
        on_behalf_of: on_behalf_of.map(str::to_owned),
        ..Principal::anonymous()
    }
}

/// Takes every token that somebody is called by. What it says of them later is set by the test.
struct Tokens(Roll);
impl Identity for Tokens {
    fn authenticate<'a>(
        &'a self,
        token: &'a str,
        _: &'a Parts,
    ) -> BoxFuture<'a, Result<Principal, Refusal>> {
        Box::pin(async move { Ok(who(token)) })
    }

    fn current<'a>(&'a self, _: &'a Principal) -> BoxFuture<'a, Result<Current, Refusal>> {
        Box::pin(async move { self.0.0.lock().unwrap().clone() })
    }
}

/// What the identity says of whoever asked before.
#[derive(Clone)]
pub struct Roll(Arc<Mutex<Result<Current, Refusal>>>);

impl Roll {
    pub fn says(&self, now: Result<Current, Refusal>) {
        *self.0.lock().unwrap() = now;
    }
}

/// A caller's client: what it can be asked, what it brings along, and what it answers.
pub struct Client {
    pub form: Asking,
    pub url: Asking,
    pub given: Option<Given>,
    pub reply: Reply,
    pub asked: Mutex<Vec<Ask>>,
}

impl Client {
    /// One that cannot be asked.
    pub fn mute() -> Client {
        Client {
            form: Asking::Cannot,
            url: Asking::Cannot,
            given: None,
            reply: Reply::Gone,
            asked: Mutex::default(),
        }
    }

    /// One with a session, which gives that answer.
    pub fn answering(reply: Reply) -> Client {
        Client {
            form: Asking::InCall,
            url: Asking::InCall,
            reply,
            ..Client::mute()
        }
    }

    /// One that repeats the call with its answers.
    pub fn retrying(given: Option<Given>) -> Client {
        Client {
            form: Asking::ByRetry,
            url: Asking::ByRetry,
            given,
            ..Client::mute()
        }
    }
}

impl Channel for Client {
    fn asking(&self, kind: AskKind) -> Asking {
        match kind {
            AskKind::Form => self.form,
            AskKind::Url => self.url,
            AskKind::Model => Asking::Cannot,
        }
    }
    fn ask(&self, ask: Ask) -> BoxFuture<'_, Reply> {
        self.asked.lock().unwrap().push(ask);
        Box::pin(std::future::ready(self.reply.clone()))
    }
    fn given(&self) -> Option<&Given> {
        self.given.as_ref()
    }
    fn progress(&self, _: f64, _: Option<f64>, _: Option<&str>) {}
}

/// What a lab is made of.
#[derive(Clone)]
pub struct Setup {
    pub address: String,
    pub policy: ConfirmationPolicy,
    pub options: GateOptions,
    pub watch: Watch,
    pub world: World,
    pub embedded: &'static Embedded,
    pub roll: Roll,
    pub folder: Option<Arc<tempfile::TempDir>>,
}

/// A running desk.
#[derive(Clone)]
pub struct Lab {
    pub core: Arc<Core>,
    pub router: axum::Router,
    pub world: World,
    pub watch: Watch,
    pub store: SharedStore,
    pub setup: Setup,
}

impl Lab {
    pub async fn on_sqlite() -> Lab {
        let folder = Arc::new(tempfile::tempdir().unwrap());
        let mut setup = Setup::new(&format!(
            "sqlite:{}",
            folder.path().join("desk.db").display()
        ));
        setup.folder = Some(folder);
        Lab::start(setup).await
    }

    pub async fn on(address: &str) -> Lab {
        Lab::start(Setup::new(address)).await
    }

    /// Starts an instance. Another one of the same setup shares store, world and clock.
    pub async fn start(setup: Setup) -> Lab {
        let store = open(&setup.address).await.unwrap();
        Lab::with_store(setup, store).await
    }

    pub async fn with_store(setup: Setup, store: SharedStore) -> Lab {
        let world = setup.world.clone();
        let revision = world.clone();
        let app = App::new(setup.embedded)
            .effect(Data(world.clone()))
            .effect(Till(world.clone()))
            .effect(Mail(world.clone()))
            .identity(Tokens(setup.roll.clone()))
            .visibility(Visibility::All)
            .clock(setup.watch.clone())
            .store(Arc::clone(&store))
            .gate(setup.options.clone())
            .public_url("https://desk.example")
            .mcp(McpOptions {
                confirmation: setup.policy,
                ..McpOptions::default()
            })
            .names::<PriceFlow, _>(|input: Json| async move {
                let id = input.get("ticket").and_then(Json::as_str).unwrap_or("?");
                vec![("ticket".to_owned(), format!("Ticket T-{id}"))]
            })
            .subject_version::<PriceFlow, _>(move |_| {
                let revision = revision.revision();
                async move { Ok(revision.to_string()) }
            });
        let (core, router) = app.into_router().unwrap();
        // What a store that is dark from the start lets it do; the tests of such ones see the rest.
        let _ = core.gate().keep_up().await;
        Lab {
            core,
            router,
            world,
            watch: setup.watch.clone(),
            store,
            setup,
        }
    }

    /// Another instance on the same store, with the same world and clock.
    pub async fn another(&self) -> Lab {
        Lab::start(self.setup.clone()).await
    }

    /// The same desk under another policy.
    pub async fn under(&self, policy: ConfirmationPolicy) -> Lab {
        Lab::start(Setup {
            policy,
            ..self.setup.clone()
        })
        .await
    }

    /// The next release of the desk, on the same store.
    pub async fn released(&self, edit: impl FnOnce(&mut Manifest)) -> Lab {
        Lab::start(Setup {
            embedded: embed(&manifest(edit)),
            ..self.setup.clone()
        })
        .await
    }

    pub fn invocation(
        &self,
        token: &str,
        flow: &str,
        input: &str,
        transport: Transport,
    ) -> Invocation {
        let input =
            flowx_manifest::json::parse(input.as_bytes(), flowx_manifest::json::Limits::DOCUMENT)
                .unwrap();
        Invocation::new(
            format!("{flow}@1.0.0"),
            Arc::new(who(token)),
            input,
            transport,
        )
    }

    /// A call over MCP by a client that cannot be asked.
    pub async fn call(&self, token: &str, flow: &str, input: &str) -> CallOutcome {
        self.core
            .call(
                self.invocation(token, flow, input, Transport::Mcp),
                Arc::new(Client::mute()),
            )
            .await
    }

    pub async fn call_by(
        &self,
        client: Client,
        token: &str,
        flow: &str,
        input: &str,
    ) -> CallOutcome {
        self.core
            .call(
                self.invocation(token, flow, input, Transport::Mcp),
                Arc::new(client),
            )
            .await
    }

    pub async fn code(&self, token: &str, flow: &str, input: &str) -> String {
        code(&self.call(token, flow, input).await)
    }

    /// A request over HTTP, and its answer.
    pub async fn http(
        &self,
        token: &str,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Answer {
        let mut request = Request::builder()
            .method(method)
            .uri(path)
            .header("host", "localhost")
            .header("authorization", format!("Bearer {token}"));
        if !body.is_empty() {
            request = request.header("content-type", "application/json");
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request
            .body(axum::body::Body::from(body.to_owned()))
            .unwrap();
        let answer = self.router.clone().oneshot(request).await.unwrap();
        let (parts, body) = answer.into_parts();
        let bytes = body.collect().await.unwrap().to_bytes();
        let text = String::from_utf8(bytes.to_vec()).unwrap();
        let json =
            flowx_manifest::json::parse(text.as_bytes(), flowx_manifest::json::Limits::DOCUMENT);
        Answer {
            status: parts.status,
            text,
            json: json.unwrap_or_default(),
        }
    }

    pub async fn get(&self, token: &str, path: &str) -> Answer {
        self.http(token, Method::GET, path, &[], "").await
    }

    pub async fn post(&self, token: &str, path: &str, body: &str) -> Answer {
        self.http(token, Method::POST, path, &[], body).await
    }

    /// Every waiting proposal, as a supervisor sees it.
    pub async fn waiting(&self) -> Vec<Json> {
        let answer = self
            .get("mechanic", "/flowx/proposals?status=waiting")
            .await;
        assert_eq!(answer.status, StatusCode::OK, "{}", answer.text);
        answer
            .json
            .get("proposals")
            .unwrap()
            .as_array()
            .unwrap()
            .to_vec()
    }

    /// The only waiting proposal: its id, and the fingerprint of what is shown.
    pub async fn only(&self) -> (String, String) {
        let waiting = self.waiting().await;
        assert_eq!(waiting.len(), 1, "{waiting:?}");
        let text = |name: &str| waiting[0].get(name).unwrap().as_str().unwrap().to_owned();
        (text("id"), text("fingerprint"))
    }

    pub async fn approve(&self, token: &str, id: &str, fingerprint: &str) -> Answer {
        let body = format!("{{\"fingerprint\":\"{fingerprint}\"}}");
        self.post(token, &format!("/flowx/proposals/{id}/approve"), &body)
            .await
    }

    pub async fn reject(&self, token: &str, id: &str, reason: &str) -> Answer {
        let body = Json::object([("reason", Json::from(reason))]).to_canonical();
        self.post(token, &format!("/flowx/proposals/{id}/reject"), &body)
            .await
    }

    pub async fn status(&self, id: &str) -> String {
        self.store
            .proposal(id)
            .await
            .unwrap()
            .unwrap()
            .status
            .as_str()
            .to_owned()
    }

    /// Every audit record, with the chain checked.
    pub async fn audit(&self) -> Vec<Json> {
        // What was handed over last is written within a moment.
        tokio::time::sleep(Duration::from_millis(300)).await;
        let (links, head) = flowx_runtime::audit::export(&*self.store, 0, 100_000)
            .await
            .unwrap();
        let text: String = links.iter().map(|l| l.to_line() + "\n").collect();
        assert_eq!(
            flowx_manifest::audit_chain::verify(&text, Some(head.clone())),
            Ok(head)
        );
        links
            .iter()
            .map(|l| {
                flowx_manifest::json::parse(
                    l.record.as_bytes(),
                    flowx_manifest::json::Limits::DOCUMENT,
                )
                .unwrap()
            })
            .collect()
    }
}

/// An answer over HTTP.
#[derive(Debug)]
pub struct Answer {
    pub status: StatusCode,
    pub text: String,
    pub json: Json,
}

impl Answer {
    pub fn member(&self, name: &str) -> &str {
        self.json
            .get(name)
            .and_then(Json::as_str)
            .unwrap_or_else(|| panic!("no {name} in {}", self.text))
    }
}

impl Setup {
    pub fn new(address: &str) -> Setup {
        let now = time::OffsetDateTime::now_utc().unix_timestamp() * 1_000;
        Setup {
            address: address.to_owned(),
            policy: ConfirmationPolicy::Annotate,
            // The clock is the test's own, so no instance may look dead because it was set forward.
            options: GateOptions {
                lease: Duration::from_secs(86_400 * 365),
                ..GateOptions::default()
            },
            watch: Watch(Some(Arc::new(AtomicI64::new(now)))),
            world: World::default(),
            embedded: embed(&manifest(|_| {})),
            roll: Roll(Arc::new(Mutex::new(Ok(Current::CannotSay)))),
            folder: None,
        }
    }
}

/// The code of an outcome: the refusal's, or a word for what else it is.
pub fn code(outcome: &CallOutcome) -> String {
    match outcome {
        CallOutcome::Done(_) => "done".to_owned(),
        CallOutcome::Refused(refusal) => refusal.code.to_string(),
        CallOutcome::Unknown => "unknown".to_owned(),
        CallOutcome::InputRequired { .. } => "input_required".to_owned(),
        CallOutcome::CannotAsk { .. } => "cannot_ask".to_owned(),
    }
}

/// The `detail.outcome` of a refused confirmation.
pub fn outcome(outcome: &CallOutcome) -> String {
    let refusal = match outcome {
        CallOutcome::Refused(refusal) | CallOutcome::CannotAsk { refusal, .. } => refusal,
        other => panic!("not a refusal: {other:?}"),
    };
    let detail = refusal
        .detail
        .as_ref()
        .and_then(|d| d.get("outcome"))
        .and_then(Json::as_str);
    detail
        .unwrap_or_else(|| panic!("no outcome in {refusal:?}"))
        .to_owned()
}
