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

shapes!(
    Ids, Stamps, Uuid, Option<Uuid>, serde_json::Value, serde_json::Map<String, serde_json::Value>, serde_json::Number, url::Url, bytes::Bytes, bytes::BytesMut,
    indexmap::IndexMap<String, u8>, indexmap::IndexMap<u8, String>, indexmap::IndexSet<String>, smallvec::SmallVec<[u8; 4]>,
    arrayvec::ArrayVec<u8, 3>, either::Either<u8, String>, semver::Version, semver::VersionReq,
    chrono::DateTime<chrono::Utc>, chrono::DateTime<chrono::FixedOffset>, chrono::NaiveDate, chrono::NaiveDateTime, chrono::NaiveTime, chrono::Weekday, chrono::Month,
    jiff::Timestamp, jiff::civil::Date, jiff::civil::Time, jiff::civil::DateTime, jiff::Span, jiff::SignedDuration
);
