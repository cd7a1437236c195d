//! The JSON Schema of the manifest: fresh, honest, and tied to the format's version.
#![cfg(feature = "schema")]
#![allow(clippy::unwrap_used)]

mod common;

use flowx_manifest::*;

fn path(relative: &str) -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(relative)
}

#[test]
fn the_published_schema_is_the_models() {
    let file = path("../schemas/flowx.manifest.schema.json");
    let fresh = manifest_schema().to_pretty();
    if std::env::var_os("FLOWX_BLESS").is_some() {
        std::fs::write(&file, &fresh).unwrap();
    }
    let published = std::fs::read_to_string(&file)
        .unwrap_or_default()
        .replace("\r\n", "\n");
    assert_eq!(
        published, fresh,
        "schemas/ is stale: run with FLOWX_BLESS=1 and commit what changed"
    );
}

#[test]
fn the_model_does_not_change_without_a_version() {
    // One line per version of the format that ever was: `version digest-of-the-shape`. A line is added, never edited.
    let versions = include_str!("schema-versions.txt");
    let shape = digest(manifest_shape().to_canonical().as_bytes());
    let approved = versions
        .lines()
        .rev()
        .find_map(|l| l.split_once(' '))
        .expect("a version");
    assert_eq!(
        approved,
        (SCHEMA_VERSION, shape.as_str()),
        "the shape of the manifest changed: raise SCHEMA_VERSION and add its line to schema-versions.txt"
    );
}

#[test]
fn a_manifest_with_every_field_satisfies_the_schema_and_a_broken_one_does_not() {
    let validator = jsonschema::validator_for(&manifest_schema().to_value()).unwrap();
    let text = common::full().write().text;
    let good: serde_json::Value = serde_json::from_str(&text).unwrap();
    let errors: Vec<_> = validator
        .iter_errors(&good)
        .map(|e| e.to_string())
        .collect();
    assert!(errors.is_empty(), "{errors:#?}");
    for (from, to) in [
        ("\"class\":\"spends\"", "\"class\":\"spend\""),
        ("\"idempotent\":", "\"idempotant\":"),
        ("\"id\":\"ticket.refund\"", "\"id\":\"Ticket\""),
        ("\"version\":\"1.2.3\"", "\"version\":\"1.2\""),
        ("\"deadline\":\"PT30S\"", "\"deadline\":\"30s\""),
    ] {
        assert!(text.contains(from), "{from}");
        let bad: serde_json::Value = serde_json::from_str(&text.replacen(from, to, 1)).unwrap();
        assert!(!validator.is_valid(&bad), "{to} should be refused");
        assert!(
            Manifest::read(text.replacen(from, to, 1).as_bytes()).is_err(),
            "{to} should not be read"
        );
    }
}
