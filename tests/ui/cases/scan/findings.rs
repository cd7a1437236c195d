//@ findings: findings.json
//@ manifest: #[doc(hidden)] pub struct FlowxManifest; impl<const KEY: u64> flowx_runtime::__private::Published<KEY> for FlowxManifest {}
//! What the scan found wrong is an error of rustc at the very token, or at the declaration's name; a warning is a warning; what belongs to
//! no declaration stands at `include_manifest!()`. Nothing follows from it.
flowx_runtime::include_manifest!();

use flowx_runtime::{Cx, FlowCx, capability, effect, flow};
use std::convert::Infallible;

#[effect(id = "ledger", class = changes)]
pub struct Ledger;

#[capability(id = "order.book", version = "1.0.0", authorization = internal, effects(Nowhere))]
pub async fn book(cx: &Cx<book>, order: u64) -> Result<u64, Infallible> {
    let _ = cx.effect::<Ledger>();
    Ok(order)
}

#[flow(id = "order.place", version = "1.0.0", steps(book: nowhere::book))]
pub async fn place(cx: &FlowCx<place>, order: u64) -> Result<u64, Infallible> {
    cx.step::<book>(order).await
}

#[flow(id = "order.warned", version = "1.0.0", steps(book: book))]
pub async fn warned(cx: &FlowCx<warned>, order: u64) -> Result<u64, Infallible> {
    let order = order + 1;
    cx.step::<book>(order).await
}
