//! Without `include_manifest!()` there is one error per declaration, not three.
use flowx_runtime::{Cx, capability};
use std::convert::Infallible;

#[capability(id = "pay.once", version = "1.0.0", authorization = internal)]
pub async fn once(_cx: &Cx<once>, order: u64) -> Result<u64, Infallible> {
    Ok(order)
}
