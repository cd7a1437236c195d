//! All mistakes of a declaration at their own places, and nothing about the rest of the crate.
flowx_ui::everything_is_published!();

use flowx_runtime::{Cx, FlowCx, FlowError, agent, capability, effect, flow};

#[effect(id = "Ledger", clas = changes)]
pub struct Ledger;

#[derive(Debug, thiserror::Error, FlowError)]
pub enum No {
    #[error("a")]
    #[flow_error(code = "a", category = Conflct)]
    A,
    #[error("b")]
    B,
}

#[capability(
    id = "order.book",
    versoin = "1.0",
    authorization = permission(),
    effects(Ledger, Ledger),
)]
pub fn book(cx: &Cx<book>, order: u64) -> Result<u64, No> {
    let _ = cx.effect::<Ledger>();
    std::future::ready(Ok(order)).await
}

#[flow(
    id = "order.place",
    version = "1.0.0",
    profile = durable,
    deadline = "30s",
    agent(confirmation = alwyas),
    http(POST, "orders"),
    steps(book: book { timeot = "PT1S" }, book: book),
)]
pub async fn place(cx: &FlowCx<place>, order: u64) -> Result<u64, No> {
    cx.step::<book>(order).await
}

#[agent(id = "clerk", purpose = "sells", spends = alnoe)]
pub struct Clerk;

#[flow(id = "order.again", version = "1.0.0", steps(book: book, place: flow place))]
pub async fn again(cx: &FlowCx<again>, order: u64) -> Result<u64, No> {
    let order = cx.call::<place>(order).await?;
    cx.step::<book>(order).await
}
