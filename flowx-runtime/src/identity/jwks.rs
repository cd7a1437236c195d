//! The keys of a token issuer: from a file, or from its URL with caching and rotation.

use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwapOption;
use jsonwebtoken::jwk::{Jwk, JwkSet, PublicKeyUse};
use tokio::sync::Mutex;
use tokio::time::Instant;

/// Keys are fetched anew after this.
const FRESH: Duration = Duration::from_secs(600);
/// Keys that could not be fetched anew are trusted no longer than this: a withdrawn key must die some day.
const LONGEST: Duration = Duration::from_secs(24 * 3600);
/// Between two fetches, so that tokens with invented key ids do not become a load on the issuer.
const PAUSE: Duration = Duration::from_secs(30);
const LARGEST: usize = 1 << 20;

/// Why a key could not be had.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum KeyError {
    /// The issuer has no such key.
    Unknown,
    /// The issuer cannot be asked, and nothing usable is cached.
    Unavailable(String),
}

pub(super) struct Keys {
    source: Source,
    cache: ArcSwapOption<Cached>,
    /// When it was last tried; also lets one caller fetch while the others wait.
    tried: Mutex<Option<Instant>>,
    pause: Duration,
}

pub(super) enum Source {
    /// Fixed.
    Set(JwkSet),
    /// A JWKS document.
    Url(String),
    /// The issuer, whose metadata names the JWKS document.
    Issuer(String),
}

struct Cached {
    keys: JwkSet,
    at: Instant,
}

impl Keys {
    pub(super) fn new(source: Source) -> Keys {
        Keys {
            source,
            cache: ArcSwapOption::empty(),
            tried: Mutex::new(None),
            pause: PAUSE,
        }
    }

    #[cfg(test)]
    pub(super) fn pause(&mut self, pause: Duration) {
        self.pause = pause;
    }

    /// The key of that id; without an id the only key there is.
    pub(super) async fn find(&self, kid: Option<&str>) -> Result<Jwk, KeyError> {
        if let Source::Set(keys) = &self.source {
            return pick(keys, kid).ok_or(KeyError::Unknown);
        }
        if let Some(cached) = self.cache.load_full()
            && cached.at.elapsed() < FRESH
            && let Some(key) = pick(&cached.keys, kid)
        {
            return Ok(key);
        }
        let failed = self.refresh(kid).await.err();
        match self.cache.load_full() {
            Some(cached) if cached.at.elapsed() < LONGEST => {
                pick(&cached.keys, kid).ok_or(KeyError::Unknown)
            }
            _ => Err(KeyError::Unavailable(
                failed.unwrap_or_else(|| "not fetched yet".to_owned()),
            )),
        }
    }

    async fn refresh(&self, kid: Option<&str>) -> Result<(), String> {
        let mut tried = self.tried.lock().await;
        // Whoever held the lock before may have brought the key.
        let cached = self.cache.load_full();
        if cached.is_some_and(|c| c.at.elapsed() < FRESH && pick(&c.keys, kid).is_some()) {
            return Ok(());
        }
        if tried.is_some_and(|t| t.elapsed() < self.pause) {
            return Err("tried a moment ago".to_owned());
        }
        *tried = Some(Instant::now());
        match self.fetch().await {
            Ok(keys) => {
                self.cache.store(Some(Arc::new(Cached {
                    keys,
                    at: Instant::now(),
                })));
                Ok(())
            }
            Err(why) => {
                tracing::warn!(why, "the keys of the token issuer cannot be fetched");
                Err(why)
            }
        }
    }

    async fn fetch(&self) -> Result<JwkSet, String> {
        let url = match &self.source {
            Source::Set(keys) => return Ok(keys.clone()),
            Source::Url(url) => url.clone(),
            Source::Issuer(issuer) => discover(issuer).await?,
        };
        serde_json::from_slice(&get(&url).await?)
            .map_err(|e| format!("{url} is no JWKS document: {e}"))
    }
}

/// OpenID Connect's place first, then RFC 8414's.
async fn discover(issuer: &str) -> Result<String, String> {
    let base = issuer.trim_end_matches('/');
    let mut why = String::new();
    for name in ["openid-configuration", "oauth-authorization-server"] {
        let url = format!("{base}/.well-known/{name}");
        let document = match get(&url).await {
            Ok(bytes) => {
                serde_json::from_slice::<serde_json::Value>(&bytes).map_err(|e| e.to_string())
            }
            Err(error) => Err(error),
        };
        match document {
            // A document about another issuer is another issuer's.
            Ok(d)
                if d["issuer"]
                    .as_str()
                    .is_none_or(|i| i.trim_end_matches('/') != base) =>
            {
                return Err(format!("{url} names another issuer"));
            }
            Ok(d) => {
                return d["jwks_uri"]
                    .as_str()
                    .map(str::to_owned)
                    .ok_or(format!("{url} names no jwks_uri"));
            }
            Err(error) => why = error,
        }
    }
    Err(why)
}

async fn get(url: &str) -> Result<Vec<u8>, String> {
    let parsed = reqwest::Url::parse(url).map_err(|e| format!("{url}: {e}"))?;
    let loopback = matches!(parsed.host_str(), Some("127.0.0.1" | "[::1]" | "localhost"));
    if parsed.scheme() != "https" && !(parsed.scheme() == "http" && loopback) {
        return Err(format!("{url}: keys are fetched over https only"));
    }
    // An error means that the program has chosen a provider already, which is as good.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = reqwest::Client::builder()
        .timeout(Duration::from_secs(5))
        .redirect(reqwest::redirect::Policy::none())
        .build()
        .map_err(|e| e.to_string())?;
    let mut response = client.get(parsed).send().await.map_err(|e| e.to_string())?;
    if !response.status().is_success() {
        return Err(format!("{url} answers {}", response.status()));
    }
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|e| e.to_string())? {
        if bytes.len() + chunk.len() > LARGEST {
            return Err(format!("{url} is larger than {LARGEST} bytes"));
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(bytes)
}

fn pick(keys: &JwkSet, kid: Option<&str>) -> Option<Jwk> {
    let signs = |k: &&Jwk| !matches!(k.common.public_key_use, Some(PublicKeyUse::Encryption));
    match kid {
        Some(kid) => keys
            .keys
            .iter()
            .filter(signs)
            .find(|k| k.common.key_id.as_deref() == Some(kid))
            .cloned(),
        None => {
            let mut all = keys.keys.iter().filter(signs);
            all.next().filter(|_| all.next().is_none()).cloned()
        }
    }
}
