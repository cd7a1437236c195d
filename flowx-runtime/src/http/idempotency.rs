//! `Idempotency-Key`: the same call again is answered with the answer it had.

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use time::OffsetDateTime;

use crate::refusal::Refusal;

/// How long an answer is kept.
pub(crate) const KEPT: Duration = Duration::from_secs(24 * 3600);
/// The longest a call may hold its key without an end; past it a crash is assumed. Flows without a deadline are cut off here as well.
pub(crate) const HELD: Duration = Duration::from_secs(3600);

/// What became of claiming a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claim {
    /// It is new: the call may run, and has to be finished or released.
    Fresh,
    /// The call has been answered with that text.
    Recorded(String),
    /// The same call is running.
    Running,
    /// The key was used for another input.
    Other,
}

/// Keeps the answers of calls by key. One atomic step per method; a store that cannot be reached refuses, and is never read as
/// "nothing there".
pub trait Records: Send + Sync + 'static {
    /// Claims `key` (which holds caller and flow) for the input of that fingerprint. A record lives until `kept`, a claim until `held`.
    fn claim<'a>(
        &'a self,
        key: &'a str,
        fingerprint: &'a str,
        now: OffsetDateTime,
        held: OffsetDateTime,
    ) -> BoxFuture<'a, Result<Claim, Refusal>>;

    /// Records the answer of a claimed key, until then.
    fn finish<'a>(
        &'a self,
        key: &'a str,
        answer: &'a str,
        kept: OffsetDateTime,
    ) -> BoxFuture<'a, Result<(), Refusal>>;

    /// Gives a claimed key back: nothing was answered that must be repeated.
    fn release<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<(), Refusal>>;
}

/// Records in memory: gone with the process, and another process does not see them. For tests and single programs without a store.
#[derive(Default)]
pub struct MemoryRecords(Mutex<HashMap<String, Row>>);

struct Row {
    fingerprint: String,
    answer: Option<String>,
    until: OffsetDateTime,
}

impl Records for MemoryRecords {
    fn claim<'a>(
        &'a self,
        key: &'a str,
        fingerprint: &'a str,
        now: OffsetDateTime,
        held: OffsetDateTime,
    ) -> BoxFuture<'a, Result<Claim, Refusal>> {
        let mut rows = self.0.lock().unwrap_or_else(|e| e.into_inner());
        rows.retain(|_, row| row.until > now);
        let claim = match rows.get(key) {
            Some(row) if row.fingerprint != fingerprint => Claim::Other,
            Some(Row {
                answer: Some(answer),
                ..
            }) => Claim::Recorded(answer.clone()),
            Some(_) => Claim::Running,
            None => {
                rows.insert(
                    key.to_owned(),
                    Row {
                        fingerprint: fingerprint.to_owned(),
                        answer: None,
                        until: held,
                    },
                );
                Claim::Fresh
            }
        };
        std::future::ready(Ok(claim)).boxed()
    }

    fn finish<'a>(
        &'a self,
        key: &'a str,
        answer: &'a str,
        kept: OffsetDateTime,
    ) -> BoxFuture<'a, Result<(), Refusal>> {
        if let Some(row) = self
            .0
            .lock()
            .unwrap_or_else(|e| e.into_inner())
            .get_mut(key)
        {
            row.answer = Some(answer.to_owned());
            row.until = kept;
        }
        std::future::ready(Ok(())).boxed()
    }

    fn release<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<(), Refusal>> {
        let mut rows = self.0.lock().unwrap_or_else(|e| e.into_inner());
        if rows.get(key).is_some_and(|row| row.answer.is_none()) {
            rows.remove(key);
        }
        std::future::ready(Ok(())).boxed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use time::macros::datetime;

    #[tokio::test]
    async fn a_key_is_fresh_once_then_running_then_recorded_then_forgotten() {
        let records = MemoryRecords::default();
        let now = datetime!(2026-12-01 00:00 UTC);
        let claim = async |fingerprint: &str, at| {
            records
                .claim("k", fingerprint, at, at + HELD)
                .await
                .unwrap()
        };
        assert_eq!(claim("a", now).await, Claim::Fresh);
        assert_eq!(claim("a", now).await, Claim::Running);
        assert_eq!(claim("b", now).await, Claim::Other);
        records.release("k").await.unwrap();
        assert_eq!(
            claim("b", now).await,
            Claim::Fresh,
            "a released key is free"
        );
        assert_eq!(
            claim("b", now + HELD).await,
            Claim::Fresh,
            "so is one whose holder is gone"
        );
        records.finish("k", "{}", now + KEPT).await.unwrap();
        records.release("k").await.unwrap();
        assert_eq!(
            claim("b", now + HELD).await,
            Claim::Recorded("{}".into()),
            "an answer is not released"
        );
        assert_eq!(claim("a", now + HELD).await, Claim::Other);
        assert_eq!(claim("a", now + KEPT).await, Claim::Fresh);
    }
}
