//! Proof P4: the embedded contracts are what the compiled types accept and write.
//!
//! `include_manifest!()` puts a test into the user's crate that calls [`assert_contracts`]; [`App::verify`](crate::App::verify)
//! does the same to a program that is about to serve. In a test build every flow's types are probed in full (reading,
//! writing, schemars); otherwise only reading is there, and what could not be compared is said.

use flowx_manifest::{Direction, Manifest, closure};
use flowx_verify::{Effort, Probe, Report, Subject, check};

use crate::embedded::{Embedded, Registry};

/// One contract that was held against its compiled type.
#[derive(Clone, Debug)]
pub struct Verified {
    /// `flow ticket.refund@1.0.0, input`.
    pub subject: String,
    /// The contract.
    pub contract: String,
    /// What was tried, and what came out.
    pub report: Report,
    /// Where schemars' own schema says otherwise, and which side serde takes; for the reader's information.
    pub schemars: Vec<String>,
}

/// Every contract of every compiled flow.
#[derive(Clone, Debug, Default)]
pub struct Verification {
    /// In the order of the manifest.
    pub contracts: Vec<Verified>,
    /// The manifest cannot be read, or a contract is missing from it.
    pub broken: Vec<String>,
}

impl Verification {
    /// Whether nothing disagrees.
    pub fn holds(&self) -> bool {
        self.broken.is_empty()
            && self
                .contracts
                .iter()
                .all(|c| c.report.disagreements.is_empty())
    }
}

impl std::fmt::Display for Verification {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for why in &self.broken {
            writeln!(f, "error: {why}")?;
        }
        for one in &self.contracts {
            let r = &one.report;
            writeln!(
                f,
                "{}: {} with {} values ({} accepted, {} written)",
                one.subject, one.contract, r.tried, r.accepted, r.written
            )?;
            for disagreement in &r.disagreements {
                writeln!(f, "  error: {disagreement}")?;
            }
            for deviation in &r.deviations {
                writeln!(f, "  allowed: {}: {}", deviation.id(), deviation.reason())?;
            }
            for note in r.skipped.iter().chain(&one.schemars) {
                writeln!(f, "  note: {note}")?;
            }
        }
        Ok(())
    }
}

/// Holds every contract of the compiled flows against their types.
pub fn verify(embedded: &Embedded) -> Verification {
    let mut out = Verification::default();
    let manifest = match Manifest::read(embedded.text.as_bytes()) {
        Ok(manifest) => manifest,
        Err(error) => {
            out.broken.push(error.to_string());
            return out;
        }
    };
    let mut registry = Registry::default();
    (embedded.register)(&mut registry);
    for flow in &manifest.flows {
        let reference = flow.reference().to_string();
        let Some(binding) = registry
            .flows
            .iter()
            .find(|b| format!("{}@{}", b.info.id, b.info.version) == reference)
        else {
            continue; // P1 is proven elsewhere
        };
        let probes = registry.probes.iter().find(|p| p.flow == reference);
        let input = probes.map_or(binding.input, |p| p.input);
        let output = probes.map_or(Probe::none(), |p| p.output);
        for (part, contract, direction, probe) in [
            ("input", &flow.input.name, Direction::Request, input),
            ("output", &flow.output.name, Direction::Response, output),
        ] {
            if contract == "()" {
                continue;
            }
            let Some(schema) = closure(&manifest, contract, direction) else {
                out.broken.push(format!(
                    "flow {reference}: its {part} `{contract}` is not in the manifest"
                ));
                continue;
            };
            let subject = Subject {
                id: contract.clone(),
                request: (direction == Direction::Request).then(|| schema.clone()),
                response: (direction == Direction::Response).then_some(schema),
                probe,
            };
            out.contracts.push(Verified {
                subject: format!("flow {reference}, {part}"),
                contract: contract.clone(),
                report: check(&subject, Effort::default()),
                schemars: flowx_verify::beside_schemars(&subject, Effort::default()),
            });
        }
    }
    out
}

/// What the test in the user's crate calls.
///
/// # Panics
/// When a contract and its type disagree; the text holds the values that show it.
pub fn assert_contracts(embedded: &Embedded) {
    let verification = verify(embedded);
    println!("{verification}");
    assert!(
        verification.holds(),
        "the published contracts are not what the compiled types accept and write [FLOWX1320]:\n{verification}"
    );
}
