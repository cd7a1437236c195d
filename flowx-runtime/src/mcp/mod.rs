//! MCP, served from the bytes that were reviewed: over HTTP for both eras at one URL, and over standard input and output.
//!
//! The MCP library frames, versions and validates. What it must not decide is done around it: the server's guard refuses heads that two
//! readers could read differently, [`envelope`] reads a message once and strictly, [`sessions`] binds a session to who opened it,
//! [`splice`] puts the reviewed bytes into answers, and [`channel`] is the way back to the caller's client.

mod channel;
mod content;
mod envelope;
mod handler;
mod http;
mod options;
mod sessions;
mod splice;
mod stdio;

pub(crate) use http::routes;
pub use http::{McpStartError, router};

pub use crate::http::guard::BadAllowed;
pub use options::{ConfirmationPolicy, McpOptions};
pub use splice::BrokenSplice;
pub use stdio::{StdioError, stdio};
