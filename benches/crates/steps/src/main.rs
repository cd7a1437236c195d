//! A flow of four steps beside the same four functions with the same checks written by hand.
//!
//! `flowx-bench-steps allocations` prints how many allocations a step makes. `flowx-bench-steps flowx|hand ROUNDS` runs ROUNDS times four
//! steps, for `valgrind --tool=callgrind`; the difference between two numbers of rounds is the cost of the steps alone:
//!
//!     cargo build --release
//!     for side in flowx hand; do for rounds in 0 10000; do
//!         valgrind --tool=callgrind --callgrind-out-file=/dev/null target/release/flowx-bench-steps $side $rounds 2>&1 | grep Collected
//!     done; done

use std::alloc::{GlobalAlloc, Layout, System};
use std::collections::BTreeSet;
use std::convert::Infallible;
use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use flowx_manifest::{EffectClass, Json};
use flowx_runtime::__private::{
    Capability, CapabilityInfo, Declares, Effect, Flow, FlowInfo, HasStep, NoUndo, Registry, Stance, StepInfo,
};
use flowx_runtime::{
    App, CallOutcome, Cx, Embedded, FlowCx, Invocation, NoChannel, Principal, PrincipalKind, Transport,
};
use tokio::time::{Instant, timeout_at};

struct Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

// SAFETY: every call goes to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        unsafe { System.dealloc(ptr, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The world: a number.
#[derive(Default)]
struct World(AtomicU64);

impl World {
    async fn add(&self, n: u64) -> u64 {
        self.0.fetch_add(black_box(n), Ordering::Relaxed)
    }
}

impl Effect for World {
    const ID: &'static str = "world";
    const CLASS: EffectClass = EffectClass::Changes;
}

macro_rules! capability {
    ($name:ident, $id:literal, $stance:expr, $timeout:literal, $attempts:literal) => {
        struct $name;
        impl Declares<World> for $name {}
        impl Capability for $name {
            type Input = u64;
            type Output = u64;
            type Error = Infallible;
            const INFO: CapabilityInfo = CapabilityInfo {
                id: $id,
                version: "1.0.0",
                stance: $stance,
                effects: &["world"],
                side_effects: true,
                idempotent: true,
            };
            async fn run(cx: &Cx<Self>, n: u64) -> Result<u64, Infallible> {
                Ok(cx.effect::<World>().add(n).await)
            }
        }
        impl HasStep<$name> for Four {
            const STEP: StepInfo =
                StepInfo { name: stringify!($name), timeout_ms: $timeout, attempts: $attempts, backoff_ms: 200 };
            type Undo = NoUndo;
            fn again(n: &u64) -> Option<u64> {
                Some(*n)
            }
        }
    };
}
capability!(Open, "four.open", Stance::Public, 0, 1);
capability!(Known, "four.known", Stance::Authenticated, 0, 1);
capability!(Paid, "four.paid", Stance::Permission("payment.refund"), 0, 1);
capability!(Timed, "four.timed", Stance::Permission("payment.read"), 2_000, 3);

struct Four;
impl Flow for Four {
    type Input = u64;
    type Output = u64;
    type Error = Infallible;
    const INFO: FlowInfo = FlowInfo { id: "four.steps", version: "1.0.0", deadline_ms: 600_000 };
    const EFFECTS: &'static [&'static [&'static str]] = &[&["world"]];
    const SIDE_EFFECTS: bool = true;
    async fn run(cx: &FlowCx<Self>, rounds: u64) -> Result<u64, Infallible> {
        let mut sum = 0;
        for round in 0..rounds {
            sum += cx.step::<Open>(round).await?;
            sum += cx.step::<Known>(round).await?;
            sum += cx.step::<Paid>(round).await?;
            sum += cx.step::<Timed>(round).await?;
        }
        Ok(sum)
    }
}

/// The same by hand: who may, whether there is time, a timeout where there is one, three attempts where it says so.
mod by_hand {
    use super::*;

    pub(super) struct Caller {
        pub(super) known: bool,
        pub(super) permissions: BTreeSet<String>,
    }

    #[derive(Debug)]
    pub(super) enum No {
        Unknown,
        Denied,
        Late,
    }

    fn in_time(deadline: Instant) -> Result<Instant, No> {
        let now = Instant::now();
        if now < deadline { Ok(now) } else { Err(No::Late) }
    }

    async fn open(world: &World, deadline: Instant, n: u64) -> Result<u64, No> {
        in_time(deadline)?;
        Ok(world.add(n).await)
    }

    async fn known(world: &World, caller: &Caller, deadline: Instant, n: u64) -> Result<u64, No> {
        if !caller.known {
            return Err(No::Unknown);
        }
        in_time(deadline)?;
        Ok(world.add(n).await)
    }

    async fn paid(world: &World, caller: &Caller, deadline: Instant, n: u64) -> Result<u64, No> {
        if !caller.known {
            return Err(No::Unknown);
        }
        if !caller.permissions.contains("payment.refund") {
            return Err(No::Denied);
        }
        in_time(deadline)?;
        Ok(world.add(n).await)
    }

    async fn timed(world: &World, caller: &Caller, deadline: Instant, n: u64) -> Result<u64, No> {
        if !caller.known {
            return Err(No::Unknown);
        }
        if !caller.permissions.contains("payment.read") {
            return Err(No::Denied);
        }
        for attempt in 0..3 {
            let limit = (in_time(deadline)? + Duration::from_secs(2)).min(deadline);
            if let Ok(sum) = timeout_at(limit, world.add(n)).await {
                return Ok(sum);
            }
            tokio::time::sleep(Duration::from_millis(100 << attempt)).await;
        }
        Err(No::Late)
    }

    pub(super) async fn run(world: &World, caller: &Caller, rounds: u64) -> Result<u64, No> {
        let deadline = Instant::now() + Duration::from_secs(600);
        let mut sum = 0;
        for round in 0..rounds {
            sum += open(world, deadline, round).await?;
            sum += known(world, caller, deadline, round).await?;
            sum += paid(world, caller, deadline, round).await?;
            sum += timed(world, caller, deadline, round).await?;
        }
        Ok(sum)
    }
}

fn embedded() -> &'static Embedded {
    let capability = |id: &str, authorization: &str| {
        format!(
            r#"{{"id":"{id}","version":"1.0.0","input":{{"type":"u64"}},"output":{{"type":"u64"}},"authorization":{authorization},"effects":["world"],"idempotent":true}}"#
        )
    };
    let step = |name: &str, id: &str| format!(r#"{{"name":"{name}","calls":{{"capability":"{id}@1.0.0"}}}}"#);
    let text = format!(
        r#"{{"$schema":"{}","schemaVersion":"{}","application":{{"name":"bench","version":"1.0.0"}},
"effects":[{{"id":"world","class":"changes"}}],
"capabilities":[{}],
"flows":[{{"id":"four.steps","version":"1.0.0","deadline":"PT10M","profile":"ephemeral","input":{{"type":"rounds"}},"output":{{"type":"rounds"}},
"triggers":[],"steps":[{}],"effects":["world"],"permissions":["payment.read","payment.refund"]}}],
"events":[],"agents":[],"entities":[],"contracts":[{{"id":"rounds","schema":{{"type":"integer"}}}}],"tools":[]}}"#,
        flowx_manifest::SCHEMA_ID,
        flowx_manifest::SCHEMA_VERSION,
        [
            capability("four.known", r#"{"mode":"authenticated"}"#),
            capability("four.open", r#"{"mode":"public"}"#),
            capability("four.paid", r#"{"mode":"permission","permission":"payment.refund"}"#),
            capability("four.timed", r#"{"mode":"permission","permission":"payment.read"}"#),
        ]
        .join(","),
        [step("open", "four.open"), step("known", "four.known"), step("paid", "four.paid"), step("timed", "four.timed")]
            .join(","),
    );
    fn register(registry: &mut Registry) {
        registry.effect::<World>();
        registry.capability::<Open>();
        registry.capability::<Known>();
        registry.capability::<Paid>();
        registry.capability::<Timed>();
        registry.flow::<Four>();
    }
    let digest = flowx_manifest::digest(text.as_bytes()).leak();
    Box::leak(Box::new(Embedded { text: text.leak(), digest, index: &[], register }))
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let mut arguments = std::env::args().skip(1);
    let side = arguments.next().unwrap_or_default();
    let rounds: u64 = arguments.next().and_then(|n| n.parse().ok()).unwrap_or(0);
    let permissions = ["payment.read", "payment.refund", "ops.read"];

    let principal = Arc::new(Principal {
        kind: PrincipalKind::Person,
        subject: "ann".to_owned(),
        permissions: permissions.iter().map(|p| p.parse().expect("a permission")).collect(),
        ..Principal::anonymous()
    });
    let core = App::new(embedded()).effect(World::default()).into_core().expect("it starts");
    let flowx = async |rounds: u64| {
        let invocation = Invocation::new("four.steps@1.0.0", Arc::clone(&principal), Json::from(rounds), Transport::Http);
        match core.call(invocation, Arc::new(NoChannel)).await {
            CallOutcome::Done(output) => output,
            other => panic!("{other:?}"),
        }
    };
    let world = World::default();
    let caller = by_hand::Caller { known: true, permissions: permissions.map(str::to_owned).into() };

    match side.as_str() {
        "flowx" => drop(black_box(flowx(rounds).await)),
        "hand" => drop(black_box(by_hand::run(&world, &caller, rounds).await.expect("it may"))),
        "allocations" => {
            flowx(1).await;
            let count = async |rounds| {
                let before = ALLOCATIONS.load(Ordering::Relaxed);
                flowx(rounds).await;
                ALLOCATIONS.load(Ordering::Relaxed) - before
            };
            let (few, many) = (count(1).await, count(10_001).await);
            println!("allocations: {few} in a call of 4 steps, {many} in one of 40,004: {:.3} per step", (many - few.min(many)) as f64 / 40_000.0);
        }
        _ => eprintln!("flowx-bench-steps allocations | flowx ROUNDS | hand ROUNDS"),
    }
}
