//! A signature of another shape is told in words, at the part that is wrong.
flowx_ui::everything_is_published!();

use flowx_runtime::{Cx, FlowCx, capability, flow};
use std::convert::Infallible;

#[capability(id = "a.none", version = "1.0.0", authorization = internal)]
pub async fn none() -> Result<u64, Infallible> {
    Ok(1)
}

#[capability(id = "a.context", version = "1.0.0", authorization = internal)]
pub async fn context(cx: Cx<context>, order: u64) -> Result<u64, Infallible> {
    Ok(order)
}

#[capability(id = "a.other", version = "1.0.0", authorization = internal)]
pub async fn other(cx: &Cx<context>, order: u64) -> Result<u64, Infallible> {
    Ok(order)
}

#[capability(id = "a.kind", version = "1.0.0", authorization = internal)]
pub async fn kind(cx: &FlowCx<kind>, order: u64) -> Result<u64, Infallible> {
    Ok(order)
}

#[capability(id = "a.many", version = "1.0.0", authorization = internal)]
pub async fn many(cx: &Cx<many>, order: u64, more: u64) -> Result<u64, Infallible> {
    Ok(order)
}

#[capability(id = "a.borrowed", version = "1.0.0", authorization = internal)]
pub async fn borrowed(cx: &Cx<borrowed>, order: &str) -> Result<u64, Infallible> {
    Ok(1)
}

#[capability(id = "a.generic", version = "1.0.0", authorization = internal)]
pub async fn generic<T: Send>(cx: &Cx<generic>, order: T) -> Result<u64, Infallible> {
    Ok(1)
}

#[capability(id = "a.nothing", version = "1.0.0", authorization = internal)]
pub async fn nothing(cx: &Cx<nothing>, order: u64) {}

#[capability(id = "a.method", version = "1.0.0", authorization = internal)]
pub async fn method(&self, order: u64) -> Result<u64, Infallible> {
    Ok(order)
}

#[flow(id = "a.struct", version = "1.0.0", steps(a: context))]
pub struct Flow;

#[flow(id = "a.rest", version = "1.0.0", steps(a: context, b: other, c: many))]
pub async fn rest(cx: &FlowCx<rest>, order: u64) -> Result<u64, Infallible> {
    cx.step::<context>(order).await
}
