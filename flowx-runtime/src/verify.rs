//! Proof P4: the embedded contracts are what the compiled types accept and write.
//!
//! `include_manifest!()` puts a test into the user's crate that calls [`assert_contracts`]; [`App::verify`](crate::App::verify)
//! does the same to a program that is about to serve. In a test build every flow's types are probed in full (reading,
//! writing, schemars); otherwise reading of inputs and [`Samples`](crate::Samples) of outputs are there, and what could not be compared
//! is said. The test fails where nothing was shown of a contract (FLOWX1321): a proof that leaves one out is none. Flows of a library are
//! probed in the library's own test.

use std::collections::BTreeSet;

use flowx_manifest::{Category, Direction, Kind, Manifest, closure};
use flowx_verify::{Disagreement, Effort, Probe, Report, Subject, check};

use crate::embedded::{Catalogue, Embedded, Registry};

/// One contract that was held against its compiled type.
#[derive(Clone, Debug)]
pub struct Verified {
    /// `flow ticket.refund@1.0.0, input`.
    pub subject: String,
    /// The contract.
    pub contract: String,
    /// What was tried, and what came out.
    pub report: Report,
    /// Whether the types of the flow are probed in full here: in the test of the crate that declares it, and nowhere else.
    pub probed: bool,
    /// Where schemars' own schema says otherwise, and which side serde takes; for the reader's information.
    pub schemars: Vec<String>,
}

/// Every contract of every compiled flow.
#[derive(Clone, Debug, Default)]
pub struct Verification {
    /// In the order of the manifest.
    pub contracts: Vec<Verified>,
    /// Flows and capabilities whose error type has codes that are not published, since the scan could not read them.
    pub unpublished: Vec<String>,
    /// The manifest cannot be read, or a contract is missing from it.
    pub broken: Vec<String>,
}

impl Verification {
    /// The contracts of which nothing was shown: outputs that are only `Serialize` and have no [`Samples`](crate::Samples), and, in a
    /// program that serves and of flows of other crates, those that are `Deserialize` as well: the test of the crate that declares the
    /// flow reads and writes them, see [`assert_contracts`].
    pub fn uncompared(&self) -> impl Iterator<Item = &Verified> {
        self.contracts
            .iter()
            .filter(|c| c.report.uncompared.is_some())
    }

    /// Whether nothing disagrees. What was not compared does not: see [`uncompared`](Self::uncompared).
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
        for who in &self.unpublished {
            writeln!(f, "note: {who}: the codes of its errors are not published")?;
        }
        for one in &self.contracts {
            write!(f, "{one}")?;
        }
        let left = self.uncompared().count();
        if left > 0 {
            writeln!(
                f,
                "{left} of {} contracts were NOT COMPARED with what the type does",
                self.contracts.len()
            )?;
        }
        Ok(())
    }
}

impl std::fmt::Display for Verified {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let r = &self.report;
        writeln!(
            f,
            "{}: {} with {} values ({} accepted, {} written)",
            self.subject, self.contract, r.tried, r.accepted, r.written
        )?;
        disagreements(r, f)?;
        for deviation in &r.deviations {
            writeln!(f, "  allowed: {}: {}", deviation.id(), deviation.reason())?;
        }
        if let Some(why) = &r.uncompared {
            writeln!(f, "  NOT COMPARED: {why}")?;
        }
        for note in &self.schemars {
            writeln!(f, "  note: {note}")?;
        }
        Ok(())
    }
}

/// How many values show one kind of disagreement: the shortest, since they say it best.
const SHOWN: usize = 3;

fn disagreements(report: &Report, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
    let mut left: Vec<&Disagreement> = report.disagreements.iter().collect();
    left.sort_by_key(|d| d.value.len());
    while let Some(first) = left.first() {
        let kind = first.what;
        let (of_kind, others): (Vec<_>, Vec<_>) = left.into_iter().partition(|d| d.what == kind);
        for one in of_kind.iter().take(SHOWN) {
            writeln!(f, "  error: {one}")?;
        }
        if let Some(more @ 1..) = of_kind.len().checked_sub(SHOWN) {
            writeln!(f, "    and {more} more values like these")?;
        }
        left = others;
    }
    Ok(())
}

/// Why nothing was shown of a contract whose flow is not probed here.
const ELSEWHERE: &str = "the test of the crate that declares the flow reads and writes it, and is the only one that can; to compare it here \
                         as well, implement flowx_runtime::Samples for it";

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
        let output = probes.map_or(Probe::sampled(binding.samples), |p| p.output);
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
            let mut report = check(&subject, Effort::default());
            if probes.is_none() && report.uncompared.is_some() {
                report.uncompared = Some(ELSEWHERE.to_owned());
            }
            out.contracts.push(Verified {
                subject: format!("flow {reference}, {part}"),
                contract: contract.clone(),
                report,
                probed: probes.is_some(),
                schemars: flowx_verify::beside_schemars(&subject, Effort::default()),
            });
        }
    }
    for catalogue in &registry.catalogues {
        match errors(&manifest, catalogue) {
            Errors::Agree => {}
            Errors::Unpublished(who) => out.unpublished.push(who),
            Errors::Disagree(why) => out.broken.push(why),
        }
    }
    out
}

#[derive(Debug, PartialEq, Eq)]
enum Errors {
    Agree,
    /// Whose codes are not known to the manifest.
    Unpublished(String),
    /// Why not.
    Disagree(String),
}

/// Whether the published codes of a compiled flow or capability are those of its error type.
fn errors(manifest: &Manifest, compiled: &Catalogue) -> Errors {
    let reference = format!("{}@{}", compiled.id, compiled.version);
    let (kind, published) = match compiled.kind {
        Kind::Flow => {
            let mut flows = manifest.flows.iter();
            let found = flows.find(|f| f.reference().to_string() == reference);
            ("flow", found.map(|f| &f.errors))
        }
        _ => {
            let mut capabilities = manifest.capabilities.iter();
            let found = capabilities.find(|c| c.reference().to_string() == reference);
            ("capability", found.map(|c| &c.errors))
        }
    };
    let say = |(code, category): (&str, Category)| format!("{code} ({})", category.as_str());
    let all = |of: Vec<(&'static str, Category)>| of.into_iter().map(say).collect();
    let compiled_in: BTreeSet<String> = all((compiled.of)());
    let published: BTreeSet<String> = match published {
        None => return Errors::Agree, // P1 is proven elsewhere
        Some(None) if compiled_in.is_empty() => return Errors::Agree,
        Some(None) => return Errors::Unpublished(format!("{kind} {reference}")),
        Some(Some(list)) => list
            .iter()
            .map(|e| say((e.code.as_str(), e.category)))
            .collect(),
    };
    if published == compiled_in {
        return Errors::Agree;
    }
    let list = |a: &BTreeSet<String>, b: &BTreeSet<String>| {
        let only: Vec<&str> = a.difference(b).map(String::as_str).collect();
        if only.is_empty() {
            "none".to_owned()
        } else {
            only.join(", ")
        }
    };
    Errors::Disagree(format!(
        "{kind} {reference}: codes that are published and not compiled: {}; compiled and not published: {}",
        list(&published, &compiled_in),
        list(&compiled_in, &published),
    ))
}

/// What the test in the user's crate calls.
///
/// # Panics
/// When a contract and its type disagree, or nothing could be shown of one; the text holds the values that show it.
pub fn assert_contracts(embedded: &Embedded) {
    let verification = verify(embedded);
    let wrong: String = verification
        .contracts
        .iter()
        .filter(|c| !c.report.disagreements.is_empty())
        .map(ToString::to_string)
        .chain(
            verification
                .broken
                .iter()
                .map(|why| format!("error: {why}\n")),
        )
        .collect();
    assert!(
        verification.holds(),
        "the published contracts are not what the compiled types accept and write [FLOWX1320]:\n{wrong}\
         help: the schemas were made from the source when it was built. Where one is not what serde does, a `#[schemars(with = \"…\")]` or a \
         registered `JsonSchema` says otherwise than the type, or the generated files were changed; `flowx explain FLOWX1320` says more"
    );
    println!("{verification}");
    let left: Vec<String> = verification
        .uncompared()
        .filter(|c| c.probed)
        .map(|c| {
            let why = c.report.uncompared.as_deref().unwrap_or_default();
            format!("{}, `{}`: {why}", c.subject, c.contract)
        })
        .collect();
    assert!(
        left.is_empty(),
        "{} published contract(s) were not compared with their types [FLOWX1321]:\n{}",
        left.len(),
        left.join("\n")
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    fn catalogue(kind: Kind, of: fn() -> Vec<(&'static str, Category)>) -> Catalogue {
        Catalogue {
            kind,
            id: "shop.sell",
            version: "1.0.0",
            of,
        }
    }

    fn manifest(errors: &str) -> Manifest {
        let entry = format!(
            r#"{{"id":"shop.sell","version":"1.0.0","input":{{"type":"()"}},"output":{{"type":"()"}},"authorization":{{"mode":"internal"}},"effects":[],"idempotent":false{errors}}}"#
        );
        let text = format!(
            r#"{{"$schema":"{}","schemaVersion":"{}","application":{{"name":"shop","version":"1.0.0"}},"effects":[],"capabilities":[{entry}],"flows":[],"events":[],"agents":[],"entities":[],"contracts":[],"tools":[]}}"#,
            flowx_manifest::SCHEMA_ID,
            flowx_manifest::SCHEMA_VERSION
        );
        Manifest::read(text.as_bytes()).unwrap()
    }

    const SOLD: &str = r#","errors":[{"code":"shop.sold","category":"conflict"}]"#;

    #[test]
    fn published_codes_are_those_of_the_compiled_type() {
        let kind = Kind::Capability;
        let same = catalogue(kind, || vec![("shop.sold", Category::Conflict)]);
        assert_eq!(errors(&manifest(SOLD), &same), Errors::Agree);
        let other = catalogue(kind, || vec![("shop.sold", Category::Internal)]);
        let Errors::Disagree(said) = errors(&manifest(SOLD), &other) else {
            panic!("another category is another answer");
        };
        assert!(
            said.contains("published and not compiled: shop.sold (conflict)")
                && said.contains("compiled and not published: shop.sold (internal)"),
            "{said}"
        );
        let none = catalogue(kind, Vec::new);
        assert!(matches!(
            errors(&manifest(SOLD), &none),
            Errors::Disagree(_)
        ));
        assert_eq!(
            errors(&manifest(""), &other),
            Errors::Unpublished("capability shop.sell@1.0.0".to_owned())
        );
        assert_eq!(errors(&manifest(""), &none), Errors::Agree);
    }
}
