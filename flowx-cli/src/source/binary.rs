//! Manifests inside of built programs. They are embedded as text, so neither stripping nor link-time optimisation loses
//! them, and no object format has to be understood to find them.

use flowx_manifest::{Manifest, SCHEMA_ID, digest};

/// A manifest found in a program.
pub struct Embedded {
    /// The text, verbatim.
    pub text: String,
    /// What it says.
    pub manifest: Manifest,
    /// The blake3 digest of the text.
    pub digest: String,
}

/// Every manifest in the bytes, in order, the same one once. Only a canonical document counts, whole and byte for byte:
/// what merely begins like one (a part in another program's data, a truncated file) is counted as damaged.
pub fn find(bytes: &[u8]) -> (Vec<Embedded>, usize) {
    let marker = format!("{{\n\"$schema\":\"{SCHEMA_ID}\",\n");
    let mut found: Vec<Embedded> = Vec::new();
    let mut damaged = 0;
    for start in positions(bytes, marker.as_bytes()) {
        match document(&bytes[start..]) {
            Some(next) if found.iter().all(|one| one.digest != next.digest) => found.push(next),
            Some(_) => {}
            None => damaged += 1,
        }
    }
    (found, damaged)
}

/// The canonical form ends at the first line that is `}` alone: every entry is one line and strings hold no raw newline.
fn document(bytes: &[u8]) -> Option<Embedded> {
    let end = positions(bytes, b"\n}\n").next()? + 3;
    let text = std::str::from_utf8(&bytes[..end]).ok()?;
    let manifest = Manifest::read(text.as_bytes()).ok()?;
    (manifest.write().text == text).then(|| Embedded {
        digest: digest(text.as_bytes()),
        text: text.to_owned(),
        manifest,
    })
}

/// Where the needle stands. Candidates are found by its first byte, which `{` makes rare enough in a program.
fn positions<'a>(bytes: &'a [u8], needle: &'a [u8]) -> impl Iterator<Item = usize> + 'a {
    let mut at = 0;
    std::iter::from_fn(move || {
        while let Some(offset) = bytes.get(at..)?.iter().position(|&b| b == needle[0]) {
            let start = at + offset;
            at = start + 1;
            if bytes[start..].starts_with(needle) {
                return Some(start);
            }
        }
        None
    })
}
