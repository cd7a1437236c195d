//! Spans and measurements to OpenTelemetry (feature `otel`).
//!
//! The runtime speaks `tracing` everywhere; this is the layer that hands it on. Which exporter, where to and how often is the program's
//! own choice: it brings a tracer and a meter provider.
//!
//! Spans: `flowx.call` (flow, version, trigger, tool, tenant, correlation id) and in it `flowx.step` (step, capability, attempt).
//! Measurements: `flowx_flow_total`, `flowx_flow_duration_seconds` (by flow, trigger, outcome and error code),
//! `flowx_flow_compensation_failed_total` (by flow and step). No label names a principal.

use opentelemetry::metrics::MeterProvider;
use opentelemetry::trace::Tracer;
use tracing::Subscriber;
use tracing_opentelemetry::{MetricsLayer, layer as spans};
use tracing_subscriber::Layer;
use tracing_subscriber::registry::LookupSpan;

/// The layer for a `tracing_subscriber::registry()`.
pub fn layer<S, T>(tracer: T, meters: impl MeterProvider + 'static) -> impl Layer<S>
where
    S: Subscriber + for<'span> LookupSpan<'span> + Send + Sync,
    T: Tracer + Send + Sync + 'static,
    T::Span: Send + Sync,
{
    spans()
        .with_tracer(tracer)
        .and_then(MetricsLayer::new(meters))
}
