//! The tools that the MCP conformance suite asks for by name, written as any FlowX application is written. Serves everybody on a free
//! port of this machine and prints its address.

use std::convert::Infallible;
use std::time::Duration;

use flowx_runtime::mcp::McpOptions;
use flowx_runtime::{App, FlowCx, FlowError, Visibility, flow};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

flowx_runtime::include_manifest!();

/// A text.
#[derive(Serialize, JsonSchema)]
struct Said {
    /// The text.
    text: String,
}

/// Says one sentence.
#[flow(id = "test.simple-text", version = "1.0.0", agent(name = "test_simple_text"))]
async fn simple_text(_cx: &FlowCx<simple_text>) -> Result<Said, Infallible> {
    Ok(Said { text: "This is a simple text response for testing.".to_owned() })
}

/// Why a flow of this fixture fails.
#[derive(Debug, thiserror::Error, FlowError)]
enum Failure {
    #[error("This tool intentionally returns an error for testing")]
    #[flow_error(code = "test.intended", category = Conflict)]
    Intended,
}

/// Always fails.
#[flow(id = "test.error-handling", version = "1.0.0", agent(name = "test_error_handling"))]
async fn error_handling(_cx: &FlowCx<error_handling>) -> Result<Said, Failure> {
    Err(Failure::Intended)
}

/// Tells how far it is, three times.
#[flow(id = "test.progress", version = "1.0.0", agent(name = "test_tool_with_progress"))]
async fn with_progress(cx: &FlowCx<with_progress>) -> Result<Said, Infallible> {
    for done in [0.0, 50.0, 100.0] {
        cx.progress(done, Some(100.0), "under way");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    Ok(Said { text: "done".to_owned() })
}

/// Asks before it runs, whoever calls.
#[flow(
    id = "test.confirmed",
    version = "1.0.0",
    agent(name = "test_input_required_result_elicitation", confirmation = always)
)]
async fn confirmed(_cx: &FlowCx<confirmed>) -> Result<Said, Infallible> {
    Ok(Said { text: "confirmed".to_owned() })
}

/// Asks before it runs; called by a client that cannot be asked.
#[flow(id = "test.missing-capability", version = "1.0.0", agent(name = "test_missing_capability", confirmation = always))]
async fn missing_capability(_cx: &FlowCx<missing_capability>) -> Result<Said, Infallible> {
    Ok(Said { text: "confirmed".to_owned() })
}

/// Which part of the world is meant.
#[derive(Deserialize, JsonSchema)]
struct Region {
    /// A region.
    region: String,
}

/// Repeats a region.
#[flow(id = "test.region", version = "1.0.0", agent(name = "test_region"))]
async fn region(_cx: &FlowCx<region>, input: Region) -> Result<Said, Infallible> {
    Ok(Said { text: input.region })
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let app = App::new(&MANIFEST).visibility(Visibility::All).mcp(McpOptions::default());
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    println!("listening on http://{}", listener.local_addr()?);
    app.serve(listener).await?;
    Ok(())
}
