//! Mistakes in bodies are rustc's, at the user's own lines.
flowx_ui::everything_is_published!();

use flowx_runtime::{Cx, capability};
use std::convert::Infallible;
use std::rc::Rc;

#[capability(id = "pay.wrong", version = "1.0.0", authorization = internal)]
pub async fn wrong(_cx: &Cx<wrong>, order: u64) -> Result<u64, Infallible> {
    Ok(order.to_string())
}

#[capability(id = "pay.unsendable", version = "1.0.0", authorization = internal)]
pub async fn unsendable(_cx: &Cx<unsendable>, order: u64) -> Result<u64, Infallible> {
    let rc = Rc::new(order);
    std::future::ready(()).await;
    Ok(*rc)
}

#[capability(id = "pay.plain-error", version = "1.0.0", authorization = internal)]
pub async fn plain_error(_cx: &Cx<plain_error>, order: u64) -> Result<u64, String> {
    Ok(order)
}

type Answer = Option<u64>;

#[capability(id = "pay.no-result", version = "1.0.0", authorization = internal)]
pub async fn no_result(_cx: &Cx<no_result>, order: u64) -> Answer {
    Some(order)
}
