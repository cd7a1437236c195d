//! A repair desk: an agent estimates, people decide.
//!
//! `cargo run -p workshop -- [LISTEN] [STORE]`, by default `127.0.0.1:8081` and `sqlite:workshop.db`.

mod agents;
mod repairs;
mod shop;
#[cfg(test)]
mod tests;

use clap::Parser;
use flowx_runtime::store::{self, SharedStore};
use flowx_runtime::{App, BearerTokens, ConfirmationPolicy, McpOptions, Refusal};
use tokio::net::TcpListener;

use crate::repairs::Price;
use crate::shop::{Book, Shelf, Shop};

flowx_runtime::include_manifest!();

/// A repair desk: an agent estimates, people decide.
#[derive(Parser)]
struct Arguments {
    /// Where to listen; port 0 picks a free one.
    #[arg(default_value = "127.0.0.1:8081")]
    listen: String,
    /// Where proposals and records are kept: sqlite:FILE, sqlite::memory: or postgres://…
    #[arg(default_value = "sqlite:workshop.db")]
    store: String,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    let app = app(Shop::open(), store::open(&arguments.store).await?)?;
    let listener = TcpListener::bind(&arguments.listen).await?;
    println!("listening on http://{}", listener.local_addr()?);
    Ok(app.serve(listener).await?)
}

fn app(shop: Shop, store: SharedStore) -> anyhow::Result<App> {
    let (named, versioned) = (shop.clone(), shop.clone());
    Ok(App::new(&MANIFEST)
        .effect(Shelf(shop.clone()))
        .effect(Book(shop))
        .store(store)
        .identity(BearerTokens::parse(include_str!("../tokens.toml"))?)
        // What the agent may do alone, and what it proposes, says its declaration; nobody is asked in a client on top of it.
        .mcp(McpOptions {
            confirmation: ConfirmationPolicy::Annotate,
            ..McpOptions::default()
        })
        // A person reads "Ticket T-7" and not its id.
        .names::<repairs::price, _>(move |price: Price| {
            let ticket = named
                .get(&price.repair_id)
                .map(|repair| format!("Ticket {}", repair.ticket));
            async move {
                ticket
                    .map(|words| ("repair_id".to_owned(), words))
                    .into_iter()
                    .collect()
            }
        })
        // A yes covers the repair as it was when it was asked about.
        .subject_version::<repairs::price, _>(move |price: Price| {
            let revision = versioned
                .get(&price.repair_id)
                .map(|repair| repair.revision.to_string());
            async move { Ok::<_, Refusal>(revision.unwrap_or_else(|| "none".to_owned())) }
        }))
}
