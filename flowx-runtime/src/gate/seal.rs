//! The state that travels with a question: handed to the client, brought back with the answer, and believed only then.
//!
//! It holds no secret and decides nothing by itself. It says that this server put this question, about this call, to this caller, not
//! long ago; that it is brought back once is what the store's nonces are for.

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use crate::store::Millis;

/// The longest state that is looked at.
const LONGEST: usize = 1_024;

/// One key.
#[derive(Clone, PartialEq, Eq)]
pub struct Key {
    /// Names it in what it sealed.
    pub id: String,
    /// The secret.
    pub secret: [u8; 32],
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Key")
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}

/// The keys, newest first: the first seals, all of them open.
#[derive(Clone, Debug, Default)]
pub struct Keyring(pub Vec<Key>);

/// What a state is bound to. It opens for exactly the same values.
#[derive(Clone, Copy, Debug)]
pub struct Bound<'a> {
    /// Who was asked, as [`Principal::key`](crate::Principal::key): the subject, not the token, since tokens are renewed.
    pub principal: &'a str,
    /// What the question is for: `confirm`, `page`, …
    pub purpose: &'a str,
    /// The flow, as `id@version`.
    pub flow: &'a str,
    /// The digest of the canonical input.
    pub input: &'a str,
    /// The digest of the manifest.
    pub manifest: &'a str,
    /// The digest of what was shown.
    pub shown: &'a str,
}

/// A state that opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opened {
    /// To be spent, once, in the store.
    pub nonce: String,
    /// Until when it is good.
    pub expires: Millis,
}

/// It did not open. One error for every reason: whoever tries learns nothing from which.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the state is not one that this server gave out for this call")]
pub struct NotOurs;

impl Keyring {
    /// Seals a nonce until a time. `None` without a key.
    pub fn seal(&self, bound: &Bound<'_>, nonce: &str, expires: Millis) -> Option<String> {
        let key = self.0.first()?;
        let payload = format!("1.{}.{nonce}.{expires}", key.id);
        let mac = mac(key, bound, &payload);
        Some(format!(
            "{}.{}",
            URL_SAFE_NO_PAD.encode(&payload),
            URL_SAFE_NO_PAD.encode(mac.as_bytes())
        ))
    }

    /// Opens a state.
    ///
    /// # Errors
    /// When it was not sealed by one of the keys for exactly that binding, or its time is over.
    pub fn open(&self, state: &str, bound: &Bound<'_>, now: Millis) -> Result<Opened, NotOurs> {
        if state.len() > LONGEST {
            return Err(NotOurs);
        }
        let (payload, tag) = state.split_once('.').ok_or(NotOurs)?;
        let payload = String::from_utf8(URL_SAFE_NO_PAD.decode(payload).map_err(|_| NotOurs)?)
            .map_err(|_| NotOurs)?;
        let tag: [u8; 32] = URL_SAFE_NO_PAD
            .decode(tag)
            .map_err(|_| NotOurs)?
            .try_into()
            .map_err(|_| NotOurs)?;
        let parts: Vec<&str> = payload.split('.').collect();
        let ["1", id, nonce, expires] = parts[..] else {
            return Err(NotOurs);
        };
        let key = self.0.iter().find(|k| k.id == id).ok_or(NotOurs)?;
        // `blake3::Hash` compares in constant time.
        if mac(key, bound, &payload) != blake3::Hash::from_bytes(tag) {
            return Err(NotOurs);
        }
        let expires: Millis = expires.parse().map_err(|_| NotOurs)?;
        if now >= expires {
            return Err(NotOurs);
        }
        Ok(Opened {
            nonce: nonce.to_owned(),
            expires,
        })
    }

    /// An opaque word for a UUID that only a holder of the keys can read back (a synthetic nonce, which is also what proves the word,
    /// and the id under a keystream made from it). The same id gives the same word under the same key.
    pub fn hide(&self, id: &str) -> Option<String> {
        let key = self.0.first()?;
        let id = uuid::Uuid::parse_str(id).ok()?;
        let nonce = half(key, b"flowx handle nonce 1", id.as_bytes());
        let stream = half(key, b"flowx handle stream 1", &nonce);
        let mut word = [0; 32];
        word[..16].copy_from_slice(&nonce);
        for (at, byte) in id.as_bytes().iter().enumerate() {
            word[16 + at] = byte ^ stream[at];
        }
        Some(URL_SAFE_NO_PAD.encode(word))
    }

    /// The UUID of a word that one of the keys gave out.
    pub fn reveal(&self, word: &str) -> Option<String> {
        if word.len() != 43 {
            return None;
        }
        let word: [u8; 32] = URL_SAFE_NO_PAD.decode(word).ok()?.try_into().ok()?;
        self.0.iter().find_map(|key| {
            let stream = half(key, b"flowx handle stream 1", &word[..16]);
            let mut id = [0; 16];
            for (at, byte) in id.iter_mut().enumerate() {
                *byte = word[16 + at] ^ stream[at];
            }
            let proven = subtle::ConstantTimeEq::ct_eq(
                &half(key, b"flowx handle nonce 1", &id)[..],
                &word[..16],
            );
            bool::from(proven).then(|| uuid::Uuid::from_bytes(id).to_string())
        })
    }

    /// Whether a state names a key that is not here; it may have been made by another instance a moment ago.
    pub fn lacks_key_of(&self, state: &str) -> bool {
        let Some((payload, _)) = state.split_once('.') else {
            return false;
        };
        let Ok(payload) = URL_SAFE_NO_PAD.decode(payload) else {
            return false;
        };
        let payload = String::from_utf8_lossy(&payload);
        payload
            .split('.')
            .nth(1)
            .is_some_and(|id| !self.0.iter().any(|k| k.id == id))
    }
}

/// blake3 keyed, over each part behind its length.
fn mac(key: &Key, bound: &Bound<'_>, payload: &str) -> blake3::Hash {
    let mut hasher = blake3::Hasher::new_keyed(&key.secret);
    let Bound {
        principal,
        purpose,
        flow,
        input,
        manifest,
        shown,
    } = *bound;
    for part in [
        "flowx state 1",
        principal,
        purpose,
        flow,
        input,
        manifest,
        shown,
        payload,
    ] {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    hasher.finalize()
}

/// 16 bytes of keyed blake3 under a domain.
fn half(key: &Key, domain: &[u8], data: &[u8]) -> [u8; 16] {
    let mut hasher = blake3::Hasher::new_keyed(&key.secret);
    hasher.update(domain);
    hasher.update(data);
    let mut out = [0; 16];
    hasher.finalize_xof().fill(&mut out);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOUND: Bound<'static> = Bound {
        principal: "p",
        purpose: "confirm",
        flow: "f@1.0.0",
        input: "i",
        manifest: "m",
        shown: "s",
    };

    fn ring(ids: &[u8]) -> Keyring {
        Keyring(
            ids.iter()
                .map(|i| Key {
                    id: format!("k{i}"),
                    secret: [*i; 32],
                })
                .collect(),
        )
    }

    #[test]
    fn it_opens_for_exactly_what_it_was_sealed_for() {
        let keys = ring(&[1]);
        let state = keys.seal(&BOUND, "n", 1_000).unwrap();
        assert_eq!(
            keys.open(&state, &BOUND, 999),
            Ok(Opened {
                nonce: "n".into(),
                expires: 1_000
            })
        );
        let others = [
            Bound {
                principal: "q",
                ..BOUND
            },
            Bound {
                purpose: "page",
                ..BOUND
            },
            Bound {
                flow: "g@1.0.0",
                ..BOUND
            },
            Bound {
                input: "j",
                ..BOUND
            },
            Bound {
                manifest: "n",
                ..BOUND
            },
            Bound {
                shown: "t",
                ..BOUND
            },
            // The same letters cut elsewhere.
            Bound {
                principal: "pc",
                purpose: "onfirm",
                ..BOUND
            },
        ];
        for other in &others {
            assert_eq!(keys.open(&state, other, 999), Err(NotOurs), "{other:?}");
        }
    }

    #[test]
    fn it_opens_until_its_time_and_not_at_it() {
        let keys = ring(&[1]);
        let state = keys.seal(&BOUND, "n", 1_000).unwrap();
        assert!(keys.open(&state, &BOUND, 999).is_ok());
        assert_eq!(keys.open(&state, &BOUND, 1_000), Err(NotOurs));
    }

    #[test]
    fn any_change_of_it_is_refused() {
        let keys = ring(&[1]);
        let state = keys.seal(&BOUND, "n", 1_000).unwrap();
        for at in 0..state.len() {
            let mut bytes = state.clone().into_bytes();
            bytes[at] = if bytes[at] == b'A' { b'B' } else { b'A' };
            let changed = String::from_utf8(bytes).unwrap();
            assert_eq!(keys.open(&changed, &BOUND, 1), Err(NotOurs), "byte {at}");
        }
        for other in ["", ".", "a.b", "é.é", &"x".repeat(5_000)] {
            assert_eq!(keys.open(other, &BOUND, 1), Err(NotOurs));
        }
    }

    #[test]
    fn an_older_key_still_opens_and_a_dropped_one_does_not() {
        let state = ring(&[1]).seal(&BOUND, "n", 1_000).unwrap();
        assert!(ring(&[2, 1]).open(&state, &BOUND, 1).is_ok());
        assert_eq!(ring(&[2]).open(&state, &BOUND, 1), Err(NotOurs));
        assert!(ring(&[2]).lacks_key_of(&state));
        assert!(Keyring::default().seal(&BOUND, "n", 1).is_none());
    }

    proptest::proptest! {
        /// `PROPTEST_CASES` sets how often.
        #[test]
        fn nothing_that_was_not_given_out_opens(
            text in ".{0,120}", at in 0_usize..400, cut in 0_usize..4, put in "[A-Za-z0-9_.=-]{0,3}",
        ) {
            let keys = ring(&[2, 1]);
            proptest::prop_assert_eq!(keys.open(&text, &BOUND, 1), Err(NotOurs));
            proptest::prop_assert_eq!(keys.reveal(&text), None);
            keys.lacks_key_of(&text);
            let edited = |word: &str| {
                let at = at % word.len();
                let after = (at + cut).min(word.len());
                format!("{}{put}{}", &word[..at], &word[after..])
            };
            let state = keys.seal(&BOUND, "n", 1_000).unwrap();
            let other = edited(&state);
            keys.lacks_key_of(&other);
            proptest::prop_assert_eq!(keys.open(&other, &BOUND, 1).is_ok(), other == state);
            let word = keys.hide("019302d8-0000-7000-8000-000000000001").unwrap();
            let other = edited(&word);
            proptest::prop_assert_eq!(keys.reveal(&other).is_some(), other == word);
        }
    }

    #[test]
    fn a_hidden_id_is_opaque_and_cannot_be_made_up() {
        let id = "019302d8-0000-7000-8000-000000000001";
        let word = ring(&[1]).hide(id).unwrap();
        assert_eq!(ring(&[2, 1]).reveal(&word).as_deref(), Some(id));
        assert_eq!(ring(&[2]).reveal(&word), None);
        for at in 0..word.len() {
            let mut bytes = word.clone().into_bytes();
            bytes[at] = if bytes[at] == b'A' { b'B' } else { b'A' };
            assert_eq!(
                ring(&[1]).reveal(&String::from_utf8(bytes).unwrap()),
                None,
                "byte {at}"
            );
        }
        assert!(!word.contains("0193"));
    }
}
