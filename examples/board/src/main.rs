//! A board of cards. Archiving one needs somebody else's yes, whoever asks and however: over HTTP, over MCP, with or without a model.
//!
//! `cargo run -p board -- [LISTEN] [STORE]`, by default `127.0.0.1:8082` and `sqlite:board.db`.

mod cards;
#[cfg(test)]
mod tests;

use clap::Parser;
use flowx_runtime::store::{self, SharedStore};
use flowx_runtime::{App, BearerTokens};
use tokio::net::TcpListener;

use crate::cards::{Board, Cards};

flowx_runtime::include_manifest!();

/// A board of cards on which archiving needs somebody else's yes.
#[derive(Parser)]
struct Arguments {
    /// Where to listen; port 0 picks a free one.
    #[arg(default_value = "127.0.0.1:8082")]
    listen: String,
    /// Where proposals and records are kept: sqlite:FILE, sqlite::memory: or postgres://…
    #[arg(default_value = "sqlite:board.db")]
    store: String,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    let app = app(Board::open(), store::open(&arguments.store).await?)?;
    let listener = TcpListener::bind(&arguments.listen).await?;
    println!("listening on http://{}", listener.local_addr()?);
    Ok(app.serve(listener).await?)
}

fn app(board: Board, store: SharedStore) -> anyhow::Result<App> {
    Ok(App::new(&MANIFEST)
        .effect(Cards(board))
        .store(store)
        .identity(BearerTokens::parse(include_str!("../tokens.toml"))?))
}
