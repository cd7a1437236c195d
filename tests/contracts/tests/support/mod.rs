//! What the tests of the corpus share.
#![allow(dead_code, clippy::unwrap_used)]

use flowx_build::contracts::{Contracts, SingleFile};
use flowx_manifest::{Contract, Direction, Json, Manifest, closure};
use flowx_verify::{Probe, Subject};

/// The contract of a shape as the scan sees it, beside the compiled type; or what it is refused for.
pub(crate) fn subject(file: &SingleFile, shape: &str, probe: Probe) -> Result<Subject, String> {
    let ty: syn::Type = syn::parse_str(shape).unwrap();
    let contracts = Contracts::new(file);
    let mut id = String::new();
    for direction in [Direction::Request, Direction::Response] {
        let there = if direction == Direction::Request {
            probe.read.is_some()
        } else {
            probe.write.is_some()
        };
        if there {
            id = contracts.contract(SingleFile::ROOT, &ty, direction).name;
        }
    }
    let (contracts, findings) = contracts.finish();
    if !findings.is_empty() {
        return Err(findings
            .iter()
            .map(|f| format!("{} {}", f.code, f.message))
            .collect::<Vec<_>>()
            .join("; "));
    }
    let manifest = manifest(contracts);
    let document = |direction| closure(&manifest, &id, direction);
    let unit = flowx_manifest::Json::object([("type", "null".into())]);
    let (request, response) = match id.as_str() {
        "()" => (Some(unit.clone()), Some(unit)),
        _ => (document(Direction::Request), document(Direction::Response)),
    };
    Ok(Subject {
        id: shape.to_string(),
        request,
        response,
        probe,
    })
}

/// A document that holds these contracts and nothing else.
pub(crate) fn manifest(contracts: Vec<Contract>) -> Manifest {
    let empty = serde_json::json!({
        "$schema": "", "schemaVersion": "1.0.0", "application": { "name": "x", "version": "1.0.0" }, "effects": [], "capabilities": [],
        "flows": [], "events": [], "agents": [], "entities": [], "contracts": [], "tools": []
    });
    Manifest {
        contracts,
        ..serde_json::from_value(empty).unwrap()
    }
}

/// The validator of a schema that stands alone.
pub(crate) fn validator(schema: &Json) -> jsonschema::Validator {
    jsonschema::draft202012::options()
        .build(&schema.to_value())
        .unwrap()
}
