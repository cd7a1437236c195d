//! The grammar of FlowX attributes: tokens to declarations, and the digest of what was read.
//!
//! The macros (inside rustc) and the scan (in a build script or the command) both use this crate. Every mistake of a declaration
//! is found at once and carries its own place; every vocabulary is closed.

mod agent;
mod args;
mod decl;
mod digest;
mod flow;
mod item;
mod parse;
mod problem;
mod words;

pub use agent::parse_agent;
pub use args::path_text;
pub use decl::*;
pub use digest::{Digest, Sink, digest, key, raised_key};
pub use flow::{MOST_ATTEMPTS, parse_flow};
pub use item::{On, doc, join_doc};
pub use parse::{parse_allow, parse_capability, parse_effect, parse_flow_error};
pub use problem::{Problem, Problems, codes};
pub use words::{closest, listed, suggestion};
