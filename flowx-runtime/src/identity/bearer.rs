//! Bearer tokens from a file that holds their hashes.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use flowx_manifest::{AgentId, NameError, PermissionName};
use futures_util::future::BoxFuture;
use http::request::Parts;
use serde::Deserialize;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use time::OffsetDateTime;

use super::{Current, Identity, Principal, PrincipalKind};
use crate::invocation::{Clock, System};
use crate::refusal::Refusal;

/// Tokens from a TOML file. The file holds SHA-256 hashes, so that whoever reads it can call nothing:
///
/// ```toml
/// [[token]]
/// sha256 = "…"                       # printf %s "$TOKEN" | sha256sum
/// kind = "agent"                     # person, agent or service
/// subject = "refund-bot"
/// permissions = ["payment.refund"]
/// tenant = "acme"                    # optional, as are agent, on_behalf_of and expires
/// expires = 2027-01-01T00:00:00Z
/// ```
///
/// A plain hash is enough for tokens that are long and random (`openssl rand -base64 32`), which nobody can guess; words that people
/// think up are for examples only. Every key is known: a misspelled one is an error, not a wider token.
pub struct BearerTokens {
    tokens: Vec<(Hash, Principal, Option<OffsetDateTime>)>,
    clock: Arc<dyn Clock>,
}

type Hash = [u8; 32];

/// Why a token file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TokenFileError {
    /// It cannot be read.
    #[error("the token file {path} cannot be read: {error}")]
    Read {
        /// The file.
        path: String,
        /// Why.
        error: std::io::Error,
    },
    /// It is not what it should be.
    #[error("the token file is not right: {0}")]
    Syntax(#[from] toml::de::Error),
    /// A hash is not 64 hexadecimal digits.
    #[error("token {index} ({subject}): sha256 is not 64 hexadecimal digits")]
    Hash {
        /// Which, counted from 1.
        index: usize,
        /// Its subject.
        subject: String,
    },
    /// One token stands for two.
    #[error("tokens {first} and {second} are the same token")]
    Twice {
        /// Which, counted from 1.
        first: usize,
        /// Which, counted from 1.
        second: usize,
    },
    /// A name that is none.
    #[error("token {index}: {error}")]
    Name {
        /// Which, counted from 1.
        index: usize,
        /// What is wrong.
        error: NameError,
    },
    /// Nobody, or an agent's keys on somebody who is none.
    #[error("token {index}: {what}")]
    Subject {
        /// Which, counted from 1.
        index: usize,
        /// What is wrong.
        what: &'static str,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TokenFile {
    #[serde(default)]
    token: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    sha256: String,
    kind: Kind,
    subject: String,
    agent: Option<String>,
    on_behalf_of: Option<String>,
    tenant: Option<String>,
    #[serde(default)]
    permissions: Vec<String>,
    expires: Option<toml::value::Datetime>,
}

#[derive(Deserialize, Clone, Copy, PartialEq)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Person,
    Agent,
    Service,
}

impl BearerTokens {
    /// Reads a token file.
    ///
    /// # Errors
    /// When it cannot be read, or is not right in any detail.
    pub fn load(path: impl AsRef<Path>) -> Result<BearerTokens, TokenFileError> {
        let path = path.as_ref();
        let text = std::fs::read_to_string(path).map_err(|error| TokenFileError::Read {
            path: path.display().to_string(),
            error,
        })?;
        BearerTokens::parse(&text)
    }

    /// The same from text.
    ///
    /// # Errors
    /// When it is not right in any detail.
    pub fn parse(text: &str) -> Result<BearerTokens, TokenFileError> {
        let file: TokenFile = toml::from_str(text)?;
        let mut tokens: Vec<(Hash, Principal, Option<OffsetDateTime>)> = Vec::new();
        for (i, entry) in file.token.into_iter().enumerate() {
            let index = i + 1;
            let hash = parse_hash(&entry.sha256).ok_or_else(|| TokenFileError::Hash {
                index,
                subject: entry.subject.clone(),
            })?;
            if let Some(first) = tokens.iter().position(|(h, ..)| *h == hash) {
                return Err(TokenFileError::Twice {
                    first: first + 1,
                    second: index,
                });
            }
            let expires = match &entry.expires {
                None => None,
                Some(at) => Some(
                    OffsetDateTime::parse(
                        &at.to_string(),
                        &time::format_description::well_known::Rfc3339,
                    )
                    .map_err(|_| TokenFileError::Subject {
                        index,
                        what: "expires needs date, time and offset",
                    })?,
                ),
            };
            tokens.push((hash, principal(entry, index)?, expires));
        }
        Ok(BearerTokens {
            tokens,
            clock: Arc::new(System),
        })
    }

    /// What stands for that token in a file: its SHA-256 as 64 hexadecimal digits, as `printf %s TOKEN | sha256sum` prints it.
    pub fn hash(token: &str) -> String {
        Sha256::digest(token.as_bytes())
            .iter()
            .map(|b| format!("{b:02x}"))
            .collect()
    }

    /// Another clock for expiry, for tests.
    #[must_use]
    pub fn clock(mut self, clock: impl Clock) -> BearerTokens {
        self.clock = Arc::new(clock);
        self
    }

    fn find(&self, token: &str) -> Option<&Principal> {
        let hash: Hash = Sha256::digest(token.as_bytes()).into();
        // Every entry is compared to its end, so that the time taken says nothing about the hashes.
        let mut found = None;
        for (known, principal, expires) in &self.tokens {
            if bool::from(known.ct_eq(&hash)) {
                found = Some((principal, expires));
            }
        }
        let (principal, expires) = found?;
        expires
            .is_none_or(|at| self.clock.now() < at)
            .then_some(principal)
    }
}

impl Identity for BearerTokens {
    fn authenticate<'a>(
        &'a self,
        token: &'a str,
        _: &'a Parts,
    ) -> BoxFuture<'a, Result<Principal, Refusal>> {
        let result = self
            .find(token)
            .cloned()
            .ok_or_else(|| Refusal::not_authenticated().because("an unknown token"));
        Box::pin(std::future::ready(result))
    }

    /// Whoever has a token in the file that is not over: all that its tokens give together.
    fn current<'a>(&'a self, who: &'a Principal) -> BoxFuture<'a, Result<Current, Refusal>> {
        let now = self.clock.now();
        let mut theirs = self
            .tokens
            .iter()
            .filter(|(_, known, expires)| {
                known.key() == who.key()
                    && known.agent == who.agent
                    && expires.is_none_or(|at| now < at)
            })
            .map(|(_, known, _)| &known.permissions)
            .peekable();
        let current = match theirs.peek() {
            None => Current::Gone,
            Some(_) => Current::Known(theirs.flatten().cloned().collect()),
        };
        Box::pin(std::future::ready(Ok(current)))
    }
}

impl std::fmt::Debug for BearerTokens {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "BearerTokens({} tokens)", self.tokens.len())
    }
}

fn principal(entry: Entry, index: usize) -> Result<Principal, TokenFileError> {
    let name = |error| TokenFileError::Name { index, error };
    let wrong = |what| TokenFileError::Subject { index, what };
    if entry.subject.is_empty() {
        return Err(wrong("the subject is empty"));
    }
    let agent = match (entry.kind, entry.agent) {
        (Kind::Agent, Some(agent)) => Some(AgentId::new(agent).map_err(name)?),
        // An agent that is declared under its own subject; one that is not declared has the leave of an undeclared one.
        (Kind::Agent, None) => AgentId::new(entry.subject.as_str()).ok(),
        (_, Some(_)) => return Err(wrong("agent is for kind = \"agent\" only")),
        (_, None) => None,
    };
    if entry.kind == Kind::Person && entry.on_behalf_of.is_some() {
        return Err(wrong("a person acts for nobody else"));
    }
    let mut permissions = BTreeSet::new();
    for permission in entry.permissions {
        permissions.insert(PermissionName::new(permission).map_err(name)?);
    }
    Ok(Principal {
        kind: match entry.kind {
            Kind::Person => PrincipalKind::Person,
            Kind::Agent => PrincipalKind::Agent,
            Kind::Service => PrincipalKind::Service,
        },
        subject: entry.subject,
        issuer: String::new(),
        tenant: entry.tenant,
        permissions,
        agent,
        on_behalf_of: entry.on_behalf_of,
    })
}

fn parse_hash(text: &str) -> Option<Hash> {
    let digits = text.as_bytes();
    if digits.len() != 64 || !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    let mut hash = [0; 32];
    for (byte, pair) in hash.iter_mut().zip(digits.chunks(2)) {
        *byte = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
    }
    Some(hash)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(extra: &str) -> String {
        format!(
            "[[token]]\nsha256 = \"{}\"\nsubject = \"bot\"\n{extra}",
            BearerTokens::hash("secret")
        )
    }

    #[test]
    fn a_token_is_known_by_its_hash_alone() {
        let text = file("kind = \"agent\"\npermissions = [\"payment.refund\"]");
        assert!(!text.contains("secret"));
        let tokens = BearerTokens::parse(&text).unwrap();
        let who = tokens.find("secret").unwrap();
        assert_eq!(
            (who.kind, who.agent.as_ref().map(AgentId::as_str)),
            (PrincipalKind::Agent, Some("bot"))
        );
        assert!(who.holds("payment.refund") && !who.holds("payment"));
        for other in ["Secret", "secret ", "", &BearerTokens::hash("secret")] {
            assert!(tokens.find(other).is_none(), "{other:?}");
        }
    }

    #[test]
    fn whoever_has_a_token_has_what_all_of_theirs_give_and_without_one_is_gone() {
        let entry = |token: &str, subject: &str, more: &str| {
            format!(
                "[[token]]\nsha256 = \"{}\"\nkind = \"agent\"\nsubject = \"{subject}\"\n{more}\n",
                BearerTokens::hash(token)
            )
        };
        let file = [
            entry("one", "bot", "permissions = [\"a.read\"]"),
            entry("two", "bot", "permissions = [\"a.write\"]"),
            entry(
                "old",
                "bot",
                "permissions = [\"a.all\"]\nexpires = 2001-01-01T00:00:00Z",
            ),
            entry("other", "bot", "tenant = \"t\"\npermissions = [\"b.read\"]"),
        ];
        let now = |file: &str, who: &Principal| {
            let tokens = BearerTokens::parse(file).unwrap();
            futures_util::FutureExt::now_or_never(tokens.current(who))
                .unwrap()
                .unwrap()
        };
        let all = file.concat();
        let bot = BearerTokens::parse(&all)
            .unwrap()
            .find("one")
            .unwrap()
            .clone();
        let Current::Known(has) = now(&all, &bot) else {
            panic!("the bot has tokens")
        };
        let has: Vec<_> = has.iter().map(PermissionName::as_str).collect();
        assert_eq!(
            has,
            ["a.read", "a.write"],
            "not what is over, nor another tenant's"
        );
        assert_eq!(now(&file[3], &bot), Current::Gone);
        assert_eq!(now(&file[2], &bot), Current::Gone);
    }

    #[test]
    fn an_expired_token_stands_for_nobody() {
        struct At(OffsetDateTime);
        impl Clock for At {
            fn now(&self) -> OffsetDateTime {
                self.0
            }
        }
        let text = file("kind = \"person\"\nexpires = 2027-01-01T00:00:00Z");
        let at = |t| {
            BearerTokens::parse(&text)
                .unwrap()
                .clock(At(t))
                .find("secret")
                .is_some()
        };
        assert!(at(time::macros::datetime!(2026-12-31 23:59:59 UTC)));
        assert!(!at(time::macros::datetime!(2027-01-01 00:00:00 UTC)));
    }

    #[test]
    fn anything_misspelled_in_a_token_file_is_an_error() {
        for wrong in [
            "kind = \"agnet\"",
            "kind = \"agent\"\npermisions = []",
            "kind = \"agent\"\npermissions = [\"two words\"]",
            "kind = \"person\"\nagent = \"bot\"",
            "kind = \"person\"\non_behalf_of = \"ann\"",
            "kind = \"agent\"\nagent = \"Not An Id\"",
            "kind = \"agent\"\nexpires = 2027-01-01",
            "",
        ] {
            assert!(BearerTokens::parse(&file(wrong)).is_err(), "{wrong}");
        }
        assert!(
            BearerTokens::parse(
                "[[token]]\nsha256 = \"secret\"\nkind = \"person\"\nsubject = \"a\""
            )
            .is_err()
        );
        let twice = format!(
            "{}\n{}",
            file("kind = \"person\""),
            file("kind = \"agent\"")
        );
        assert!(matches!(
            BearerTokens::parse(&twice),
            Err(TokenFileError::Twice {
                first: 1,
                second: 2
            })
        ));
    }
}
