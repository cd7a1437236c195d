//! The desk's own surface, reviewed: for whoever operates it.

use flowx_runtime::{Cx, FlowCx, FlowError, ModelRequest, capability, flow};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What to do with the review.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReviewSurface {
    /// Whether the caller's own model is asked to explain it.
    #[serde(default)]
    pub narrate: bool,
}

/// A review.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct SurfaceReview {
    /// The findings, the same for everybody and every time.
    pub report: String,
    /// What the caller's model says about them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub narration: Option<String>,
    /// Why there is no narration though it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_narrated: Option<String>,
}

impl flowx_runtime::Samples for SurfaceReview {
    fn samples() -> Vec<Self> {
        let review = |narration: Option<&str>, not_narrated: Option<&str>| SurfaceReview {
            report: "no findings".to_owned(),
            narration: narration.map(str::to_owned),
            not_narrated: not_narrated.map(str::to_owned),
        };
        vec![
            review(None, None),
            review(Some("All is well."), None),
            review(None, Some("the client has no model to lend")),
        ]
    }
}

/// Why there is no review.
#[derive(Debug, thiserror::Error, FlowError)]
pub enum ReviewError {
    /// A defect of the build.
    #[error("the embedded manifest cannot be read: {0}")]
    #[flow_error(code = "ops.manifest_unreadable", category = Internal)]
    Unreadable(String),
}

/// The findings, and what a model is asked about them. Both follow from the manifest alone.
#[derive(Clone, Debug)]
pub struct Findings {
    report: String,
    prompt: String,
}

/// Reviews the manifest that this program serves.
#[capability(id = "ops.findings", version = "1.0.0", authorization = permission("ops.read"), idempotent = true)]
pub async fn findings(_cx: &Cx<findings>) -> Result<Findings, ReviewError> {
    let review = crate::MANIFEST
        .review()
        .map_err(|e| ReviewError::Unreadable(e.to_string()))?;
    Ok(Findings {
        report: review.to_text(),
        prompt: review.to_prompt(),
    })
}

/// Review the tools of this desk for combinations that a single description does not show. Changes nothing.
#[flow(id = "ops.review", version = "1.0.0", owner = "operations", deadline = "PT1M",
       http(POST, "/api/v1/review"),
       agent(confirmation = required_for_side_effects),
       steps(findings: findings))]
async fn review(cx: &FlowCx<review>, input: ReviewSurface) -> Result<SurfaceReview, ReviewError> {
    let Findings { report, prompt } = cx.step::<findings>(()).await?;
    let (mut narration, mut not_narrated) = (None, None);
    if input.narrate {
        match cx
            .ask_model(&ModelRequest {
                system: None,
                prompt,
                max_tokens: 1_000,
            })
            .await
        {
            Ok(text) => narration = Some(text),
            Err(why) => not_narrated = Some(why.to_string()),
        }
    }
    Ok(SurfaceReview {
        report,
        narration,
        not_narrated,
    })
}
