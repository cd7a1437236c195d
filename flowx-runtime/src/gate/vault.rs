//! What a call is about, at rest: sealed before it goes to the store, opened where it is run or judged, and nowhere else.
//!
//! A proposal waits for days, and its input can hold what nobody should read off a table: a card's number, a reason for leaving. So the
//! row carries it under XChaCha20-Poly1305, bound to that row and that place in it, and it is wiped once it cannot run any more.
//!
//! The keys are the deployment's own ([`GateOptions::sealing_keys`](super::GateOptions::sealing_keys)), or, without any, those that the store
//! keeps for its instances. The latter keep values out of listings, logs and dumps of the proposals' table; whoever can read the whole
//! database reads them too. Decision 035.

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chacha20poly1305::aead::{Aead, Payload};
use chacha20poly1305::{KeyInit, XChaCha20Poly1305, XNonce};

use super::{Gate, Key, Keyring};
use crate::proposals::{Outcome, Proposal};
use crate::store::StoreError;

/// How a sealed value begins.
const FORM: &str = "s1.";
const NONCE: usize = 24;

/// Which value of a proposal. A value opens in its own place only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// What it would be run with.
    Input,
    /// What it gave.
    Output,
}

/// Why a value does not open.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Closed {
    /// It names a key that is not here.
    #[error("a stored value is sealed under the key {0}, which is not among this instance's keys")]
    NoKey(String),
    /// It is not what was put there.
    #[error("a stored value is not what was put there")]
    NotOurs,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Place::Input => "input",
            Place::Output => "output",
        })
    }
}

impl Keyring {
    /// Seals a value of that proposal under the first key. `None` without a key, or without randomness.
    pub fn enclose(&self, proposal: &str, place: Place, text: &str) -> Option<String> {
        let key = self.0.first()?;
        let mut nonce = [0; NONCE];
        getrandom::fill(&mut nonce).ok()?;
        let about = about(proposal, place);
        let payload = Payload {
            msg: text.as_bytes(),
            aad: about.as_bytes(),
        };
        let mut word = nonce.to_vec();
        word.extend(cipher(key).encrypt(&XNonce::from(nonce), payload).ok()?);
        Some(format!("{FORM}{}.{}", key.id, URL_SAFE_NO_PAD.encode(word)))
    }

    /// Opens a value of that proposal.
    ///
    /// # Errors
    /// When its key is not here, or it is not what was sealed for that place.
    pub fn disclose(&self, proposal: &str, place: Place, sealed: &str) -> Result<String, Closed> {
        let id = key_of(sealed).ok_or(Closed::NotOurs)?;
        let key = self.0.iter().find(|k| k.id == id);
        let key = key.ok_or_else(|| Closed::NoKey(id.to_owned()))?;
        let word = sealed.rsplit('.').next().unwrap_or_default();
        let word = URL_SAFE_NO_PAD.decode(word).map_err(|_| Closed::NotOurs)?;
        let (nonce, text) = word.split_at_checked(NONCE).ok_or(Closed::NotOurs)?;
        let nonce: [u8; NONCE] = nonce.try_into().map_err(|_| Closed::NotOurs)?;
        let about = about(proposal, place);
        let payload = Payload {
            msg: text,
            aad: about.as_bytes(),
        };
        let text = cipher(key)
            .decrypt(&XNonce::from(nonce), payload)
            .map_err(|_| Closed::NotOurs)?;
        String::from_utf8(text).map_err(|_| Closed::NotOurs)
    }
}

/// The key that a sealed value names.
fn key_of(sealed: &str) -> Option<&str> {
    Some(sealed.strip_prefix(FORM)?.rsplit_once('.')?.0)
}

/// A key of its own for values, so that none of the ring's other uses shares it.
fn cipher(key: &Key) -> XChaCha20Poly1305 {
    let own = blake3::derive_key("flowx 2026 values of proposals at rest", &key.secret);
    XChaCha20Poly1305::new(&own.into())
}

fn about(proposal: &str, place: Place) -> String {
    format!("flowx value 1|{}:{proposal}|{place}", proposal.len())
}

impl Gate {
    /// The ring for values at rest: the deployment's own, or the store's.
    fn values(&self) -> Keyring {
        if self.options.sealing_keys.is_empty() {
            self.keyring()
        } else {
            Keyring(self.options.sealing_keys.clone())
        }
    }

    /// Seals a value for its row.
    pub(super) async fn enclose(
        &self,
        proposal: &str,
        place: Place,
        text: &str,
    ) -> Result<String, StoreError> {
        if self.values().0.is_empty() {
            // The first key is still on its way from the store.
            self.refresh_keys().await?;
        }
        self.values()
            .enclose(proposal, place, text)
            .ok_or_else(|| StoreError::Refused("there is no key to seal with".to_owned()))
    }

    /// Opens a value of a row. `None` for one that is not what was put there.
    ///
    /// # Errors
    /// When its key is not here: nothing can be said of it, and nothing is done.
    pub(super) async fn disclose(
        &self,
        proposal: &str,
        place: Place,
        sealed: &str,
    ) -> Result<Option<String>, StoreError> {
        if key_of(sealed).is_some_and(|id| !self.values().0.iter().any(|k| k.id == id)) {
            // Another instance may have begun a new key a moment ago.
            self.refresh_keys().await?;
        }
        match self.values().disclose(proposal, place, sealed) {
            Ok(text) => Ok(Some(text)),
            Err(Closed::NotOurs) => Ok(None),
            Err(closed @ Closed::NoKey(_)) => Err(StoreError::Corrupt(closed.to_string())),
        }
    }

    /// What a proposal would be run with, in clear; `None` when it cannot be run any more, or is not what was put there.
    ///
    /// # Errors
    /// When the store does not answer, or the key it was sealed under is not here.
    pub async fn input_of(&self, proposal: &Proposal) -> Result<Option<String>, StoreError> {
        match &proposal.input {
            Some(sealed) => self.disclose(&proposal.id, Place::Input, sealed).await,
            None => Ok(None),
        }
    }

    /// An outcome as it goes to its row.
    pub(super) async fn enclosed(
        &self,
        proposal: &str,
        outcome: Outcome,
    ) -> Result<Outcome, StoreError> {
        Ok(match outcome {
            Outcome::Done { at, output } => Outcome::Done {
                at,
                output: self.enclose(proposal, Place::Output, &output).await?,
            },
            failed @ Outcome::Failed { .. } => failed,
        })
    }

    /// Seals under the newest key what lies there under an older one, so that old keys can be forgotten. Changes nothing else.
    pub(super) async fn renew(&self, row: &Proposal) -> Result<(), StoreError> {
        let newest = self.values().0.first().map(|k| k.id.clone());
        let (Some(sealed), Some(newest)) = (&row.input, newest) else {
            return Ok(());
        };
        if key_of(sealed) == Some(&newest) {
            return Ok(());
        }
        match self.disclose(&row.id, Place::Input, sealed).await {
            Ok(Some(text)) => {
                let mut next = row.clone();
                next.revision += 1;
                next.input = Some(self.enclose(&row.id, Place::Input, &text).await?);
                // Somebody else being faster is as good.
                self.store.swap(row.revision, &next, &[]).await?;
            }
            // Whoever decides it next hears that it is not what was asked.
            Ok(None) => {}
            Err(error) => tracing::error!(%error, proposal = row.id, "an input cannot be read"),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ring(ids: &[u8]) -> Keyring {
        let key = |i: &u8| Key {
            id: format!("key.{i}"),
            secret: [*i; 32],
        };
        Keyring(ids.iter().map(key).collect())
    }

    #[test]
    fn a_value_opens_in_its_own_place_only() {
        let keys = ring(&[1]);
        for text in ["", "{}", r#"{"card":"4711"}"#, "ü \u{0}"] {
            let sealed = keys.enclose("p", Place::Input, text).unwrap();
            assert!(!sealed.contains("4711"));
            assert_eq!(keys.disclose("p", Place::Input, &sealed), Ok(text.into()));
            for (proposal, place) in [("q", Place::Input), ("p", Place::Output)] {
                let moved = keys.disclose(proposal, place, &sealed);
                assert_eq!(moved, Err(Closed::NotOurs), "{proposal} {place}");
            }
        }
    }

    #[test]
    fn the_same_value_never_looks_the_same_twice() {
        let keys = ring(&[1]);
        let twice = [(); 2].map(|()| keys.enclose("p", Place::Input, "{}"));
        assert_ne!(twice[0], twice[1]);
    }

    #[test]
    fn any_change_of_it_is_seen() {
        let keys = ring(&[1]);
        let sealed = keys.enclose("p", Place::Input, "{}").unwrap();
        for at in 0..sealed.len() {
            let mut bytes = sealed.clone().into_bytes();
            bytes[at] = if bytes[at] == b'A' { b'B' } else { b'A' };
            let changed = String::from_utf8(bytes).unwrap();
            assert!(
                keys.disclose("p", Place::Input, &changed).is_err(),
                "byte {at}"
            );
        }
        for other in ["", "{}", "s1.", "s1.key.1.", "s1.key.1.AAAA"] {
            let read = keys.disclose("p", Place::Input, other);
            assert_eq!(read, Err(Closed::NotOurs), "{other}");
        }
    }

    proptest::proptest! {
        #[test]
        fn nothing_that_was_not_sealed_here_opens(
            text in ".{0,80}", at in 0_usize..400, cut in 0_usize..4, put in "[A-Za-z0-9_.=-]{0,3}",
        ) {
            let keys = ring(&[1]);
            proptest::prop_assert!(keys.disclose("p", Place::Input, &text).is_err());
            let sealed = keys.enclose("p", Place::Input, &text).unwrap();
            let at = at % sealed.len();
            let after = (at + cut).min(sealed.len());
            let other = format!("{}{put}{}", &sealed[..at], &sealed[after..]);
            let opened = keys.disclose("p", Place::Input, &other);
            proptest::prop_assert_eq!(opened.is_ok(), other == sealed);
        }
    }

    #[test]
    fn an_older_key_still_opens_and_a_missing_one_is_named() {
        let sealed = ring(&[1]).enclose("p", Place::Input, "{}").unwrap();
        assert!(ring(&[2, 1]).disclose("p", Place::Input, &sealed).is_ok());
        assert_eq!(
            ring(&[2]).disclose("p", Place::Input, &sealed),
            Err(Closed::NoKey("key.1".into()))
        );
        assert!(
            Keyring::default()
                .enclose("p", Place::Input, "{}")
                .is_none()
        );
    }
}
