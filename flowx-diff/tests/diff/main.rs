//! One program for all tests that see the crate from outside: linking is what costs.

mod allowances;
mod docs;
mod edits;
mod fixtures;
mod grid;
mod history;
mod leaves;
mod patch;
mod properties;
mod review;
mod serde_types;
mod soundness;
mod truth;
mod witnesses;

use flowx_manifest::json::{Limits, parse};
use flowx_manifest::{Json, Manifest};

/// A test's own JSON.
fn json(text: &str) -> Json {
    parse(text.as_bytes(), Limits::DOCUMENT).expect("a test's own JSON")
}

/// A file of this crate.
fn file(path: &str) -> String {
    let whole = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    std::fs::read_to_string(&whole).unwrap_or_else(|e| panic!("{path}: {e}"))
}

/// Writes a generated file when `FLOWX_BLESS` is set, and otherwise holds it to what would be written.
fn fresh(path: &str, text: &str) {
    let whole = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    if std::env::var_os("FLOWX_BLESS").is_some() {
        std::fs::create_dir_all(whole.parent().expect("a file has a folder"))
            .expect("a folder can be made");
        std::fs::write(&whole, text).expect("a generated file can be written");
    }
    let found = std::fs::read_to_string(&whole).unwrap_or_default();
    assert!(
        found == text,
        "{path} is stale; run the tests with FLOWX_BLESS=1 and look at what changed"
    );
}

/// The manifest that fixtures begin with: every section, every field that the format has.
fn base() -> Json {
    json(&file("fixtures/base.json"))
}

/// A manifest from its JSON.
fn manifest(value: &Json) -> Manifest {
    Manifest::read(value.to_canonical().as_bytes())
        .unwrap_or_else(|e| panic!("not a manifest: {e}"))
}
