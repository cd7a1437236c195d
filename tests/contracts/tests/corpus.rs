//! serde as the judge of every schema: generated values, and what serde writes.
#![allow(clippy::unwrap_used)]

mod support;

use std::collections::BTreeSet;

use flowx_build::contracts::{Contracts, SingleFile};
use flowx_contracts_corpus::files;
use flowx_manifest::Direction;
use flowx_verify::{Deviation, Effort, Report, check};
use support::subject;

/// Shapes that are refused, with the code: what serde makes of them cannot be read, or cannot be told.
const REFUSED: &[(&str, &str)] = &[("structs::WithOption", "FLOWX1303")];

#[test]
fn serde_accepts_and_writes_exactly_what_every_schema_says() {
    let only = std::env::var("SHAPE").ok();
    let effort = Effort {
        values: 150,
        seed: 7,
    };
    let (mut shapes, mut tried, mut written) = (0, 0, 0);
    let mut deviations = BTreeSet::new();
    let mut wrong = Vec::new();
    let mut refused = BTreeSet::new();
    for (name, text, all) in files() {
        let file = SingleFile::parse(name, text).unwrap();
        for (shape, probe) in all {
            if only.as_ref().is_some_and(|o| o != shape) {
                continue;
            }
            shapes += 1;
            let subject = match subject(&file, shape, probe) {
                Ok(subject) => subject,
                Err(why) => {
                    refused.insert(format!("{name}::{shape}"));
                    if !REFUSED
                        .iter()
                        .any(|(s, code)| *s == format!("{name}::{shape}") && why.starts_with(code))
                    {
                        wrong.push(format!("{name}::{shape}: refused: {why}"));
                    }
                    continue;
                }
            };
            if only.is_some() {
                println!(
                    "{}",
                    subject
                        .request
                        .as_ref()
                        .map(|r| r.to_pretty())
                        .unwrap_or_default()
                );
            }
            let report: Report = check(&subject, effort);
            tried += report.tried;
            written += report.written;
            deviations.extend(report.deviations);
            for d in report
                .disagreements
                .iter()
                .take(if only.is_some() { 20 } else { 2 })
            {
                wrong.push(format!("{name}::{d}"));
            }
        }
    }
    println!(
        "{shapes} shapes, {tried} values, {written} written, {} refused, {} wrong",
        refused.len(),
        wrong.len()
    );
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    if only.is_none() {
        assert!(shapes >= 300, "{shapes}");
        let stale: Vec<_> = Deviation::ALL
            .iter()
            .filter(|d| !deviations.contains(d))
            .map(|d| d.id())
            .collect();
        assert!(
            stale.is_empty(),
            "allowed, but no longer occurring: {stale:?}"
        );
        for (shape, _) in REFUSED {
            assert!(refused.contains(*shape), "{shape} is refused no longer");
        }
    }
}

#[test]
fn every_type_of_the_corpus_is_among_its_shapes() {
    for (name, text, all) in files() {
        let file = SingleFile::parse(name, text).unwrap();
        let listed: String = all.iter().map(|(shape, _)| format!(" {shape} ")).collect();
        for (module, ty) in file.types() {
            if module != SingleFile::ROOT || matches!(ty.as_str(), "RemoteDef") {
                continue;
            }
            let words: Vec<&str> = listed
                .split(|c: char| !c.is_alphanumeric() && c != '_')
                .collect();
            assert!(
                words.contains(&ty.as_str()),
                "{name}.rs declares {ty}, which is no shape"
            );
        }
    }
}

#[test]
fn the_page_about_contracts_has_every_deviation_code_and_loss() {
    let page = std::fs::read_to_string(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../docs/contracts.md"
    ))
    .unwrap();
    for deviation in Deviation::ALL {
        let row = format!("| `{}` |", deviation.id());
        assert!(
            page.contains(&row) && page.contains(deviation.reason()),
            "{}",
            deviation.id()
        );
    }
    let codes = flowx_build::contracts::Code::ALL.iter().map(|c| c.id());
    for id in codes.chain(flowx_build::project::LossKind::ALL.iter().map(|k| k.id())) {
        assert!(page.contains(&format!("| {id} |")), "{id}");
    }
}

/// Why FLOWX1315 refuses a flattened `Option` in a closed type: what serde does is no set of values.
#[test]
fn a_flattened_option_in_a_closed_type_is_read_by_the_order_of_members_and_refused() {
    #[derive(serde::Deserialize)]
    #[allow(dead_code)]
    struct Pair {
        a: u8,
        b: u8,
    }
    #[derive(serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    #[allow(dead_code)]
    struct Closed {
        #[serde(flatten)]
        pair: Option<Pair>,
    }
    let reads = |text: &str| serde_json::from_str::<Closed>(text).is_ok();
    // One value, in two orders: what the Option took before it failed is gone, the rest is unknown to the outer type.
    assert!(reads(r#"{"a":1,"b":"x"}"#));
    assert!(!reads(r#"{"b":"x","a":1}"#));
    let source = "use serde::*; #[derive(Deserialize)] #[serde(deny_unknown_fields)] struct Closed { #[serde(flatten)] pair: Option<Pair> }
        #[derive(Deserialize)] struct Pair { a: u8, b: u8 }";
    let codes = |source: &str| {
        let file = SingleFile::parse("lib.rs", source).unwrap();
        let contracts = Contracts::new(&file);
        let ty = syn::parse_str("Closed").unwrap();
        contracts.contract(SingleFile::ROOT, &ty, Direction::Request);
        let (_, findings) = contracts.finish();
        findings.iter().map(|f| f.code.id()).collect::<Vec<_>>()
    };
    assert_eq!(codes(source), ["FLOWX1315"]);
    // Either alone is exact: `flatten.rs` and `odd.rs` hold such shapes.
    assert!(codes(&source.replace("#[serde(deny_unknown_fields)]", "")).is_empty());
    assert!(codes(&source.replace("Option<Pair>", "Pair")).is_empty());
}
