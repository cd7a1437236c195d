//! What a FlowX attribute declares, as data. The macros and the scan both read declarations through this crate, so they
//! cannot disagree about the grammar; that they read the same *text* is what [`crate::digest`] proves.

use flowx_manifest::{
    AgentId, Authorization, CapabilityId, Category, Confirmation, DecidedBy, EffectClass, EffectId,
    ErrorCode, Finish, FlowId, IsoDuration, Leave, PermissionName, Risk, StepName, ToolName,
    Version,
};
use proc_macro2::Span;

/// A value and where it was written.
#[derive(Clone, Debug)]
pub struct Spanned<T> {
    /// The value.
    pub value: T,
    /// Where it was written.
    pub span: Span,
}

/// `#[effect(id = "…", class = …)]` on a struct or enum.
#[derive(Clone, Debug)]
pub struct EffectDecl {
    /// The type's name.
    pub ident: syn::Ident,
    /// The id.
    pub id: Spanned<EffectId>,
    /// What it does to the world.
    pub class: Spanned<EffectClass>,
    /// The doc comment, lines joined, trimmed.
    pub doc: Option<Doc>,
}

/// A doc comment, or a part of it that only the scan can resolve.
#[derive(Clone, Debug)]
pub enum Doc {
    /// Text.
    Text(String),
    /// `#[doc = include_str!(..)]`, `concat!` or another expression among the lines, in order; the scan resolves what it
    /// can and reports the rest.
    Parts(Vec<DocPart>),
}

/// One line or expression of a doc comment.
#[derive(Clone, Debug)]
pub enum DocPart {
    /// A literal line.
    Line(String),
    /// An expression.
    Expr(Box<syn::Expr>),
}

/// The signature of a capability or flow: `async fn name(cx: &Cx<name>, input: Input) -> Result<Output, Error>`.
#[derive(Clone, Debug)]
pub struct Signature {
    /// The function's name, which is also its type's name.
    pub ident: syn::Ident,
    /// The input's type; absent when the function takes a context only.
    pub input: Option<syn::Type>,
    /// The return type: `Result<Output, Error>` as written ([`Signature::result`] takes it apart), or an alias of one.
    pub returns: syn::Type,
}

/// `#[capability(…)]` on an async fn.
#[derive(Clone, Debug)]
pub struct CapabilityDecl {
    /// The function.
    pub signature: Signature,
    /// `id = "…"`.
    pub id: Spanned<CapabilityId>,
    /// `version = "1.0.0"`.
    pub version: Spanned<Version>,
    /// `authorization = public(approved_by = "…") | authenticated | permission("…") | internal`.
    pub authorization: Spanned<Authorization>,
    /// `effects(A, b::B)`: paths to effect types.
    pub effects: Vec<syn::Path>,
    /// `idempotent = true|false`; false when unsaid.
    pub idempotent: bool,
    /// The doc comment.
    pub doc: Option<Doc>,
    /// `#[deprecated(note = "…")]` on the function.
    pub deprecated: Option<String>,
}

/// `#[flow(…)]` on an async fn.
#[derive(Clone, Debug)]
pub struct FlowDecl {
    /// The function.
    pub signature: Signature,
    /// `id = "…"`.
    pub id: Spanned<FlowId>,
    /// `version = "1.0.0"`.
    pub version: Spanned<Version>,
    /// `title = "…"`.
    pub title: Option<Spanned<String>>,
    /// `owner = "…"`.
    pub owner: Option<Spanned<String>>,
    /// `deadline = "PT30S"`.
    pub deadline: Option<Spanned<IsoDuration>>,
    /// `http(METHOD, "/route", idempotent)`; any number.
    pub http: Vec<HttpDecl>,
    /// `agent(…)`; at most one.
    pub agent: Option<AgentTriggerDecl>,
    /// `approval(…)`; at most one.
    pub approval: Option<ApprovalDecl>,
    /// `steps(…)`.
    pub steps: Vec<StepDecl>,
    /// `renamed_from = "…"`.
    pub renamed_from: Option<Spanned<FlowId>>,
    /// The doc comment.
    pub doc: Option<Doc>,
    /// `#[deprecated(note = "…")]` on the function.
    pub deprecated: Option<String>,
}

/// `http(POST, "/api/v1/refunds", idempotent)`.
#[derive(Clone, Debug)]
pub struct HttpDecl {
    /// The method.
    pub method: Spanned<String>,
    /// The route.
    pub route: Spanned<String>,
    /// Whether an `Idempotency-Key` is demanded.
    pub idempotent: bool,
}

/// `agent(name = "…", description = "…", confirmation = …, risk = …)`.
#[derive(Clone, Debug)]
pub struct AgentTriggerDecl {
    /// Where `agent` stands.
    pub span: Span,
    /// The tool's name, where it is not the flow's id with `.` → `_`.
    pub name: Option<Spanned<ToolName>>,
    /// What the model reads, where it is not the doc comment.
    pub description: Option<Spanned<String>>,
    /// When a person is asked; `required_for_side_effects` when unsaid.
    pub confirmation: Spanned<Confirmation>,
    /// How a person is asked; `normal` when unsaid.
    pub risk: Risk,
}

/// `approval(required, decided_by = requester | sponsor | queue("…") | person("…"), self_approval, finish = run | redeem,
/// expires = "P1D", grant_expires = "PT1H", subject_version)`.
#[derive(Clone, Debug)]
pub struct ApprovalDecl {
    /// Where `approval` stands.
    pub span: Span,
    /// Whether every caller needs one.
    pub required: bool,
    /// Who decides; the requester when unsaid.
    pub decided_by: DecidedBy,
    /// Whether whoever asked may decide.
    pub self_approval: bool,
    /// When an approved call runs; `run` when unsaid.
    pub finish: Finish,
    /// How long a request waits undecided.
    pub expires: Option<Spanned<IsoDuration>>,
    /// How long a yes lasts unused.
    pub grant_expires: Option<Spanned<IsoDuration>>,
    /// Whether a yes covers one version of its subject only.
    pub subject_version: bool,
}

/// `name: path::to::capability { timeout = "PT2S", attempts = 3, backoff = "PT0.2S", compensate = path }`, or
/// `name: flow path::to::flow`.
#[derive(Clone, Debug)]
pub struct StepDecl {
    /// The name.
    pub name: Spanned<StepName>,
    /// The capability or flow.
    pub target: syn::Path,
    /// Whether `flow` stood before the path.
    pub is_flow: bool,
    /// The longest one attempt may take.
    pub timeout: Option<Spanned<IsoDuration>>,
    /// Attempts in all.
    pub attempts: Option<Spanned<u32>>,
    /// The longest wait before the first retry.
    pub backoff: Option<Spanned<IsoDuration>>,
    /// The capability that undoes it; it takes this step's output.
    pub compensate: Option<syn::Path>,
}

/// `#[derive(FlowError)]` on an enum or struct.
#[derive(Clone, Debug)]
pub struct FlowErrorDecl {
    /// The type's name.
    pub ident: syn::Ident,
    /// One per variant (or one for a struct).
    pub variants: Vec<FlowErrorVariant>,
}

/// One way to say no.
#[derive(Clone, Debug)]
pub struct FlowErrorVariant {
    /// The variant's name; absent for a struct.
    pub ident: Option<syn::Ident>,
    /// The code and category, or `transparent` over the error type of its only field.
    pub kind: FlowErrorKind,
}

/// What a variant of an error is.
#[derive(Clone, Debug)]
pub enum FlowErrorKind {
    /// `#[flow_error(code = "…", category = …)]`.
    Code {
        /// The code.
        code: Spanned<ErrorCode>,
        /// Its category.
        category: Category,
    },
    /// `#[flow_error(transparent)]`: the only field's own code and category.
    Transparent {
        /// The field.
        member: syn::Member,
        /// Its type, another error.
        ty: Box<syn::Type>,
    },
}

/// `#[agent(id = "…", purpose = "…", sponsor = "…", changes = propose, …, alone(path, …), propose(…),
/// propose_every_time(…), never(…), skill(name = "…", purpose = "…", uses(…), …), widened_by = "permission")]` on a unit struct.
#[derive(Clone, Debug)]
pub struct AgentDecl {
    /// The type's name.
    pub ident: syn::Ident,
    /// The id.
    pub id: Spanned<AgentId>,
    /// What it is for.
    pub purpose: Spanned<String>,
    /// The subject who answers for it.
    pub sponsor: Spanned<String>,
    /// `changes = …`; propose when unsaid.
    pub changes: Leave,
    /// `sends = …`; propose when unsaid.
    pub sends: Leave,
    /// `spends = …`; propose when unsaid.
    pub spends: Leave,
    /// `reaches_out = …`; propose when unsaid.
    pub reaches_out: Leave,
    /// Flows by path, tool by tool.
    pub tools: Vec<(Spanned<Leave>, syn::Path)>,
    /// Narrower kinds of work.
    pub skills: Vec<SkillDecl>,
    /// The permission that lets somebody widen the leave.
    pub widened_by: Option<Spanned<PermissionName>>,
}

/// `skill(name = "…", purpose = "…", uses(path, …), alone(path, …), …)`.
#[derive(Clone, Debug)]
pub struct SkillDecl {
    /// The name.
    pub name: Spanned<String>,
    /// What it is for.
    pub purpose: Spanned<String>,
    /// The flows it may use.
    pub uses: Vec<syn::Path>,
    /// Flows by path, tool by tool.
    pub tools: Vec<(Spanned<Leave>, syn::Path)>,
}

/// `#[flowx::allow(FLOWX1103, reason = "…")]` on any item.
#[derive(Clone, Debug)]
pub struct AllowDecl {
    /// The rules it quiets, by id; at least one.
    pub rules: Vec<Spanned<String>>,
    /// Why.
    pub reason: Spanned<String>,
}
