//! Opening a store by its address.

use std::sync::Arc;
use std::time::Duration;

use super::{MemoryStore, PostgresStore, SharedStore, SqliteStore, StoreError};

/// Limits of a store's connections.
#[derive(Clone, Debug)]
pub struct StoreOptions {
    /// Connections at most (of SQLite: readers; it has one writer).
    pub max_connections: u32,
    /// How long a call waits for a connection before it is refused.
    pub acquire_timeout: Duration,
    /// How long one statement may take, locks included.
    pub statement_timeout: Duration,
}

impl Default for StoreOptions {
    fn default() -> StoreOptions {
        StoreOptions {
            max_connections: 16,
            acquire_timeout: Duration::from_secs(3),
            statement_timeout: Duration::from_secs(5),
        }
    }
}

/// Opens `sqlite:FILE`, `sqlite::memory:`, `postgres://…`, or, for tests, `memory:`.
///
/// # Errors
/// When the address is none of these, or what it names cannot be opened.
pub async fn open(address: &str) -> Result<SharedStore, StoreError> {
    open_with(address, &StoreOptions::default()).await
}

/// [`open`] with other limits.
///
/// # Errors
/// As [`open`].
pub async fn open_with(address: &str, options: &StoreOptions) -> Result<SharedStore, StoreError> {
    match address.split_once(':') {
        Some(("sqlite", _)) => Ok(Arc::new(SqliteStore::open(address, options).await?)),
        Some(("postgres" | "postgresql", _)) => {
            Ok(Arc::new(PostgresStore::open(address, options).await?))
        }
        Some(("memory", "")) => {
            tracing::warn!(
                "the store is in memory: for tests only, one process, and everything is lost with it"
            );
            Ok(Arc::new(MemoryStore::for_tests()))
        }
        _ => Err(StoreError::Address(address.chars().take(40).collect())),
    }
}
