//! What SQLite does in its own way: one writer, taken at the start of a transaction.

use std::str::FromStr;
use std::time::Duration;

use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{Sqlite, SqliteConnection, SqlitePool, Transaction};

use super::{
    Claim, Claiming, Head, Key, Link, Millis, Page, Proposal, Proposed, Record, Row, StandingRule,
    Store, StoreError, Wait, from_body, hex, number, owner_of, proposal_of, secret_of, sql_store,
    to_body,
};
use crate::store::StoreOptions;

/// The embedded store: one file, one machine.
#[derive(Clone, Debug)]
pub struct SqliteStore {
    // One writer, so that writers wait in the pool's fair queue and not in SQLite's, which is not fair.
    writer: SqlitePool,
    readers: SqlitePool,
}

impl SqliteStore {
    /// Opens `sqlite:FILE` (made when it is not there) or `sqlite::memory:` (gone with the process).
    ///
    /// # Errors
    /// When the file cannot be opened or holds something else.
    pub async fn open(address: &str, options: &StoreOptions) -> Result<SqliteStore, StoreError> {
        let connect = SqliteConnectOptions::from_str(address)
            .map_err(|_| StoreError::Address(address.to_owned()))?
            .create_if_missing(true)
            .busy_timeout(options.statement_timeout)
            .foreign_keys(true);
        let in_memory = address.contains(":memory:") || address.contains("mode=memory");
        let pool = |size: u32| {
            SqlitePoolOptions::new()
                .max_connections(size)
                .acquire_timeout(options.acquire_timeout)
        };
        if in_memory {
            // Each connection would have a database of its own.
            let one = pool(1)
                .idle_timeout(None)
                .max_lifetime(None)
                .connect_with(connect)
                .await?;
            sqlx::migrate!("migrations/sqlite").run(&one).await?;
            return Ok(SqliteStore {
                writer: one.clone(),
                readers: one,
            });
        }
        owned_alone(connect.get_filename())?;
        // FULL: what has been answered is on the disk, also after the power went.
        let connect = connect
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Full);
        let writer = pool(1).connect_with(connect.clone()).await?;
        sqlx::migrate!("migrations/sqlite").run(&writer).await?;
        let readers = pool(options.max_connections.max(1))
            .idle_timeout(Duration::from_secs(600))
            .connect_with(connect)
            .await?;
        Ok(SqliteStore { writer, readers })
    }

    fn read(&self) -> &SqlitePool {
        &self.readers
    }

    fn write(&self) -> &SqlitePool {
        &self.writer
    }

    async fn begin(&self) -> Result<Transaction<'static, Sqlite>, StoreError> {
        Ok(self.writer.begin_with("BEGIN IMMEDIATE").await?)
    }
}

/// Makes the file, where there is none, so that nobody but its owner reads what callers have sent. SQLite gives the files beside it the same
/// rights. One that is there keeps its own; where others may open it, the log says so.
fn owned_alone(file: &std::path::Path) -> Result<(), StoreError> {
    let mut new = std::fs::OpenOptions::new();
    new.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut new, 0o600);
    match new.open(file) {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => Err(
            StoreError::Unreachable(format!("{}: {error}", file.display())),
        ),
        _ => {
            #[cfg(unix)]
            if let Ok(there) = std::fs::metadata(file) {
                let mode = std::os::unix::fs::PermissionsExt::mode(&there.permissions()) & 0o777;
                if mode & 0o007 != 0 {
                    tracing::warn!(
                        file = %file.display(), mode = %format!("{mode:03o}"),
                        "everybody on this machine may open the store; chmod 600 keeps it to its owner"
                    );
                }
            }
            Ok(())
        }
    }
}

/// The transaction is the only writer already.
async fn guard_caller(_: &mut SqliteConnection, _: &str) -> Result<(), StoreError> {
    Ok(())
}

async fn note(tx: &mut SqliteConnection, records: &[Record]) -> Result<(), StoreError> {
    for record in records {
        sqlx::query("INSERT INTO audit_inbox (at, body) VALUES ($1, $2)")
            .bind(record.at)
            .bind(&record.body)
            .execute(&mut *tx)
            .await?;
    }
    Ok(())
}

async fn link(tx: &mut SqliteConnection, links: &[Link]) -> Result<(), StoreError> {
    for link in links {
        sqlx::query("INSERT INTO audit (seq, at, record, prev, hash) VALUES ($1, $2, $3, $4, $5)")
            .bind(i64::try_from(link.seq).map_err(|e| StoreError::Refused(e.to_string()))?)
            .bind(link.at)
            .bind(&link.record)
            .bind(&link.prev)
            .bind(&link.hash)
            .execute(&mut *tx)
            .await?;
    }
    Ok(())
}

async fn swap_in(
    store: &SqliteStore,
    expected: i64,
    next: &Proposal,
    body: String,
    records: &[Record],
) -> Result<bool, StoreError> {
    let mut tx = store.begin().await?;
    let done = sqlx::query(
        "UPDATE proposals SET status = $3, revision = $4, owner = $5, body = $6, decide_before = $7 \
         WHERE id = $1 AND revision = $2",
    )
    .bind(&next.id)
    .bind(expected)
    .bind(next.status.as_str())
    .bind(next.revision)
    .bind(owner_of(next))
    .bind(body)
    .bind(next.decide_before)
    .execute(&mut *tx)
    .await?;
    if done.rows_affected() != 1 {
        return Ok(false);
    }
    note(&mut tx, records).await?;
    tx.commit().await?;
    Ok(true)
}

sql_store!(SqliteStore, "sqlite", "");
