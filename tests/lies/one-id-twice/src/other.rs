use flowx_runtime::{FlowCx, flow};

use crate::{Ask, No, Said, say};

/// Says it back.
#[flow(id = "echo.say", version = "1.2.0", steps(say: say))]
async fn second(cx: &FlowCx<second>, ask: Ask) -> Result<Said, No> {
    Ok(Said { text: cx.step::<say>(ask.text).await? })
}
