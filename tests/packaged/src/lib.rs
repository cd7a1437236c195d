//! A library that somebody publishes.

use flowx_runtime::{Cx, FlowCx, FlowError, capability, flow};

flowx_runtime::include_manifest!();

#[derive(serde::Deserialize)]
pub struct Ask {
    pub text: String,
}

#[derive(serde::Deserialize, serde::Serialize)]
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
    if text.is_empty() { Err(No::Silent) } else { Ok(text) }
}

/// Says it back.
#[flow(id = "echo.back", version = "1.0.0", agent(confirmation = never), steps(say: say))]
async fn back(cx: &FlowCx<back>, ask: Ask) -> Result<Said, No> {
    Ok(Said { text: cx.step::<say>(ask.text).await? })
}

#[test]
fn what_is_declared_is_embedded() {
    assert!(MANIFEST.text.contains("\"id\":\"echo.back\""), "{}", MANIFEST.text);
}
