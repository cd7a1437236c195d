//! The record of a proposal.

use std::collections::BTreeSet;

use flowx_manifest::{AgentId, DecidedBy, Finish, PermissionName};
use serde::{Deserialize, Serialize};

use crate::identity::{Principal, PrincipalKind};
use crate::store::Millis;

macro_rules! status {
    ($($(#[$doc:meta])* $variant:ident = $text:literal),* $(,)?) => {
        /// Where a proposal stands.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum Status { $($(#[$doc])* $variant,)* }

        impl Status {
            /// Every status.
            pub const ALL: &'static [Status] = &[$(Status::$variant),*];

            /// The word for it.
            pub const fn as_str(self) -> &'static str {
                match self { $(Status::$variant => $text,)* }
            }

            /// The status of that word.
            pub fn parse(text: &str) -> Option<Status> {
                Status::ALL.iter().copied().find(|s| s.as_str() == text)
            }
        }
    };
}

status! {
    /// Nobody has decided.
    Waiting = "waiting",
    /// A person said yes, and it has not begun.
    Approved = "approved",
    /// It has been begun. Written before the effect.
    Executing = "executing",
    /// It ran to its end.
    Done = "done",
    /// It ran, or was refused, and said no.
    Failed = "failed",
    /// It began and nobody knows how it ended. A person decides.
    Unknown = "unknown",
    /// A person said no.
    Rejected = "rejected",
    /// What was asked about has changed since.
    Stale = "stale",
    /// Nobody decided in time, or the yes was not used in time.
    Expired = "expired",
    /// Whoever asked took it back.
    Withdrawn = "withdrawn",
}

impl Status {
    /// Whether the same call by the same caller may not get a second row beside it.
    pub const fn is_open(self) -> bool {
        matches!(
            self,
            Status::Waiting | Status::Approved | Status::Executing | Status::Unknown
        )
    }
}

/// Who asked, as the credential said at that time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Requester {
    /// [`Principal::key`]: equal for the same caller and for no other.
    pub key: String,
    /// `person`, `agent`, `service` or `anonymous`.
    pub kind: String,
    /// The subject.
    pub subject: String,
    /// The issuer.
    pub issuer: String,
    /// The tenant.
    pub tenant: Option<String>,
    /// The permissions held when it asked. A later run has at most these.
    pub permissions: BTreeSet<PermissionName>,
    /// The declared agent.
    pub agent: Option<AgentId>,
    /// The skill it worked under.
    pub skill: Option<String>,
    /// The subject of the person that it works for.
    pub on_behalf_of: Option<String>,
}

impl Requester {
    /// Of a caller.
    pub fn of(principal: &Principal, skill: Option<&str>) -> Requester {
        let kind = match principal.kind {
            PrincipalKind::Anonymous => "anonymous",
            PrincipalKind::Person => "person",
            PrincipalKind::Agent => "agent",
            PrincipalKind::Service => "service",
        };
        Requester {
            key: principal.key(),
            kind: kind.to_owned(),
            subject: principal.subject.clone(),
            issuer: principal.issuer.clone(),
            tenant: principal.tenant.clone(),
            permissions: principal.permissions.clone(),
            agent: principal.agent.clone(),
            skill: skill.map(str::to_owned),
            on_behalf_of: principal.on_behalf_of.clone(),
        }
    }

    /// Who asked, as the credential said then.
    pub fn principal(&self) -> Principal {
        let kind = match self.kind.as_str() {
            "person" => PrincipalKind::Person,
            "agent" => PrincipalKind::Agent,
            "service" => PrincipalKind::Service,
            _ => PrincipalKind::Anonymous,
        };
        Principal {
            kind,
            subject: self.subject.clone(),
            issuer: self.issuer.clone(),
            tenant: self.tenant.clone(),
            permissions: self.permissions.clone(),
            agent: self.agent.clone(),
            on_behalf_of: self.on_behalf_of.clone(),
        }
    }

    /// Who a run at the yes is: the requester, on the approver's behalf, with the permissions that it had when it asked, still has
    /// (`now`; `None` where that cannot be said), and that the approver holds too.
    pub fn together_with(
        &self,
        now: Option<&BTreeSet<PermissionName>>,
        approver: &Principal,
    ) -> Principal {
        let still = |p: &&PermissionName| now.is_none_or(|now| now.contains(*p));
        Principal {
            permissions: self
                .permissions
                .intersection(&approver.permissions)
                .filter(still)
                .cloned()
                .collect(),
            on_behalf_of: Some(approver.subject.clone()),
            ..self.principal()
        }
    }
}

/// One line that a person reads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShownField {
    /// The argument, as a path (`amount_cents`, `lines/0/price`).
    pub name: String,
    /// Its value, safe to show.
    pub value: String,
}

/// Everything that a person reads of a call. Made from the manifest, the arguments and the application's names; every text in it
/// is safe to show.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shown {
    /// The flow's title, or its id.
    pub title: String,
    /// Who asks, in words.
    pub asked_by: String,
    /// The effects beyond reading that the call can reach, each with its class.
    pub effects: Vec<String>,
    /// The permissions that the call can need. An approval grants none of them.
    pub permissions: Vec<String>,
    /// The arguments, in the order of their paths.
    pub fields: Vec<ShownField>,
    /// The paths of the arguments that are withheld as sensitive.
    pub withheld: Vec<String>,
}

/// What a person said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decision {
    /// The subject of the person.
    pub by: String,
    /// Their [`Principal::key`].
    pub by_key: String,
    /// Whether it was a yes.
    pub yes: bool,
    /// Why; always there for a no.
    pub reason: Option<String>,
    /// When.
    pub at: Millis,
    /// Until when a yes can be used.
    pub use_before: Option<Millis>,
}

/// A run that has begun.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Execution {
    /// Unique for this run. Only whoever holds it can say how the run ended.
    pub token: String,
    /// The instance that runs it; see [`Store::heartbeat`](crate::store::Store::heartbeat).
    pub owner: String,
    /// The idempotency key of the run: the same for every run of this proposal.
    pub idempotency_key: String,
    /// When it began.
    pub at: Millis,
    /// Whether a person said to run it again after nobody knew how an earlier run had ended.
    #[serde(default)]
    pub again: bool,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Outcome {
    /// The flow's output, as serde wrote it.
    Done {
        /// When.
        at: Millis,
        /// The output, sealed.
        output: String,
    },
    /// A typed no.
    Failed {
        /// When.
        at: Millis,
        /// Its code.
        code: String,
        /// Its category, as in the manifest.
        category: String,
        /// Its sentence.
        message: String,
    },
}

/// One exact call waiting for a person, and what became of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Proposal {
    /// A UUID of version 7. Nothing that a model reads ever carries it.
    pub id: String,
    /// Equal for the same call by the same caller.
    pub call_key: String,
    /// What a yes covers; see [`fingerprint`](super::fingerprint).
    pub fingerprint: String,
    /// Where it stands.
    pub status: Status,
    /// Grows by one with every change.
    pub revision: i64,
    /// The flow, as `id@version`.
    pub flow: String,
    /// The digest of what the manifest says of the flow and its tool.
    pub descriptor: String,
    /// The digest of the agent's declaration, when a declared agent asked.
    pub agent_declaration: Option<String>,
    /// The canonical input, sealed (the gate's `vault`), while it may still have to be run from here; emptied once it cannot.
    pub input: Option<String>,
    /// The digest of the canonical input.
    pub input_digest: String,
    /// The version of what the call is about.
    pub subject_version: Option<String>,
    /// Who asked.
    pub requester: Requester,
    /// Joins it with the call that made it.
    pub correlation_id: String,
    /// What a person reads.
    pub shown: Shown,
    /// Who decides.
    pub decided_by: DecidedBy,
    /// The agent's sponsor.
    pub sponsor: Option<String>,
    /// Whether whoever asked may decide.
    pub self_approval: bool,
    /// When an approved call runs.
    pub finish: Finish,
    /// When it was asked.
    pub asked_at: Millis,
    /// Until when it can be decided.
    pub decide_before: Option<Millis>,
    /// How long a yes can be used, in milliseconds.
    pub grant_ms: Option<Millis>,
    /// What was said.
    pub decision: Option<Decision>,
    /// The run.
    pub execution: Option<Execution>,
    /// How it ended.
    pub outcome: Option<Outcome>,
    /// When the status became what it is.
    pub settled_at: Millis,
    /// Whether the caller has been told of an end that is told once.
    pub told: bool,
}
