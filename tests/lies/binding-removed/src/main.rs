//! `echo.say` is published as a tool, and the program has no such flow.

use flowx_runtime::{Cx, FlowCx, FlowError, capability, flow};

#[derive(serde::Deserialize)]
pub struct Ask {
    pub text: String,
}

#[derive(serde::Serialize)]
pub struct Said {
    pub text: String,
}

#[derive(Debug, FlowError)]
pub enum No {
    #[flow_error(code = "echo.silent", category = Unavailable)]
    Silent,
}

impl std::fmt::Display for No {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("silent")
    }
}

#[capability(id = "echo.say", version = "1.0.0", authorization = authenticated, idempotent = true)]
async fn say(_cx: &Cx<say>, text: String) -> Result<String, No> {
    Ok(text)
}

flowx_runtime::include_manifest!();

/// Says it back.
#[cfg(not(gone))]
#[flow(id = "echo.say", version = "1.0.0", agent(confirmation = never), steps(say: say))]
async fn echo(cx: &FlowCx<echo>, ask: Ask) -> Result<Said, No> {
    Ok(Said { text: cx.step::<say>(ask.text).await? })
}

fn main() {}
