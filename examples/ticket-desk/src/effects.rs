//! The desk's handles to the world. What they do is kept in memory here; a real ledger is a database, a real gateway a client.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use flowx_runtime::{Sensitive, effect};

use crate::ticket::TicketId;

/// How often each effect has really happened.
#[derive(Debug, Default)]
pub struct Counters {
    ledger: AtomicU64,
    payment_gateway: AtomicU64,
}

impl Counters {
    /// By effect id.
    pub fn by_effect(&self) -> [(&'static str, u64); 2] {
        let read = |counter: &AtomicU64| counter.load(Ordering::SeqCst);
        [
            ("ledger", read(&self.ledger)),
            ("payment-gateway", read(&self.payment_gateway)),
        ]
    }
}

/// The desk's books: which tickets have been refunded.
#[effect(id = "ledger", class = changes)]
pub struct Ledger {
    refunded: Mutex<HashSet<TicketId>>,
    counters: Arc<Counters>,
}

impl Ledger {
    /// Empty books.
    pub fn new(counters: Arc<Counters>) -> Ledger {
        Ledger {
            refunded: Mutex::default(),
            counters,
        }
    }

    /// Enters a refund of that ticket; `false` when there is one already. Of two at the same time one gets it.
    pub fn enter(&self, ticket: &TicketId) -> bool {
        self.write(|refunded| refunded.insert(ticket.clone()))
    }

    /// Strikes the refund of that ticket out.
    pub fn strike(&self, ticket: &TicketId) -> bool {
        self.write(|refunded| refunded.remove(ticket))
    }

    fn write(&self, change: impl FnOnce(&mut HashSet<TicketId>) -> bool) -> bool {
        let changed = change(&mut self.refunded.lock().unwrap_or_else(|e| e.into_inner()));
        if changed {
            self.counters.ledger.fetch_add(1, Ordering::SeqCst);
        }
        changed
    }
}

/// The bank's gateway: moves money.
#[effect(id = "payment-gateway", class = spends)]
pub struct PaymentGateway {
    sent: Mutex<HashMap<String, String>>,
    counters: Arc<Counters>,
}

impl PaymentGateway {
    /// A gateway that has moved nothing yet.
    pub fn new(counters: Arc<Counters>) -> PaymentGateway {
        PaymentGateway {
            sent: Mutex::default(),
            counters,
        }
    }

    /// Sends the money, once per key, and gives the bank's reference.
    pub async fn send(&self, key: &str, cents: u64, to: &Sensitive<String>) -> String {
        debug_assert!(cents > 0 && !to.expose().is_empty());
        let mut sent = self.sent.lock().unwrap_or_else(|e| e.into_inner());
        let number = sent.len() + 1;
        sent.entry(key.to_owned())
            .or_insert_with(|| {
                self.counters.payment_gateway.fetch_add(1, Ordering::SeqCst);
                format!("RF-{number:06}")
            })
            .clone()
    }

    /// Calls the money back.
    pub async fn call_back(&self, _reference: &str) {
        self.counters.payment_gateway.fetch_add(1, Ordering::SeqCst);
    }
}
