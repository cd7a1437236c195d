//! The audit trail's form: records linked by hash, one JSON object a line when exported.
//!
//! Each link's hash covers its number, its record and the hash before it, so an edit, a gap, a repetition or another order is found
//! by [`verify`]. That the end has not been cut off shows only against a [`Head`] that was kept elsewhere; keep one.
//!
//! The chain holds no secret: whoever can write the store can write another chain from some link on. It is the kept head that
//! such a chain does not lead to.

use crate::json::{self, Json, JsonError, Limits, write_string};

/// The hash before the first link: 64 zeros.
pub const GENESIS: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// One record in its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// Its number, from 1.
    pub seq: u64,
    /// When the record was made, in milliseconds since 1970 (UTC). Also part of what is hashed.
    pub at: i64,
    /// The record: one canonical JSON object.
    pub record: String,
    /// The hash of the link before.
    pub prev: String,
    /// The hash of this link.
    pub hash: String,
}

/// Where a chain ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    /// The number of the newest link; 0 for an empty chain.
    pub seq: u64,
    /// Its hash; [`GENESIS`] for an empty chain.
    pub hash: String,
}

impl Default for Head {
    fn default() -> Head {
        Head {
            seq: 0,
            hash: GENESIS.to_owned(),
        }
    }
}

impl Head {
    /// The link of a record that follows this head.
    pub fn link(&self, at: i64, record: String) -> Link {
        let seq = self.seq + 1;
        let hash = link_hash(seq, at, &record, &self.hash);
        Link {
            seq,
            at,
            record,
            prev: self.hash.clone(),
            hash,
        }
    }
}

/// The hash of a link: blake3 over number, time, previous hash and record, each behind its length.
fn link_hash(seq: u64, at: i64, record: &str, prev: &str) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(b"flowx audit link 1\n");
    for part in [seq.to_string().as_str(), &at.to_string(), prev, record] {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    hasher.finalize().to_hex().to_string()
}

impl Link {
    /// The head of a chain that ends here.
    pub fn head(&self) -> Head {
        Head {
            seq: self.seq,
            hash: self.hash.clone(),
        }
    }

    /// The link as one line of JSON, without the newline. The record is a string in it, so that its bytes survive every reader.
    pub fn to_line(&self) -> String {
        let mut out = format!("{{\"seq\":{},\"at\":{},\"record\":", self.seq, self.at);
        write_string(&self.record, &mut out);
        out.push_str(",\"prev\":");
        write_string(&self.prev, &mut out);
        out.push_str(",\"hash\":");
        write_string(&self.hash, &mut out);
        out.push('}');
        out
    }

    /// Reads one line.
    ///
    /// # Errors
    /// When it is not strict JSON, or not a link.
    pub fn parse(line: &str) -> Result<Link, LineError> {
        let value = json::parse(line.as_bytes(), Limits::DOCUMENT)?;
        let text = |name: &'static str| {
            value
                .get(name)
                .and_then(Json::as_str)
                .map(str::to_owned)
                .ok_or(LineError::Member(name))
        };
        let number = |name: &'static str| {
            value
                .get(name)
                .and_then(Json::as_number)
                .and_then(|n| n.as_i128())
                .ok_or(LineError::Member(name))
        };
        let expected = ["seq", "at", "record", "prev", "hash"];
        let members = value.as_object().ok_or(LineError::Member("seq"))?;
        if let Some(unknown) = members.keys().find(|k| !expected.contains(&k.as_str())) {
            return Err(LineError::Unknown(unknown.clone()));
        }
        Ok(Link {
            seq: u64::try_from(number("seq")?).map_err(|_| LineError::Member("seq"))?,
            at: i64::try_from(number("at")?).map_err(|_| LineError::Member("at"))?,
            record: text("record")?,
            prev: text("prev")?,
            hash: text("hash")?,
        })
    }
}

/// Why a line is no link.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LineError {
    /// Not strict JSON.
    #[error("not JSON that can be trusted: {0}")]
    Json(#[from] JsonError),
    /// A member is missing or of another type.
    #[error("the member {0:?} is missing or of another type")]
    Member(&'static str),
    /// A member that no link has.
    #[error("a member {0:?}, which no link has")]
    Unknown(String),
}

/// What is wrong with a chain.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Broken {
    /// A line is no link.
    #[error("line {line}: {why}")]
    Line {
        /// The line's number, from 1.
        line: usize,
        /// Why.
        why: LineError,
    },
    /// Another number than the next was found: links are missing, repeated or in another order.
    #[error(
        "expected link {expected} and found {found}: links are missing, repeated or in another order"
    )]
    Sequence {
        /// The number that should follow.
        expected: u64,
        /// The number that was found.
        found: u64,
    },
    /// A link does not continue the one before it.
    #[error("link {seq} does not continue the link before it")]
    Detached {
        /// Its number.
        seq: u64,
    },
    /// A link's hash is not the hash of what it holds: it has been edited.
    #[error("link {seq} has been edited: its hash is not that of what it holds")]
    Edited {
        /// Its number.
        seq: u64,
    },
    /// The chain ends before the head that was kept.
    #[error(
        "the chain ends at link {found}, but link {kept} was once its head: the end is missing"
    )]
    Truncated {
        /// The number of the last link.
        found: u64,
        /// The number of the head that was kept.
        kept: u64,
    },
    /// The link that was once the head has another hash now.
    #[error("link {seq} was once the head with another hash: the chain has been written anew")]
    Rewritten {
        /// Its number.
        seq: u64,
    },
}

/// Checks links one after another, so that a long chain is never held in memory.
#[derive(Clone, Debug)]
pub struct Verifier {
    head: Head,
    kept: Option<Head>,
}

impl Verifier {
    /// Starts after `from` (the default is the beginning), and demands to pass through `kept`.
    pub fn new(from: Head, kept: Option<Head>) -> Verifier {
        Verifier { head: from, kept }
    }

    /// Checks the next link.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn next(&mut self, link: &Link) -> Result<(), Broken> {
        let expected = self.head.seq + 1;
        if link.seq != expected {
            return Err(Broken::Sequence {
                expected,
                found: link.seq,
            });
        }
        if link.prev != self.head.hash {
            return Err(Broken::Detached { seq: link.seq });
        }
        if link.hash != link_hash(link.seq, link.at, &link.record, &link.prev) {
            return Err(Broken::Edited { seq: link.seq });
        }
        match &self.kept {
            Some(kept) if kept.seq == link.seq && kept.hash != link.hash => {
                return Err(Broken::Rewritten { seq: link.seq });
            }
            _ => {}
        }
        self.head = link.head();
        Ok(())
    }

    /// Ends the check and gives the head.
    ///
    /// # Errors
    /// When the kept head was not reached.
    pub fn finish(self) -> Result<Head, Broken> {
        match self.kept {
            Some(kept) if kept.seq > self.head.seq => Err(Broken::Truncated {
                found: self.head.seq,
                kept: kept.seq,
            }),
            Some(kept) if kept.seq == self.head.seq && kept.hash != self.head.hash => {
                Err(Broken::Rewritten { seq: kept.seq })
            }
            _ => Ok(self.head),
        }
    }
}

/// Checks an export from its first link on: one link a line, a final newline or none. Gives its head.
///
/// # Errors
/// The first thing that is wrong.
pub fn verify(lines: &str, kept: Option<Head>) -> Result<Head, Broken> {
    let mut verifier = Verifier::new(Head::default(), kept);
    for (at, line) in lines.lines().enumerate() {
        let link = Link::parse(line).map_err(|why| Broken::Line { line: at + 1, why })?;
        verifier.next(&link)?;
    }
    verifier.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chain(n: i64) -> Vec<Link> {
        let mut head = Head::default();
        (0..n)
            .map(|i| {
                let link = head.link(1000 + i, format!("{{\"kind\":\"call\",\"n\":{i}}}"));
                head = link.head();
                link
            })
            .collect()
    }

    fn text(links: &[Link]) -> String {
        links.iter().map(|l| l.to_line() + "\n").collect()
    }

    #[test]
    fn an_untouched_chain_is_whole_and_gives_its_head() {
        let links = chain(5);
        assert_eq!(verify(&text(&links), None), Ok(links[4].head()));
        assert_eq!(
            verify(&text(&links), Some(links[2].head())),
            Ok(links[4].head())
        );
        assert_eq!(verify("", None), Ok(Head::default()));
    }

    #[test]
    fn every_single_edit_is_found() {
        let links = chain(4);
        let whole = text(&links);
        // Every character of every line, replaced by another, either breaks the line or the chain.
        for (at, byte) in whole.bytes().enumerate() {
            if byte == b'\n' {
                continue;
            }
            let mut bytes = whole.clone().into_bytes();
            bytes[at] = if byte == b'1' { b'2' } else { b'1' };
            let edited = String::from_utf8(bytes).unwrap();
            assert!(
                verify(&edited, Some(links[3].head())).is_err(),
                "an edit of byte {at} went unseen:\n{edited}"
            );
        }
    }

    #[test]
    fn a_gap_a_repetition_and_another_order_are_found() {
        let links = chain(5);
        let without: Vec<_> = links.iter().filter(|l| l.seq != 3).cloned().collect();
        assert_eq!(
            verify(&text(&without), None),
            Err(Broken::Sequence {
                expected: 3,
                found: 4
            })
        );
        let mut twice = links.clone();
        twice.insert(2, links[1].clone());
        assert_eq!(
            verify(&text(&twice), None),
            Err(Broken::Sequence {
                expected: 3,
                found: 2
            })
        );
        let mut swapped = links.clone();
        swapped.swap(1, 2);
        assert_eq!(
            verify(&text(&swapped), None),
            Err(Broken::Sequence {
                expected: 2,
                found: 3
            })
        );
        // Renumbered to look right, the hashes still give it away.
        (swapped[1].seq, swapped[2].seq) = (2, 3);
        assert_eq!(
            verify(&text(&swapped), None),
            Err(Broken::Detached { seq: 2 })
        );
    }

    #[test]
    fn a_cut_end_is_found_against_a_kept_head() {
        let links = chain(5);
        let cut = text(&links[..3]);
        assert_eq!(
            verify(&cut, Some(links[4].head())),
            Err(Broken::Truncated { found: 3, kept: 5 })
        );
        assert_eq!(
            verify("", Some(links[4].head())),
            Err(Broken::Truncated { found: 0, kept: 5 })
        );
    }

    #[test]
    fn a_chain_written_anew_is_found_against_a_kept_head() {
        let links = chain(3);
        let mut head = links[0].head();
        let mut anew = vec![links[0].clone()];
        for i in 0..3 {
            let link = head.link(1, format!("{{\"forged\":{i}}}"));
            head = link.head();
            anew.push(link);
        }
        assert!(
            verify(&text(&anew), None).is_ok(),
            "without a kept head it cannot be told"
        );
        assert_eq!(
            verify(&text(&anew), Some(links[2].head())),
            Err(Broken::Rewritten { seq: 3 })
        );
    }

    #[test]
    fn a_link_with_a_member_more_is_no_link() {
        let line = chain(1)[0]
            .to_line()
            .replace("{\"seq\"", "{\"note\":1,\"seq\"");
        assert_eq!(
            Link::parse(&line),
            Err(LineError::Unknown("note".to_owned()))
        );
    }
}
