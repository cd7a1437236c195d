//! The model of `flowx.manifest.json`. Field order here is field order in the document.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::json::Json;
use crate::names::{
    AgentId, CapabilityId, EffectId, EntityId, ErrorCode, EventId, FlowId, IsoDuration,
    PermissionName, StepName, ToolName, Version, VersionedId,
};

/// The version of the manifest format. The guard in `tests/schema.rs` fails when the model changes without it.
pub const SCHEMA_VERSION: &str = "1.0.0";
/// The `$schema` of every manifest.
pub const SCHEMA_ID: &str = "https://flowx.dev/schemas/flowx.manifest.schema.json";

macro_rules! model {
    ($($item:item)*) => {$(
        #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[serde(rename_all = "camelCase", deny_unknown_fields)]
        $item
    )*};
}

macro_rules! vocabulary {
    ($($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $text:literal),* $(,)? })*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        pub enum $name {
            $($(#[$vdoc])* #[serde(rename = $text)] $variant,)*
        }

        impl $name {
            /// Every value, in order.
            pub const ALL: &'static [$name] = &[$($name::$variant),*];

            /// The word as it stands in the manifest.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $($name::$variant => $text,)*
                }
            }

            /// The value of that word.
            pub fn parse(text: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|v| v.as_str() == text)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }
    )*};
}

vocabulary! {
    /// What an effect does to the world. Order is severity.
    EffectClass {
        /// Looks, and changes nothing.
        Reads = "reads",
        /// Creates, changes or deletes the application's own data.
        Changes = "changes",
        /// Sends something to somebody.
        Sends = "sends",
        /// Spends money or another scarce good.
        Spends = "spends",
        /// Reaches outside otherwise.
        ReachesOut = "reaches_out",
    }
    /// When a person is asked before an agent's call runs.
    Confirmation {
        /// Never.
        Never = "never",
        /// When the flow can reach a side effect.
        RequiredForSideEffects = "required_for_side_effects",
        /// Always.
        Always = "always",
    }
    /// How much a wrong yes would cost; a high-risk flow is confirmed on the server's own page, not in the client.
    Risk {
        /// Confirmed in the client.
        Normal = "normal",
        /// Confirmed on the server's own page.
        High = "high",
    }
    /// What an agent may do with a tool. Order is strictness: the maximum of two is the stricter.
    Leave {
        /// Runs it by itself.
        Alone = "alone",
        /// Proposes each call, unless a standing rule says otherwise.
        Propose = "propose",
        /// Proposes each call, whatever standing rules say.
        ProposeEveryTime = "propose_every_time",
        /// The tool does not exist for this agent.
        Never = "never",
    }
    /// What kind of "no" an error is.
    Category {
        /// The input is wrong. HTTP 400.
        Validation = "validation",
        /// The thing is not there. HTTP 404.
        NotFound = "not_found",
        /// The state does not allow it. HTTP 409.
        Conflict = "conflict",
        /// The caller may not. HTTP 403.
        Forbidden = "forbidden",
        /// Try again later. HTTP 503.
        Unavailable = "unavailable",
        /// A defect. HTTP 500.
        Internal = "internal",
    }
    /// What a flow promises over a crash.
    Profile {
        /// State lives in memory.
        Ephemeral = "ephemeral",
    }
    /// When an approved call runs.
    Finish {
        /// At the yes, as agent and approver together.
        Run = "run",
        /// When the same caller repeats the same call.
        Redeem = "redeem",
    }
}

model! {
    /// The whole document.
    pub struct Manifest {
        /// Where the format is described.
        #[serde(rename = "$schema")]
        pub schema: String,
        /// The version of the format.
        pub schema_version: String,
        /// Whose surface this is.
        pub application: Application,
        /// Handles to the world, sorted by id.
        pub effects: Vec<Effect>,
        /// Units of authority and effect, sorted by id and version.
        pub capabilities: Vec<Capability>,
        /// What callers can ask for, sorted by id and version.
        pub flows: Vec<Flow>,
        /// Event types, sorted by id and version.
        pub events: Vec<Event>,
        /// Agents and the leave they have, sorted by id.
        pub agents: Vec<Agent>,
        /// Records with a lifecycle, sorted by id.
        pub entities: Vec<Entity>,
        /// Exact schemas, sorted by qualified name.
        pub contracts: Vec<Contract>,
        /// Complete descriptors, as sent, sorted by name.
        pub tools: Vec<Tool>,
    }

    /// Whose surface this is.
    pub struct Application {
        /// The package's name.
        pub name: String,
        /// The package's version.
        pub version: String,
    }

    /// A handle to something outside the program.
    pub struct Effect {
        /// The id.
        pub id: EffectId,
        /// What it does to the world.
        pub class: EffectClass,
        /// The doc comment.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub description: Option<String>,
    }

    /// A unit of authority and effect.
    pub struct Capability {
        /// The id.
        pub id: CapabilityId,
        /// The version.
        pub version: Version,
        /// The doc comment.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub description: Option<String>,
        /// What it takes.
        pub input: TypeRef,
        /// What it gives.
        pub output: TypeRef,
        /// Who may.
        pub authorization: Authorization,
        /// The effects it declares, sorted.
        pub effects: BTreeSet<EffectId>,
        /// Whether repeating it with the same key is safe.
        pub idempotent: bool,
        /// How it can say no, sorted by code. Absent: could not be established; empty: it cannot.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub errors: Option<Vec<ErrorSpec>>,
        /// Why not to use it any more.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub deprecated: Option<String>,
    }

    /// A type by name.
    pub struct TypeRef {
        /// The qualified name; a key of `contracts`, or `()`.
        #[serde(rename = "type")]
        pub name: String,
        /// JSON pointers of the sensitive members, sorted; `*` stands for any element or key.
        #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
        pub sensitive: BTreeSet<String>,
    }

    /// One way to say no.
    #[derive(PartialOrd, Ord)]
    pub struct ErrorSpec {
        /// The code.
        pub code: ErrorCode,
        /// Its category.
        pub category: Category,
    }

    /// What a caller can ask for.
    pub struct Flow {
        /// The id.
        pub id: FlowId,
        /// The version.
        pub version: Version,
        /// A title for people.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub title: Option<String>,
        /// The doc comment.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub description: Option<String>,
        /// Who answers for it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub owner: Option<String>,
        /// The longest it may take.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub deadline: Option<IsoDuration>,
        /// What it promises over a crash.
        pub profile: Profile,
        /// What it takes.
        pub input: TypeRef,
        /// What it gives.
        pub output: TypeRef,
        /// How it is reached, sorted.
        pub triggers: Vec<Trigger>,
        /// The capabilities and flows it calls, in the order declared.
        pub steps: Vec<Step>,
        /// Every effect a call can reach: steps, compensations, sub-flows. Sorted.
        pub effects: BTreeSet<EffectId>,
        /// Every permission a call can need. Sorted.
        pub permissions: BTreeSet<PermissionName>,
        /// How it can say no by itself, sorted by code. Absent: could not be established.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub errors: Option<Vec<ErrorSpec>>,
        /// The approval it needs on every transport, when it does, and how approvals of it are handled.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub approval: Option<Approval>,
        /// Why not to use it any more.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub deprecated: Option<String>,
        /// The id it had before; a hint that joins a removal and an addition into a rename.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub renamed_from: Option<FlowId>,
    }

    /// One call of a flow to a capability, or to another flow.
    pub struct Step {
        /// The name, unique in the flow.
        pub name: StepName,
        /// What is called.
        pub calls: StepTarget,
        /// The longest one attempt may take.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub timeout: Option<IsoDuration>,
        /// Attempts in all, at least 1; absent means 1.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub attempts: Option<u32>,
        /// The longest wait before the first retry; it doubles with each, with full jitter. Absent: PT0.2S.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub backoff: Option<IsoDuration>,
        /// The capability that undoes it when a later part of the flow fails.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub compensation: Option<VersionedId>,
    }

    /// What a step calls.
    pub enum StepTarget {
        /// A capability.
        Capability(VersionedId),
        /// Another flow, in line.
        Flow(VersionedId),
    }

    /// How approvals of a flow are handled.
    pub struct Approval {
        /// Whether every caller needs one, agent or not.
        pub required: bool,
        /// Who decides.
        pub decided_by: DecidedBy,
        /// Whether whoever asked may decide.
        pub self_approval: bool,
        /// When an approved call runs.
        pub finish: Finish,
        /// How long a request waits undecided.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub expires: Option<IsoDuration>,
        /// How long a yes lasts unused.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub grant_expires: Option<IsoDuration>,
        /// Whether a yes covers one version of its subject only.
        pub subject_version: bool,
    }

    /// Who decides a proposal.
    pub enum DecidedBy {
        /// The person the work is for; the agent's sponsor when it is for nobody.
        Requester,
        /// The agent's sponsor.
        Sponsor,
        /// Any holder of the role.
        Queue(String),
        /// One person, by subject.
        Person(String),
    }

    /// An event type.
    pub struct Event {
        /// The id.
        pub id: EventId,
        /// The version of its contract.
        pub version: Version,
        /// What it carries.
        pub contract: TypeRef,
        /// The flows that emit it, sorted.
        pub produced_by: BTreeSet<FlowId>,
        /// The flows that it starts, sorted.
        pub consumed_by: BTreeSet<FlowId>,
    }

    /// An agent and its leave.
    pub struct Agent {
        /// The id; the principal of its tokens.
        pub id: AgentId,
        /// What it is for.
        pub purpose: String,
        /// The subject who answers for it.
        pub sponsor: String,
        /// Leave over tools that change the application's own data.
        pub changes: Leave,
        /// Leave over tools that send.
        pub sends: Leave,
        /// Leave over tools that spend.
        pub spends: Leave,
        /// Leave over tools that reach out otherwise.
        pub reaches_out: Leave,
        /// Leave tool by tool, by flow id; against the class the tool's own entry wins, in two lists the stricter.
        pub tools: BTreeMap<FlowId, Leave>,
        /// Narrower kinds of work, sorted by name.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub skills: Vec<Skill>,
        /// The permission that lets somebody widen this agent's leave by standing rules; absent: nobody.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub widened_by: Option<PermissionName>,
    }

    /// A narrower kind of work of an agent. It narrows, never widens.
    pub struct Skill {
        /// The name.
        pub name: String,
        /// What it is for.
        pub purpose: String,
        /// The flows it may use, sorted.
        pub uses: BTreeSet<FlowId>,
        /// Leave tool by tool; the stricter of this and the agent's wins.
        pub tools: BTreeMap<FlowId, Leave>,
    }

    /// A record with a lifecycle, changed only by its declared operations.
    pub struct Entity {
        /// The id.
        pub id: EntityId,
        /// The version.
        pub version: Version,
        /// The states, in the order declared; the first is where a record begins.
        pub states: Vec<String>,
        /// The operations, sorted by name.
        pub operations: Vec<Operation>,
    }

    /// One declared change of an entity.
    pub struct Operation {
        /// The name.
        pub name: String,
        /// The states it may start from, sorted.
        pub from: BTreeSet<String>,
        /// The state it ends in.
        pub to: String,
        /// The permission it needs.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub permission: Option<PermissionName>,
        /// The named rules that must hold, sorted.
        #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
        pub rules: BTreeSet<String>,
    }

    /// The exact schema of one type. `$ref`s are `#/$defs/<name>` of other contracts, in the same direction;
    /// [`crate::closure`] makes a document that stands alone.
    pub struct Contract {
        /// The qualified name.
        pub id: String,
        /// The schema, where reading and writing agree.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub schema: Option<Json>,
        /// What is accepted, where it differs from what is written.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub request: Option<Json>,
        /// What is written, where it differs from what is accepted.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub response: Option<Json>,
        /// The name it had before; a hint for the diff.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub renamed_from: Option<String>,
    }

    /// One tool descriptor, as sent.
    pub struct Tool {
        /// The name.
        pub name: ToolName,
        /// A title for people.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub title: Option<String>,
        /// What the model reads.
        pub description: String,
        /// What it takes, in the portable profile.
        pub input_schema: Json,
        /// What it gives, in the portable profile.
        pub output_schema: Json,
        /// Hints for hosts.
        pub annotations: ToolAnnotations,
        /// The same facts where clients keep them.
        #[serde(rename = "_meta")]
        pub meta: ToolMeta,
    }

    /// Hints for hosts: the standard five, then FlowX's own.
    pub struct ToolAnnotations {
        /// A title for people.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub title: Option<String>,
        /// No effect but reads.
        pub read_only_hint: bool,
        /// May change, send or spend what cannot be taken back.
        pub destructive_hint: bool,
        /// Repeating it changes nothing more.
        pub idempotent_hint: bool,
        /// Reaches beyond the application's own data.
        pub open_world_hint: bool,
        /// The flow behind it.
        pub flow_id: FlowId,
        /// Whether every capability it reaches is idempotent.
        pub idempotent: bool,
        /// Whether a person is asked first.
        pub confirmation_required: bool,
        /// The effects beyond reading that a call can reach, sorted.
        pub side_effects: BTreeSet<EffectId>,
        /// The permissions a call can need, sorted.
        pub required_permissions: BTreeSet<PermissionName>,
    }

    /// FlowX's own facts under keys that clients keep.
    pub struct ToolMeta {
        /// As in the annotations.
        #[serde(rename = "dev.flowx/flowId")]
        pub flow_id: FlowId,
        /// As in the annotations.
        #[serde(rename = "dev.flowx/idempotent")]
        pub idempotent: bool,
        /// As in the annotations.
        #[serde(rename = "dev.flowx/confirmationRequired")]
        pub confirmation_required: bool,
        /// As in the annotations.
        #[serde(rename = "dev.flowx/sideEffects")]
        pub side_effects: BTreeSet<EffectId>,
        /// As in the annotations.
        #[serde(rename = "dev.flowx/requiredPermissions")]
        pub required_permissions: BTreeSet<PermissionName>,
    }
}

/// Who may use a capability.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(
    tag = "mode",
    rename_all = "camelCase",
    rename_all_fields = "camelCase",
    deny_unknown_fields
)]
pub enum Authorization {
    /// Anybody.
    Public {
        /// Who allowed that.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        approved_by: Option<String>,
    },
    /// Anybody who is somebody.
    Authenticated {},
    /// Whoever holds the permission.
    Permission {
        /// The permission.
        permission: PermissionName,
    },
    /// Nobody directly: it takes part in flows whose other steps decide.
    Internal {},
}

/// How a flow is reached.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(
    tag = "kind",
    rename_all = "camelCase",
    rename_all_fields = "camelCase",
    deny_unknown_fields
)]
pub enum Trigger {
    /// An agent's call; makes the flow a tool.
    Agent {
        /// The name of the tool.
        name: ToolName,
        /// What the model reads, where it is not the doc comment.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        description: Option<String>,
        /// When a person is asked first.
        confirmation: Confirmation,
        /// How a person is asked.
        risk: Risk,
    },
    /// An HTTP route.
    Http {
        /// The method, in capitals.
        method: String,
        /// The route, with `{name}` for path parameters.
        route: String,
        /// Whether an `Idempotency-Key` is demanded.
        idempotent: bool,
    },
}

/// The direction in which a contract is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Direction {
    /// What the program accepts.
    Request,
    /// What the program writes.
    Response,
}

impl Contract {
    /// The schema in one direction.
    pub fn in_direction(&self, direction: Direction) -> Option<&Json> {
        match direction {
            Direction::Request => self.request.as_ref().or(self.schema.as_ref()),
            Direction::Response => self.response.as_ref().or(self.schema.as_ref()),
        }
    }
}

impl Flow {
    /// Its agent trigger, when it is a tool.
    pub fn agent_trigger(&self) -> Option<&Trigger> {
        self.triggers
            .iter()
            .find(|t| matches!(t, Trigger::Agent { .. }))
    }

    /// `id@major`: the unit that the diff compares.
    pub fn key(&self) -> String {
        format!("{}@{}", self.id, self.version.major)
    }
}

impl Capability {
    /// `id@version`.
    pub fn reference(&self) -> VersionedId {
        VersionedId::new(self.id.as_str(), self.version)
    }
}

impl Flow {
    /// `id@version`.
    pub fn reference(&self) -> VersionedId {
        VersionedId::new(self.id.as_str(), self.version)
    }
}
