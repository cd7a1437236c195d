//! What can be asked for about repairs.

use flowx_runtime::{Cx, FlowCx, FlowError, capability, flow};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::shop::{Book, Repair, Shelf};

/// Why it was not done.
#[derive(Debug, thiserror::Error, FlowError)]
pub enum RepairError {
    /// No such repair.
    #[error("there is no repair {0}")]
    #[flow_error(code = "repair.not_found", category = NotFound)]
    NotFound(String),
}

/// Which repair.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Which {
    /// The id, as `repair_list` gives it.
    pub repair_id: String,
}

/// A note to write.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Note {
    /// The id, as `repair_list` gives it.
    pub repair_id: String,
    /// What to note.
    pub text: String,
}

/// A price to set.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// The id, as `repair_list` gives it.
    pub repair_id: String,
    /// The price, in cents.
    #[schemars(range(min = 1))]
    pub cents: u64,
}

/// A price for every repair.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FleetPrice {
    /// The price of each, in cents.
    #[schemars(range(min = 1))]
    pub cents: u64,
}

/// The repairs.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Repairs {
    /// Each of them.
    pub repairs: Vec<Repair>,
}

/// Looks at every repair.
#[capability(id = "repair.look", version = "1.0.0", authorization = authenticated, effects(Shelf), idempotent = true)]
async fn look(cx: &Cx<look>) -> Result<Vec<Repair>, RepairError> {
    Ok(cx.effect::<Shelf>().0.all())
}

/// Writes a note down.
#[capability(id = "repair.write", version = "1.0.0", authorization = authenticated, effects(Book), idempotent = false)]
async fn write(cx: &Cx<write>, note: Note) -> Result<Repair, RepairError> {
    let Note { repair_id, text } = note;
    let changed = cx
        .effect::<Book>()
        .0
        .change(&repair_id, |r| r.notes.push(text));
    changed.ok_or(RepairError::NotFound(repair_id))
}

/// Sets the price of one repair. Managers only.
#[capability(id = "repair.set_price", version = "1.0.0", authorization = permission("repair.price"), effects(Book), idempotent = true)]
async fn put_price(cx: &Cx<put_price>, price: Price) -> Result<Repair, RepairError> {
    let changed = cx
        .effect::<Book>()
        .0
        .change(&price.repair_id, |r| r.price_cents = Some(price.cents));
    changed.ok_or(RepairError::NotFound(price.repair_id))
}

/// Sets the price of every repair. Managers only.
#[capability(id = "fleet.set_price", version = "1.0.0", authorization = permission("repair.price"), effects(Book), idempotent = true)]
async fn put_prices(cx: &Cx<put_prices>, price: FleetPrice) -> Result<Vec<Repair>, RepairError> {
    let shop = &cx.effect::<Book>().0;
    let ids = shop.all().into_iter().map(|r| r.id);
    Ok(ids
        .filter_map(|id| shop.change(&id, |r| r.price_cents = Some(price.cents)))
        .collect())
}

/// Gives a repair up.
#[capability(id = "repair.give_up", version = "1.0.0", authorization = authenticated, effects(Book), idempotent = true)]
async fn give_up(cx: &Cx<give_up>, which: Which) -> Result<Repair, RepairError> {
    let changed = cx
        .effect::<Book>()
        .0
        .change(&which.repair_id, |r| r.scrapped = true);
    changed.ok_or(RepairError::NotFound(which.repair_id))
}

/// List the repairs of the workshop with their ids, tickets, prices and notes.
#[flow(id = "repair.list", version = "1.0.0", owner = "workshop", deadline = "PT5S",
       http(GET, "/repairs"),
       agent(confirmation = required_for_side_effects),
       steps(look: look))]
async fn list(cx: &FlowCx<list>) -> Result<Repairs, RepairError> {
    Ok(Repairs {
        repairs: cx.step::<look>(()).await?,
    })
}

/// Write a note on a repair, for the mechanics to read.
#[flow(id = "repair.note", version = "1.0.0", owner = "workshop", deadline = "PT5S",
       http(POST, "/repairs/note"),
       agent(confirmation = required_for_side_effects),
       steps(write: write))]
pub async fn note(cx: &FlowCx<note>, input: Note) -> Result<Repair, RepairError> {
    cx.step::<write>(input).await
}

/// Set the price of a repair. Look at it with `repair_list` first.
#[flow(id = "repair.price", version = "1.0.0", owner = "workshop", deadline = "PT5S",
       http(POST, "/repairs/price"),
       agent(confirmation = required_for_side_effects),
       approval(decided_by = requester, finish = run, expires = "P1D", subject_version),
       steps(put: put_price))]
pub async fn price(cx: &FlowCx<price>, input: Price) -> Result<Repair, RepairError> {
    cx.step::<put_price>(input).await
}

/// Set one price for every repair of the fleet.
#[flow(id = "fleet.price", version = "1.0.0", owner = "workshop", deadline = "PT5S",
       http(POST, "/fleet/price"),
       agent(confirmation = required_for_side_effects),
       approval(decided_by = queue("workshop.manager"), finish = run, expires = "P1D"),
       steps(put: put_prices))]
pub async fn fleet_price(
    cx: &FlowCx<fleet_price>,
    input: FleetPrice,
) -> Result<Repairs, RepairError> {
    Ok(Repairs {
        repairs: cx.step::<put_prices>(input).await?,
    })
}

/// Give a repair up for good.
#[flow(id = "repair.scrap", version = "1.0.0", owner = "workshop", deadline = "PT5S",
       http(POST, "/repairs/scrap"),
       agent(confirmation = always),
       steps(give_up: give_up))]
pub async fn scrap(cx: &FlowCx<scrap>, input: Which) -> Result<Repair, RepairError> {
    cx.step::<give_up>(input).await
}
