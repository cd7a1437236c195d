//! P1: one id, one declaration.
flowx_ui::everything_is_published!();

use flowx_runtime::{Cx, capability};
use std::convert::Infallible;

#[capability(id = "pay.once", version = "1.0.0", authorization = internal)]
pub async fn first(_cx: &Cx<first>, order: u64) -> Result<u64, Infallible> {
    Ok(order)
}

#[capability(id = "pay.once", version = "1.4.0", authorization = internal)]
pub async fn second(_cx: &Cx<second>, order: u64) -> Result<u64, Infallible> {
    Ok(order)
}

#[capability(id = "pay.once", version = "2.0.0", authorization = internal)]
pub async fn next_major(_cx: &Cx<next_major>, order: u64) -> Result<u64, Infallible> {
    Ok(order)
}
