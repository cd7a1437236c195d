//! What every transport talks to: who calls, what they see, and the one path of a call.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use flowx_manifest::{Flow, Manifest};
use http::request::Parts;
use tokio_util::task::TaskTracker;

use crate::channel::Channel;
use crate::embedded::{Embedded, FlowBinding};
use crate::engine::{Call, Effects};
use crate::identity::{Identity, Principal};
use crate::invocation::{CallOutcome, Clock, Ids, Invocation};
use crate::refusal::Refusal;
use crate::visible::{Demands, Visibility};

/// A running application, as its transports see it. Made by [`App`](crate::App).
pub struct Core {
    pub(crate) embedded: &'static Embedded,
    pub(crate) manifest: Arc<Manifest>,
    pub(crate) flows: Vec<ServedFlow>,
    pub(crate) by_reference: HashMap<String, usize>,
    pub(crate) by_tool: HashMap<String, usize>,
    pub(crate) effects: Arc<Effects>,
    pub(crate) identity: Option<Arc<dyn Identity>>,
    pub(crate) visibility: Visibility,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) ids: Arc<dyn Ids>,
    pub(crate) tasks: TaskTracker,
    pub(crate) undo_limit: Duration,
}

/// A flow that is published and compiled in.
pub struct ServedFlow {
    /// As published.
    pub published: Flow,
    /// `id@version`.
    pub reference: String,
    /// What it demands of callers.
    pub demands: Demands,
    /// The tool's name, when it is one.
    pub tool: Option<String>,
    pub(crate) binding: FlowBinding,
}

impl Core {
    /// The document that was reviewed.
    pub fn embedded(&self) -> &'static Embedded {
        self.embedded
    }

    /// The same, read. For decisions; what is sent is [`Core::embedded`]'s bytes.
    pub fn manifest(&self) -> &Arc<Manifest> {
        &self.manifest
    }

    /// Who calls, from the request's `Authorization` header; anonymous without one. Tokens elsewhere are refused.
    ///
    /// # Errors
    /// `authorization.not_authenticated` for a credential that stands for nobody, `server.unavailable` when that cannot be said now.
    pub async fn authenticate(&self, parts: &Parts) -> Result<Arc<Principal>, Refusal> {
        crate::identity::from_request(self.identity.as_deref(), parts)
            .await
            .map(Arc::new)
    }

    /// Every flow, sorted by id and version.
    pub fn flows(&self) -> &[ServedFlow] {
        &self.flows
    }

    /// The flow behind a tool, when that caller can see it.
    pub fn tool(&self, principal: &Principal, name: &str) -> Option<&ServedFlow> {
        self.by_tool
            .get(name)
            .map(|i| &self.flows[*i])
            .filter(|f| self.visible(principal, f))
    }

    /// The flow of that `id@version`, when that caller can see it.
    pub fn flow(&self, principal: &Principal, reference: &str) -> Option<&ServedFlow> {
        self.by_reference
            .get(reference)
            .map(|i| &self.flows[*i])
            .filter(|f| self.visible(principal, f))
    }

    /// The one predicate: whether that flow exists for that caller. Lists, calls, resources and routes all ask it.
    pub fn visible(&self, principal: &Principal, flow: &ServedFlow) -> bool {
        match self.visibility {
            Visibility::All => true,
            Visibility::Permitted => flow.demands.met_by(principal),
        }
    }

    /// Whether two callers can see different tools, so that a list of one must not be kept for another. Declared agents do not see what
    /// they never do, whatever the visibility.
    pub fn list_depends_on_caller(&self) -> bool {
        self.visibility != Visibility::All || !self.manifest.agents.is_empty()
    }

    /// Whether that caller may read the whole manifest.
    pub fn may_read_manifest(&self, principal: &Principal) -> bool {
        principal.holds("flowx.manifest.read")
    }

    /// The one path of a call: visible, input against its contract, gate, flow, output.
    pub async fn call(&self, invocation: Invocation, channel: Arc<dyn Channel>) -> CallOutcome {
        let Some(flow) = self.flow(&invocation.principal, &invocation.flow) else {
            return CallOutcome::Unknown;
        };
        let input = invocation.input.clone();
        let call = Arc::new(Call {
            invocation,
            effects: Arc::clone(&self.effects),
            clock: Arc::clone(&self.clock),
            ids: Arc::clone(&self.ids),
            channel,
            tasks: self.tasks.clone(),
            undo_limit: self.undo_limit,
            refused: Default::default(),
        });
        match (flow.binding.run)(call, input).await {
            Ok(output) => CallOutcome::Done(output),
            Err(refusal) => CallOutcome::Refused(refusal),
        }
    }
}
