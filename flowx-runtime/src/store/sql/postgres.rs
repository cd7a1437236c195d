//! What PostgreSQL does in its own way: many writers, row locks, and a proposal's step as one statement.

use std::str::FromStr;

use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::{PgConnection, PgPool, Postgres, Transaction};

use super::{
    Claim, Claiming, Head, Key, Link, Millis, Page, Proposal, Proposed, Record, Row, StandingRule,
    Store, StoreError, Wait, from_body, hex, number, owner_of, proposal_of, secret_of, sql_store,
    to_body,
};
use crate::store::StoreOptions;

/// The store for many instances. Its tables stand in a schema of their own, `flowx`.
#[derive(Clone, Debug)]
pub struct PostgresStore {
    pool: PgPool,
}

impl PostgresStore {
    /// Opens `postgres://USER:PASSWORD@HOST:PORT/DATABASE`.
    ///
    /// # Errors
    /// When the server cannot be reached or does not let the user make the schema.
    pub async fn open(address: &str, options: &StoreOptions) -> Result<PostgresStore, StoreError> {
        let millis = options.statement_timeout.as_millis().to_string();
        let connect = PgConnectOptions::from_str(address)
            .map_err(|_| StoreError::Address(without_password(address)))?
            .application_name("flowx")
            .options([
                ("search_path", "flowx"),
                ("statement_timeout", &millis),
                ("lock_timeout", &millis),
                ("idle_in_transaction_session_timeout", &millis),
            ]);
        let pool = PgPoolOptions::new()
            .max_connections(options.max_connections.max(1))
            .acquire_timeout(options.acquire_timeout)
            .connect_with(connect)
            .await?;
        // Two instances that start at once can both try; the second finds it there.
        if let Err(error) = sqlx::query("CREATE SCHEMA IF NOT EXISTS flowx")
            .execute(&pool)
            .await
        {
            let raced = error
                .as_database_error()
                .and_then(|e| e.code())
                .is_some_and(|c| c == "23505" || c == "42P06");
            if !raced {
                return Err(error.into());
            }
        }
        sqlx::migrate!("migrations/postgres").run(&pool).await?;
        Ok(PostgresStore { pool })
    }

    /// The pool, for measurements beside it.
    #[doc(hidden)]
    pub fn pool(&self) -> &PgPool {
        &self.pool
    }

    fn read(&self) -> &PgPool {
        &self.pool
    }

    fn write(&self) -> &PgPool {
        &self.pool
    }

    async fn begin(&self) -> Result<Transaction<'static, Postgres>, StoreError> {
        Ok(self.pool.begin().await?)
    }
}

/// The address as it may stand in an error.
fn without_password(address: &str) -> String {
    match (address.split_once("://"), address.rsplit_once('@')) {
        (Some((scheme, _)), Some((_, host))) => format!("{scheme}://…@{host}"),
        _ => "an address that cannot be read".to_owned(),
    }
}

/// Callers' own proposals are counted one after another, so that a burst cannot pass the limit together.
async fn guard_caller(tx: &mut PgConnection, requester: &str) -> Result<(), StoreError> {
    sqlx::query("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))")
        .bind(requester)
        .execute(tx)
        .await?;
    Ok(())
}

async fn note(tx: &mut PgConnection, records: &[Record]) -> Result<(), StoreError> {
    let (at, bodies) = columns(records);
    sqlx::query(
        "INSERT INTO audit_inbox (at, body) SELECT * FROM unnest($1::bigint[], $2::text[])",
    )
    .bind(at)
    .bind(bodies)
    .execute(tx)
    .await?;
    Ok(())
}

fn columns(records: &[Record]) -> (Vec<Millis>, Vec<&str>) {
    records.iter().map(|r| (r.at, r.body.as_str())).unzip()
}

async fn link(tx: &mut PgConnection, links: &[Link]) -> Result<(), StoreError> {
    let seq = links
        .iter()
        .map(|l| i64::try_from(l.seq))
        .collect::<Result<Vec<_>, _>>();
    let seq = seq.map_err(|e| StoreError::Refused(e.to_string()))?;
    sqlx::query(
        "INSERT INTO audit (seq, at, record, prev, hash) \
         SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[], $5::text[])",
    )
    .bind(seq)
    .bind(links.iter().map(|l| l.at).collect::<Vec<_>>())
    .bind(links.iter().map(|l| l.record.as_str()).collect::<Vec<_>>())
    .bind(links.iter().map(|l| l.prev.as_str()).collect::<Vec<_>>())
    .bind(links.iter().map(|l| l.hash.as_str()).collect::<Vec<_>>())
    .execute(tx)
    .await?;
    Ok(())
}

/// One statement: the change and its records together, in one round trip.
async fn swap_in(
    store: &PostgresStore,
    expected: i64,
    next: &Proposal,
    body: String,
    records: &[Record],
) -> Result<bool, StoreError> {
    let (at, bodies) = columns(records);
    let row = sqlx::query(
        "WITH changed AS (UPDATE proposals SET status = $3, revision = $4, owner = $5, body = $6, decide_before = $7 \
         WHERE id = $1 AND revision = $2 RETURNING id), \
         noted AS (INSERT INTO audit_inbox (at, body) SELECT r.at, r.body FROM changed, \
         unnest($8::bigint[], $9::text[]) AS r(at, body)) \
         SELECT COUNT(*) FROM changed",
    )
    .bind(&next.id)
    .bind(expected)
    .bind(next.status.as_str())
    .bind(next.revision)
    .bind(owner_of(next))
    .bind(body)
    .bind(next.decide_before)
    .bind(at)
    .bind(bodies)
    .fetch_one(&store.pool)
    .await?;
    Ok(row.try_get::<i64, _>(0)? == 1)
}

sql_store!(PostgresStore, "postgres", " FOR UPDATE");
