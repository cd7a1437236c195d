//! Spans and counters. Names are `flowx.*`; a principal's id is never a label, since labels are kept for ever and by everybody.

use tracing::Span;

use crate::context::Place;
use crate::traits::CapabilityInfo;

/// The span of one attempt at a step.
pub(crate) fn step_span(place: &Place, capability: &CapabilityInfo, attempt: u32) -> Span {
    tracing::debug_span!(
        "flowx.step",
        flowx.step.id = place.step,
        flowx.capability.id = capability.id,
        flowx.capability.version = capability.version,
        flowx.attempt = attempt,
    )
}

/// A step could not be undone.
pub(crate) fn compensation_failed(flow: &'static str, step: &'static str) {
    tracing::warn!(
        counter.flowx_flow_compensation_failed_total = 1_u64,
        flowx.flow.id = flow,
        flowx.step.id = step
    );
}
