//! What the macros implement. User code names [`Effect`], [`FlowError`] and the contexts; the rest is for generated code.

use std::future::Future;

use flowx_manifest::{Category, EffectClass};

use crate::context::{Cx, FlowCx};

/// A handle to something outside the program. Implemented by `#[effect]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an effect [FLOWX1101]",
    label = "this is no handle to the world",
    note = "an effect is a struct or enum that carries `#[effect(id = \"…\", class = …)]`"
)]
pub trait Effect: Send + Sync + 'static {
    /// The id in the manifest.
    const ID: &'static str;
    /// What it does to the world.
    const CLASS: EffectClass;
}

/// `Self` declares the effect `E`. Implemented by `#[capability(effects(E))]` alone; the scan reports any other.
#[diagnostic::on_unimplemented(
    message = "capability `{Self}` has no leave to use the effect `{E}` [FLOWX1101]",
    label = "this effect is not declared",
    note = "what a capability touches is part of what a reviewer reads: add `{E}` to its `effects(…)`, or do without it"
)]
pub trait Declares<E> {}

/// Who may use a capability.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stance {
    /// Anybody.
    Public,
    /// Anybody who is somebody.
    Authenticated,
    /// Whoever holds the permission.
    Permission(&'static str),
    /// Nobody directly; other steps decide.
    Internal,
}

/// The constant half of a capability's declaration.
#[derive(Clone, Copy, Debug)]
pub struct CapabilityInfo {
    /// The id.
    pub id: &'static str,
    /// The version.
    pub version: &'static str,
    /// Who may.
    pub stance: Stance,
    /// The ids of its effects, sorted.
    pub effects: &'static [&'static str],
    /// Whether any of them does more than look.
    pub side_effects: bool,
    /// Whether repeating it with the same key is safe.
    pub idempotent: bool,
}

/// A unit of authority and effect. Implemented by `#[capability]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a capability [FLOWX1002]",
    note = "a step calls an async fn that carries `#[capability(…)]`"
)]
pub trait Capability: Sized + Send + Sync + 'static {
    /// What it takes.
    type Input: Send + 'static;
    /// What it gives.
    type Output: Send + 'static;
    /// How it says no.
    type Error: FlowError;
    /// What was declared.
    const INFO: CapabilityInfo;
    /// The body.
    fn run(
        cx: &Cx<Self>,
        input: Self::Input,
    ) -> impl Future<Output = Result<Self::Output, Self::Error>> + Send;
}

/// A typed, expected "no". Implemented by `#[derive(FlowError)]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no error that callers can tell apart [FLOWX1107]",
    label = "this has no codes",
    note = "derive `FlowError` for an error type of your own, with `#[flow_error(code = \"…\", category = …)]` on each variant"
)]
pub trait FlowError: std::fmt::Display + Send + Sync + 'static {
    /// The code, dotted lower-case.
    fn code(&self) -> &'static str;
    /// Its category.
    fn category(&self) -> Category;
    /// Every code with its category that a value of this type can have.
    fn catalogue() -> Vec<(&'static str, Category)>;
}

/// The error of what cannot say no.
impl FlowError for std::convert::Infallible {
    fn code(&self) -> &'static str {
        match *self {}
    }
    fn category(&self) -> Category {
        match *self {}
    }
    fn catalogue() -> Vec<(&'static str, Category)> {
        Vec::new()
    }
}

/// The constant half of a flow's declaration.
#[derive(Clone, Copy, Debug)]
pub struct FlowInfo {
    /// The id.
    pub id: &'static str,
    /// The version.
    pub version: &'static str,
    /// The longest it may take, in milliseconds; 0 for no limit of its own.
    pub deadline_ms: u64,
}

/// What a caller can ask for. Implemented by `#[flow]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a flow",
    note = "a sub-flow is an async fn that carries `#[flow(…)]`"
)]
pub trait Flow: Sized + Send + Sync + 'static {
    /// What it takes. Registering the flow demands that serde reads it, and writes the output; not here, so that a type the scan has
    /// refused is one error.
    type Input: Send + 'static;
    /// What it gives.
    type Output: Send + 'static;
    /// How it says no.
    type Error: FlowError;
    /// What was declared.
    const INFO: FlowInfo;
    /// Every effect a call can reach, by id: steps, compensations, sub-flows. Built from the declared types in const, so that it
    /// can be asserted equal to what the scan published. May hold an id more than once.
    const EFFECTS: &'static [&'static [&'static str]];
    /// Whether any of them does more than look.
    const SIDE_EFFECTS: bool;
    /// The body.
    fn run(
        cx: &FlowCx<Self>,
        input: Self::Input,
    ) -> impl Future<Output = Result<Self::Output, Self::Error>> + Send;
}

/// The policies of one step.
#[derive(Clone, Copy, Debug)]
pub struct StepInfo {
    /// The name.
    pub name: &'static str,
    /// The longest one attempt may take, in milliseconds; 0 for no limit of its own.
    pub timeout_ms: u64,
    /// Attempts in all, at least 1.
    pub attempts: u32,
    /// The longest wait before the first retry, in milliseconds.
    pub backoff_ms: u64,
}

/// `Self` declares a step that calls the capability `C`. Implemented by `#[flow(steps(…))]` alone.
#[diagnostic::on_unimplemented(
    message = "flow `{Self}` declares no step that calls `{C}` [FLOWX1102]",
    label = "this step is not declared",
    note = "the steps of a flow are what its effects and permissions are computed from: add `name: {C}` to its `steps(…)`"
)]
pub trait HasStep<C: Capability>: Flow {
    /// Its policies.
    const STEP: StepInfo;
    /// What undoes it; [`NoUndo`] when nothing does.
    type Undo: Undo<C>;
    /// A copy of the input for a further attempt; `None` where no retry is declared.
    fn again(input: &C::Input) -> Option<C::Input> {
        let _ = input;
        None
    }
}

/// `Self` declares a step that calls the flow `F` in line. Implemented by `#[flow(steps(name: flow path))]` alone.
#[diagnostic::on_unimplemented(
    message = "flow `{Self}` declares no step that calls the flow `{F}` [FLOWX1102]",
    note = "add `name: flow {F}` to its `steps(…)`"
)]
pub trait HasFlow<F: Flow>: Flow {
    /// Its policies.
    const STEP: StepInfo;
}

/// What undoes a step of the capability `C`.
pub trait Undo<C: Capability>: 'static {
    /// Keeps what the undo will need, from the step's output. `None` where nothing undoes it.
    fn keep(output: &C::Output) -> Option<Compensation>;
}

/// Nothing undoes the step.
pub struct NoUndo;

impl<C: Capability> Undo<C> for NoUndo {
    fn keep(_: &C::Output) -> Option<Compensation> {
        None
    }
}

/// The capability `R` undoes the step: it takes a copy of the step's output.
pub struct UndoBy<R>(std::marker::PhantomData<fn() -> R>);

impl<C, R> Undo<C> for UndoBy<R>
where
    C: Capability,
    C::Output: Clone,
    R: Capability<Input = C::Output>,
{
    fn keep(output: &C::Output) -> Option<Compensation> {
        Some(Compensation::of::<R>(output.clone()))
    }
}

pub use crate::context::Compensation;
