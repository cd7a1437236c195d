//! One call, read: the same whatever transport brought it.

use std::sync::Arc;

use flowx_manifest::Json;
use time::OffsetDateTime;
use uuid::Uuid;

use crate::channel::Ask;
use crate::identity::Principal;
use crate::refusal::Refusal;

/// How a call arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Transport {
    /// MCP over HTTP.
    Mcp,
    /// MCP over standard input and output.
    Stdio,
    /// The flow's own route.
    Http,
    /// By this process: an approved proposal that runs.
    Proposal,
}

impl Transport {
    /// A word for logs and audit records.
    pub fn as_str(self) -> &'static str {
        match self {
            Transport::Mcp => "mcp",
            Transport::Stdio => "stdio",
            Transport::Http => "http",
            Transport::Proposal => "proposal",
        }
    }
}

/// One call. Built by a transport with [`Invocation::new`], given to [`Core::call`](crate::Core::call).
#[derive(Clone, Debug)]
pub struct Invocation {
    /// The flow, as `id@version` (the full one, as in the manifest).
    pub flow: String,
    /// Who calls.
    pub principal: Arc<Principal>,
    /// The input as the strict reader gave it. The flow reads exactly this.
    pub input: Json,
    /// Joins the records of one call; from the caller's `X-Correlation-Id` where it is a plain short word, else new.
    pub correlation_id: String,
    /// The caller's key, under which a repetition is the same call; a new one where the caller gave none.
    pub idempotency_key: String,
    /// How it arrived.
    pub transport: Transport,
    /// The skill that a declared agent works under. It narrows what the agent may, and nothing else.
    pub skill: Option<String>,
    /// The approval that an HTTP caller names in `FlowX-Approval`. Never from a tool's input; a plain repetition of the call does as well.
    pub redeem: Option<String>,
}

impl Invocation {
    /// A call with new ids. Whole numbers of the input become integers, so that what is compared, fingerprinted, shown and read is one thing.
    pub fn new(
        flow: impl Into<String>,
        principal: Arc<Principal>,
        input: Json,
        transport: Transport,
    ) -> Invocation {
        Invocation {
            flow: flow.into(),
            principal,
            input: input.with_whole_numbers(),
            correlation_id: Uuid::now_v7().to_string(),
            idempotency_key: Uuid::new_v4().to_string(),
            transport,
            skill: None,
            redeem: None,
        }
    }
}

/// What came of a call.
#[derive(Clone, Debug, PartialEq)]
pub enum CallOutcome {
    /// The flow's output.
    Done(Output),
    /// A typed "no".
    Refused(Refusal),
    /// No such tool or flow for this caller.
    Unknown,
    /// The call has to be repeated with replies to these questions and this state. Nothing has been done.
    InputRequired {
        /// The questions by name.
        asks: std::collections::BTreeMap<String, Ask>,
        /// Sealed; opaque to everybody else.
        state: String,
    },
    /// A person would have to be asked, and this caller cannot be. Nothing has been done.
    CannotAsk {
        /// How it would have to be possible to ask.
        needs: crate::channel::AskKind,
        /// The same as a refusal, for a transport without an own word for it.
        refusal: Refusal,
    },
}

/// A flow's output as compact JSON, as serde wrote it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// The text, without newlines.
    pub text: String,
}

/// Where time comes from. The default reads the system's clock; tests give their own.
pub trait Clock: Send + Sync + 'static {
    /// Now, in UTC.
    fn now(&self) -> OffsetDateTime;
}

/// Where ids come from. The default gives UUIDs of version 7; tests give their own.
pub trait Ids: Send + Sync + 'static {
    /// An id that has not been given before.
    fn new_id(&self) -> Uuid;
}

/// The system's clock and random ids.
#[derive(Clone, Copy, Debug, Default)]
pub struct System;

impl Clock for System {
    fn now(&self) -> OffsetDateTime {
        OffsetDateTime::now_utc()
    }
}

impl Ids for System {
    fn new_id(&self) -> Uuid {
        Uuid::now_v7()
    }
}
