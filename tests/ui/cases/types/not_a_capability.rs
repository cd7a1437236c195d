//! What stands in `steps(…)` is a capability, or a flow after `flow`.
flowx_ui::everything_is_published!();

use flowx_runtime::{Cx, FlowCx, capability, flow};

pub struct Book;

pub fn helper() {}

#[capability(id = "order.book", version = "1.0.0", authorization = internal)]
pub async fn book(_cx: &Cx<book>, order: u64) -> Result<u64, std::convert::Infallible> {
    Ok(order)
}

#[flow(id = "order.place", version = "1.0.0", steps(a: Book))]
pub async fn place(_cx: &FlowCx<place>, order: u64) -> Result<u64, std::convert::Infallible> {
    Ok(order)
}

#[flow(id = "order.help", version = "1.0.0", steps(a: helper))]
pub async fn help(_cx: &FlowCx<help>, order: u64) -> Result<u64, std::convert::Infallible> {
    Ok(order)
}

#[flow(id = "order.undo", version = "1.0.0", steps(a: book { compensate = Book }))]
pub async fn undo(_cx: &FlowCx<undo>, order: u64) -> Result<u64, std::convert::Infallible> {
    Ok(order)
}

#[flow(id = "order.sub", version = "1.0.0", steps(a: flow book))]
pub async fn sub(_cx: &FlowCx<sub>, order: u64) -> Result<u64, std::convert::Infallible> {
    Ok(order)
}
