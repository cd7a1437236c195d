//! Reading a server's store, for when the server is down or is not to be trusted. Read only: a decision is made by the server,
//! which knows who decides and what a yes covers.

use flowx_manifest::audit_chain::{Head, Link, Verifier};
use futures_util::TryStreamExt;
use sqlx::{Connection, Row};

use crate::failure::Failure;

/// What the audit trail of a store is.
pub(super) struct Trail {
    /// The chain's end, or the first thing that is wrong with it.
    pub(super) outcome: Result<Head, String>,
    /// Records that are written but not chained yet.
    pub(super) waiting: i64,
}

/// An open store.
enum Store {
    Sqlite(sqlx::SqliteConnection),
    Postgres(sqlx::PgConnection),
}

/// Runs the same query on either store.
macro_rules! on {
    ($store:expr, $connection:ident => $body:expr) => {
        match $store {
            Store::Sqlite($connection) => $body,
            Store::Postgres($connection) => $body,
        }
    };
}

/// Whether the text is the address of a store, not of a server or a file.
pub(super) fn is_store(text: &str) -> bool {
    ["sqlite:", "postgres:", "postgresql:"]
        .iter()
        .any(|scheme| text.starts_with(scheme))
}

/// Checks the chain in a store, record by record.
///
/// # Errors
/// When the store cannot be read.
pub(super) fn verify(address: &str, kept: Option<Head>) -> Result<Trail, Failure> {
    block(address, async |store| {
        let mut verifier = Verifier::new(Head::default(), kept);
        let mut broken = None;
        walk(store, |link| {
            broken = verifier.next(link).err().map(|why| why.to_string());
            broken.is_none()
        })
        .await?;
        let (seq, hash) = on!(&mut *store, c => {
            let row = sqlx::query("SELECT seq, hash FROM audit_head WHERE one = 1").fetch_one(c).await?;
            (row.try_get::<i64, _>("seq")?, row.try_get::<String, _>("hash")?)
        });
        let waiting = waiting(store).await?;
        let outcome = match broken {
            Some(why) => Err(why),
            None => match verifier.finish() {
                Err(why) => Err(why.to_string()),
                // The store keeps the end apart from the chain.
                Ok(head) if i64::try_from(head.seq).ok() != Some(seq) || head.hash != hash => {
                    Err(format!(
                        "the chain ends at link {}, but the store's head is link {seq}: the end is missing or was added by hand",
                        head.seq
                    ))
                }
                Ok(head) => Ok(head),
            },
        };
        Ok(Trail { outcome, waiting })
    })
}

/// Hands on the chain in a store as it stands, link by link; the number of records that are not chained yet.
///
/// # Errors
/// When the store cannot be read, and what `each` says.
pub(super) fn links(
    address: &str,
    mut each: impl FnMut(&Link) -> Result<(), Failure>,
) -> Result<i64, Failure> {
    let mut outcome = Ok(());
    let waiting = block(address, async |store| {
        walk(store, |link| {
            outcome = each(link);
            outcome.is_ok()
        })
        .await?;
        waiting(store).await
    })?;
    outcome.map(|()| waiting)
}

/// The whole records of proposals, as JSON, oldest first.
///
/// # Errors
/// When the store cannot be read.
pub(super) fn proposals(
    address: &str,
    status: Option<&str>,
    id: Option<&str>,
) -> Result<Vec<String>, Failure> {
    block(address, async |store| {
        let (query, value) = match (id, status) {
            (Some(id), _) => ("SELECT body FROM proposals WHERE id = $1 ORDER BY id", id),
            (None, Some(status)) => (
                "SELECT body FROM proposals WHERE status = $1 ORDER BY id",
                status,
            ),
            (None, None) => ("SELECT body FROM proposals WHERE $1 = '' ORDER BY id", ""),
        };
        let bodies = on!(&mut *store, c => {
            let rows = sqlx::query(query).bind(value).fetch_all(c).await?;
            rows.iter().map(|row| row.try_get("body")).collect::<Result<Vec<String>, sqlx::Error>>()?
        });
        Ok(bodies)
    })
}

/// Reads the chain until there is no more, or `each` has had enough.
async fn walk(store: &mut Store, mut each: impl FnMut(&Link) -> bool) -> Result<(), sqlx::Error> {
    let query = "SELECT seq, at, record, prev, hash FROM audit ORDER BY seq";
    on!(store, c => {
        let mut rows = sqlx::query(query).fetch(c);
        while let Some(row) = rows.try_next().await? {
            let link = Link {
                seq: u64::try_from(row.try_get::<i64, _>("seq")?).unwrap_or_default(),
                at: row.try_get("at")?,
                record: row.try_get("record")?,
                prev: row.try_get("prev")?,
                hash: row.try_get("hash")?,
            };
            if !each(&link) {
                break;
            }
        }
    });
    Ok(())
}

async fn waiting(store: &mut Store) -> Result<i64, sqlx::Error> {
    let query = "SELECT COUNT(*) AS n FROM audit_inbox";
    on!(store, c => sqlx::query(query).fetch_one(c).await?.try_get("n"))
}

fn block<T>(
    address: &str,
    run: impl AsyncFnOnce(&mut Store) -> Result<T, sqlx::Error>,
) -> Result<T, Failure> {
    let shown = if address.starts_with("sqlite:") {
        address.to_owned()
    } else {
        "the PostgreSQL store".to_owned()
    };
    let failed = |error: sqlx::Error| Failure::load(&shown, error);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::load("the store", error))?;
    runtime.block_on(async {
        let mut store = open(address).await.map_err(failed)?;
        run(&mut store).await.map_err(failed)
    })
}

async fn open(address: &str) -> Result<Store, sqlx::Error> {
    if address.starts_with("sqlite:") {
        let options: sqlx::sqlite::SqliteConnectOptions = address.parse()?;
        // Never creates a store, and never changes one.
        let options = options.read_only(true).create_if_missing(false);
        return Ok(Store::Sqlite(
            sqlx::SqliteConnection::connect_with(&options).await?,
        ));
    }
    let mut connection = sqlx::PgConnection::connect(address).await?;
    sqlx::query("SET default_transaction_read_only = on")
        .execute(&mut connection)
        .await?;
    Ok(Store::Postgres(connection))
}
