//! Proof P4: the published schema is what serde accepts and writes.
//!
//! A [`Subject`] is a contract beside the compiled type. [`check`] makes values from the schema, valid and changed, and
//! asks both: serde must accept exactly what the request schema accepts, and what it writes must satisfy the response
//! schema, but for the [`Deviation`]s, each of which has to explain the difference it is allowed for.

mod deviation;
mod probe;
mod sample;
mod twice;

#[doc(hidden)]
pub mod __find {
    pub use crate::probe::{
        FindBoth, FindNoSamples, FindNoSchemars, FindNone, FindRead, FindSamples, FindSchemars,
        Finder,
    };
}

use std::collections::BTreeSet;

use flowx_manifest::{Json, json};
use jsonschema::Validator;

pub use deviation::{Deviation, Side};
pub use probe::{Probe, Read, Sampled, Samples, Schemars, Write};
pub use sample::Sampler;

/// A contract and its compiled type.
#[derive(Clone, Debug)]
pub struct Subject {
    /// The contract's name.
    pub id: String,
    /// What is accepted, as a document that stands alone; absent when nothing reads the type.
    pub request: Option<Json>,
    /// What is written, likewise.
    pub response: Option<Json>,
    /// The compiled type.
    pub probe: Probe,
}

/// How hard to try.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Valid values to make; each is changed twice as well.
    pub values: usize,
    /// Where the stream of random values starts.
    pub seed: u64,
}

impl Default for Effort {
    fn default() -> Self {
        Effort {
            values: 64,
            seed: 1,
        }
    }
}

/// What was tried on one contract, and what came out.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Values put to both.
    pub tried: usize,
    /// Values that both accepted.
    pub accepted: usize,
    /// Values that were written by serde and held against the response schema.
    pub written: usize,
    /// Allowed differences that occurred.
    pub deviations: BTreeSet<Deviation>,
    /// Differences that nothing allows.
    pub disagreements: Vec<Disagreement>,
    /// Nothing at all was shown of the contract, and why.
    pub uncompared: Option<String>,
}

/// A value on which schema and type differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Disagreement {
    /// The contract.
    pub contract: String,
    /// The value, as JSON text.
    pub value: String,
    /// What differs.
    pub what: Difference,
    /// What the refusing side says.
    pub because: String,
}

/// Who refuses what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Difference {
    /// The request schema accepts, serde refuses.
    SerdeRefuses,
    /// serde accepts, the request schema refuses.
    SchemaRefuses,
    /// serde wrote it, the response schema refuses it.
    WrittenRefused,
    /// The schema itself is no JSON Schema.
    NoSchema,
    /// No value could be made that both accept, so that nothing has been shown.
    NothingShown,
}

impl std::fmt::Display for Disagreement {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let what = match self.what {
            Difference::SerdeRefuses => "the published schema accepts what the type refuses",
            Difference::SchemaRefuses => "the type accepts what the published schema refuses",
            Difference::WrittenRefused => "the type writes what the published schema refuses",
            Difference::NoSchema => "the published schema cannot be used",
            Difference::NothingShown => "no value was found that both accept",
        };
        write!(
            f,
            "{}: {what}: {} ({})",
            self.contract, self.value, self.because
        )
    }
}

/// Holds one contract against its type.
pub fn check(subject: &Subject, effort: Effort) -> Report {
    let mut report = Report::default();
    let request = subject
        .request
        .as_ref()
        .and_then(|s| compile(subject, s, &mut report));
    let response = subject
        .response
        .as_ref()
        .and_then(|s| compile(subject, s, &mut report));
    match (&subject.probe.read, &request) {
        (Some(read), Some(request)) => requests(
            subject,
            request,
            *read,
            response.as_ref(),
            effort,
            &mut report,
        ),
        (None, Some(_)) => {
            report.uncompared = Some("the type cannot be read here".to_owned());
        }
        (Some(_), None) if subject.request.is_some() => {}
        (Some(read), None) => writes_only(subject, *read, response.as_ref(), effort, &mut report),
        (None, None) => {
            report.uncompared = Some(
                "the type is only written, so that no value of it can be made from its schema; implement flowx_runtime::Samples for it, \
                 or derive Deserialize as well"
                    .to_owned(),
            );
        }
    }
    sampled(subject, response.as_ref(), &mut report);
    report
}

/// The samples of the type, as serde writes them.
fn sampled(subject: &Subject, response: Option<&Compiled<'_>>, report: &mut Report) {
    let (Some(samples), Some(response)) = (subject.probe.samples, response) else {
        return;
    };
    let all = samples();
    if all.is_empty() {
        report.disagreements.push(Disagreement {
            contract: subject.id.clone(),
            value: String::new(),
            what: Difference::NothingShown,
            because: "Samples::samples() gives no value".to_owned(),
        });
        return;
    }
    for sample in all {
        report.tried += 1;
        match sample {
            Ok(text) => {
                report.accepted += 1;
                out(subject, response, text, report);
            }
            Err(error) => report.disagreements.push(Disagreement {
                contract: subject.id.clone(),
                value: String::new(),
                what: Difference::WrittenRefused,
                because: format!("serde refuses to write a sample: {error}"),
            }),
        }
    }
    if subject.request.is_none() {
        report.uncompared = None;
    }
}

/// Where schemars' derive says otherwise than the published schema, and which side serde takes. Only for the reader: serde
/// decides what is sent and read, and [`check`] has asked it. At most three values for each direction.
pub fn beside_schemars(subject: &Subject, effort: Effort) -> Vec<String> {
    let Some(schemas) = subject.probe.schemars else {
        return Vec::new();
    };
    let (de, ser) = schemas();
    let mut out = Vec::new();
    for (ours, theirs, what) in [
        (&subject.request, de, "accepted"),
        (&subject.response, ser, "written"),
    ] {
        let Some(ours) = ours else { continue };
        let (Ok(our), Ok(their)) = (
            validator(ours),
            jsonschema::draft202012::options()
                .build(&theirs)
                .map_err(|e| e.to_string()),
        ) else {
            continue;
        };
        let theirs = Json::from_value(&theirs);
        let mut found = 0;
        for schema in [ours, &theirs] {
            let mut sampler = Sampler::new(schema, effort.seed);
            for _ in 0..effort.values {
                let value = sampler.value();
                for value in [sampler.changed(&value), value] {
                    let plain = value.to_value();
                    let (we, they) = (our.is_valid(&plain), their.is_valid(&plain));
                    if we == they || found == 3 {
                        continue;
                    }
                    found += 1;
                    let side = match subject
                        .probe
                        .read
                        .map(|read| read(&value.to_canonical()).is_ok())
                    {
                        Some(serde) if what == "accepted" && serde == we => {
                            "serde agrees with what is published"
                        }
                        Some(_) if what == "accepted" => "serde agrees with schemars",
                        _ => "serde was not asked",
                    };
                    let whose = if we {
                        "is not in schemars' schema"
                    } else {
                        "is in schemars' schema only"
                    };
                    out.push(format!("{value} as {what} {whose}; {side}"));
                }
            }
        }
    }
    out
}

struct Compiled<'s> {
    schema: &'s Json,
    validator: Validator,
}

impl Compiled<'_> {
    fn accepts(&self, value: &Json) -> bool {
        self.validator.is_valid(&value.to_value())
    }

    fn why(&self, value: &Json) -> String {
        self.validator
            .iter_errors(&value.to_value())
            .map(|e| e.to_string())
            .take(3)
            .collect::<Vec<_>>()
            .join("; ")
    }
}

fn compile<'s>(subject: &Subject, schema: &'s Json, report: &mut Report) -> Option<Compiled<'s>> {
    match validator(schema) {
        Ok(validator) => Some(Compiled { schema, validator }),
        Err(error) => {
            report.disagreements.push(Disagreement {
                contract: subject.id.clone(),
                value: schema.to_canonical(),
                what: Difference::NoSchema,
                because: error,
            });
            None
        }
    }
}

fn validator(schema: &Json) -> Result<Validator, String> {
    jsonschema::draft202012::options()
        .build(&schema.to_value())
        .map_err(|e| e.to_string())
}

fn requests(
    subject: &Subject,
    request: &Compiled<'_>,
    read: Read,
    response: Option<&Compiled<'_>>,
    effort: Effort,
    report: &mut Report,
) {
    let mut sampler = Sampler::new(request.schema, effort.seed);
    let mut values = Sampler::anything();
    for _ in 0..effort.values {
        let value = sampler.value();
        values.push(sampler.changed(&value));
        let again = sampler.changed(&value);
        values.push(sampler.changed(&again));
        values.push(value);
    }
    let mut lenses = (
        Lenses::new(request.schema, Side::Schema),
        Lenses::new(request.schema, Side::Serde),
    );
    let mut seen = BTreeSet::new();
    values.retain(|v| seen.insert(v.to_canonical()));
    for value in &values {
        report.tried += 1;
        // As the runtime gives it to both: a whole number is an integer, however it was written.
        let given = value.clone().with_whole_numbers();
        let text = given.to_canonical();
        let (schema_takes, serde_takes) = (request.accepts(&given), read(&text));
        match (schema_takes, &serde_takes) {
            (true, Ok(())) => {
                report.accepted += 1;
                written(subject, response, &text, report);
            }
            (false, Err(_)) => {}
            (true, Err(error)) => match lenses.1.explain(request, read, &given, error) {
                Some(deviations) => report.deviations.extend(deviations),
                None => report.disagreements.push(Disagreement {
                    contract: subject.id.clone(),
                    value: text,
                    what: Difference::SerdeRefuses,
                    because: error.clone(),
                }),
            },
            (false, Ok(())) => match lenses.0.explain(request, read, &given, "") {
                Some(deviations) => report.deviations.extend(deviations),
                None => report.disagreements.push(Disagreement {
                    contract: subject.id.clone(),
                    because: request.why(&given),
                    value: text,
                    what: Difference::SchemaRefuses,
                }),
            },
        }
    }
    if report.accepted == 0 && report.disagreements.is_empty() {
        report.disagreements.push(Disagreement {
            contract: subject.id.clone(),
            value: String::new(),
            what: Difference::NothingShown,
            because: format!("{} values tried", report.tried),
        });
    }
}

/// A type that the program only writes, but that can be read: what it reads of itself is written again.
fn writes_only(
    subject: &Subject,
    read: Read,
    response: Option<&Compiled<'_>>,
    effort: Effort,
    report: &mut Report,
) {
    let Some(response) = response else { return };
    let mut sampler = Sampler::new(response.schema, effort.seed);
    let mut declared = None;
    let mut values = Vec::new();
    for _ in 0..effort.values {
        let value = sampler.value();
        // What the type reads need not be what the schema says: a changed value may be one of its own.
        values.push(sampler.changed(&value));
        values.push(value);
    }
    for value in values {
        let given = value.with_whole_numbers();
        let text = given.to_canonical();
        report.tried += 1;
        if read(&text).is_ok() {
            report.accepted += 1;
            let known = report.disagreements.len();
            written(subject, Some(response), &text, report);
            // A declared range or pattern is what the author says of the values that the program makes. serde does not know it, and writes one
            // that is beyond it as it was read.
            if !response.accepts(&given) && report.disagreements.len() > known {
                let bounds = declared.get_or_insert_with(|| {
                    let loosened = Deviation::Constraint.applied(response.schema);
                    loosened.and_then(|schema| validator(&schema).ok())
                });
                let within = |text: &str| {
                    let value = serde_json::from_str(text).ok();
                    value
                        .zip(bounds.as_ref())
                        .is_some_and(|(v, b)| b.is_valid(&v))
                };
                if report.disagreements[known..]
                    .iter()
                    .all(|d| within(&d.value))
                {
                    report.disagreements.truncate(known);
                    report.deviations.insert(Deviation::Constraint);
                }
            }
        }
    }
    if report.accepted == 0 {
        report.uncompared = Some(
            "no value of the response schema could be read back; implement flowx_runtime::Samples for the type"
                .to_owned(),
        );
    }
}

fn written(subject: &Subject, response: Option<&Compiled<'_>>, text: &str, report: &mut Report) {
    let (Some(write), Some(response)) = (subject.probe.write, response) else {
        return;
    };
    // A value that serde itself refuses to write reaches nobody.
    if let Ok(text) = write(text) {
        out(subject, response, text, report);
    }
}

/// What serde wrote, against the response schema.
fn out(subject: &Subject, response: &Compiled<'_>, out: String, report: &mut Report) {
    report.written += 1;
    let value = match json::parse(out.as_bytes(), json::Limits::DOCUMENT) {
        Ok(value) => value,
        Err(_) => match serde_json::from_str::<serde_json::Value>(&out) {
            // A member twice: most readers take the last, some the first, and one of them finds what was published.
            Ok(last) => {
                report.deviations.insert(Deviation::WrittenTwice);
                let first = serde_json::from_str::<twice::First>(&out).map(|f| f.0);
                match first.map(|f| Json::from_value(&f)) {
                    Ok(first) if response.accepts(&first) => first,
                    _ => Json::from_value(&last),
                }
            }
            Err(error) => {
                report.disagreements.push(Disagreement {
                    contract: subject.id.clone(),
                    value: out,
                    what: Difference::WrittenRefused,
                    because: error.to_string(),
                });
                return;
            }
        },
    };
    if !response.accepts(&value) {
        report.disagreements.push(Disagreement {
            contract: subject.id.clone(),
            because: response.why(&value),
            value: out,
            what: Difference::WrittenRefused,
        });
    }
}

/// The schema under each allowed difference, compiled once a difference has been seen.
struct Lenses<'s> {
    schema: &'s Json,
    side: Side,
    each: Option<Vec<(Deviation, Validator)>>,
    together: Option<Validator>,
}

impl<'s> Lenses<'s> {
    fn new(schema: &'s Json, side: Side) -> Self {
        Lenses {
            schema,
            side,
            each: None,
            together: None,
        }
    }

    /// The allowed differences that account for this one: seen through them, both agree.
    fn explain(
        &mut self,
        request: &Compiled<'_>,
        read: Read,
        value: &Json,
        error: &str,
    ) -> Option<Vec<Deviation>> {
        let plain = value.to_value();
        let agrees = |v: &Validator| v.is_valid(&plain) == (self.side == Side::Schema);
        let (schema, side) = (self.schema, self.side);
        let each = self.each.get_or_insert_with(|| {
            let all = Deviation::ALL.iter().copied().filter(|d| d.side() == side);
            all.filter_map(|d| Some((d, validator(&d.applied(schema)?).ok()?)))
                .collect()
        });
        if let Some((deviation, _)) = each.iter().find(|(d, v)| d.can_say(error) && agrees(v)) {
            return Some(vec![*deviation]);
        }
        if side == Side::Serde {
            let both_take = |v: Json| request.accepts(&v) && read(&v.to_canonical()).is_ok();
            if deviation::narrow(value).is_some_and(both_take) {
                return Some(vec![Deviation::WideNumber]);
            }
            return None;
        }
        // Several at once: a struct from an array that holds a variant as an object.
        if self.together.is_none() {
            let all = Deviation::ALL.iter().filter(|d| d.side() == side);
            let loosest = all.fold(schema.clone(), |s, d| d.applied(&s).unwrap_or(s));
            self.together = validator(&loosest).ok();
        }
        self.together.as_ref().is_some_and(agrees).then(Vec::new)
    }
}
