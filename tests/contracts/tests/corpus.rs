//! serde as the judge of every schema: generated values, and what serde writes.
#![allow(clippy::unwrap_used)]

mod support;

use std::collections::BTreeSet;

use flowx_build::contracts::SingleFile;
use flowx_contracts_corpus::files;
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
