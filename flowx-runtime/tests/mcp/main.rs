//! The MCP endpoint from outside: raw requests in both eras, over a desk whose every byte is chosen.
#![allow(clippy::unwrap_used, missing_docs, unreachable_pub)]

mod asking;
mod calls;
mod heads;
mod limits;
mod sessions;
mod stdio;
mod support;
mod wire;
