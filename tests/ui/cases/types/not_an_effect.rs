//! What stands in `effects(…)` is an effect.
flowx_ui::everything_is_published!();

use flowx_runtime::{Cx, capability};

pub struct Client;

#[capability(id = "order.book", version = "1.0.0", authorization = internal, effects(Client, Missing))]
pub async fn book(_cx: &Cx<book>, order: u64) -> Result<u64, std::convert::Infallible> {
    Ok(order)
}
