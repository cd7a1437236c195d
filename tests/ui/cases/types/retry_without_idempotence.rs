//! FLOWX1014 by types alone, and a retry whose input cannot be copied.
flowx_ui::everything_is_published!();

use flowx_runtime::{Cx, FlowCx, capability, flow};
use std::convert::Infallible;

#[derive(serde::Serialize, serde::Deserialize)]
pub struct Order;

#[capability(id = "pay.once", version = "1.0.0", authorization = internal)]
pub async fn once(_cx: &Cx<once>, order: u64) -> Result<u64, Infallible> {
    Ok(order)
}

#[capability(id = "pay.safe", version = "1.0.0", authorization = internal, idempotent)]
pub async fn safe(_cx: &Cx<safe>, order: Order) -> Result<Order, Infallible> {
    Ok(order)
}

#[flow(id = "a.twice", version = "1.0.0", steps(once: once { attempts = 2 }))]
pub async fn twice(_cx: &FlowCx<twice>, order: u64) -> Result<u64, Infallible> {
    Ok(order)
}

#[flow(id = "a.copies", version = "1.0.0", steps(safe: safe { attempts = 2 }))]
pub async fn copies(_cx: &FlowCx<copies>, order: Order) -> Result<Order, Infallible> {
    Ok(order)
}
