//@ env: FLOWX_RUNTIME=fx
//@ extern: fx=flowx_runtime
//! A package may name the runtime as it likes.
#[doc(hidden)]
pub struct FlowxManifest;
impl<const KEY: u64> fx::__private::Published<KEY> for FlowxManifest {}

use fx::{Cx, capability};

/// Books.
#[capability(id = "order.book", version = "1.0.0", authorization = internal)]
pub async fn book(_cx: &Cx<book>, order: u64) -> Result<u64, std::convert::Infallible> {
    Ok(order)
}
