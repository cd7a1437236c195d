//! What OpenTelemetry gets of calls: spans of calls and steps, counts and times of flows, tools and refusals, and nobody's name as a label.
#![allow(clippy::unwrap_used, missing_docs, unreachable_pub)]

#[path = "mcp/support.rs"]
#[allow(dead_code, unused_macros)]
mod support;

use flowx_runtime::Visibility;
use flowx_runtime::mcp::McpOptions;
use opentelemetry::trace::TracerProvider;
use opentelemetry_sdk::metrics::{InMemoryMetricExporter, SdkMeterProvider};
use opentelemetry_sdk::trace::{InMemorySpanExporter, SdkTracerProvider};
use serde_json::json;
use tracing_subscriber::layer::SubscriberExt;

#[tokio::test]
async fn calls_steps_tools_and_refusals_reach_open_telemetry_and_no_label_names_a_caller() {
    let (spans, metrics) = (
        InMemorySpanExporter::default(),
        InMemoryMetricExporter::default(),
    );
    let tracers = SdkTracerProvider::builder()
        .with_simple_exporter(spans.clone())
        .build();
    let meters = SdkMeterProvider::builder()
        .with_periodic_exporter(metrics.clone())
        .build();
    let layer = flowx_runtime::otel::layer(tracers.tracer("flowx"), meters.clone());
    let guard = tracing::subscriber::set_default(tracing_subscriber::registry().with(layer));

    let desk = support::desk(Visibility::All, McpOptions::default());
    let refund = json!({ "name": "ticket_refund", "arguments": {} });
    for token in ["manager", "clerk"] {
        desk.modern(token, "tools/call", refund.clone())
            .await
            .result();
    }
    assert_eq!(desk.ledger.count(), 1);
    drop(guard);
    tracers.force_flush().unwrap();
    meters.force_flush().unwrap();

    let spans = spans.get_finished_spans().unwrap();
    let of = |name: &str| spans.iter().filter(|s| s.name == name).collect::<Vec<_>>();
    let (calls, steps) = (of("flowx.call"), of("flowx.step"));
    assert_eq!(calls.len(), 2, "{spans:?}");
    for call in &calls {
        let has = |key: &str, value: &str| {
            call.attributes
                .iter()
                .any(|a| a.key.as_str() == key && a.value.as_str() == value)
        };
        assert!(has("flowx.flow.id", "ticket.refund") && has("flowx.tool", "ticket_refund"));
    }
    // The refused caller's step was not begun.
    assert_eq!(steps.len(), 1, "{steps:?}");
    assert_eq!(steps[0].parent_span_id, calls[0].span_context.span_id());

    let measured = format!("{:?}", metrics.get_finished_metrics().unwrap());
    for part in [
        "flowx_flow_total",
        "flowx_flow_duration_seconds",
        "ticket.refund",
        "refused",
        "authorization.permission_denied",
        "\"done\"",
    ] {
        assert!(measured.contains(part), "{part} in {measured}");
    }
    for name in ["manager", "clerk"] {
        assert!(!measured.contains(name), "{name} in {measured}");
    }
}
