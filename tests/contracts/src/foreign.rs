use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use uuid::Uuid;

#[derive(Serialize, Deserialize)]
pub struct Ids { id: Uuid, by: BTreeMap<Uuid, u8>, #[serde(with = "uuid::serde::simple")] simple: Uuid, #[serde(with = "uuid::serde::urn")] urn: Uuid }
#[derive(Serialize, Deserialize)]
pub struct Stamps {
    at: chrono::DateTime<chrono::Utc>,
    #[serde(with = "chrono::serde::ts_seconds")] seconds: chrono::DateTime<chrono::Utc>,
    #[serde(with = "chrono::serde::ts_milliseconds_option")] millis: Option<chrono::DateTime<chrono::Utc>>,
}

#[derive(Serialize, Deserialize)]
pub struct Sums {
    a: rust_decimal::Decimal, b: Option<rust_decimal::Decimal>, c: BTreeMap<rust_decimal::Decimal, u8>,
    #[serde(with = "rust_decimal::serde::str")] d: rust_decimal::Decimal,
    #[serde(with = "rust_decimal::serde::float")] e: rust_decimal::Decimal,
    f: bigdecimal::BigDecimal,
}
#[derive(Serialize, Deserialize)]
pub struct Texts { a: smol_str::SmolStr, b: camino::Utf8PathBuf, c: arrayvec::ArrayString<3>, d: BTreeMap<smol_str::SmolStr, u8> }
#[derive(Serialize, Deserialize)]
pub struct Octets { #[serde(with = "serde_bytes")] a: Vec<u8>, #[serde(with = "serde_bytes")] b: Option<Vec<u8>>, c: serde_bytes::ByteBuf }
#[derive(Serialize, Deserialize)]
pub struct Boxes { a: hashbrown::HashMap<String, u8>, b: hashbrown::HashSet<u8>, c: tinyvec::TinyVec<[u8; 4]>, d: tinyvec::ArrayVec<[u8; 2]> }
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
pub enum Either { Sum(rust_decimal::Decimal), Net(ipnet::IpNet), Id(uuid::NonNilUuid), Text(smol_str::SmolStr) }

shapes!(
    Sums, Texts, Octets, Boxes, Either, rust_decimal::Decimal, bigdecimal::BigDecimal, ordered_float::OrderedFloat<f64>, ordered_float::NotNan<f64>,
    ipnet::IpNet, ipnet::Ipv4Net, uuid::NonNilUuid, serde_bytes::ByteBuf, arrayvec::ArrayString<2>,
    Ids, Stamps, Uuid, Option<Uuid>, serde_json::Value, serde_json::Map<String, serde_json::Value>, serde_json::Number, url::Url, bytes::Bytes, bytes::BytesMut,
    indexmap::IndexMap<String, u8>, indexmap::IndexMap<u8, String>, indexmap::IndexSet<String>, smallvec::SmallVec<[u8; 4]>,
    arrayvec::ArrayVec<u8, 3>, either::Either<u8, String>, semver::Version, semver::VersionReq,
    chrono::DateTime<chrono::Utc>, chrono::DateTime<chrono::FixedOffset>, chrono::NaiveDate, chrono::NaiveDateTime, chrono::NaiveTime, chrono::Weekday, chrono::Month,
    jiff::Timestamp, jiff::civil::Date, jiff::civil::Time, jiff::civil::DateTime, jiff::Span, jiff::SignedDuration
);
