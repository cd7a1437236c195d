//! A flow calls what it lists, and nothing else.
flowx_ui::everything_is_published!();

use flowx_runtime::{Cx, FlowCx, capability, flow};

#[capability(id = "order.book", version = "1.0.0", authorization = internal)]
pub async fn book(_cx: &Cx<book>, order: u64) -> Result<u64, std::convert::Infallible> {
    Ok(order)
}

#[capability(id = "order.ship", version = "1.0.0", authorization = internal)]
pub async fn ship(_cx: &Cx<ship>, order: u64) -> Result<u64, std::convert::Infallible> {
    Ok(order)
}

#[flow(id = "order.place", version = "1.0.0", steps(book: book))]
pub async fn place(cx: &FlowCx<place>, order: u64) -> Result<u64, std::convert::Infallible> {
    let order = cx.step::<book>(order).await?;
    let order = cx.step::<ship>(order).await?;
    cx.call::<place>(order).await
}
