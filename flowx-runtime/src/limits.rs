//! What one caller may send, and how often.

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::Duration;

use flowx_manifest::Category;
use flowx_manifest::json::Limits as JsonLimits;
use tokio::time::Instant;

use crate::refusal::{Refusal, codes};

/// The limits of every transport.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Of one body: bytes, depth, numbers. The default: 1 MiB, 64 levels, no NUL.
    pub json: JsonLimits,
    /// Of one principal; all anonymous callers of one address count as one. `None`: no limit. The default: 1,000 requests a second,
    /// 2,000 at once.
    pub rate: Option<Rate>,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            json: JsonLimits::REQUEST,
            rate: Some(Rate {
                per_second: 1000,
                burst: 2000,
            }),
        }
    }
}

/// How often: a bucket of `burst` tokens that fills by `per_second`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    /// Requests a second, over time.
    pub per_second: u32,
    /// Requests at once.
    pub burst: u32,
}

/// One bucket per principal.
pub(crate) struct RateLimiter {
    rate: Rate,
    buckets: Mutex<HashMap<String, Bucket>>,
}

#[derive(Clone, Copy)]
struct Bucket {
    /// Thousandths of a token.
    millis: u64,
    at: Instant,
}

/// More principals than this, and those whose buckets are full again are forgotten.
const REMEMBERED: usize = 10_000;

impl RateLimiter {
    pub(crate) fn new(rate: Rate) -> RateLimiter {
        RateLimiter {
            rate,
            buckets: Mutex::default(),
        }
    }

    /// Takes one token of that principal.
    ///
    /// # Errors
    /// `limits.rate_exceeded` when there is none.
    pub(crate) fn take(&self, key: &str, now: Instant) -> Result<(), Refusal> {
        let full = u64::from(self.rate.burst) * 1000;
        let mut buckets = self.buckets.lock().unwrap_or_else(|e| e.into_inner());
        if buckets.len() >= REMEMBERED && !buckets.contains_key(key) {
            buckets.retain(|_, b| self.filled(b, now) < full);
        }
        let millis = buckets.get(key).map_or(full, |b| self.filled(b, now));
        let left = millis.checked_sub(1000);
        let bucket = Bucket {
            millis: left.unwrap_or(millis),
            at: now,
        };
        match buckets.get_mut(key) {
            Some(known) => *known = bucket,
            None => drop(buckets.insert(key.to_owned(), bucket)),
        }
        if left.is_some() {
            return Ok(());
        }
        Err(Refusal::new(
            codes::RATE_LIMITED,
            Category::Unavailable,
            "Too many calls; wait a moment.",
        ))
    }

    fn filled(&self, bucket: &Bucket, now: Instant) -> u64 {
        let passed: Duration = now.saturating_duration_since(bucket.at);
        let more = u64::try_from(passed.as_micros())
            .unwrap_or(u64::MAX)
            .saturating_mul(u64::from(self.rate.per_second))
            / 1000;
        bucket
            .millis
            .saturating_add(more)
            .min(u64::from(self.rate.burst) * 1000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_principal_who_asks_too_often_is_refused_and_nobody_else_is() {
        let limiter = RateLimiter::new(Rate {
            per_second: 10,
            burst: 3,
        });
        let now = Instant::now();
        let took = |who: &str, at| limiter.take(who, at).is_ok();
        assert_eq!(
            [
                took("a", now),
                took("a", now),
                took("a", now),
                took("a", now)
            ],
            [true, true, true, false]
        );
        assert!(took("b", now));
        assert!(!took("a", now + Duration::from_millis(99)));
        assert!(
            took("a", now + Duration::from_millis(100)),
            "a token comes back every tenth of a second"
        );
        assert!(!took("a", now + Duration::from_millis(100)));
    }

    #[test]
    fn a_crowd_does_not_fill_the_memory() {
        let limiter = RateLimiter::new(Rate {
            per_second: 1000,
            burst: 1,
        });
        let start = Instant::now();
        for i in 0..3 * REMEMBERED {
            let _ = limiter.take(&i.to_string(), start + Duration::from_millis(i as u64));
        }
        assert!(limiter.buckets.lock().unwrap().len() <= REMEMBERED + 1);
    }
}
