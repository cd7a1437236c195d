//! What one caller may send, and how often.

use std::collections::HashMap;
use std::net::IpAddr;
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
    /// Of one known principal. `None`: no limit. The default: 1,000 requests a second, 2,000 at once. Beyond: 429 `limits.rate_exceeded`.
    pub rate: Option<Rate>,
    /// Of all callers of one address who are nobody, wrong credentials included; an IPv6 network of 64 bits is one address. Behind a
    /// proxy they all come from the proxy's. `None`: no limit. The default: 50 requests a second, 200 at once.
    pub anonymous_rate: Option<Rate>,
    /// How long the head of a request may take to come, and how long a connection may stay without one. The default: 20 s. Beyond: the
    /// connection is closed.
    pub head_time: Duration,
    /// How long the body of a request may take to come. The default: 30 s. Beyond: 408 `input.too_slow`.
    pub body_time: Duration,
    /// Connections at once. The default: 4,096. Beyond: 503 `limits.connections_exceeded`.
    pub connections: usize,
    /// Connections at once of one address. The default: 1,024, since a proxy in front is one.
    pub connections_per_address: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            json: JsonLimits::REQUEST,
            rate: Some(Rate {
                per_second: 1000,
                burst: 2000,
            }),
            anonymous_rate: Some(Rate {
                per_second: 50,
                burst: 200,
            }),
            head_time: Duration::from_secs(20),
            body_time: Duration::from_secs(30),
            connections: 4096,
            connections_per_address: 1024,
        }
    }
}

/// One address as limits count it: who has one IPv6 address has all of its network.
pub(crate) fn counted_as(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(v6) => {
            let [a, b, c, d, ..] = v6.segments();
            IpAddr::from([a, b, c, d, 0, 0, 0, 0])
        }
        v4 => v4,
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
            if buckets.len() >= 2 * REMEMBERED {
                // A crowd that never pauses: everybody starts anew, which costs less than keeping count of it.
                buckets.clear();
            }
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
        for i in 0..5 * REMEMBERED {
            let _ = limiter.take(&format!("at once {i}"), start);
        }
        assert!(limiter.buckets.lock().unwrap().len() <= 2 * REMEMBERED);
    }

    #[test]
    fn the_addresses_of_one_network_are_one() {
        let of = |text: &str| counted_as(text.parse().unwrap());
        assert_eq!(of("2001:db8:1:2::1"), of("2001:db8:1:2:ffff::9"));
        assert_ne!(of("2001:db8:1:2::1"), of("2001:db8:1:3::1"));
        assert_ne!(of("10.0.0.1"), of("10.0.0.2"));
        assert_eq!(of("::ffff:10.0.0.1"), of("10.0.0.1"));
    }
}
