//! What a `tools/list` costs the server, beside the MCP library's own typed list of the same tools.
//!
//! Both servers listen on loopback, each with one worker on a thread of its own, and answer the same requests over one kept connection,
//! in turn. What is measured is the time that the server's thread was on a processor (`/proc/thread-self/schedstat`), so neither the
//! client nor a busy machine counts. Prints one line per size and side: `tools_list SIZE SIDE MICROSECONDS...`, one figure per round.
//!
//! `cargo bench -p flowx-runtime --bench tools_list -- [ROUNDS] [SIZE...]`

#![allow(clippy::unwrap_used)]

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::mpsc;

use flowx_manifest::{
    Application, Confirmation, Contract, Flow as PublishedFlow, Json, Manifest, Profile, Risk,
    SCHEMA_ID, SCHEMA_VERSION, Tool, ToolAnnotations, ToolMeta, Trigger, TypeRef,
};
use flowx_runtime::__private::{Flow, FlowInfo, Registry, Slice};
use flowx_runtime::mcp::{self, McpOptions};
use flowx_runtime::{App, Embedded, FlowCx, Limits, Rate, Visibility};
use rmcp::handler::server::ServerHandler;
use rmcp::model::{ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig};
use rmcp::service::{RequestContext, RoleServer};
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio_util::sync::CancellationToken;

struct Nothing;
impl Flow for Nothing {
    type Input = Json;
    type Output = Json;
    type Error = Infallible;
    const INFO: FlowInfo = FlowInfo {
        id: "bench.nothing",
        version: "1.0.0",
        deadline_ms: 0,
    };
    const EFFECTS: &'static [&'static [&'static str]] = &[];
    const SIDE_EFFECTS: bool = false;
    async fn run(_: &FlowCx<Self>, input: Json) -> Result<Json, Infallible> {
        Ok(input)
    }
}

fn id(n: usize) -> String {
    format!("bench.tool_{n:04}")
}

/// A tool of ordinary size: about 900 bytes, as the ticket desk's.
fn tool(n: usize) -> Tool {
    let schema = |text: &str| {
        flowx_manifest::json::parse(text.as_bytes(), flowx_manifest::json::Limits::DOCUMENT)
            .unwrap()
    };
    let flow_id: flowx_manifest::FlowId = id(n).parse().unwrap();
    Tool {
        name: id(n).replace('.', "_").parse().unwrap(),
        title: None,
        description:
            "Issue a refund against a support ticket. Find the ticket with `ticket_search` first."
                .into(),
        input_schema: schema(
            r#"{"additionalProperties":false,"properties":{"amount_cents":{"description":"The amount in cents.","minimum":0,"type":"integer"},"cardholder_reference":{"description":"Who is paid.","type":"string"},"ticket_id":{"description":"The ticket.","type":"string"}},"required":["ticket_id","amount_cents","cardholder_reference"],"type":"object"}"#,
        ),
        output_schema: schema(
            r#"{"additionalProperties":false,"properties":{"refund_reference":{"type":"string"},"ticket_id":{"type":"string"}},"required":["ticket_id","refund_reference"],"type":"object"}"#,
        ),
        annotations: ToolAnnotations {
            title: None,
            read_only_hint: true,
            destructive_hint: false,
            idempotent_hint: true,
            open_world_hint: false,
            flow_id: flow_id.clone(),
            idempotent: true,
            confirmation_required: false,
            side_effects: Default::default(),
            required_permissions: Default::default(),
        },
        meta: ToolMeta {
            flow_id,
            idempotent: true,
            confirmation_required: false,
            side_effects: Default::default(),
            required_permissions: Default::default(),
        },
    }
}

fn flow(n: usize) -> PublishedFlow {
    let any = || TypeRef {
        name: "crate::Any".into(),
        sensitive: Default::default(),
    };
    PublishedFlow {
        id: id(n).parse().unwrap(),
        version: "1.0.0".parse().unwrap(),
        title: None,
        description: None,
        owner: None,
        deadline: None,
        profile: Profile::Ephemeral,
        input: any(),
        output: any(),
        triggers: vec![Trigger::Agent {
            name: id(n).replace('.', "_").parse().unwrap(),
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

thread_local! {
    /// How many flows the next application has; `Embedded::register` takes nothing along.
    static COUNT: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

fn register(registry: &mut Registry) {
    for n in 0..COUNT.get() {
        let info = FlowInfo {
            id: id(n).leak(),
            version: "1.0.0",
            deadline_ms: 0,
        };
        registry.flow_as::<Nothing>(info);
    }
}

fn flowx(count: usize) -> axum::Router {
    COUNT.set(count);
    let mut manifest = Manifest {
        schema: SCHEMA_ID.into(),
        schema_version: SCHEMA_VERSION.into(),
        application: Application {
            name: "bench".into(),
            version: "0.1.0".into(),
        },
        effects: Vec::new(),
        capabilities: Vec::new(),
        flows: (0..count).map(flow).collect(),
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
        tools: (0..count).map(tool).collect(),
    };
    manifest.canonicalise();
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
    let digest = flowx_manifest::digest(text.as_bytes()).leak();
    let embedded: &'static Embedded = Box::leak(Box::new(Embedded {
        text,
        digest,
        index: index.leak(),
        register,
    }));
    // Each caller's own set, so that what depends on the caller is paid for.
    let core = App::new(embedded)
        .visibility(Visibility::Permitted)
        // Counted as everywhere, and never reached.
        .limits(Limits {
            anonymous_rate: Some(Rate {
                per_second: 1_000_000,
                burst: 1_000_000,
            }),
            ..Limits::default()
        })
        .into_core()
        .unwrap();
    mcp::router(core, &McpOptions::default(), CancellationToken::new()).unwrap()
}

#[derive(Clone)]
struct Typed(Arc<Vec<rmcp::model::Tool>>);

impl ServerHandler for Typed {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, rmcp::ErrorData> {
        Ok(ListToolsResult::with_all_items(self.0.to_vec()))
    }
}

fn typed(count: usize) -> axum::Router {
    let tools = (0..count)
        .map(|n| serde_json::from_str(&serde_json::to_string(&tool(n)).unwrap()).unwrap())
        .collect();
    let handler = Typed(Arc::new(tools));
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true);
    let service = StreamableHttpService::new(
        move || Ok(handler.clone()),
        Arc::new(NeverSessionManager::default()),
        config,
    );
    axum::Router::new().nest_service("/mcp", service)
}

/// A server on a thread of its own: where it listens, and which thread it is.
struct Server {
    address: std::net::SocketAddr,
    schedstat: String,
}

fn serve(make: impl FnOnce() -> axum::Router + Send + 'static) -> Server {
    let (ready, started) = mpsc::channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async move {
            let router = make();
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
            let thread = std::fs::read_link("/proc/thread-self").unwrap();
            let schedstat = format!("/proc/{}/schedstat", thread.display());
            ready
                .send(Server {
                    address: listener.local_addr().unwrap(),
                    schedstat,
                })
                .unwrap();
            axum::serve(listener, router).await.unwrap();
        });
    });
    started.recv().unwrap()
}

impl Server {
    /// Nanoseconds on a processor so far.
    fn busy(&self) -> u64 {
        std::fs::read_to_string(&self.schedstat)
            .unwrap()
            .split(' ')
            .next()
            .unwrap()
            .parse()
            .unwrap()
    }

    /// Microseconds of the server's thread per request.
    async fn cost(&self, requests: u32) -> f64 {
        let body = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#;
        let request = format!(
            "POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\naccept: application/json, text/event-stream\r\nmcp-protocol-version: 2026-07-28\r\nmcp-method: tools/list\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        let mut stream = tokio::net::TcpStream::connect(self.address).await.unwrap();
        stream.set_nodelay(true).unwrap();
        let mut buffer = vec![0; 1 << 22];
        let mut exchange = async || {
            stream.write_all(request.as_bytes()).await.unwrap();
            let (mut read, mut whole) = (0, usize::MAX);
            while read < whole {
                let more = stream.read(&mut buffer[read..]).await.unwrap();
                assert!(more > 0, "the server closed the connection");
                read += more;
                if whole == usize::MAX
                    && let Some(end) = buffer[..read].windows(4).position(|w| w == b"\r\n\r\n")
                {
                    let head = std::str::from_utf8(&buffer[..end])
                        .unwrap()
                        .to_ascii_lowercase();
                    assert!(head.starts_with("http/1.1 200"), "{head}");
                    let length = head
                        .lines()
                        .find_map(|l| l.strip_prefix("content-length: "))
                        .unwrap();
                    whole = end + 4 + length.parse::<usize>().unwrap();
                }
            }
        };
        for _ in 0..50 {
            exchange().await;
        }
        let before = self.busy();
        for _ in 0..requests {
            exchange().await;
        }
        (self.busy() - before) as f64 / 1000.0 / f64::from(requests)
    }
}

fn main() {
    let numbers: Vec<usize> = std::env::args()
        .skip(1)
        .filter_map(|a| a.parse().ok())
        .collect();
    let rounds = numbers.first().copied().unwrap_or(3);
    let sizes = if numbers.len() > 1 {
        numbers[1..].to_vec()
    } else {
        vec![1, 10, 100, 1000]
    };
    let client = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    for size in sizes {
        let ours = serve(move || flowx(size));
        let theirs = serve(move || typed(size));
        let requests = 200_000 / (size as u32 + 100);
        let (mut flowx, mut rmcp) = (Vec::new(), Vec::new());
        for _ in 0..rounds {
            flowx.push(client.block_on(ours.cost(requests)));
            rmcp.push(client.block_on(theirs.cost(requests)));
        }
        let line = |figures: &[f64]| {
            figures
                .iter()
                .map(|f| format!("{f:.1}"))
                .collect::<Vec<_>>()
                .join(" ")
        };
        println!("tools_list {size} flowx {}", line(&flowx));
        println!("tools_list {size} rmcp {}", line(&rmcp));
    }
}
