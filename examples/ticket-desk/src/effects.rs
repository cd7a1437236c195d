//! The desk's handles to the world. The ledger is a table; the bank is a play in memory, where a real gateway is a client.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use flowx_runtime::{Sensitive, effect};
use sqlx::postgres::PgArguments;
use sqlx::query::Query;
use sqlx::sqlite::{SqliteArguments, SqlitePoolOptions};
use sqlx::{PgPool, Postgres, Sqlite, SqlitePool};

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

/// The desk's books: which tickets have been refunded. They stand in the store's database, so a restart forgets none.
#[effect(id = "ledger", class = changes)]
pub struct Ledger {
    books: Books,
    counters: Arc<Counters>,
}

enum Books {
    Sqlite(SqlitePool),
    Postgres(PgPool),
}

impl Ledger {
    /// Opens the books in the database at that address, and makes them where there are none.
    pub async fn open(address: &str, counters: Arc<Counters>) -> Result<Ledger, sqlx::Error> {
        let books = if address.starts_with("postgres") {
            Books::Postgres(PgPool::connect(address).await?)
        } else {
            // One connection: it is the only one that sees what is in memory, and SQLite has one writer anyway.
            let one = SqlitePoolOptions::new()
                .max_connections(1)
                .idle_timeout(None)
                .max_lifetime(None);
            Books::Sqlite(one.connect(address).await?)
        };
        let make = "CREATE TABLE IF NOT EXISTS desk_refunds (ticket TEXT PRIMARY KEY)";
        // Two desks that start at once can both find no table; the second look finds one.
        if books
            .run(sqlx::query(make), sqlx::query(make))
            .await
            .is_err()
        {
            books.run(sqlx::query(make), sqlx::query(make)).await?;
        }
        Ok(Ledger { books, counters })
    }

    /// Enters a refund of that ticket; `false` when there is one already. Of two at the same time one gets it.
    pub async fn enter(&self, ticket: &TicketId) -> Result<bool, sqlx::Error> {
        let enter = "INSERT INTO desk_refunds (ticket) VALUES ($1) ON CONFLICT DO NOTHING";
        self.write(enter, ticket).await
    }

    /// Strikes the refund of that ticket out.
    pub async fn strike(&self, ticket: &TicketId) -> Result<bool, sqlx::Error> {
        self.write("DELETE FROM desk_refunds WHERE ticket = $1", ticket)
            .await
    }

    async fn write(&self, statement: &'static str, ticket: &TicketId) -> Result<bool, sqlx::Error> {
        let rows = self
            .books
            .run(
                sqlx::query(statement).bind(&ticket.0),
                sqlx::query(statement).bind(&ticket.0),
            )
            .await?;
        if rows > 0 {
            self.counters.ledger.fetch_add(1, Ordering::SeqCst);
        }
        Ok(rows > 0)
    }
}

impl Books {
    /// The same statement for the one kind and the other; gives the number of rows that it changed.
    async fn run(
        &self,
        sqlite: Query<'_, Sqlite, SqliteArguments>,
        postgres: Query<'_, Postgres, PgArguments>,
    ) -> Result<u64, sqlx::Error> {
        Ok(match self {
            Books::Sqlite(pool) => sqlite.execute(pool).await?.rows_affected(),
            Books::Postgres(pool) => postgres.execute(pool).await?.rows_affected(),
        })
    }
}

/// The bank's gateway: moves money.
#[effect(id = "payment-gateway", class = spends)]
pub struct PaymentGateway {
    sent: Mutex<HashMap<String, String>>,
    counters: Arc<Counters>,
}

/// What the bank is told.
pub struct Payment<'a> {
    /// The same key is the same payment.
    pub key: &'a str,
    /// The desk's own number for it, which no other has.
    pub number: uuid::Uuid,
    /// How much, in cents.
    pub cents: u64,
    /// Where to.
    pub to: &'a Sensitive<String>,
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
    pub async fn send(&self, payment: Payment<'_>) -> String {
        debug_assert!(payment.cents > 0 && !payment.to.expose().is_empty());
        let mut sent = self.sent.lock().unwrap_or_else(|e| e.into_inner());
        sent.entry(payment.key.to_owned())
            .or_insert_with(|| {
                self.counters.payment_gateway.fetch_add(1, Ordering::SeqCst);
                format!("RF-{}", payment.number)
            })
            .clone()
    }

    /// Calls the money back.
    pub async fn call_back(&self, _reference: &str) {
        self.counters.payment_gateway.fetch_add(1, Ordering::SeqCst);
    }
}
