//! What a deployment says about its MCP endpoint.

use std::time::Duration;

use flowx_manifest::json::Limits;

use crate::http::guard::{BadAllowed, Guard};

/// How a person is asked before a tool runs that its declaration wants confirmed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ConfirmationPolicy {
    /// Not by this server: the descriptor says that confirmation is required, and the host may ask. For trying things out.
    Annotate,
    /// Through the caller's client, in the call. A client that cannot be asked is refused.
    #[default]
    Elicit,
    /// Out of band: the call is stored as a proposal that a person decides.
    Gate,
}

/// Settings of the MCP endpoint. `Default` is for a server on this machine.
#[derive(Clone, Debug)]
pub struct McpOptions {
    /// How a person is asked.
    pub confirmation: ConfirmationPolicy,
    /// The `Host`s that this server answers to, at every address but `/flowx/health`: `name` (any port), `name:port`. Others are 403. The host of
    /// the public URL is one of them. Default: loopback names.
    pub allowed_hosts: Vec<String>,
    /// The origins whose pages may call, at every address: `scheme://host`, `scheme://host:port`, `scheme://host:*`. A request without an `Origin` comes from
    /// no page and passes; the server's own pages always may. Default: pages of this machine, on any port.
    pub allowed_origins: Vec<String>,
    /// Whether clients of 2025-11-25 get sessions. Without, any instance can serve them, and none can ask their users anything: calls
    /// that need a confirmation through the client are refused.
    pub legacy_sessions: bool,
    /// Sessions at once, all callers together. Beyond: 503.
    pub max_sessions: usize,
    /// Sessions at once of all callers who are nobody. Beyond: 503.
    pub max_anonymous_sessions: usize,
    /// Sessions at once of one caller; of somebody unknown, of one address. Beyond: its oldest one ends.
    pub max_sessions_per_caller: usize,
    /// A session without a request for that long ends.
    pub session_idle: Duration,
    /// A session of that age ends.
    pub session_lifetime: Duration,
    /// How long clients may keep lists and resources.
    pub list_ttl: Duration,
    /// How long a person is waited for on a call's stream. Clients give up on their call after 60 s by default, and a question nobody waits
    /// for any more must not stay open.
    pub ask_timeout: Duration,
    /// How often a waiting call tells so, where the client takes progress.
    pub ask_keep_alive: Duration,
    /// What a message may be at most.
    pub limits: Limits,
    /// What the model is told about the server as a whole.
    pub instructions: Option<String>,
}

impl Default for McpOptions {
    fn default() -> Self {
        let own = |list: &[&str]| list.iter().map(|s| (*s).to_owned()).collect();
        McpOptions {
            confirmation: ConfirmationPolicy::default(),
            allowed_hosts: own(&["localhost", "127.0.0.1", "[::1]"]),
            allowed_origins: own(&["http://localhost:*", "http://127.0.0.1:*", "http://[::1]:*"]),
            legacy_sessions: true,
            max_sessions: 1024,
            max_anonymous_sessions: 128,
            max_sessions_per_caller: 32,
            session_idle: Duration::from_secs(300),
            session_lifetime: Duration::from_secs(12 * 3600),
            list_ttl: Duration::from_secs(60),
            ask_timeout: Duration::from_secs(50),
            ask_keep_alive: Duration::from_secs(10),
            limits: Limits::REQUEST,
            instructions: None,
        }
    }
}

impl McpOptions {
    /// The guard of the whole server; `public` is where it is for the world.
    pub(crate) fn guard(&self, public: Option<&str>) -> Result<Guard, BadAllowed> {
        Guard::new(&self.allowed_hosts, &self.allowed_origins, public)
    }
}
