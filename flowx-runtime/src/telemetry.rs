//! Spans and counters. Names are `flowx.*`; a principal's id is never a label, since labels are kept for ever and by everybody.

use tracing::Span;
use tracing::level_filters::LevelFilter;

use flowx_manifest::Flow;
use tokio::time::Instant;

use crate::core::ServedFlow;
use crate::invocation::{CallOutcome, Invocation, Transport};
use crate::traits::CapabilityInfo;

/// The span of one call. The principal is in it for the log; it is in no metric.
pub(crate) fn call_span(flow: &ServedFlow, invocation: &Invocation) -> Span {
    tracing::info_span!(
        "flowx.call",
        flowx.flow.id = flow.published.id.as_str(),
        flowx.flow.version = %flow.published.version,
        flowx.trigger.kind = invocation.transport.as_str(),
        flowx.tool = flow.tool.as_deref(),
        flowx.tenant.id = invocation.principal.tenant.as_deref(),
        correlation_id = invocation.correlation_id.as_str(),
    )
}

/// One call being counted and timed.
pub(crate) struct Observed<'a> {
    flow: &'a str,
    transport: Transport,
    since: Instant,
    ended: bool,
}

impl<'a> Observed<'a> {
    pub(crate) fn begin(flow: &'a Flow, transport: Transport) -> Observed<'a> {
        Observed {
            flow: flow.id.as_str(),
            transport,
            since: Instant::now(),
            ended: false,
        }
    }

    pub(crate) fn end(mut self, outcome: &CallOutcome) {
        self.ended = true;
        match outcome {
            CallOutcome::Done(_) => self.emit("done", ""),
            CallOutcome::Refused(refusal) | CallOutcome::CannotAsk { refusal, .. } => {
                if let Some(internal) = refusal.operator_detail() {
                    tracing::error!(
                        flowx.flow.id = self.flow,
                        flowx.error.code = &*refusal.code,
                        internal,
                        "a defect"
                    );
                }
                self.emit("refused", &refusal.code);
            }
            CallOutcome::Unknown => self.emit("unknown", ""),
            CallOutcome::InputRequired { .. } => self.emit("input_required", ""),
        }
    }

    fn emit(&self, outcome: &str, code: &str) {
        tracing::info!(
            target: "flowx::metrics",
            {
            monotonic_counter.flowx_flow_total = 1_u64,
            histogram.flowx_flow_duration_seconds = self.since.elapsed().as_secs_f64(),
            flowx.flow.id = self.flow,
            flowx.trigger.kind = self.transport.as_str(),
            flowx.outcome = outcome,
            flowx.error.code = code
            },
            "measured"
        );
    }
}

impl Drop for Observed<'_> {
    fn drop(&mut self) {
        if !self.ended {
            self.emit("cancelled", "");
        }
    }
}

/// Whether anybody may be looking at the spans of steps. A span that nobody sees costs as much as all checks of a step together, since
/// `tracing`'s feature `log`, which some crate of a program turns on, has even those written out for a logger.
pub(crate) fn steps_are_seen() -> bool {
    LevelFilter::current() >= LevelFilter::DEBUG
}

/// The span of one attempt at a step.
pub(crate) fn step_span(step: &'static str, capability: &CapabilityInfo, attempt: u32) -> Span {
    tracing::debug_span!(
        "flowx.step",
        flowx.step.id = step,
        flowx.capability.id = capability.id,
        flowx.capability.version = capability.version,
        flowx.attempt = attempt,
    )
}

/// A step could not be undone.
pub(crate) fn compensation_failed(flow: &'static str, step: &'static str) {
    tracing::info!(
        target: "flowx::metrics",
        {
    monotonic_counter.flowx_flow_compensation_failed_total = 1_u64,
    flowx.flow.id = flow,
    flowx.step.id = step
        },
        "measured"
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::refusal::Refusal;
    use std::collections::BTreeSet;
    use std::sync::{Arc, Mutex};
    use tracing::field::{Field, Visit};
    use tracing::span;

    /// Writes down the labels of measurements.
    #[derive(Clone, Default)]
    struct Labels(Arc<Mutex<BTreeSet<String>>>);

    impl Visit for Labels {
        fn record_debug(&mut self, field: &Field, _: &dyn std::fmt::Debug) {
            self.0.lock().unwrap().insert(field.name().to_owned());
        }
    }

    impl tracing::Subscriber for Labels {
        fn enabled(&self, _: &tracing::Metadata<'_>) -> bool {
            true
        }
        fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
            span::Id::from_u64(1)
        }
        fn record(&self, _: &span::Id, _: &span::Record<'_>) {}
        fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}
        fn event(&self, event: &tracing::Event<'_>) {
            if event.metadata().target() == "flowx::metrics" {
                event.record(&mut self.clone());
            }
        }
        fn enter(&self, _: &span::Id) {}
        fn exit(&self, _: &span::Id) {}
    }

    #[test]
    fn no_measurement_is_labelled_with_who_called() {
        let labels = Labels::default();
        tracing::subscriber::with_default(labels.clone(), || {
            let observed = || Observed {
                flow: "a.b",
                transport: Transport::Http,
                since: Instant::now(),
                ended: false,
            };
            observed().end(&CallOutcome::Refused(Refusal::permission_denied("a.b")));
            drop(observed());
            compensation_failed("a.b", "undo");
        });
        let found = labels.0.lock().unwrap().clone();
        let known: BTreeSet<String> = [
            "message",
            "monotonic_counter.flowx_flow_total",
            "monotonic_counter.flowx_flow_compensation_failed_total",
            "histogram.flowx_flow_duration_seconds",
            "flowx.flow.id",
            "flowx.step.id",
            "flowx.trigger.kind",
            "flowx.outcome",
            "flowx.error.code",
        ]
        .map(str::to_owned)
        .into();
        assert_eq!(found, known);
    }
}
