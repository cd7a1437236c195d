//! Descriptors in the portable profile: every shape of the corpus keeps to it, and says nothing that is not so.
#![allow(clippy::unwrap_used)]

mod support;

use flowx_build::contracts::{Contracts, SingleFile};
use flowx_build::project::{LossKind, complaints, portable};
use flowx_contracts_corpus::files;
use flowx_manifest::{Direction, closure, omit_nulls};
use flowx_verify::Sampler;
use support::{manifest, validator};

#[test]
fn every_descriptor_keeps_to_the_profile_and_no_loss_goes_unsaid() {
    let only = std::env::var("SHAPE").ok();
    let (mut inputs, mut outputs, mut offered, mut answered) = (0, 0, 0, 0);
    let mut wrong = Vec::new();
    for (name, text, shapes) in files() {
        let file = SingleFile::parse(name, text).unwrap();
        for (shape, probe) in shapes {
            if only.as_ref().is_some_and(|o| o != shape) {
                continue;
            }
            let ty: syn::Type = syn::parse_str(shape).unwrap();
            let contracts = Contracts::new(&file);
            let mut id = String::new();
            for direction in [Direction::Request, Direction::Response] {
                id = contracts.contract(SingleFile::ROOT, &ty, direction).name;
            }
            let (contracts, findings) = contracts.finish();
            if !findings.is_empty() {
                continue;
            }
            let manifest = manifest(contracts);
            for direction in [Direction::Request, Direction::Response] {
                let (schema, losses) = portable(&manifest.contracts, &id, direction);
                if only.is_some() {
                    println!("{direction:?} {}\n{losses:#?}", schema.to_pretty());
                }
                for complaint in complaints(&schema) {
                    wrong.push(format!("{name}::{shape} {direction:?}: {complaint}"));
                }
                if losses.iter().any(|l| l.kind == LossKind::NoObject) {
                    continue;
                }
                let Some(exact) = closure(&manifest, &id, direction) else {
                    continue;
                };
                let (exact_validator, portable_validator) = (validator(&exact), validator(&schema));
                match direction {
                    // What is offered is accepted, unless a loss says that it may not be.
                    Direction::Request => {
                        inputs += 1;
                        if losses.iter().any(|l| {
                            matches!(
                                l.kind,
                                LossKind::Wider | LossKind::Cut | LossKind::Untellable
                            )
                        }) {
                            continue;
                        }
                        let mut sampler = Sampler::new(&schema, 3);
                        for _ in 0..60 {
                            let value = sampler.value().to_value();
                            if portable_validator.is_valid(&value) {
                                offered += 1;
                                if !exact_validator.is_valid(&value) {
                                    wrong.push(format!(
                                        "{name}::{shape}: offered and refused: {value}"
                                    ));
                                    break;
                                }
                            }
                        }
                    }
                    // What is written, nulls left out, is what was described: always, since clients check.
                    Direction::Response => {
                        outputs += 1;
                        let mut sampler = Sampler::new(&exact, 5);
                        for _ in 0..60 {
                            let text = sampler.value().to_canonical();
                            let written = match probe.write.map(|w| w(&text)) {
                                Some(Ok(written)) => written,
                                _ => continue,
                            };
                            let Ok(mut value) = flowx_manifest::json::parse(
                                written.as_bytes(),
                                flowx_manifest::json::Limits::DOCUMENT,
                            ) else {
                                continue;
                            };
                            answered += 1;
                            omit_nulls(&mut value, &schema);
                            if !portable_validator.is_valid(&value.to_value()) {
                                wrong.push(format!(
                                    "{name}::{shape}: written and not as described: {value}"
                                ));
                                break;
                            }
                        }
                    }
                }
            }
        }
    }
    println!(
        "{inputs} inputs, {offered} values offered; {outputs} outputs, {answered} values written"
    );
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(only.is_some() || (inputs > 150 && outputs > 150 && offered > 1000 && answered > 5000));
}
