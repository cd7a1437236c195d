//! Tickets, and looking for them.

use flowx_runtime::{Cx, FlowCx, FlowError, capability, flow};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The number of a ticket, as in `T-1001`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct TicketId(pub String);

impl std::fmt::Display for TicketId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// A support ticket.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Ticket {
    /// Its number.
    pub id: TicketId,
    /// What it is about.
    pub subject: String,
    /// What the customer has paid, in cents.
    pub paid_cents: u64,
}

/// Why a ticket could not be found.
#[derive(Debug, thiserror::Error, FlowError)]
pub enum FindError {
    /// There is none.
    #[error("there is no ticket {0}")]
    #[flow_error(code = "ticket.not_found", category = NotFound)]
    NotFound(TicketId),
}

/// Why a search failed: it cannot.
#[derive(Debug, thiserror::Error, FlowError)]
pub enum SearchError {
    /// More than 200 characters.
    #[error("the text to search for is longer than 200 characters")]
    #[flow_error(code = "ticket.search_too_long", category = Validation)]
    TooLong,
}

/// Looks a ticket up by its number.
#[capability(id = "ticket.find", version = "1.0.0", authorization = authenticated, idempotent = true)]
pub async fn find(_cx: &Cx<find>, id: TicketId) -> Result<Ticket, FindError> {
    all()
        .find(|ticket| ticket.id == id)
        .ok_or(FindError::NotFound(id))
}

/// Looks tickets up by words of their subject.
#[capability(id = "ticket.match", version = "1.0.0", authorization = authenticated, idempotent = true)]
pub async fn matching(_cx: &Cx<matching>, text: String) -> Result<Vec<Ticket>, SearchError> {
    if text.chars().count() > 200 {
        return Err(SearchError::TooLong);
    }
    let text = text.to_lowercase();
    Ok(all()
        .filter(|t| t.subject.to_lowercase().contains(&text) || t.id.0.to_lowercase() == text)
        .collect())
}

/// What to search for.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SearchTickets {
    /// Words of the subject, or a ticket number. All tickets when absent.
    #[serde(default)]
    pub text: Option<String>,
}

/// What was found.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TicketsFound {
    /// The tickets, by number.
    pub tickets: Vec<Ticket>,
}

/// A type that is only written: these are held against its published contract.
impl flowx_runtime::Samples for TicketsFound {
    fn samples() -> Vec<Self> {
        [Vec::new(), all().collect()]
            .map(|tickets| TicketsFound { tickets })
            .into()
    }
}

/// Find support tickets by words of their subject or by number. Changes nothing.
#[flow(id = "ticket.search", version = "1.0.0", owner = "support", deadline = "PT5S",
       http(GET, "/api/v1/tickets"),
       agent(confirmation = required_for_side_effects),
       steps(matching: matching))]
async fn search(cx: &FlowCx<search>, input: SearchTickets) -> Result<TicketsFound, SearchError> {
    let tickets = cx.step::<matching>(input.text.unwrap_or_default()).await?;
    Ok(TicketsFound { tickets })
}

/// The tickets of the desk: plain data, so that looking at them touches nothing.
fn all() -> impl Iterator<Item = Ticket> {
    const TICKETS: [(&str, &str, u64); 10] = [
        ("T-1001", "Headphones arrived broken", 12_900),
        ("T-1002", "Charged twice for one order", 4_500),
        ("T-1003", "Wrong size of shoes", 8_999),
        ("T-1004", "Parcel never arrived", 25_000),
        ("T-1005", "Subscription renewed after cancelling", 1_999),
        ("T-1006", "Concert was called off", 14_000),
        ("T-1007", "Kettle leaks", 3_499),
        ("T-1008", "Gift card not accepted", 5_000),
        ("T-1009", "Hotel overbooked", 48_000),
        ("T-1010", "Train two hours late", 7_250),
    ];
    TICKETS.into_iter().map(|(id, subject, paid_cents)| Ticket {
        id: TicketId(id.to_owned()),
        subject: subject.to_owned(),
        paid_cents,
    })
}
