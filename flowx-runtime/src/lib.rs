//! The FlowX runtime: serves the manifest that was reviewed, and enforces it.
//!
//! A program declares effects, capabilities and flows with the attributes re-exported here, puts `include_manifest!()` into its
//! root, and serves with [`App`].

pub mod agents;
mod app;
pub mod audit;
mod channel;
mod connections;
mod context;
pub mod contracts;
mod core;
mod embedded;
mod engine;
pub mod gate;
mod http;
mod identity;
mod input;
mod invocation;
mod limits;
pub mod mcp;
mod model;
#[cfg(feature = "otel")]
pub mod otel;
pub mod proposals;
mod prove;
mod refusal;
mod sensitive;
mod serve;
pub mod store;
mod telemetry;
mod traits;
mod unread;
pub mod verify;
mod visible;

pub use app::{App, StartError};
pub use channel::{Ask, AskKind, Asking, Channel, Given, NoChannel, Reply};
pub use context::{Cx, FlowCx};
pub use core::{Core, ServedFlow};
pub use embedded::{Embedded, Slice};
pub use flowx_diff::Review;
pub use flowx_macros::{FlowError, agent, capability, effect, flow, include_manifest};
pub use flowx_verify::Samples;
pub use gate::{GateOptions, Key as SealingKey, Webhook, gate_codes};
pub use http::RouteError;
pub use identity::{
    BearerTokens, Current, Identity, Jwt, JwtError, Principal, PrincipalKind, TokenFileError,
};
pub use input::InputError;
pub use invocation::{CallOutcome, Clock, Ids, Invocation, Output, System, Transport};
pub use limits::{Limits, Rate};
pub use mcp::{ConfirmationPolicy, McpOptions};
pub use model::{ModelRequest, NoModel};
pub use prove::NoInput;
pub use refusal::{Refusal, codes};
pub use sensitive::{REDACTED, Sensitive};
pub use serve::ServeError;
pub use traits::{Capability, Declares, Effect, Flow, FlowError, HasFlow, HasStep};
pub use visible::{Demands, Visibility};

/// The attribute that quiets one rule at one item: `#[flowx::allow(FLOWX1103, reason = "…")]`.
///
/// In a module of its own, since an attribute called `allow` in the root would make `#[allow(…)]` ambiguous for whoever imports it whole.
pub mod flowx {
    pub use flowx_macros::allow;
}

/// For generated code alone. Nothing here is covered by any promise.
#[doc(hidden)]
pub mod __private {
    pub use crate::context::{Cx, FlowCx};
    pub use crate::embedded::{Embedded, Entry, FlowEntry, Kind, Published, Registry, Slice};
    pub use crate::prove::{
        NoInput, Repeat, Returns, again, any_side_effect, entry, index, join, same_ids, sorted,
    };
    pub use crate::traits::{
        Capability, CapabilityInfo, Compensation, Declares, Effect, Flow, FlowError, FlowInfo,
        HasFlow, HasStep, NoUndo, Stance, StepInfo, Undo, UndoBy,
    };
    pub use crate::verify::assert_contracts;
    pub use flowx_manifest::{Category, EffectClass};
    pub use flowx_verify::{Probe, probe, sampled};
    pub use std::vec::Vec;
}
