//! A support desk that an agent may operate: it can look for tickets, and refund them within what it is allowed.

mod effects;
mod ops;
mod payment;
mod ticket;

use std::sync::Arc;

use anyhow::Context;
use axum::routing::get;
use clap::{Parser, ValueEnum};
use flowx_runtime::{App, BearerTokens, ConfirmationPolicy, McpOptions, Visibility, store};
use tokio::net::TcpListener;

use crate::effects::{Counters, Ledger, PaymentGateway};

flowx_runtime::include_manifest!();

/// A support desk that an agent may operate.
#[derive(Parser)]
struct Arguments {
    /// Where to listen; port 0 picks a free one.
    #[arg(long, default_value = "127.0.0.1:8080")]
    listen: String,
    /// Where proposals and records are kept: sqlite:FILE, sqlite::memory: or postgres://…
    #[arg(long, default_value = "sqlite:ticket-desk.db")]
    store: String,
    /// How a person is asked before an agent's refund.
    #[arg(long, value_enum, default_value = "elicit")]
    confirmation: Confirmation,
    /// Whether callers see tools that they may not use.
    #[arg(long, value_enum, default_value = "all")]
    visibility: Visible,
    /// Serve one desktop host over standard input and output, as the principal of the token in TICKET_DESK_TOKEN.
    #[arg(long)]
    stdio: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum Confirmation {
    /// Only said in the tool's description.
    Annotate,
    /// Through the caller's client.
    Elicit,
    /// As a stored proposal that somebody decides.
    Gate,
}

#[derive(Clone, Copy, ValueEnum)]
enum Visible {
    All,
    Permitted,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    // Standard output belongs to the address below, and with --stdio to the messages.
    tracing_subscriber::fmt()
        .with_env_filter(
            tracing_subscriber::EnvFilter::try_from_default_env().unwrap_or_else(|_| "warn".into()),
        )
        .with_writer(std::io::stderr)
        .init();
    let arguments = Arguments::parse();
    let counters = Arc::new(Counters::default());
    let store = store::open(&arguments.store).await?;
    let app = App::new(&MANIFEST)
        .effect(Ledger::open(&arguments.store, Arc::clone(&counters)).await?)
        .effect(PaymentGateway::new(Arc::clone(&counters)))
        .store(store)
        .identity(BearerTokens::parse(include_str!("../tokens.toml"))?)
        .visibility(match arguments.visibility {
            Visible::All => Visibility::All,
            Visible::Permitted => Visibility::Permitted,
        })
        .mcp(McpOptions {
            confirmation: match arguments.confirmation {
                Confirmation::Annotate => ConfirmationPolicy::Annotate,
                Confirmation::Elicit => ConfirmationPolicy::Elicit,
                Confirmation::Gate => ConfirmationPolicy::Gate,
            },
            ..McpOptions::default()
        })
        .routes(counters_route(counters));

    if arguments.stdio {
        let token = std::env::var("TICKET_DESK_TOKEN").ok();
        return Ok(app.serve_stdio(token.as_deref()).await?);
    }
    let listener = TcpListener::bind(&arguments.listen)
        .await
        .with_context(|| format!("cannot listen on {}", arguments.listen))?;
    println!("listening on http://{}", listener.local_addr()?);
    Ok(app.serve(listener).await?)
}

/// How often each effect has really happened, for tests and for curious people.
fn counters_route(counters: Arc<Counters>) -> axum::Router {
    let handler = move || {
        let counters: serde_json::Map<_, _> = counters
            .by_effect()
            .into_iter()
            .map(|(id, count)| (id.to_owned(), count.into()))
            .collect();
        std::future::ready(axum::Json(counters))
    };
    axum::Router::new().route("/desk/counters", get(handler))
}
