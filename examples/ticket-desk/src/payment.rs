//! Refunds: what they need, what they do, and how they say no.

use flowx_runtime::{Cx, FlowCx, FlowError, Sensitive, capability, flow};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::effects::{Ledger, Payment, PaymentGateway};
use crate::ticket::{self, FindError, TicketId};

/// Which refund to issue.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IssueRefund {
    /// The ticket, as `ticket_search` names it.
    pub ticket_id: TicketId,
    /// How much, in cents; at most what was paid.
    #[schemars(range(min = 1))]
    pub amount_cents: u64,
    /// The account that the money goes to.
    pub cardholder_reference: Sensitive<String>,
}

/// A refund that was issued.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct RefundIssued {
    /// The ticket.
    pub ticket_id: TicketId,
    /// The bank's reference.
    pub refund_reference: String,
}

/// Why a refund was not issued.
#[derive(Debug, thiserror::Error, FlowError)]
pub enum RefundError {
    /// Once is enough.
    #[error("ticket {0} has been refunded already")]
    #[flow_error(code = "refund.already_issued", category = Conflict)]
    AlreadyIssued(TicketId),
    /// More than was paid, or nothing.
    #[error("ticket {ticket} can be refunded with 1 to {paid_cents} cents")]
    #[flow_error(code = "refund.amount_out_of_range", category = Validation)]
    Amount {
        /// The ticket.
        ticket: TicketId,
        /// What was paid.
        paid_cents: u64,
    },
    /// Nobody to refund.
    #[error("the cardholder reference is empty")]
    #[flow_error(code = "refund.no_cardholder", category = Validation)]
    NoCardholder,
    /// Nothing is paid that cannot be entered.
    #[error("the books cannot be reached")]
    #[flow_error(code = "refund.books_unreachable", category = Unavailable)]
    Books(#[from] sqlx::Error),
    /// No ticket.
    #[error(transparent)]
    #[flow_error(transparent)]
    Ticket(#[from] FindError),
}

/// An order to pay.
#[derive(Clone, Debug)]
pub struct RefundOrder {
    ticket: ticket::Ticket,
    cents: u64,
    to: Sensitive<String>,
}

/// What the bank gave for it.
#[derive(Clone, Debug)]
pub struct Receipt {
    ticket: TicketId,
    reference: String,
}

/// Pays money back for a ticket, once.
#[capability(id = "payment.refund", version = "1.0.0", authorization = permission("payment.refund"),
             effects(Ledger, PaymentGateway), idempotent = false)]
pub async fn refund(cx: &Cx<refund>, order: RefundOrder) -> Result<Receipt, RefundError> {
    let RefundOrder { ticket, cents, to } = order;
    if cents == 0 || cents > ticket.paid_cents {
        return Err(RefundError::Amount {
            ticket: ticket.id,
            paid_cents: ticket.paid_cents,
        });
    }
    if to.expose().trim().is_empty() {
        return Err(RefundError::NoCardholder);
    }
    if !cx.effect::<Ledger>().enter(&ticket.id).await? {
        return Err(RefundError::AlreadyIssued(ticket.id));
    }
    let payment = Payment {
        key: &cx.idempotency_key(),
        number: cx.new_id(),
        cents,
        to: &to,
    };
    let reference = cx.effect::<PaymentGateway>().send(payment).await;
    Ok(Receipt {
        ticket: ticket.id,
        reference,
    })
}

/// Calls a refund back that should not stand.
#[capability(id = "payment.reverse", version = "1.0.0", authorization = internal,
             effects(Ledger, PaymentGateway), idempotent = true)]
pub async fn reverse(cx: &Cx<reverse>, receipt: Receipt) -> Result<(), RefundError> {
    cx.effect::<PaymentGateway>()
        .call_back(&receipt.reference)
        .await;
    cx.effect::<Ledger>().strike(&receipt.ticket).await?;
    Ok(())
}

/// Issue a refund against a support ticket. Find the ticket with `ticket_search` first.
#[flow(id = "ticket.refund", version = "1.0.0", owner = "support", deadline = "PT30S",
       http(POST, "/api/v1/refunds", idempotent),
       agent(confirmation = required_for_side_effects),
       steps(find: ticket::find,
             pay: refund { timeout = "PT2S", compensate = reverse }))]
async fn issue_refund(
    cx: &FlowCx<issue_refund>,
    input: IssueRefund,
) -> Result<RefundIssued, RefundError> {
    cx.progress(0.0, Some(2.0), "looking for the ticket");
    let ticket = cx.step::<ticket::find>(input.ticket_id).await?;
    cx.progress(1.0, Some(2.0), "paying");
    let order = RefundOrder {
        ticket,
        cents: input.amount_cents,
        to: input.cardholder_reference,
    };
    let receipt = cx.step::<refund>(order).await?;
    Ok(RefundIssued {
        ticket_id: receipt.ticket,
        refund_reference: receipt.reference,
    })
}
