//! The measured crates: the same handlers three times, written as a user of each library would write them.

use std::fmt::Write as _;
use std::path::Path;

/// How many capabilities (or plain functions) the handlers share.
const SHARED: usize = 20;

/// The three ways of writing the same handlers.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    /// FlowX.
    Flowx,
    /// axum, serde and schemars by hand.
    Plain,
    /// rmcp's `#[tool]`.
    Rmcp,
}

impl Side {
    /// The package's name.
    pub(crate) fn package(self) -> &'static str {
        match self {
            Side::Flowx => "bench-flowx",
            Side::Plain => "bench-plain",
            Side::Rmcp => "bench-rmcp",
        }
    }
}

/// Writes a workspace of the three crates. All of them see the same dependency versions, from the lock file of this one.
///
/// # Errors
/// When a file cannot be written.
pub(crate) fn write(root: &Path, at: &Path, flows: usize) -> anyhow::Result<()> {
    std::fs::create_dir_all(at)?;
    let members = [Side::Flowx, Side::Plain, Side::Rmcp].map(Side::package);
    std::fs::write(
        at.join("Cargo.toml"),
        format!(
            "[workspace]\nresolver = \"3\"\nmembers = {members:?}\n\n[profile.dev]\ndebug = \"line-tables-only\"\n"
        ),
    )?;
    std::fs::copy(root.join("Cargo.lock"), at.join("Cargo.lock"))?;
    for side in [Side::Flowx, Side::Plain, Side::Rmcp] {
        let folder = at.join(side.package());
        std::fs::create_dir_all(folder.join("src"))?;
        std::fs::write(folder.join("Cargo.toml"), cargo_toml(root, side))?;
        if side == Side::Flowx {
            std::fs::write(
                folder.join("build.rs"),
                "fn main() {\n    flowx_build::emit()\n}\n",
            )?;
        }
        // Handlers in files of ten, as a program of that size would have them.
        let mut modules = String::new();
        for (file, first) in (0..flows).step_by(10).enumerate() {
            let last = (first + 10).min(flows);
            let text = match side {
                Side::Flowx => flowx_file(first..last),
                Side::Plain => plain_file(first..last),
                Side::Rmcp => rmcp_file(file, first..last),
            };
            std::fs::write(folder.join(format!("src/part{file}.rs")), text)?;
            writeln!(modules, "mod part{file};")?;
        }
        let parts = flows.div_ceil(10);
        let main = match side {
            Side::Flowx => flowx_main(),
            Side::Plain => plain_main(parts, flows),
            Side::Rmcp => rmcp_main(parts),
        };
        std::fs::write(
            folder.join("src/main.rs"),
            format!("//! Measured.\n\n{modules}\n{main}"),
        )?;
    }
    Ok(())
}

fn cargo_toml(root: &Path, side: Side) -> String {
    let path = |krate: &str| format!("{{ path = {:?} }}", root.join(krate));
    let mut text = format!(
        "[package]\nname = {:?}\nversion = \"0.1.0\"\nedition = \"2024\"\npublish = false\n\n[dependencies]\n\
         serde = {{ version = \"1\", features = [\"derive\"] }}\nschemars = \"1\"\ntokio = {{ version = \"1\", features = [\"full\"] }}\nthiserror = \"2\"\n",
        side.package()
    );
    text += &match side {
        Side::Flowx => format!(
            "flowx-runtime = {}\n\n[build-dependencies]\nflowx-build = {}\n",
            path("flowx-runtime"),
            path("flowx-build")
        ),
        Side::Plain => "axum = \"0.8\"\nserde_json = \"1\"\n".to_owned(),
        Side::Rmcp => "rmcp = { version = \"=3.11.0\", default-features = false, features = [\"server\", \"macros\", \"transport-streamable-http-server\"] }\naxum = \"0.8\"\n".to_owned(),
    };
    text
}

/// The input and output of handler `n`, the same on every side.
fn types(n: usize) -> String {
    format!(
        "/// What handler {n} takes.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct In{n} {{
    /// The order.
    pub order_id: String,
    /// In cents.
    pub amount_cents: u64,
    /// A word to the clerk.
    pub note: Option<String>,
    /// How to ship it.
    pub shipping: Shipping{n},
    /// The lines of the order.
    pub lines: Vec<Line{n}>,
}}

/// How to ship.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = \"snake_case\")]
pub enum Shipping{n} {{
    /// By post.
    Post,
    /// By courier.
    Courier,
}}

/// One line.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Line{n} {{
    /// The article.
    pub sku: String,
    /// How many.
    pub count: u32,
}}

/// What handler {n} gives.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Out{n} {{
    /// The reference of the booking.
    pub reference: String,
    /// In cents.
    pub total_cents: u64,
}}
"
    )
}

const TYPES_USE: &str = "use schemars::JsonSchema;\nuse serde::{Deserialize, Serialize};\n\n";

fn body(n: usize, booked: &str) -> String {
    format!(
        "    let count: u32 = input.lines.iter().map(|l| l.count).sum();
    let booked = {booked};
    Ok(Out{n} {{ reference: format!(\"{{}}-{{booked}}-{{:?}}\", input.order_id, input.shipping), total_cents: input.amount_cents + u64::from(count) }})
"
    )
}

fn flowx_main() -> String {
    let mut text = String::from(
        "use flowx_runtime::{Cx, FlowError, capability, effect};\n\nflowx_runtime::include_manifest!();\n
/// The ledger.
#[effect(id = \"ledger\", class = changes)]
pub struct Ledger;

impl Ledger {
    async fn book(&self, cents: u64) -> u64 {
        cents / 7
    }
}

/// How it fails.
#[derive(Debug, thiserror::Error, FlowError)]
pub enum DeskError {
    /// No such order.
    #[error(\"no such order\")]
    #[flow_error(code = \"order.unknown\", category = NotFound)]
    Unknown,
}
",
    );
    for k in 0..SHARED {
        let _ = write!(
            text,
            "
/// Books kind {k}.
#[capability(id = \"ledger.book{k}\", version = \"1.0.0\", authorization = permission(\"ledger.book{k}\"), effects(Ledger))]
pub async fn book{k}(cx: &Cx<book{k}>, cents: u64) -> Result<u64, DeskError> {{
    if cents == u64::MAX {{
        return Err(DeskError::Unknown);
    }}
    Ok(cx.effect::<Ledger>().book(cents + {k}).await)
}}
"
        );
    }
    text += "
#[tokio::main]
async fn main() {
    let app = flowx_runtime::App::new(&MANIFEST).effect(Ledger);
    let listener = tokio::net::TcpListener::bind(\"127.0.0.1:0\").await.expect(\"a port\");
    app.serve(listener).await.expect(\"served\");
}
";
    text
}

fn flowx_file(range: std::ops::Range<usize>) -> String {
    let mut text = format!(
        "//! Measured.\n\n{TYPES_USE}use flowx_runtime::{{FlowCx, flow}};\n\nuse crate::DeskError;\n\n"
    );
    for n in range {
        let k = n % SHARED;
        let body = body(
            n,
            &format!("cx.step::<crate::book{k}>(input.amount_cents).await?"),
        );
        let _ = write!(
            text,
            "{}
/// Books order kind {n} into the ledger and tells the reference.
#[flow(id = \"desk.h{n}\", version = \"1.0.0\", owner = \"desk\", deadline = \"PT30S\", http(POST, \"/api/h{n}\"), agent(),
       steps(book: crate::book{k}))]
pub async fn h{n}(cx: &FlowCx<h{n}>, input: In{n}) -> Result<Out{n}, DeskError> {{
{body}}}

",
            types(n)
        );
    }
    text
}

fn plain_shared(with_axum: bool) -> String {
    let mut text = String::from(
        "
/// The ledger.
pub struct Ledger;

impl Ledger {
    async fn book(&self, cents: u64) -> u64 {
        cents / 7
    }
}

/// How it fails.
#[derive(Debug, thiserror::Error)]
pub enum DeskError {
    /// No such order.
    #[error(\"no such order\")]
    Unknown,
}
",
    );
    if with_axum {
        text += "
impl axum::response::IntoResponse for DeskError {
    fn into_response(self) -> axum::response::Response {
        (axum::http::StatusCode::NOT_FOUND, self.to_string()).into_response()
    }
}
";
    }
    for k in 0..SHARED {
        let _ = write!(
            text,
            "
/// Books kind {k}.
pub async fn book{k}(ledger: &Ledger, cents: u64) -> Result<u64, DeskError> {{
    if cents == u64::MAX {{
        return Err(DeskError::Unknown);
    }}
    Ok(ledger.book(cents + {k}).await)
}}
"
        );
    }
    text
}

fn plain_main(parts: usize, flows: usize) -> String {
    let mut text = plain_shared(true);
    text += "
#[tokio::main]
async fn main() {
    let mut router = axum::Router::new();
    let mut schemas = Vec::new();
";
    for part in 0..parts {
        let _ = writeln!(
            text,
            "    router = part{part}::routes(router, &mut schemas);"
        );
    }
    let _ = write!(
        text,
        "    assert_eq!(schemas.len(), {flows});
    let router = router
        .route(\"/schemas\", axum::routing::get(async move || axum::Json(schemas.clone())))
        .with_state(std::sync::Arc::new(Ledger));
    let listener = tokio::net::TcpListener::bind(\"127.0.0.1:0\").await.expect(\"a port\");
    axum::serve(listener, router).await.expect(\"served\");
}}
"
    );
    text
}

fn plain_file(range: std::ops::Range<usize>) -> String {
    let mut text = format!(
        "//! Measured.\n\n{TYPES_USE}use std::sync::Arc;\n\nuse axum::extract::State;\nuse axum::{{Json, Router}};\n\nuse crate::{{DeskError, Ledger}};\n\n"
    );
    let mut routes = String::new();
    for n in range {
        let k = n % SHARED;
        let body = body(
            n,
            &format!("crate::book{k}(&ledger, input.amount_cents).await?"),
        )
        .replace("Ok(Out", "Ok(Json(Out")
        .replace(" })\n", " }))\n");
        let _ = write!(
            text,
            "{}
/// Books order kind {n} into the ledger and tells the reference.
pub async fn h{n}(State(ledger): State<Arc<Ledger>>, Json(input): Json<In{n}>) -> Result<Json<Out{n}>, DeskError> {{
{body}}}

",
            types(n)
        );
        let _ = write!(
            routes,
            "    router = router.route(\"/api/h{n}\", axum::routing::post(h{n}));
    schemas.push((\"h{n}\", schemars::schema_for!(In{n}), schemars::schema_for!(Out{n})));
"
        );
    }
    let _ = write!(
        text,
        "/// Adds the routes and schemas of this file.
pub fn routes(mut router: Router<Arc<Ledger>>, schemas: &mut Vec<(&'static str, schemars::Schema, schemars::Schema)>) -> Router<Arc<Ledger>> {{
{routes}    router
}}
"
    );
    text
}

fn rmcp_main(parts: usize) -> String {
    let mut text = plain_shared(false);
    let routers: Vec<String> = (0..parts).map(|p| format!("Desk::part{p}()")).collect();
    let _ = write!(
        text,
        "
/// The server.
#[derive(Clone)]
pub struct Desk {{
    ledger: std::sync::Arc<Ledger>,
    tool_router: rmcp::handler::server::router::tool::ToolRouter<Desk>,
}}

impl Desk {{
    fn new() -> Desk {{
        Desk {{ ledger: std::sync::Arc::new(Ledger), tool_router: {} }}
    }}
}}

#[rmcp::tool_handler(router = self.tool_router)]
impl rmcp::ServerHandler for Desk {{}}

#[tokio::main]
async fn main() {{
    use rmcp::transport::streamable_http_server::{{StreamableHttpService, session::local::LocalSessionManager}};
    let service = StreamableHttpService::new(|| Ok(Desk::new()), LocalSessionManager::default().into(), Default::default());
    let router = axum::Router::new().nest_service(\"/mcp\", service);
    let listener = tokio::net::TcpListener::bind(\"127.0.0.1:0\").await.expect(\"a port\");
    axum::serve(listener, router).await.expect(\"served\");
}}
",
        routers.join(" + ")
    );
    text
}

fn rmcp_file(file: usize, range: std::ops::Range<usize>) -> String {
    let mut text = format!(
        "//! Measured.\n\n{TYPES_USE}use rmcp::handler::server::wrapper::{{Json, Parameters}};\nuse rmcp::{{ErrorData, tool, tool_router}};\n\nuse crate::Desk;\n\n"
    );
    let mut tools = String::new();
    for n in range {
        let k = n % SHARED;
        text += &types(n);
        text += "\n";
        let body = body(
            n,
            &format!("crate::book{k}(&self.ledger, input.amount_cents).await.map_err(|e| ErrorData::invalid_params(e.to_string(), None))?"),
        )
        .replace("Ok(Out", "Ok(Json(Out")
        .replace(" })\n", " }))\n");
        let _ = write!(
            tools,
            "    /// Books order kind {n} into the ledger and tells the reference.
    #[tool]
    pub async fn desk_h{n}(&self, Parameters(input): Parameters<In{n}>) -> Result<Json<Out{n}>, ErrorData> {{
{body}    }}

"
        );
    }
    let _ = write!(
        text,
        "#[tool_router(router = part{file}, vis = \"pub\")]\nimpl Desk {{\n{tools}}}\n"
    );
    text
}
