//! The canonical document: round trip, lines, index, order, closure.
#![allow(clippy::unwrap_used)]

mod common;

use flowx_manifest::json::{Limits, parse};
use flowx_manifest::*;

#[test]
fn what_is_written_is_read_back_the_same() {
    let manifest = common::full();
    let document = manifest.write();
    assert_eq!(Manifest::read(document.text.as_bytes()).unwrap(), manifest);
    assert_eq!(
        Manifest::read(document.text.as_bytes())
            .unwrap()
            .write()
            .text,
        document.text
    );
}

#[test]
fn the_bytes_are_the_golden_ones() {
    // The same file is read back under other serde_json features by tests/fixtures/json-features.
    let golden =
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/full.manifest.json");
    let fresh = common::full().write().text;
    if std::env::var_os("FLOWX_BLESS").is_some() {
        std::fs::write(&golden, &fresh).unwrap();
    }
    assert_eq!(std::fs::read_to_string(&golden).unwrap_or_default(), fresh);
}

#[test]
fn every_entry_is_one_line_and_the_index_names_its_bytes() {
    let manifest = common::full();
    let document = manifest.write();
    let entries = manifest.effects.len()
        + manifest.capabilities.len()
        + manifest.flows.len()
        + manifest.events.len()
        + manifest.agents.len()
        + manifest.entities.len()
        + manifest.contracts.len()
        + manifest.tools.len();
    assert_eq!(document.index.len(), entries);
    for entry in &document.index {
        let slice = &document.text[entry.range.clone()];
        assert!(!slice.contains(['\n', '\r']), "{slice}");
        let lines: Vec<_> = document
            .text
            .lines()
            .filter(|l| l.strip_suffix(',').unwrap_or(l) == slice)
            .collect();
        assert_eq!(lines.len(), 1, "{} stands on a line of its own", entry.id);
        parse(slice.as_bytes(), Limits::DOCUMENT).unwrap();
    }
    assert!(document.text.ends_with("]\n}\n"));
    assert!(document.index.windows(2).all(|w| w[0].kind <= w[1].kind));
}

#[test]
fn the_order_in_which_entries_were_found_does_not_matter() {
    let manifest = common::full();
    let mut shuffled = manifest.clone();
    shuffled.effects.reverse();
    shuffled.capabilities.reverse();
    shuffled.contracts.reverse();
    for flow in &mut shuffled.flows {
        flow.triggers.reverse();
    }
    assert_ne!(shuffled.write().text, manifest.write().text);
    shuffled.canonicalise();
    assert_eq!(shuffled.write().text, manifest.write().text);
}

#[test]
fn the_order_of_steps_is_meaning_and_is_kept() {
    let mut manifest = common::full();
    manifest.flows[0].steps.reverse();
    let reversed = manifest.write().text;
    manifest.canonicalise();
    assert_eq!(manifest.write().text, reversed);
}

#[test]
fn a_manifest_of_another_major_is_refused_by_name() {
    let text = common::full()
        .write()
        .text
        .replace("\"schemaVersion\":\"1.", "\"schemaVersion\":\"9.");
    let error = Manifest::read(text.as_bytes()).unwrap_err();
    assert!(
        matches!(&error, ReadError::Version { found } if found.starts_with("9.")),
        "{error}"
    );
}

#[test]
fn an_unknown_or_doubled_member_is_refused() {
    let text = common::full().write().text;
    let unknown = text.replacen("\"idempotent\":false", "\"idempotnet\":false", 1);
    assert!(matches!(
        Manifest::read(unknown.as_bytes()),
        Err(ReadError::Shape(_))
    ));
    let doubled = text.replacen(
        "\"idempotent\":false",
        "\"idempotent\":false,\"idempotent\":true",
        1,
    );
    assert!(matches!(
        Manifest::read(doubled.as_bytes()),
        Err(ReadError::Json(_))
    ));
}

#[test]
fn a_closure_stands_alone_in_its_direction() {
    let manifest = common::full();
    let closed = closure(&manifest, "crate::IssueRefund", Direction::Request).unwrap();
    let defs = closed.get("$defs").unwrap().as_object().unwrap();
    // The page refers back to the root, so the root is among the definitions as well.
    assert_eq!(
        defs.keys().collect::<Vec<_>>(),
        ["crate::IssueRefund", "crate::Page<crate::Item>"]
    );
    jsonschema::validator_for(&closed.to_value()).expect("every reference resolves");
    assert_eq!(
        closure(&manifest, "crate::IssueRefund", Direction::Response),
        Some(Json::Bool(true))
    );
    assert_eq!(
        closure(&manifest, "crate::Nothing", Direction::Request),
        None
    );
}

#[test]
fn a_member_named_ref_in_data_is_no_reference() {
    let mut found = Default::default();
    let data = Json::object([("$ref", contract_ref("crate::A").into())]);
    references(
        &Json::object([("const", data.clone()), ("default", data.clone())]),
        &mut found,
    );
    assert!(found.is_empty());
    references(&data, &mut found);
    assert_eq!(found.into_iter().collect::<Vec<_>>(), ["crate::A"]);
}

#[test]
fn any_name_survives_being_a_reference() {
    for name in ["crate::A", "crate::Page<crate::Item, 3>", "a/b~c%d é", "::"] {
        let reference = contract_ref(name);
        assert_eq!(
            contract_of_ref(&reference).as_deref(),
            Some(name),
            "{reference}"
        );
    }
    assert_eq!(contract_of_ref("#/elsewhere/A"), None);
    assert_eq!(contract_of_ref("#/$defs/%G0"), None);
}

#[test]
fn the_digest_is_blake3_of_the_bytes() {
    assert_eq!(
        digest(b""),
        "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262"
    );
}
