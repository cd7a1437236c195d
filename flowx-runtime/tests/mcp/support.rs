//! A small desk, put together by hand so that every byte of its descriptors is chosen, and a client that sees raw answers.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use bytes::Bytes;
use flowx_manifest::{
    Application, Authorization, Capability as PublishedCapability, Confirmation, Contract,
    Effect as PublishedEffect, EffectClass, Flow as PublishedFlow, Json, Kind, Manifest, Profile,
    Risk, SCHEMA_ID, SCHEMA_VERSION, Step, StepTarget, Tool, ToolAnnotations, ToolMeta, Trigger,
    TypeRef,
};
use flowx_runtime::__private::{
    Capability, CapabilityInfo, Declares, Effect, Flow, FlowInfo, HasStep, NoUndo, Registry, Slice,
    Stance, StepInfo,
};
use flowx_runtime::mcp::{self, McpOptions};
use flowx_runtime::{
    App, Core, Cx, Embedded, FlowCx, Identity, ModelRequest, NoModel, Principal, PrincipalKind,
    Refusal, Visibility,
};
use futures_util::future::BoxFuture;
use http::request::Parts;
use http::{HeaderMap, Method, Request, StatusCode};
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

/// Counts how often the world was really changed.
#[derive(Clone, Default)]
pub struct Ledger(Arc<AtomicUsize>);

impl Ledger {
    pub fn count(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

impl Effect for Ledger {
    const ID: &'static str = "ledger";
    const CLASS: EffectClass = EffectClass::Changes;
}

struct Pay;
impl Declares<Ledger> for Pay {}
impl Capability for Pay {
    type Input = Json;
    type Output = Json;
    type Error = Infallible;
    const INFO: CapabilityInfo = CapabilityInfo {
        id: "payment.refund",
        version: "1.0.0",
        stance: Stance::Permission("payment.refund"),
        effects: &["ledger"],
        side_effects: true,
        idempotent: false,
    };
    async fn run(cx: &Cx<Self>, input: Json) -> Result<Json, Infallible> {
        cx.effect::<Ledger>().0.fetch_add(1, Ordering::SeqCst);
        Ok(input)
    }
}

/// A flow over JSON as it comes; with a ledger where it pays.
macro_rules! desk_flow {
    ($(#[$doc:meta])* $name:ident, $id:literal, $version:literal, pays: $pays:literal, |$cx:ident, $input:ident| $body:block) => {
        $(#[$doc])*
        struct $name;
        impl Flow for $name {
            type Input = Json;
            type Output = Json;
            type Error = Infallible;
            const INFO: FlowInfo = FlowInfo { id: $id, version: $version, deadline_ms: 0 };
            const EFFECTS: &'static [&'static [&'static str]] = if $pays { &[&["ledger"]] } else { &[] };
            const SIDE_EFFECTS: bool = $pays;
            async fn run($cx: &FlowCx<Self>, $input: Json) -> Result<Json, Infallible> $body
        }
        impl HasStep<Pay> for $name {
            const STEP: StepInfo = StepInfo { name: "pay", timeout_ms: 0, attempts: 1, backoff_ms: 0 };
            type Undo = NoUndo;
            fn again(_: &Json) -> Option<Json> {
                None
            }
        }
    };
}

desk_flow!(Refund, "ticket.refund", "1.0.0", pays: true, |cx, input| { cx.step::<Pay>(input).await });
desk_flow!(
    /// As the refund, and asks first.
    Asked, "ticket.asked", "1.0.0", pays: true, |cx, input| { cx.step::<Pay>(input).await }
);
desk_flow!(
    /// Gives back its input.
    Echo, "desk.echo", "2.0.0", pays: false, |_cx, input| { Ok(input) }
);
desk_flow!(
    /// The same flow, a major earlier.
    OldEcho, "desk.echo", "1.0.0", pays: false, |_cx, input| { Ok(input) }
);
desk_flow!(
    /// Asks the caller's model twice.
    Narrate, "desk.narrate", "1.0.0", pays: false, |cx, _input| {
        let first = narration(cx.ask_model(&question("first")).await);
        let second = narration(cx.ask_model(&question("second")).await);
        Ok(Json::object([("first", first), ("second", second)]))
    }
);
desk_flow!(
    /// Pays, and asks the caller's model.
    PayAndNarrate, "ticket.narrated", "1.0.0", pays: true, |cx, input| {
        cx.step::<Pay>(input).await?;
        Ok(Json::object([("first", narration(cx.ask_model(&question("first")).await))]))
    }
);

fn question(prompt: &str) -> ModelRequest {
    ModelRequest {
        system: None,
        prompt: prompt.to_owned(),
        max_tokens: 100,
    }
}

fn narration(said: Result<String, NoModel>) -> Json {
    match said {
        Ok(text) => Json::from(text),
        Err(why) => Json::from(format!("none: {why}")),
    }
}

/// Gives back a number that no double holds.
struct Wide;
#[derive(serde::Serialize, serde::Deserialize)]
struct Number {
    n: u128,
}
impl Flow for Wide {
    type Input = Number;
    type Output = Number;
    type Error = Infallible;
    const INFO: FlowInfo = FlowInfo {
        id: "desk.wide",
        version: "1.0.0",
        deadline_ms: 0,
    };
    const EFFECTS: &'static [&'static [&'static str]] = &[];
    const SIDE_EFFECTS: bool = false;
    async fn run(_: &FlowCx<Self>, input: Number) -> Result<Number, Infallible> {
        Ok(input)
    }
}

/// How many calls that were to wait for [`ABANDONED_MS`] have come to their end.
pub static ABANDONED: AtomicUsize = AtomicUsize::new(0);
pub const ABANDONED_MS: u64 = 777;

desk_flow!(
    /// Tells how far it is; then waits for as long as it was told.
    Count, "desk.count", "1.0.0", pays: false, |cx, input| {
        for done in [0.0, 50.0, 50.0, 100.0] {
            cx.progress(done, Some(100.0), "counting");
        }
        let wait = input
            .get("wait_ms")
            .and_then(Json::as_number)
            .and_then(|n| n.as_u128())
            .unwrap_or(0);
        tokio::time::sleep(Duration::from_millis(wait as u64)).await;
        if wait as u64 == ABANDONED_MS {
            ABANDONED.fetch_add(1, Ordering::SeqCst);
        }
        Ok(input)
    }
);

fn register(registry: &mut Registry) {
    registry.effect::<Ledger>();
    registry.capability::<Pay>();
    registry.flow::<Refund>();
    registry.flow::<Asked>();
    registry.flow::<Echo>();
    registry.flow::<OldEcho>();
    registry.flow::<Count>();
    registry.flow::<Wide>();
    registry.flow::<Narrate>();
    registry.flow::<PayAndNarrate>();
}

/// Text that every layer on the way would like to write otherwise.
const TRICKY: &str =
    "Zahlt „zurück“.\nSecond line \u{2028} \"quoted\" \\ / </script> \u{1} \u{7f} é \u{1F600}";

fn tool(name: &str, flow: &PublishedFlow) -> Tool {
    let effects: std::collections::BTreeSet<_> = flow.effects.iter().cloned().collect();
    let schema = r#"{"additionalProperties":true,"properties":{"a":{"description":"x","maximum":1e2,"minimum":0.10,"type":"number"},"region":{"type":"string","x-mcp-header":"Region"}},"type":"object"}"#;
    let schema =
        flowx_manifest::json::parse(schema.as_bytes(), flowx_manifest::json::Limits::DOCUMENT)
            .unwrap();
    Tool {
        name: name.parse().unwrap(),
        title: Some("A title".into()),
        description: TRICKY.into(),
        input_schema: schema.clone(),
        output_schema: Json::object([("type", Json::from("object"))]),
        annotations: ToolAnnotations {
            title: None,
            read_only_hint: effects.is_empty(),
            destructive_hint: !effects.is_empty(),
            idempotent_hint: false,
            open_world_hint: false,
            flow_id: flow.id.clone(),
            idempotent: false,
            confirmation_required: false,
            side_effects: effects.clone(),
            required_permissions: flow.permissions.clone(),
        },
        meta: ToolMeta {
            flow_id: flow.id.clone(),
            idempotent: false,
            confirmation_required: false,
            side_effects: effects,
            required_permissions: flow.permissions.clone(),
        },
    }
}

fn flow(id: &str, version: &str, tool: &str) -> PublishedFlow {
    let any = || TypeRef {
        name: "crate::Any".into(),
        sensitive: Default::default(),
    };
    PublishedFlow {
        id: id.parse().unwrap(),
        version: version.parse().unwrap(),
        title: None,
        description: Some(TRICKY.into()),
        owner: None,
        deadline: None,
        profile: Profile::Ephemeral,
        input: any(),
        output: any(),
        triggers: vec![Trigger::Agent {
            name: tool.parse().unwrap(),
            description: None,
            confirmation: Confirmation::Never,
            risk: Risk::Normal,
        }],
        steps: Vec::new(),
        effects: Default::default(),
        permissions: Default::default(),
        errors: None,
        approval: None,
        deprecated: None,
        renamed_from: None,
    }
}

fn manifest() -> Manifest {
    let any = || TypeRef {
        name: "crate::Any".into(),
        sensitive: Default::default(),
    };
    let mut refund = flow("ticket.refund", "1.0.0", "ticket_refund");
    refund.effects = ["ledger".parse().unwrap()].into();
    refund.permissions = ["payment.refund".parse().unwrap()].into();
    refund.steps = vec![Step {
        name: "pay".parse().unwrap(),
        calls: StepTarget::Capability("payment.refund@1.0.0".parse().unwrap()),
        timeout: None,
        attempts: None,
        backoff: None,
        compensation: None,
    }];
    let mut asked = refund.clone();
    asked.id = "ticket.asked".parse().unwrap();
    asked.triggers = vec![Trigger::Agent {
        name: "ticket_asked".parse().unwrap(),
        description: None,
        confirmation: Confirmation::Always,
        risk: Risk::Normal,
    }];
    let mut narrated = refund.clone();
    narrated.id = "ticket.narrated".parse().unwrap();
    narrated.triggers = flow("ticket.narrated", "1.0.0", "ticket_narrated").triggers;
    let named = [
        ("ticket_narrated", narrated),
        (
            "desk_narrate",
            flow("desk.narrate", "1.0.0", "desk_narrate"),
        ),
        ("ticket_asked", asked),
        ("ticket_refund", refund),
        ("desk_echo", flow("desk.echo", "2.0.0", "desk_echo")),
        ("desk_echo_1", flow("desk.echo", "1.0.0", "desk_echo_1")),
        ("desk_count", flow("desk.count", "1.0.0", "desk_count")),
        ("desk_wide", flow("desk.wide", "1.0.0", "desk_wide")),
    ];
    let mut manifest = Manifest {
        schema: SCHEMA_ID.into(),
        schema_version: SCHEMA_VERSION.into(),
        application: Application {
            name: "desk".into(),
            version: "0.1.0".into(),
        },
        effects: vec![PublishedEffect {
            id: "ledger".parse().unwrap(),
            class: EffectClass::Changes,
            description: None,
        }],
        capabilities: vec![PublishedCapability {
            id: "payment.refund".parse().unwrap(),
            version: "1.0.0".parse().unwrap(),
            description: None,
            input: any(),
            output: any(),
            authorization: Authorization::Permission {
                permission: "payment.refund".parse().unwrap(),
            },
            effects: ["ledger".parse().unwrap()].into(),
            idempotent: false,
            errors: Some(Vec::new()),
            deprecated: None,
        }],
        tools: named.iter().map(|(name, flow)| tool(name, flow)).collect(),
        flows: named.into_iter().map(|(_, flow)| flow).collect(),
        events: Vec::new(),
        agents: Vec::new(),
        entities: Vec::new(),
        contracts: vec![Contract {
            id: "crate::Any".into(),
            schema: Some(Json::empty()),
            request: None,
            response: None,
            renamed_from: None,
        }],
    };
    manifest.canonicalise();
    manifest
}

/// The manifest as `include_manifest!` would embed it. Leaked, as it stands in a static there.
pub fn embedded() -> &'static Embedded {
    let document = manifest().write();
    // As nobody's writer would write it, and as long, so that the index stays right.
    assert!(document.text.contains(r#""maximum":100.0"#));
    let text: &'static str = document
        .text
        .replace(r#""maximum":100.0"#, r#""maximum":1.0E2"#)
        .leak();
    let index: Vec<Slice> = document
        .index
        .into_iter()
        .map(|entry| Slice {
            kind: entry.kind,
            id: entry.id.leak(),
            start: entry.range.start,
            end: entry.range.end,
        })
        .collect();
    Box::leak(Box::new(Embedded {
        text,
        digest: flowx_manifest::digest(text.as_bytes()).leak(),
        index: index.leak(),
        register,
    }))
}

/// Who the tokens of the tests stand for.
struct Tokens;
impl Identity for Tokens {
    fn authenticate<'a>(
        &'a self,
        token: &'a str,
        _: &'a Parts,
    ) -> BoxFuture<'a, Result<Principal, Refusal>> {
        Box::pin(async move { person(token).ok_or_else(Refusal::not_authenticated) })
    }
}

pub fn person(token: &str) -> Option<Principal> {
    let permissions: &[&str] = match token {
        "clerk" | "other" => &[],
        "manager" => &["payment.refund", "flowx.manifest.read"],
        _ => return None,
    };
    Some(Principal {
        kind: PrincipalKind::Person,
        subject: token.to_owned(),
        permissions: permissions.iter().map(|p| p.parse().unwrap()).collect(),
        ..Principal::anonymous()
    })
}

/// A served desk.
pub struct Desk {
    pub router: Router,
    pub core: Arc<Core>,
    pub ledger: Ledger,
    pub text: &'static str,
    pub shutdown: CancellationToken,
}

pub fn desk(visibility: Visibility, options: McpOptions) -> Desk {
    let (app, ledger) = app();
    let core = app
        .visibility(visibility)
        .mcp(options.clone())
        .into_core()
        .unwrap();
    let shutdown = CancellationToken::new();
    let router = mcp::router(Arc::clone(&core), &options, shutdown.clone()).unwrap();
    Desk {
        router,
        text: core.embedded().text,
        core,
        ledger,
        shutdown,
    }
}

/// The application itself, and its ledger.
pub fn app() -> (App, Ledger) {
    let ledger = Ledger::default();
    let app = App::new(embedded()).effect(ledger.clone()).identity(Tokens);
    (app, ledger)
}

/// An answer with its whole body.
#[derive(Debug)]
pub struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Bytes,
}

impl Answer {
    pub fn is_stream(&self) -> bool {
        self.headers
            .get("content-type")
            .is_some_and(|t| t == "text/event-stream")
    }

    /// The JSON-RPC messages, as text, whichever way they came.
    pub fn messages(&self) -> Vec<String> {
        let text = String::from_utf8(self.body.to_vec()).unwrap();
        if !self.is_stream() {
            return vec![text];
        }
        text.lines()
            .filter_map(|l| l.strip_prefix("data:"))
            .map(|l| l.trim_start().to_owned())
            .filter(|l| !l.is_empty())
            .collect()
    }

    /// The last message: the result or error.
    pub fn last(&self) -> Value {
        let messages = self.messages();
        let last = messages
            .last()
            .unwrap_or_else(|| panic!("no message in {self:?}"));
        serde_json::from_str(last).unwrap_or_else(|e| panic!("{e} in {last:?} ({})", self.status))
    }

    pub fn result(&self) -> Value {
        let last = self.last();
        assert!(last.get("result").is_some(), "{last}");
        last["result"].clone()
    }

    pub fn error_code(&self) -> i64 {
        self.last()["error"]["code"]
            .as_i64()
            .unwrap_or_else(|| panic!("no error in {self:?}"))
    }
}

impl Desk {
    pub async fn send(&self, request: Request<Body>) -> Answer {
        let response = self.router.clone().oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        Answer {
            status: parts.status,
            headers: parts.headers,
            body,
        }
    }

    /// A request with the headers that every client sends. A `None` value takes the header out.
    pub fn request(
        &self,
        method: Method,
        token: &str,
        headers: &[(&str, &str)],
        body: impl Into<Body>,
    ) -> Request<Body> {
        let mut request = Request::builder()
            .method(method)
            .uri("/mcp")
            .header("host", "localhost")
            .header("accept", "application/json, text/event-stream")
            .header("content-type", "application/json");
        if !token.is_empty() {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        request.body(body.into()).unwrap()
    }

    /// A 2026-07-28 request.
    pub async fn modern(&self, token: &str, method: &str, params: Value) -> Answer {
        self.modern_as(token, method, params, json!({})).await
    }

    pub async fn modern_as(
        &self,
        token: &str,
        method: &str,
        mut params: Value,
        capabilities: Value,
    ) -> Answer {
        let meta = params
            .as_object_mut()
            .unwrap()
            .entry("_meta")
            .or_insert(json!({}));
        meta["io.modelcontextprotocol/protocolVersion"] = "2026-07-28".into();
        meta["io.modelcontextprotocol/clientCapabilities"] = capabilities;
        let name = params
            .get("name")
            .or_else(|| params.get("uri"))
            .and_then(Value::as_str)
            .unwrap_or("")
            .to_owned();
        let mut headers = vec![
            ("mcp-protocol-version", "2026-07-28"),
            ("mcp-method", method),
        ];
        if !name.is_empty() {
            headers.push(("mcp-name", &name));
        }
        let body =
            json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params }).to_string();
        self.send(self.request(Method::POST, token, &headers, body))
            .await
    }

    /// Opens a session of a 2025-11-25 client.
    pub async fn open(&self, token: &str, capabilities: Value) -> String {
        let answer = self.initialize(token, capabilities).await;
        assert_eq!(answer.status, StatusCode::OK, "{answer:?}");
        assert_eq!(answer.result()["protocolVersion"], "2025-11-25");
        let session = answer.headers["mcp-session-id"]
            .to_str()
            .unwrap()
            .to_owned();
        let opened = self
            .legacy_text(
                token,
                &session,
                r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
            )
            .await;
        assert_eq!(opened.status, StatusCode::ACCEPTED);
        session
    }

    pub async fn initialize(&self, token: &str, capabilities: Value) -> Answer {
        let params = json!({ "protocolVersion": "2025-11-25", "capabilities": capabilities, "clientInfo": { "name": "test", "version": "1" } });
        let body = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params })
            .to_string();
        self.send(self.request(Method::POST, token, &[], body))
            .await
    }

    pub async fn legacy_text(&self, token: &str, session: &str, body: &str) -> Answer {
        let headers = [
            ("mcp-session-id", session),
            ("mcp-protocol-version", "2025-11-25"),
        ];
        self.send(self.request(Method::POST, token, &headers, body.to_owned()))
            .await
    }

    /// A request in a session of a 2025-11-25 client.
    pub async fn legacy(&self, token: &str, session: &str, method: &str, params: Value) -> Answer {
        let body =
            json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params }).to_string();
        self.legacy_text(token, session, &body).await
    }

    /// The embedded descriptors by name.
    pub fn descriptors(&self) -> Vec<(&'static str, &'static str)> {
        self.core.embedded().entries(Kind::Tool).collect()
    }
}

/// Both eras, so that a test says something about each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Era {
    Legacy,
    Modern,
}

pub const ERAS: [Era; 2] = [Era::Legacy, Era::Modern];

impl Desk {
    pub async fn ask(&self, era: Era, token: &str, method: &str, params: Value) -> Answer {
        match era {
            Era::Modern => self.modern(token, method, params).await,
            Era::Legacy => {
                let session = self.open(token, json!({})).await;
                self.legacy(token, &session, method, params).await
            }
        }
    }
}
