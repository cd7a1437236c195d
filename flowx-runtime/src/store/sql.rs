//! SQLite and PostgreSQL: the same statements, written once. Where the two differ, it stands in [`sqlite`] and [`postgres`].

use flowx_manifest::audit_chain::{Head, Link};
use sqlx::Row;

use super::{Claim, Millis, Page, Proposed, Store, StoreError, Wait};
use crate::agents::StandingRule;
use crate::audit::Record;
use crate::gate::Key;
use crate::proposals::{Proposal, Status};

mod postgres;
mod sqlite;

pub use postgres::PostgresStore;
pub use sqlite::SqliteStore;

impl From<sqlx::Error> for StoreError {
    fn from(error: sqlx::Error) -> StoreError {
        use sqlx::Error as E;
        let text = error.to_string();
        match &error {
            E::Database(database) if !passing(database.code().as_deref()) => {
                StoreError::Refused(text)
            }
            E::ColumnDecode { .. } | E::Decode(_) | E::ColumnNotFound(_) | E::RowNotFound => {
                StoreError::Corrupt(text)
            }
            E::Configuration(_) | E::InvalidArgument(_) | E::Encode(_) => StoreError::Refused(text),
            _ => StoreError::Unreachable(text),
        }
    }
}

/// Whether an error code says that the store is not to be had now, rather than that the statement is wrong.
/// PostgreSQL: classes 08 (connection), 25 and 40 (transaction), 53 (resources), 55 (locks), 57 (operator), 58 (system).
/// SQLite, primary codes: 5 busy, 6 locked, 9 interrupted, 10 I/O, 13 full, 14 cannot open.
fn passing(code: Option<&str>) -> bool {
    let Some(code) = code else { return true };
    if code.len() == 5 {
        return ["08", "25", "40", "53", "55", "57", "58"]
            .iter()
            .any(|class| code.starts_with(class));
    }
    code.parse::<u32>()
        .is_ok_and(|code| matches!(code & 0xff, 5 | 6 | 9 | 10 | 13 | 14))
}

impl From<sqlx::migrate::MigrateError> for StoreError {
    fn from(error: sqlx::migrate::MigrateError) -> StoreError {
        match error {
            sqlx::migrate::MigrateError::Execute(error) => error.into(),
            other => StoreError::Refused(other.to_string()),
        }
    }
}

fn to_body<T: serde::Serialize>(value: &T) -> Result<String, StoreError> {
    serde_json::to_string(value).map_err(|e| StoreError::Refused(e.to_string()))
}

fn from_body<T: serde::de::DeserializeOwned>(body: &str) -> Result<T, StoreError> {
    serde_json::from_str(body).map_err(|e| StoreError::Corrupt(e.to_string()))
}

/// The record, held against the columns it was found by.
fn proposal_of(body: &str, revision: i64, status: &str) -> Result<Proposal, StoreError> {
    let proposal: Proposal = from_body(body)?;
    if proposal.revision != revision || proposal.status.as_str() != status {
        return Err(StoreError::Corrupt(format!(
            "the proposal {} disagrees with its own columns",
            proposal.id
        )));
    }
    Ok(proposal)
}

fn owner_of(proposal: &Proposal) -> Option<&str> {
    let run = proposal.execution.as_ref()?;
    (proposal.status == Status::Executing).then_some(run.owner.as_str())
}

fn number(value: i64) -> Result<u64, StoreError> {
    u64::try_from(value).map_err(|_| StoreError::Corrupt(format!("a sequence number {value}")))
}

fn hex(bytes: &[u8; 32]) -> String {
    blake3::Hash::from_bytes(*bytes).to_hex().to_string()
}

fn secret_of(text: &str) -> Result<[u8; 32], StoreError> {
    let hash =
        blake3::Hash::from_hex(text).map_err(|e| StoreError::Corrupt(format!("a key: {e}")))?;
    Ok(*hash.as_bytes())
}

/// Implements [`Store`] over a type with `read()`, `write()`, `begin()` (a transaction that no other can write beside on the same rows)
/// and the module's own `note`, `swap_in`, `guard_caller` and `link`.
macro_rules! sql_store {
    ($store:ty, $kind:literal, $for_update:literal) => {
        impl Store for $store {
            fn kind(&self) -> &'static str {
                $kind
            }

            fn ping(&self) -> Wait<'_, ()> {
                Box::pin(async move {
                    sqlx::query("SELECT 1").execute(self.read()).await?;
                    Ok(())
                })
            }

            fn propose<'a>(&'a self, new: &'a Proposal, max_waiting: u32, records: &'a [Record]) -> Wait<'a, Proposed> {
                Box::pin(async move {
                    let body = to_body(new)?;
                    let mut tx = self.begin().await?;
                    guard_caller(&mut tx, &new.requester.key).await?;
                    let open = sqlx::query(
                        "SELECT body, revision, status FROM proposals WHERE call_key = $1 \
                         AND status IN ('waiting', 'approved', 'executing', 'unknown')",
                    )
                    .bind(&new.call_key)
                    .fetch_optional(&mut *tx)
                    .await?;
                    if let Some(row) = open {
                        let found = proposal_of(row.try_get(0)?, row.try_get(1)?, row.try_get(2)?)?;
                        return Ok(Proposed::Open(Box::new(found)));
                    }
                    let waiting: i64 = sqlx::query(
                        "SELECT COUNT(*) FROM proposals WHERE requester = $1 AND status = 'waiting' \
                         AND (decide_before IS NULL OR decide_before > $2)",
                    )
                    .bind(&new.requester.key)
                    .bind(new.asked_at)
                    .fetch_one(&mut *tx)
                    .await?
                    .try_get(0)?;
                    if waiting >= i64::from(max_waiting) {
                        return Ok(Proposed::TooMany);
                    }
                    sqlx::query(
                        "INSERT INTO proposals (id, call_key, status, revision, requester, decide_before, owner, body) \
                         VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
                    )
                    .bind(&new.id)
                    .bind(&new.call_key)
                    .bind(new.status.as_str())
                    .bind(new.revision)
                    .bind(&new.requester.key)
                    .bind(new.decide_before)
                    .bind(owner_of(new))
                    .bind(body)
                    .execute(&mut *tx)
                    .await?;
                    note(&mut tx, records).await?;
                    tx.commit().await?;
                    Ok(Proposed::New)
                })
            }

            fn swap<'a>(&'a self, expected: i64, next: &'a Proposal, records: &'a [Record]) -> Wait<'a, bool> {
                Box::pin(async move { swap_in(self, expected, next, to_body(next)?, records).await })
            }

            fn proposal<'a>(&'a self, id: &'a str) -> Wait<'a, Option<Proposal>> {
                Box::pin(async move {
                    let row = sqlx::query("SELECT body, revision, status FROM proposals WHERE id = $1")
                        .bind(id)
                        .fetch_optional(self.read())
                        .await?;
                    row.map(|row| proposal_of(row.try_get(0)?, row.try_get(1)?, row.try_get(2)?)).transpose()
                })
            }

            fn latest<'a>(&'a self, call_key: &'a str) -> Wait<'a, Option<Proposal>> {
                Box::pin(async move {
                    let row = sqlx::query(
                        "SELECT body, revision, status FROM proposals WHERE id = COALESCE(\
                         (SELECT id FROM proposals WHERE call_key = $1 \
                         AND status IN ('waiting', 'approved', 'executing', 'unknown')), \
                         (SELECT id FROM proposals WHERE call_key = $1 ORDER BY id DESC LIMIT 1))",
                    )
                    .bind(call_key)
                    .fetch_optional(self.read())
                    .await?;
                    row.map(|row| proposal_of(row.try_get(0)?, row.try_get(1)?, row.try_get(2)?)).transpose()
                })
            }

            fn list<'a>(&'a self, page: Page<'a>) -> Wait<'a, Vec<Proposal>> {
                Box::pin(async move {
                    let after = page.after.unwrap_or("");
                    let limit = i64::from(page.limit);
                    let rows = match page.status {
                        Some(status) => {
                            sqlx::query(
                                "SELECT body, revision, status FROM proposals WHERE status = $1 AND id > $2 ORDER BY id LIMIT $3",
                            )
                            .bind(status.as_str())
                            .bind(after)
                            .bind(limit)
                            .fetch_all(self.read())
                            .await?
                        }
                        None => {
                            sqlx::query(
                                "SELECT body, revision, status FROM proposals WHERE id > $1 ORDER BY id LIMIT $2",
                            )
                            .bind(after)
                            .bind(limit)
                            .fetch_all(self.read())
                            .await?
                        }
                    };
                    rows.iter().map(|row| proposal_of(row.try_get(0)?, row.try_get(1)?, row.try_get(2)?)).collect()
                })
            }

            fn orphans(&self, now: Millis, limit: u32) -> Wait<'_, Vec<Proposal>> {
                Box::pin(async move {
                    let rows = sqlx::query(
                        "SELECT body, revision, status FROM proposals p WHERE status = 'executing' AND NOT EXISTS \
                         (SELECT 1 FROM instances i WHERE i.owner = p.owner AND i.alive_until > $1) ORDER BY id LIMIT $2",
                    )
                    .bind(now)
                    .bind(i64::from(limit))
                    .fetch_all(self.read())
                    .await?;
                    rows.iter().map(|row| proposal_of(row.try_get(0)?, row.try_get(1)?, row.try_get(2)?)).collect()
                })
            }

            fn heartbeat<'a>(&'a self, owner: &'a str, now: Millis, until: Millis) -> Wait<'a, bool> {
                Box::pin(async move {
                    let done = sqlx::query(
                        "INSERT INTO instances (owner, alive_until) VALUES ($1, $2) ON CONFLICT (owner) DO UPDATE \
                         SET alive_until = excluded.alive_until WHERE instances.alive_until > $3",
                    )
                    .bind(owner)
                    .bind(until)
                    .bind(now)
                    .execute(self.write())
                    .await?;
                    Ok(done.rows_affected() == 1)
                })
            }

            fn idempotency_claim<'a>(&'a self, claim: Claiming<'a>) -> Wait<'a, Claim> {
                Box::pin(async move {
                    let mut tx = self.begin().await?;
                    let new = sqlx::query(
                        "INSERT INTO idempotency (scope, request, owner, at) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING",
                    )
                    .bind(claim.scope)
                    .bind(claim.request)
                    .bind(claim.owner)
                    .bind(claim.now)
                    .execute(&mut *tx)
                    .await?;
                    if new.rows_affected() == 1 {
                        tx.commit().await?;
                        return Ok(Claim::Fresh);
                    }
                    let row = sqlx::query(concat!(
                        "SELECT request, owner, body, EXISTS (SELECT 1 FROM instances i WHERE i.owner = c.owner \
                         AND i.alive_until > $2) FROM idempotency c WHERE scope = $1",
                        $for_update
                    ))
                    .bind(claim.scope)
                    .bind(claim.now)
                    .fetch_optional(&mut *tx)
                    .await?;
                    // Released between the two statements: whoever asks again finds it free.
                    let Some(row) = row else { return Ok(Claim::Running) };
                    let (request, owner): (String, String) = (row.try_get(0)?, row.try_get(1)?);
                    if request != claim.request {
                        return Ok(Claim::Mismatch);
                    }
                    match row.try_get::<Option<String>, _>(2)? {
                        Some(body) if body != crate::store::SET_ASIDE => {
                            return Ok(Claim::Replay(body));
                        }
                        Some(_) => {}
                        None if owner == claim.owner || row.try_get::<bool, _>(3)? => {
                            return Ok(Claim::Running);
                        }
                        None if !claim.take_over => return Ok(Claim::Interrupted),
                        None => {}
                    }
                    sqlx::query("UPDATE idempotency SET owner = $2, at = $3, body = NULL WHERE scope = $1")
                        .bind(claim.scope)
                        .bind(claim.owner)
                        .bind(claim.now)
                        .execute(&mut *tx)
                        .await?;
                    tx.commit().await?;
                    Ok(Claim::Fresh)
                })
            }

            fn idempotency_complete<'a>(
                &'a self,
                scope: &'a str,
                owner: &'a str,
                body: &'a str,
                now: Millis,
            ) -> Wait<'a, bool> {
                Box::pin(async move {
                    let done = sqlx::query(
                        "UPDATE idempotency SET body = $3, at = $4 WHERE scope = $1 AND owner = $2 AND body IS NULL",
                    )
                    .bind(scope)
                    .bind(owner)
                    .bind(body)
                    .bind(now)
                    .execute(self.write())
                    .await?;
                    Ok(done.rows_affected() == 1)
                })
            }

            fn idempotency_release<'a>(&'a self, scope: &'a str, owner: &'a str) -> Wait<'a, bool> {
                Box::pin(async move {
                    let done = sqlx::query("DELETE FROM idempotency WHERE scope = $1 AND owner = $2 AND body IS NULL")
                        .bind(scope)
                        .bind(owner)
                        .execute(self.write())
                        .await?;
                    Ok(done.rows_affected() == 1)
                })
            }

            fn nonce_consume<'a>(
                &'a self,
                nonce: &'a str,
                expires: Millis,
                now: Millis,
                records: &'a [Record],
            ) -> Wait<'a, bool> {
                Box::pin(async move {
                    if expires <= now {
                        return Ok(false);
                    }
                    let mut tx = self.begin().await?;
                    let new =
                        sqlx::query("INSERT INTO nonces (nonce, expires) VALUES ($1, $2) ON CONFLICT DO NOTHING")
                            .bind(nonce)
                            .bind(expires)
                            .execute(&mut *tx)
                            .await?;
                    if new.rows_affected() != 1 {
                        return Ok(false);
                    }
                    note(&mut tx, records).await?;
                    tx.commit().await?;
                    Ok(true)
                })
            }

            fn rule_add<'a>(&'a self, rule: &'a StandingRule, records: &'a [Record]) -> Wait<'a, ()> {
                Box::pin(async move {
                    let mut tx = self.begin().await?;
                    sqlx::query("INSERT INTO rules (id, agent, used, last_used, body) VALUES ($1, $2, $3, $4, $5)")
                        .bind(&rule.id)
                        .bind(&rule.agent)
                        .bind(rule.used)
                        .bind(rule.last_used)
                        .bind(to_body(rule)?)
                        .execute(&mut *tx)
                        .await?;
                    note(&mut tx, records).await?;
                    tx.commit().await?;
                    Ok(())
                })
            }

            fn rules<'a>(&'a self, agent: Option<&'a str>) -> Wait<'a, Vec<StandingRule>> {
                Box::pin(async move {
                    let rows = sqlx::query(
                        "SELECT body, used, last_used FROM rules WHERE revoked_at IS NULL AND ($1 IS NULL OR agent = $1) \
                         ORDER BY id",
                    )
                    .bind(agent)
                    .fetch_all(self.read())
                    .await?;
                    rows.iter()
                        .map(|row| {
                            let mut rule: StandingRule = from_body(row.try_get(0)?)?;
                            rule.used = row.try_get(1)?;
                            rule.last_used = row.try_get(2)?;
                            Ok(rule)
                        })
                        .collect()
                })
            }

            fn rule_use<'a>(&'a self, id: &'a str, now: Millis) -> Wait<'a, bool> {
                Box::pin(async move {
                    let done = sqlx::query(
                        "UPDATE rules SET used = used + 1, last_used = $2 WHERE id = $1 AND revoked_at IS NULL",
                    )
                    .bind(id)
                    .bind(now)
                    .execute(self.write())
                    .await?;
                    Ok(done.rows_affected() == 1)
                })
            }

            fn rule_revoke<'a>(&'a self, id: &'a str, now: Millis, records: &'a [Record]) -> Wait<'a, bool> {
                Box::pin(async move {
                    let mut tx = self.begin().await?;
                    let done = sqlx::query("UPDATE rules SET revoked_at = $2 WHERE id = $1 AND revoked_at IS NULL")
                        .bind(id)
                        .bind(now)
                        .execute(&mut *tx)
                        .await?;
                    if done.rows_affected() != 1 {
                        return Ok(false);
                    }
                    note(&mut tx, records).await?;
                    tx.commit().await?;
                    Ok(true)
                })
            }

            fn session_bind<'a>(
                &'a self,
                id: &'a str,
                principal: &'a str,
                expires: Millis,
                now: Millis,
            ) -> Wait<'a, bool> {
                Box::pin(async move {
                    let done = sqlx::query(
                        "INSERT INTO sessions (id, principal, expires) VALUES ($1, $2, $3) ON CONFLICT (id) DO UPDATE \
                         SET principal = excluded.principal, expires = excluded.expires \
                         WHERE sessions.principal = excluded.principal OR sessions.expires <= $4",
                    )
                    .bind(id)
                    .bind(principal)
                    .bind(expires)
                    .bind(now)
                    .execute(self.write())
                    .await?;
                    Ok(done.rows_affected() == 1)
                })
            }

            fn session_owner<'a>(&'a self, id: &'a str, now: Millis) -> Wait<'a, Option<String>> {
                Box::pin(async move {
                    let row = sqlx::query("SELECT principal FROM sessions WHERE id = $1 AND expires > $2")
                        .bind(id)
                        .bind(now)
                        .fetch_optional(self.read())
                        .await?;
                    Ok(row.map(|row| row.try_get(0)).transpose()?)
                })
            }

            fn session_end<'a>(&'a self, id: &'a str) -> Wait<'a, ()> {
                Box::pin(async move {
                    sqlx::query("DELETE FROM sessions WHERE id = $1").bind(id).execute(self.write()).await?;
                    Ok(())
                })
            }

            fn append<'a>(&'a self, records: &'a [Record]) -> Wait<'a, ()> {
                Box::pin(async move {
                    let mut tx = self.begin().await?;
                    note(&mut tx, records).await?;
                    tx.commit().await?;
                    Ok(())
                })
            }

            fn seal(&self, limit: u32) -> Wait<'_, usize> {
                Box::pin(async move {
                    let mut tx = self.begin().await?;
                    let row = sqlx::query(concat!("SELECT seq, hash FROM audit_head WHERE one = 1", $for_update))
                        .fetch_one(&mut *tx)
                        .await?;
                    let mut head = Head { seq: number(row.try_get(0)?)?, hash: row.try_get(1)? };
                    let mut rows = sqlx::query(
                        "DELETE FROM audit_inbox WHERE id IN (SELECT id FROM audit_inbox ORDER BY id LIMIT $1) \
                         RETURNING id, at, body",
                    )
                    .bind(i64::from(limit))
                    .fetch_all(&mut *tx)
                    .await?
                    .iter()
                    .map(|row| Ok((row.try_get(0)?, row.try_get(1)?, row.try_get(2)?)))
                    .collect::<Result<Vec<(i64, i64, String)>, StoreError>>()?;
                    if rows.is_empty() {
                        return Ok(0);
                    }
                    rows.sort_by_key(|(id, ..)| *id);
                    let mut links = Vec::with_capacity(rows.len());
                    for (_, at, body) in rows {
                        let next = head.link(at, body);
                        head = next.head();
                        links.push(next);
                    }
                    link(&mut tx, &links).await?;
                    sqlx::query("UPDATE audit_head SET seq = $1, hash = $2 WHERE one = 1")
                        .bind(i64::try_from(head.seq).map_err(|e| StoreError::Refused(e.to_string()))?)
                        .bind(&head.hash)
                        .execute(&mut *tx)
                        .await?;
                    tx.commit().await?;
                    Ok(links.len())
                })
            }

            fn audit(&self, after: u64, limit: u32) -> Wait<'_, Vec<Link>> {
                Box::pin(async move {
                    let rows = sqlx::query(
                        "SELECT seq, at, record, prev, hash FROM audit WHERE seq > $1 ORDER BY seq LIMIT $2",
                    )
                    .bind(i64::try_from(after).unwrap_or(i64::MAX))
                    .bind(i64::from(limit))
                    .fetch_all(self.read())
                    .await?;
                    rows.iter()
                        .map(|row| {
                            Ok(Link {
                                seq: number(row.try_get(0)?)?,
                                at: row.try_get(1)?,
                                record: row.try_get(2)?,
                                prev: row.try_get(3)?,
                                hash: row.try_get(4)?,
                            })
                        })
                        .collect()
                })
            }

            fn audit_head(&self) -> Wait<'_, Head> {
                Box::pin(async move {
                    let row =
                        sqlx::query("SELECT seq, hash FROM audit_head WHERE one = 1").fetch_one(self.read()).await?;
                    Ok(Head { seq: number(row.try_get(0)?)?, hash: row.try_get(1)? })
                })
            }

            fn keys<'a>(
                &'a self,
                candidate: &'a Key,
                now: Millis,
                rotate_before: Millis,
                drop_before: Millis,
            ) -> Wait<'a, Vec<Key>> {
                Box::pin(async move {
                    let mut tx = self.begin().await?;
                    sqlx::query(
                        "INSERT INTO keys (id, at, secret) SELECT $1, $2, $3 \
                         WHERE NOT EXISTS (SELECT 1 FROM keys WHERE at >= $4)",
                    )
                    .bind(&candidate.id)
                    .bind(now)
                    .bind(hex(&candidate.secret))
                    .bind(rotate_before)
                    .execute(&mut *tx)
                    .await?;
                    sqlx::query(
                        "DELETE FROM keys WHERE at < $1 AND at < (SELECT MAX(at) FROM keys) AND NOT EXISTS \
                         (SELECT 1 FROM proposals WHERE status IN ('waiting', 'approved', 'executing', 'unknown') \
                         AND body LIKE '%\"input\":\"s1.' || keys.id || '.%')",
                    )
                        .bind(drop_before)
                        .execute(&mut *tx)
                        .await?;
                    let rows =
                        sqlx::query("SELECT id, secret FROM keys ORDER BY at DESC, id").fetch_all(&mut *tx).await?;
                    tx.commit().await?;
                    rows.iter()
                        .map(|row| Ok(Key { id: row.try_get(0)?, secret: secret_of(row.try_get(1)?)? }))
                        .collect()
                })
            }

            fn prune(&self, now: Millis, keep_since: Millis) -> Wait<'_, ()> {
                Box::pin(async move {
                    sqlx::query("DELETE FROM nonces WHERE expires <= $1").bind(now).execute(self.write()).await?;
                    sqlx::query("DELETE FROM sessions WHERE expires <= $1").bind(now).execute(self.write()).await?;
                    sqlx::query("DELETE FROM idempotency WHERE at < $1 AND body IS NOT NULL")
                        .bind(keep_since)
                        .execute(self.write())
                        .await?;
                    Ok(())
                })
            }
        }
    };
}
use super::Claiming;
pub(super) use sql_store;
