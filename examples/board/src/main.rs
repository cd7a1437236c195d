//! A board of cards. Archiving one needs somebody else's yes, whoever asks and however: over HTTP, over MCP, with or without a model.
//!
//! `cargo run -p board -- [LISTEN] [STORE]`, by default `127.0.0.1:8082` and `sqlite:board.db`.

mod cards;
#[cfg(test)]
mod tests;

use flowx_runtime::store::{self, SharedStore};
use flowx_runtime::{App, BearerTokens};
use tokio::net::TcpListener;

use crate::cards::{Board, Cards};

flowx_runtime::include_manifest!();

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let listen = arguments
        .next()
        .unwrap_or_else(|| "127.0.0.1:8082".to_owned());
    let address = arguments
        .next()
        .unwrap_or_else(|| "sqlite:board.db".to_owned());
    let app = app(Board::open(), store::open(&address).await?)?;
    let listener = TcpListener::bind(&listen).await?;
    println!("listening on http://{}", listener.local_addr()?);
    Ok(app.serve(listener).await?)
}

fn app(board: Board, store: SharedStore) -> anyhow::Result<App> {
    Ok(App::new(&MANIFEST)
        .effect(Cards(board))
        .store(store)
        .identity(BearerTokens::parse(include_str!("../tokens.toml"))?))
}
