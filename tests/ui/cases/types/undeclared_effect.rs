//! P3: the handle of an effect that is not declared cannot be had.
flowx_ui::everything_is_published!();

use flowx_runtime::{Cx, capability, effect};

#[effect(id = "ledger", class = changes)]
pub struct Ledger;

#[effect(id = "mail", class = sends)]
pub struct Mail;

#[capability(id = "order.book", version = "1.0.0", authorization = internal, effects(Ledger))]
pub async fn book(cx: &Cx<book>, _order: u64) -> Result<u64, std::convert::Infallible> {
    let _ = cx.effect::<Ledger>();
    let _ = cx.effect::<Mail>();
    Ok(1)
}
