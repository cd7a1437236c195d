//! A world that writes down what happened to it, capabilities that do as they are told, and flows over them.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use flowx_manifest::{Category, EffectClass, Json};

use super::super::Runner;
use super::super::call::{Call, Effects};
use crate::channel::{Channel, NoChannel};
use crate::context::Cx;
use crate::identity::{Principal, PrincipalKind};
use crate::invocation::{Invocation, Output, System, Transport};
use crate::refusal::Refusal;
use crate::traits::{Capability, CapabilityInfo, Declares, Effect, Flow, FlowError, Stance};

/// What really happened, in order.
#[derive(Clone, Default)]
pub(super) struct World(pub(super) Arc<Mutex<Vec<String>>>);

impl World {
    pub(super) fn log(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }

    pub(super) fn happened(&self, what: impl Into<String>) {
        self.0.lock().unwrap().push(what.into());
    }
}

impl Effect for World {
    const ID: &'static str = "world";
    const CLASS: EffectClass = EffectClass::Changes;
}

/// One no of a capability or flow.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct No(pub(super) Category);

impl std::fmt::Display for No {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "no, with the secret word swordfish: {}", self.0)
    }
}

impl FlowError for No {
    fn code(&self) -> &'static str {
        "test.no"
    }
    fn category(&self) -> Category {
        self.0
    }
    fn catalogue() -> Vec<(&'static str, Category)> {
        Vec::new()
    }
}

/// What a capability does, attempt by attempt; the last one stays.
#[derive(Clone, Debug)]
pub(super) struct Script {
    name: &'static str,
    acts: Vec<Act>,
    attempt: Arc<AtomicUsize>,
}

#[derive(Clone, Debug)]
pub(super) enum Act {
    Succeed,
    Refuse(Category),
    Hang,
    /// Never rests: gives its task back only when its turn is used up.
    Spin,
    Panic,
}

pub(super) fn script(name: &'static str, acts: impl Into<Vec<Act>>) -> Script {
    Script {
        name,
        acts: acts.into(),
        attempt: Arc::default(),
    }
}

pub(super) fn fine(name: &'static str) -> Script {
    script(name, [Act::Succeed])
}

async fn play<C: Capability + Declares<World>>(cx: &Cx<C>, script: Script) -> Result<Script, No> {
    let attempt = script.attempt.fetch_add(1, Ordering::SeqCst);
    let world = cx.effect::<World>();
    match script.acts[attempt.min(script.acts.len() - 1)] {
        Act::Succeed => {
            world.happened(script.name);
            Ok(script)
        }
        Act::Refuse(category) => Err(No(category)),
        Act::Hang => std::future::pending().await,
        Act::Spin => loop {
            tokio::task::consume_budget().await;
        },
        Act::Panic => panic!("swordfish"),
    }
}

macro_rules! capability {
    ($name:ident, $stance:expr, $idempotent:literal, $play:path) => {
        pub(super) struct $name;
        impl Declares<World> for $name {}
        impl Capability for $name {
            type Input = Script;
            type Output = Script;
            type Error = No;
            const INFO: CapabilityInfo = CapabilityInfo {
                id: stringify!($name),
                version: "1.0.0",
                stance: $stance,
                effects: &["world"],
                side_effects: true,
                idempotent: $idempotent,
            };
            async fn run(cx: &Cx<Self>, input: Script) -> Result<Script, No> {
                $play(cx, input).await
            }
        }
    };
}
capability!(Open, Stance::Public, true, play);
capability!(Second, Stance::Public, true, play);
capability!(Once, Stance::Public, false, play);
capability!(Known, Stance::Authenticated, true, play);
capability!(Paid, Stance::Permission("payment.refund"), true, play);
capability!(Undo, Stance::Internal, true, undo);

/// Undoes what a script did; one named `stubborn` cannot be undone.
async fn undo(cx: &Cx<Undo>, script: Script) -> Result<Script, No> {
    assert!(cx.is_undoing() && cx.idempotency_key().ends_with(":undo"));
    if script.name == "stubborn" {
        return Err(No(Category::Conflict));
    }
    if script.name == "stuck" {
        std::future::pending::<()>().await;
    }
    cx.effect::<World>()
        .happened(format!("undo {}", script.name));
    Ok(script)
}

/// A flow of that deadline and those steps, whose body is the closure's.
macro_rules! flow {
    ($name:ident, $deadline:literal, [$($step:ident $({ $($policy:ident: $value:expr),* })? $(undo $undo:ident)?),*], |$cx:ident| $body:expr) => {
        struct $name;
        $(impl $crate::traits::HasStep<$step> for $name {
            const STEP: $crate::traits::StepInfo = $crate::traits::StepInfo {
                $($($policy: $value,)*)?
                ..$crate::traits::StepInfo { name: stringify!($step), timeout_ms: 0, attempts: 1, backoff_ms: 1 }
            };
            type Undo = flow!(@undo $($undo)?);
            fn again(input: &Script) -> Option<Script> {
                Some(input.clone())
            }
        })*
        impl $crate::traits::Flow for $name {
            type Input = ();
            type Output = String;
            type Error = No;
            const INFO: $crate::traits::FlowInfo =
                $crate::traits::FlowInfo { id: stringify!($name), version: "1.0.0", deadline_ms: $deadline };
            const EFFECTS: &'static [&'static [&'static str]] = &[&["world"]];
            const SIDE_EFFECTS: bool = true;
            async fn run($cx: &$crate::context::FlowCx<Self>, _: ()) -> Result<String, No> {
                $body
            }
        }
    };
    (@undo) => { $crate::traits::NoUndo };
    (@undo $undo:ident) => { $crate::traits::UndoBy<$undo> };
}
pub(super) use flow;

pub(super) fn person(permissions: &[&str]) -> Principal {
    Principal {
        kind: PrincipalKind::Person,
        subject: "ann".into(),
        permissions: permissions.iter().map(|p| p.parse().unwrap()).collect(),
        ..Principal::anonymous()
    }
}

pub(super) fn call_in(world: &World, principal: Principal) -> Arc<Call> {
    call_with(world, principal, Arc::new(NoChannel))
}

/// A call over that channel.
pub(crate) fn call_over(channel: Arc<dyn Channel>) -> Arc<Call> {
    call_with(&World::default(), Principal::anonymous(), channel)
}

fn call_with(world: &World, principal: Principal, channel: Arc<dyn Channel>) -> Arc<Call> {
    let mut effects = Effects::default();
    effects.insert(world.clone());
    Arc::new(Call {
        invocation: Invocation::new(
            "test@1.0.0",
            Arc::new(principal),
            Json::Null,
            Transport::Http,
        ),
        effects: Arc::new(effects),
        clock: Arc::new(System),
        ids: Arc::new(System),
        channel,
        tasks: Default::default(),
        undo_limit: Duration::from_millis(300),
        refused: Default::default(),
        lending: Default::default(),
        standing: Default::default(),
    })
}

pub(super) async fn run<F: Flow<Input: serde::de::DeserializeOwned, Output: serde::Serialize>>(
    world: &World,
) -> Result<Output, Refusal> {
    run_as::<F>(world, person(&[])).await
}

pub(super) async fn run_as<
    F: Flow<Input: serde::de::DeserializeOwned, Output: serde::Serialize>,
>(
    world: &World,
    principal: Principal,
) -> Result<Output, Refusal> {
    Runner::of::<F>()
        .run(call_in(world, principal), Json::Null)
        .await
}
