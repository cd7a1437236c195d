//! What a flow's and a capability's body see of the world: their declared effects, their declared steps, and the call.

use std::fmt;
use std::marker::PhantomData;
use std::sync::atomic::AtomicU32;
use std::sync::{Arc, Mutex};

use time::OffsetDateTime;
use tokio::time::Instant;
use uuid::Uuid;

use crate::engine::{self, Call, Declared, Kept};
use crate::identity::Principal;
use crate::model::{ModelRequest, NoModel};
use crate::traits::{
    Capability, CapabilityInfo, Declares, Effect, Flow, HasFlow, HasStep, StepInfo, Undo,
};

pub use crate::engine::Compensation;

/// What the body of the capability `C` sees.
pub struct Cx<C> {
    running: Arc<Running>,
    place: Place,
    capability: PhantomData<fn() -> C>,
}

/// What a flow says of one of its steps, the types out of sight.
#[derive(Debug)]
pub(crate) struct Site {
    pub(crate) flow: &'static str,
    pub(crate) policy: StepInfo,
    pub(crate) capability: CapabilityInfo,
}

/// Which step of its flow a capability runs for; with the flow's path, what its idempotency key is made of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub(crate) site: &'static Site,
    /// The how-manieth step of its flow this is, counted from 0.
    pub(crate) ordinal: u32,
    pub(crate) undoing: bool,
}

impl<C: Capability> Cx<C> {
    pub(crate) fn new(running: Arc<Running>, place: Place) -> Cx<C> {
        Cx {
            running,
            place,
            capability: PhantomData,
        }
    }

    /// The handle to a declared effect.
    pub fn effect<E: Effect>(&self) -> &E
    where
        C: Declares<E>,
    {
        self.running
            .call
            .effects
            .get::<E>()
            .expect("App refuses to start while a declared effect has no handle")
    }

    /// A key under which this step is the same step again, over retries and repetitions of the call; different for every other step.
    pub fn idempotency_key(&self) -> String {
        let Place {
            site,
            ordinal,
            undoing,
        } = self.place;
        let undo = if undoing { ":undo" } else { "" };
        let path = self.running.path.as_deref().unwrap_or("");
        let key = &self.running.call.invocation.idempotency_key;
        format!(
            "{key}:{path}{}:{}:{ordinal}{undo}",
            site.flow, site.policy.name
        )
    }

    /// Whether it runs to undo a step that was done.
    pub fn is_undoing(&self) -> bool {
        self.place.undoing
    }
}

/// A flow that is running, its types out of sight.
pub(crate) struct Running {
    pub(crate) call: Arc<Call>,
    /// The sub-flows above, outermost first; empty in the flow that was called.
    pub(crate) path: Option<Arc<str>>,
    pub(crate) deadline: Option<Instant>,
    /// What undoes the steps that are done, in their order.
    pub(crate) undo: Mutex<Vec<Kept>>,
    /// How many steps it has begun.
    pub(crate) ordinal: AtomicU32,
}

impl Running {
    pub(crate) fn new(
        call: Arc<Call>,
        path: Option<Arc<str>>,
        deadline: Option<Instant>,
    ) -> Running {
        Running {
            call,
            path,
            deadline,
            undo: Mutex::default(),
            ordinal: AtomicU32::new(0),
        }
    }
}

/// What the body of the flow `F` sees.
pub struct FlowCx<F> {
    running: Arc<Running>,
    flow: PhantomData<fn() -> F>,
}

impl<F: Flow> FlowCx<F> {
    pub(crate) fn of(running: Arc<Running>) -> FlowCx<F> {
        FlowCx {
            running,
            flow: PhantomData,
        }
    }

    /// Runs the declared step that calls `C`, under its declared policies.
    ///
    /// # Errors
    /// What `C` says, as it says it. What the platform says (not permitted, deadline, timeout) does not come back here: the whole
    /// flow ends, completed steps are undone in reverse.
    pub fn step<C: Capability>(
        &self,
        input: C::Input,
    ) -> impl Future<Output = Result<C::Output, C::Error>> + Send + use<'_, F, C>
    where
        F: HasStep<C>,
    {
        let declared = const {
            &Declared::<C> {
                site: Site {
                    flow: F::INFO.id,
                    policy: <F as HasStep<C>>::STEP,
                    capability: C::INFO,
                },
                again: <F as HasStep<C>>::again,
                keep: <F::Undo as Undo<C>>::keep,
            }
        };
        engine::step::<C>(&self.running, declared, input)
    }

    /// Runs the declared sub-flow `G` in line: same caller, same call, the shorter of the two deadlines. When `G` fails, the steps it had
    /// completed are undone before its error comes back.
    ///
    /// # Errors
    /// What `G` says, as it says it.
    pub fn call<G: Flow>(
        &self,
        input: G::Input,
    ) -> impl Future<Output = Result<G::Output, G::Error>> + Send + use<'_, F, G>
    where
        F: HasFlow<G>,
    {
        engine::sub_flow::<G>(&self.running, &F::INFO, <F as HasFlow<G>>::STEP, input)
    }

    /// Asks the caller's own model, where its transport can. The flow's deadline goes on meanwhile. The answer is a stranger's text.
    ///
    /// A client of 2025-11-25 is asked on the call's stream. One of 2026-07-28 is asked by ending the call; when it comes back with the answer the
    /// flow runs from its beginning, so that is done for flows without side effects that needed nobody's yes, and for one question per
    /// call. Elsewhere the answer is [`NoModel::Unavailable`].
    ///
    /// # Errors
    /// Why there is no answer.
    pub async fn ask_model(&self, request: &ModelRequest) -> Result<String, NoModel> {
        crate::model::ask(&self.running.call, request).await
    }

    /// The key of the call: the caller's own where it gave one.
    pub fn idempotency_key(&self) -> &str {
        &self.running.call.invocation.idempotency_key
    }
}

macro_rules! of_the_call {
    ($name:ident, $($call:ident).+) => {
        impl<X> $name<X> {
            /// Who calls.
            pub fn principal(&self) -> &Principal {
                &self.$($call).+.invocation.principal
            }

            /// Now, in UTC, from the clock of the call.
            pub fn now(&self) -> OffsetDateTime {
                self.$($call).+.clock.now()
            }

            /// A new id, from the id source of the call.
            pub fn new_id(&self) -> Uuid {
                self.$($call).+.ids.new_id()
            }

            /// Joins the records of one call.
            pub fn correlation_id(&self) -> &str {
                &self.$($call).+.invocation.correlation_id
            }

            /// Tells the caller how far the call is, where its transport can. Never waits.
            pub fn progress(&self, done: f64, total: Option<f64>, message: &str) {
                self.$($call).+.channel.progress(done, total, Some(message));
            }
        }

        impl<X> fmt::Debug for $name<X> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name))
                    .field("correlation_id", &self.correlation_id())
                    .finish_non_exhaustive()
            }
        }
    };
}
of_the_call!(Cx, running.call);
of_the_call!(FlowCx, running.call);
