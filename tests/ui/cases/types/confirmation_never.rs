//! FLOWX1046 by types alone: through an alias, a re-export, a `cfg`, a sub-flow, and when the effect is only in a compensation.
flowx_ui::everything_is_published!();

use flowx_runtime::{Cx, FlowCx, capability, effect, flow};
use std::convert::Infallible;

#[effect(id = "gateway", class = spends)]
pub struct Gateway;

#[effect(id = "prices", class = reads)]
pub struct Prices;

mod inner {
    pub type Till = super::Gateway;
    pub use super::pay as settle;
}

#[capability(id = "pay.pay", version = "1.0.0", authorization = internal, effects(inner::Till))]
pub async fn pay(_cx: &Cx<pay>, order: u64) -> Result<u64, Infallible> {
    Ok(order)
}

#[capability(id = "pay.look", version = "1.0.0", authorization = internal, effects(Prices))]
pub async fn look(_cx: &Cx<look>, order: u64) -> Result<u64, Infallible> {
    Ok(order)
}

#[flow(id = "a.direct", version = "1.0.0", agent(confirmation = never), steps(pay: pay))]
pub async fn direct(_cx: &FlowCx<direct>, order: u64) -> Result<u64, Infallible> {
    Ok(order)
}

#[flow(id = "a.renamed", version = "1.0.0", agent(confirmation = never), steps(pay: inner::settle))]
pub async fn renamed(_cx: &FlowCx<renamed>, order: u64) -> Result<u64, Infallible> {
    Ok(order)
}

#[flow(id = "a.undone", version = "1.0.0", agent(confirmation = never), steps(look: look { compensate = pay }))]
pub async fn undone(_cx: &FlowCx<undone>, order: u64) -> Result<u64, Infallible> {
    Ok(order)
}

#[cfg_attr(not(nothing), flow(id = "a.nested", version = "1.0.0", agent(confirmation = never), steps(sub: flow plain)))]
pub async fn nested(_cx: &FlowCx<nested>, order: u64) -> Result<u64, Infallible> {
    Ok(order)
}

#[flow(id = "a.plain", version = "1.0.0", agent, steps(pay: pay))]
pub async fn plain(_cx: &FlowCx<plain>, order: u64) -> Result<u64, Infallible> {
    Ok(order)
}

#[flow(id = "a.reads", version = "1.0.0", agent(confirmation = never), steps(look: look))]
pub async fn reads(_cx: &FlowCx<reads>, order: u64) -> Result<u64, Infallible> {
    Ok(order)
}
