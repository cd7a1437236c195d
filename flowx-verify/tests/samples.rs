//! Types that are only written: their samples are compared, and without samples it is said that nothing was.
#![allow(clippy::unwrap_used)]

use flowx_manifest::{Json, json};
use flowx_verify::{Difference, Effort, Probe, Report, Samples, Subject, check, probe};

#[derive(serde::Serialize)]
struct Receipt {
    reference: String,
    fee: Option<u64>,
}

impl Samples for Receipt {
    fn samples() -> Vec<Self> {
        let with = |fee| Receipt {
            reference: "R-1".to_owned(),
            fee,
        };
        vec![with(None), with(Some(u64::MAX))]
    }
}

#[derive(serde::Serialize)]
struct Unsampled(u8);

#[derive(serde::Serialize)]
struct Empty(u8);

impl Samples for Empty {
    fn samples() -> Vec<Self> {
        Vec::new()
    }
}

/// A value that serde refuses to write.
struct Unwritable;

impl serde::Serialize for Unwritable {
    fn serialize<S: serde::Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
        Err(serde::ser::Error::custom("never"))
    }
}

impl Samples for Unwritable {
    fn samples() -> Vec<Self> {
        vec![Unwritable]
    }
}

/// Can be read as well: what it reads and its samples are both compared.
#[derive(serde::Serialize, serde::Deserialize)]
struct Both(u8);

impl Samples for Both {
    fn samples() -> Vec<Self> {
        vec![Both(255)]
    }
}

fn report(probe: Probe, response: &str) -> Report {
    let schema: Json = json::parse(response.as_bytes(), json::Limits::DOCUMENT).unwrap();
    let subject = Subject {
        id: "crate::T".to_owned(),
        request: None,
        response: Some(schema),
        probe,
    };
    check(&subject, Effort::default())
}

const RECEIPT: &str = r#"{"type":"object","required":["fee","reference"],"properties":{
    "fee":{"type":["integer","null"],"minimum":0,"maximum":18446744073709551615},"reference":{"type":"string"}}}"#;

#[test]
fn what_serde_writes_of_the_samples_is_held_against_the_response() {
    let report = report(probe!(Receipt), RECEIPT);
    assert_eq!((report.written, report.uncompared), (2, None));
    assert_eq!(report.disagreements, []);
}

#[test]
fn a_sample_that_the_published_schema_refuses_is_a_disagreement() {
    // The lie: no fee is never null.
    let report = report(
        probe!(Receipt),
        &RECEIPT.replace(r#"["integer","null"]"#, r#""integer""#),
    );
    let [one] = report.disagreements.as_slice() else {
        panic!("{:?}", report.disagreements)
    };
    assert_eq!(one.what, Difference::WrittenRefused);
    assert!(one.value.contains("\"fee\":null"), "{one}");
}

#[test]
fn a_type_that_is_only_written_and_has_no_samples_is_said_not_to_be_compared() {
    let report = report(probe!(Unsampled), r#"{"type":"integer"}"#);
    assert_eq!((report.tried, report.written), (0, 0));
    assert!(report.uncompared.unwrap().contains("Samples"));
}

#[test]
fn no_samples_and_samples_that_cannot_be_written_show_nothing_and_are_errors() {
    let empty = report(probe!(Empty), r#"{"type":"integer"}"#);
    assert_eq!(empty.disagreements[0].what, Difference::NothingShown);
    let unwritable = report(probe!(Unwritable), r#"{"type":"integer"}"#);
    assert_eq!(unwritable.disagreements[0].what, Difference::WrittenRefused);
}

#[test]
fn samples_count_beside_what_is_read() {
    let lie = report(probe!(Both), r#"{"type":"integer","maximum":254}"#);
    assert!(lie.disagreements.iter().any(|d| d.value == "255"));
    let truth = report(probe!(Both), r#"{"type":"integer","maximum":255}"#);
    assert!(truth.written > 1 && truth.disagreements.is_empty());
}

/// A text that is parsed, and a number beside it.
#[derive(serde::Deserialize)]
#[allow(dead_code)]
struct Beside {
    at: std::net::SocketAddr,
    n: u8,
}

#[test]
fn a_format_beside_it_does_not_excuse_another_member() {
    let checked = |n: &str| {
        let schema = format!(
            r#"{{"type":"object","required":["at","n"],"properties":{{"at":{{"type":"string","format":"socket-address"}},"n":{n}}}}}"#
        );
        let request = json::parse(schema.as_bytes(), json::Limits::DOCUMENT).unwrap();
        let subject = Subject {
            id: "crate::Beside".to_owned(),
            request: Some(request),
            response: None,
            probe: probe!(Beside),
        };
        check(&subject, Effort::default())
    };
    let exact = checked(r#"{"type":"integer","minimum":0,"maximum":255}"#);
    assert!(exact.disagreements.is_empty(), "{:?}", exact.disagreements);
    let ids: Vec<_> = exact.deviations.iter().map(|d| d.id()).collect();
    assert!(ids.contains(&"format"), "{ids:?}");
    for wrong in [
        r#"{"type":"integer","minimum":0,"maximum":256}"#,
        r#"{"type":["integer","null"],"minimum":0,"maximum":255}"#,
        r#"{"type":["integer","object"],"minimum":0,"maximum":255}"#,
    ] {
        let report = checked(wrong);
        let found = report.disagreements.iter();
        let refused = found.filter(|d| d.what == Difference::SerdeRefuses).count();
        assert!(refused > 0, "{wrong}: {report:?}");
    }
}

/// Read as it is written, but for one value that it makes of another.
#[derive(serde::Serialize, serde::Deserialize)]
struct Stars {
    #[serde(serialize_with = "off_by_one")]
    n: u8,
}

#[derive(serde::Serialize, serde::Deserialize)]
struct Rating {
    n: u8,
}

fn off_by_one<S: serde::Serializer>(n: &u8, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_u16(u16::from(*n) + 1)
}

#[test]
fn a_declared_range_of_an_output_is_the_author_s_word_and_what_leaves_it_by_itself_is_not() {
    let range = r#"{"type":"object","required":["n"],"properties":{"n":{"type":"integer","minimum":1,"maximum":5}}}"#;
    let kept = report(probe!(Rating), range);
    assert_eq!(kept.disagreements, []);
    assert_eq!(
        kept.deviations.iter().map(|d| d.id()).collect::<Vec<_>>(),
        ["constraint"],
        "values beyond it were tried, and are listed"
    );
    // 5 is within, and is written as 6.
    let left = report(probe!(Stars), range);
    assert!(
        left.disagreements.iter().any(|d| d.value == r#"{"n":6}"#),
        "{:?}",
        left.disagreements
    );
}
