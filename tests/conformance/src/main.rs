//! The tools that the MCP conformance suite asks for by name, written as any FlowX application is written. Serves everybody on a free
//! port of this machine and prints its address.

use std::time::Duration;

use flowx_runtime::mcp::McpOptions;
use flowx_runtime::{App, Cx, FlowCx, FlowError, Limits, Visibility, capability, flow};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

mod shapes;

flowx_runtime::include_manifest!();

/// A text.
#[derive(Deserialize, Serialize, JsonSchema)]
struct Said {
    /// The text.
    text: String,
}

/// Says something.
#[capability(
    id = "test.say",
    version = "1.0.0",
    authorization = public(approved_by = "the conformance suite"),
    idempotent = true
)]
async fn say(_cx: &Cx<say>, text: String) -> Result<Said, Failure> {
    if text.is_empty() {
        Err(Failure::Intended)
    } else {
        Ok(Said { text })
    }
}

/// Why a flow of this fixture fails.
#[derive(Debug, thiserror::Error, FlowError)]
enum Failure {
    #[error("This tool intentionally returns an error for testing")]
    #[flow_error(code = "test.intended", category = Conflict)]
    Intended,
}

/// Says one sentence.
#[flow(id = "test.simple_text", version = "1.0.0", agent(confirmation = never), steps(say: say))]
async fn simple_text(cx: &FlowCx<simple_text>) -> Result<Said, Failure> {
    cx.step::<say>("This is a simple text response for testing.".to_owned())
        .await
}

/// Always fails.
#[flow(id = "test.error_handling", version = "1.0.0", agent(confirmation = never), steps(say: say))]
async fn error_handling(cx: &FlowCx<error_handling>) -> Result<Said, Failure> {
    cx.step::<say>(String::new()).await
}

/// Tells how far it is, three times.
#[flow(id = "test.tool_with_progress", version = "1.0.0", agent(confirmation = never), steps(say: say))]
async fn with_progress(cx: &FlowCx<with_progress>) -> Result<Said, Failure> {
    for done in [0.0, 50.0, 100.0] {
        cx.progress(done, Some(100.0), "under way");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    cx.step::<say>("done".to_owned()).await
}

/// Asks before it runs, whoever calls.
#[flow(
    id = "test.confirmed",
    version = "1.0.0",
    agent(name = "test_input_required_result_elicitation", confirmation = always),
    steps(say: say)
)]
async fn confirmed(cx: &FlowCx<confirmed>) -> Result<Said, Failure> {
    cx.step::<say>("confirmed".to_owned()).await
}

/// Asks before it runs; called with a state that is not the one it gave.
#[flow(
    id = "test.tampered",
    version = "1.0.0",
    agent(name = "test_input_required_result_tampered_state", confirmation = always),
    steps(say: say)
)]
async fn tampered(cx: &FlowCx<tampered>) -> Result<Said, Failure> {
    cx.step::<say>("confirmed".to_owned()).await
}

/// Asks before it runs; called again with the state that it gave.
#[flow(
    id = "test.request_state",
    version = "1.0.0",
    agent(name = "test_input_required_result_request_state", confirmation = always),
    steps(say: say)
)]
async fn request_state(cx: &FlowCx<request_state>) -> Result<Said, Failure> {
    cx.step::<say>("state-ok".to_owned()).await
}

/// What is said with a question.
#[derive(Deserialize, JsonSchema)]
struct Message {
    /// A message.
    message: String,
}

/// Asks on the stream of the call.
#[flow(id = "test.elicitation", version = "1.0.0", agent(confirmation = always), steps(say: say))]
async fn elicitation(cx: &FlowCx<elicitation>, input: Message) -> Result<Said, Failure> {
    cx.step::<say>(input.message).await
}

/// Asks a client of 2026-07-28, which must not be asked by a request of the server.
#[flow(id = "test.streaming_elicitation", version = "1.0.0", agent(confirmation = always), steps(say: say))]
async fn streaming_elicitation(cx: &FlowCx<streaming_elicitation>) -> Result<Said, Failure> {
    cx.step::<say>("confirmed".to_owned()).await
}

/// Writes to the server's log, which is not the client's.
#[flow(id = "test.logging_tool", version = "1.0.0", agent(confirmation = never), steps(say: say))]
async fn logging(cx: &FlowCx<logging>) -> Result<Said, Failure> {
    tracing::info!("a line for the operator");
    cx.step::<say>("logged".to_owned()).await
}

/// Asks before it runs; called by a client that cannot be asked.
#[flow(id = "test.missing_capability", version = "1.0.0", agent(confirmation = always), steps(say: say))]
async fn missing_capability(cx: &FlowCx<missing_capability>) -> Result<Said, Failure> {
    cx.step::<say>("confirmed".to_owned()).await
}

/// Which part of the world is meant.
#[derive(Deserialize, JsonSchema)]
struct Region {
    /// A region.
    region: String,
}

/// Repeats a region.
#[flow(id = "test.region", version = "1.0.0", agent(confirmation = never), steps(say: say))]
async fn region(cx: &FlowCx<region>, input: Region) -> Result<Said, Failure> {
    cx.step::<say>(input.region).await
}

/// A picture.
#[derive(Deserialize, Serialize, JsonSchema)]
struct Picture {
    /// One red pixel.
    #[schemars(extend("contentEncoding" = "base64", "contentMediaType" = "image/png"))]
    png: String,
}

/// A sound.
#[derive(Deserialize, Serialize, JsonSchema)]
struct Sound {
    /// No samples.
    #[schemars(extend("contentEncoding" = "base64", "contentMediaType" = "audio/wav"))]
    wav: String,
}

/// A document.
#[derive(Deserialize, Serialize, JsonSchema)]
struct Paper {
    /// The document.
    #[schemars(extend("contentMediaType" = "text/plain"))]
    document: String,
}

/// Some of each.
#[derive(Deserialize, Serialize, JsonSchema)]
struct Mixed {
    /// A title.
    title: String,
    /// One red pixel.
    #[schemars(extend("contentEncoding" = "base64", "contentMediaType" = "image/png"))]
    png: String,
    /// A document.
    #[schemars(extend("contentMediaType" = "application/json"))]
    document: String,
}

const PIXEL: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
const SILENCE: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=";

/// Draws one pixel.
#[flow(id = "test.image_content", version = "1.0.0", agent(confirmation = never), steps(say: say))]
async fn image(cx: &FlowCx<image>) -> Result<Picture, Failure> {
    let png = cx.step::<say>(PIXEL.to_owned()).await?.text;
    Ok(Picture { png })
}

/// Sounds like nothing.
#[flow(id = "test.audio_content", version = "1.0.0", agent(confirmation = never), steps(say: say))]
async fn audio(cx: &FlowCx<audio>) -> Result<Sound, Failure> {
    let wav = cx.step::<say>(SILENCE.to_owned()).await?.text;
    Ok(Sound { wav })
}

/// Hands over a document.
#[flow(id = "test.embedded_resource", version = "1.0.0", agent(confirmation = never), steps(say: say))]
async fn embedded_resource(cx: &FlowCx<embedded_resource>) -> Result<Paper, Failure> {
    let document = cx
        .step::<say>("This is an embedded resource content.".to_owned())
        .await?
        .text;
    Ok(Paper { document })
}

/// Hands over some of each.
#[flow(id = "test.multiple_content_types", version = "1.0.0", agent(confirmation = never), steps(say: say))]
async fn mixed(cx: &FlowCx<mixed>) -> Result<Mixed, Failure> {
    let png = cx.step::<say>(PIXEL.to_owned()).await?.text;
    Ok(Mixed {
        title: "Multiple content types test:".to_owned(),
        png,
        document: r#"{"test":"data","value":123}"#.to_owned(),
    })
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let app = App::new(&MANIFEST)
        .visibility(Visibility::All)
        // The suite is one caller that is nobody, and in a hurry.
        .limits(Limits {
            anonymous_rate: None,
            ..Limits::default()
        })
        .mcp(McpOptions::default());
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    println!("listening on http://{}", listener.local_addr()?);
    app.serve(listener).await?;
    Ok(())
}
