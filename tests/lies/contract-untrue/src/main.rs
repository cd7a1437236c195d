//! One schema is edited after the scan, and one says by `#[schemars(with = …)]` what the type does not do.

use flowx_runtime::{Cx, FlowCx, FlowError, capability, flow};

flowx_runtime::include_manifest!();

#[derive(Debug, FlowError)]
pub enum No {
    #[flow_error(code = "desk.closed", category = Unavailable)]
    Closed,
}

impl std::fmt::Display for No {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("closed")
    }
}

/// A seat.
#[derive(serde::Deserialize)]
pub struct Seat {
    pub row: u8,
}

/// A payment, said to be a text.
#[derive(serde::Deserialize, schemars::JsonSchema)]
pub struct Payment {
    #[serde(deserialize_with = "cents")]
    #[schemars(with = "String")]
    pub cents: u64,
}

/// A number, said to be a text as well.
#[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
pub struct Paid {
    #[schemars(with = "String")]
    pub cents: u64,
}

fn cents<'de, D: serde::Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
    serde::Deserialize::deserialize(from)
}

#[capability(id = "desk.look", version = "1.0.0", authorization = authenticated, idempotent = true)]
async fn look(_cx: &Cx<look>, row: u64) -> Result<u64, No> {
    Ok(row)
}

/// Looks at a seat.
#[flow(id = "desk.seat", version = "1.0.0", steps(look: look))]
async fn seat(cx: &FlowCx<seat>, seat: Seat) -> Result<(), No> {
    cx.step::<look>(u64::from(seat.row)).await?;
    Ok(())
}

/// Takes a payment.
#[flow(id = "desk.pay", version = "1.0.0", steps(look: look))]
async fn pay(cx: &FlowCx<pay>, payment: Payment) -> Result<Paid, No> {
    let cents = cx.step::<look>(payment.cents).await?;
    Ok(Paid { cents })
}

fn main() {}
