//! The names that stand in a manifest: parsed once at the edge, never a bare `String` inside.

use std::borrow::Borrow;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A name, id, version or duration that does not have the form its kind demands.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not a {kind}: {expected}")]
pub struct NameError {
    /// What was read.
    pub text: String,
    /// The kind of name.
    pub kind: &'static str,
    /// The form it must have.
    pub expected: &'static str,
}

/// The JSON Schema of a type that is one string of a known form. The pattern describes the form to other tools; the parser
/// of the type decides, and `tests/names.rs` holds the two against each other.
macro_rules! text_schema {
    ($name:ident, $pattern:literal, $kind:literal) => {
        #[cfg(feature = "schema")]
        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }
            fn inline_schema() -> bool {
                false
            }
            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({ "type": "string", "pattern": $pattern, "description": concat!("A ", $kind, ".") })
            }
        }
    };
}

macro_rules! name {
    ($(#[$doc:meta])* $name:ident, $kind:literal, $pattern:literal, $expected:literal, $valid:expr) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(String);

        text_schema!($name, $pattern, $kind);

        impl $name {
            /// Parses the name.
            ///
            /// # Errors
            /// When it does not have the form of its kind; the error says the form.
            pub fn new(text: impl Into<String>) -> Result<Self, NameError> {
                let text = text.into();
                let valid: fn(&str) -> bool = $valid;
                if valid(&text) { Ok(Self(text)) } else { Err(NameError { text, kind: $kind, expected: $expected }) }
            }

            /// The name as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl FromStr for $name {
            type Err = NameError;
            fn from_str(s: &str) -> Result<Self, NameError> {
                Self::new(s)
            }
        }
        impl TryFrom<String> for $name {
            type Error = NameError;
            fn try_from(s: String) -> Result<Self, NameError> {
                Self::new(s)
            }
        }
        impl From<$name> for String {
            fn from(name: $name) -> String {
                name.0
            }
        }
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }
        impl Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }
        impl PartialEq<str> for $name {
            fn eq(&self, other: &str) -> bool {
                self.0 == other
            }
        }
        impl PartialEq<&str> for $name {
            fn eq(&self, other: &&str) -> bool {
                self.0 == *other
            }
        }
    };
}

/// `[a-z][a-z0-9_-]*`.
fn segment(s: &str) -> bool {
    s.starts_with(|c: char| c.is_ascii_lowercase())
        && s.bytes()
            .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_' || b == b'-')
}

/// Segments joined by dots, at most 128 bytes.
fn dotted(s: &str) -> bool {
    s.len() <= 128 && s.split('.').all(segment)
}

name!(
    /// The id of a flow: dotted lower-case, at least two segments (`ticket.refund`).
    FlowId, "flow id", "^[a-z][a-z0-9_-]*(\\.[a-z][a-z0-9_-]*)+$", "dotted lower-case, at least two segments, as in ticket.refund",
    |s| dotted(s) && s.contains('.')
);
name!(
    /// The id of a capability: dotted lower-case, at least two segments (`payment.refund`).
    CapabilityId, "capability id", "^[a-z][a-z0-9_-]*(\\.[a-z][a-z0-9_-]*)+$", "dotted lower-case, at least two segments, as in payment.refund",
    |s| dotted(s) && s.contains('.')
);
name!(
    /// The id of an effect: lower-case, one segment or more (`payment-gateway`).
    EffectId, "effect id", "^[a-z][a-z0-9_-]*(\\.[a-z][a-z0-9_-]*)*$", "lower-case letters, digits, - and _, as in payment-gateway", dotted
);
name!(
    /// The id of an event type: dotted lower-case, at least two segments (`order.placed`).
    EventId, "event id", "^[a-z][a-z0-9_-]*(\\.[a-z][a-z0-9_-]*)+$", "dotted lower-case, at least two segments, as in order.placed",
    |s| dotted(s) && s.contains('.')
);
name!(
    /// The id of an agent: lower-case (`estimator`).
    AgentId, "agent id", "^[a-z][a-z0-9_-]*(\\.[a-z][a-z0-9_-]*)*$", "lower-case letters, digits, - and _, as in estimator", dotted
);
name!(
    /// The id of an entity type: lower-case (`card`).
    EntityId, "entity id", "^[a-z][a-z0-9_-]*(\\.[a-z][a-z0-9_-]*)*$", "lower-case letters, digits, - and _, as in card", dotted
);
name!(
    /// A permission (`payment.refund`): visible ASCII without quotes, commas or white space, since tokens carry
    /// permissions in space-separated claims.
    PermissionName, "permission", "^[^\\s\"',\\\\]+$", "visible ASCII without spaces, quotes or commas, as in payment.refund",
    |s| !s.is_empty() && s.len() <= 128
        && s.bytes().all(|b| b.is_ascii_graphic() && !matches!(b, b'"' | b'\'' | b',' | b'\\'))
);
name!(
    /// An error code: dotted lower-case, at least two segments (`refund.already_issued`).
    ErrorCode, "error code", "^[a-z][a-z0-9_-]*(\\.[a-z][a-z0-9_-]*)+$", "dotted lower-case, at least two segments, as in refund.already_issued",
    |s| dotted(s) && s.contains('.')
);
name!(
    /// The name of a step inside its flow (`find`).
    StepName, "step name", "^[a-z][a-z0-9_]*$", "lower-case letters, digits and _, as in find",
    |s| s.len() <= 64 && segment(s) && !s.contains('-')
);
name!(
    /// The name of a tool, as hosts accept it: `^[a-zA-Z0-9_-]{1,64}$`.
    ToolName, "tool name", "^[a-zA-Z0-9_-]{1,64}$", "1 to 64 of A-Z, a-z, 0-9, _ and -",
    |s| !s.is_empty() && s.len() <= 64 && s.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
);

/// A semantic version, `major.minor.patch`, without pre-release or build parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Version {
    /// Breaking changes.
    pub major: u64,
    /// Additions.
    pub minor: u64,
    /// Everything else.
    pub patch: u64,
}

text_schema!(
    Version,
    "^(0|[1-9][0-9]*)(\\.(0|[1-9][0-9]*)){2}$",
    "version"
);

impl FromStr for Version {
    type Err = NameError;
    fn from_str(s: &str) -> Result<Self, NameError> {
        let error = || NameError {
            text: s.to_owned(),
            kind: "version",
            expected: "major.minor.patch, as in 1.0.0",
        };
        let part = |p: &str| {
            let plain = !p.is_empty()
                && p.bytes().all(|b| b.is_ascii_digit())
                && (p == "0" || !p.starts_with('0'));
            if plain {
                p.parse().map_err(|_| error())
            } else {
                Err(error())
            }
        };
        let mut parts = s.split('.');
        let (Some(major), Some(minor), Some(patch), None) =
            (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return Err(error());
        };
        Ok(Version {
            major: part(major)?,
            minor: part(minor)?,
            patch: part(patch)?,
        })
    }
}

impl TryFrom<String> for Version {
    type Error = NameError;
    fn try_from(s: String) -> Result<Self, NameError> {
        s.parse()
    }
}

impl From<Version> for String {
    fn from(v: Version) -> String {
        v.to_string()
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

/// An ISO 8601 duration of days, hours, minutes and seconds (`PT30S`, `PT0.2S`, `P7D`), positive, at most 10 years.
///
/// The text is kept as written, so that a manifest says what the source says.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct IsoDuration(String);

impl IsoDuration {
    /// The length in milliseconds.
    pub fn millis(&self) -> u64 {
        iso_millis(&self.0).unwrap_or(0)
    }

    /// The length.
    pub fn to_std(&self) -> std::time::Duration {
        std::time::Duration::from_millis(self.millis())
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn iso_millis(text: &str) -> Option<u64> {
    let rest = text.strip_prefix('P')?;
    let (days, clock) = match rest.split_once('T') {
        Some((days, clock)) => (days, Some(clock)),
        None => (rest, None),
    };
    let mut millis: u64 = 0;
    let mut any = false;
    let number = |s: &str| -> Option<u64> {
        (!s.is_empty() && s.len() <= 9 && s.bytes().all(|b| b.is_ascii_digit()))
            .then(|| s.parse().ok())?
    };
    if !days.is_empty() {
        millis += number(days.strip_suffix('D')?)? * 86_400_000;
        any = true;
    }
    if let Some(mut clock) = clock {
        if clock.is_empty() {
            return None;
        }
        for (unit, scale) in [('H', 3_600_000), ('M', 60_000)] {
            if let Some((n, rest)) = clock.split_once(unit) {
                millis += number(n)? * scale;
                clock = rest;
                any = true;
            }
        }
        if !clock.is_empty() {
            let seconds = clock.strip_suffix('S')?;
            let (whole, fraction) = seconds.split_once('.').unwrap_or((seconds, "0"));
            if fraction.is_empty()
                || fraction.len() > 3
                || !fraction.bytes().all(|b| b.is_ascii_digit())
            {
                return None;
            }
            millis += number(whole)? * 1000 + number(&format!("{fraction:0<3}"))?;
            any = true;
        }
    }
    (any && millis > 0 && millis <= 10 * 366 * 86_400_000).then_some(millis)
}

text_schema!(
    IsoDuration,
    "^P([0-9]+D)?(T([0-9]+H)?([0-9]+M)?([0-9]+(\\.[0-9]{1,3})?S)?)?$",
    "duration"
);

impl FromStr for IsoDuration {
    type Err = NameError;
    fn from_str(s: &str) -> Result<Self, NameError> {
        match iso_millis(s) {
            Some(_) => Ok(Self(s.to_owned())),
            None => Err(NameError {
                text: s.to_owned(),
                kind: "duration",
                expected: "a positive ISO 8601 duration of days, hours, minutes and seconds, as in PT30S or PT0.2S",
            }),
        }
    }
}

impl TryFrom<String> for IsoDuration {
    type Error = NameError;
    fn try_from(s: String) -> Result<Self, NameError> {
        s.parse()
    }
}

impl From<IsoDuration> for String {
    fn from(d: IsoDuration) -> String {
        d.0
    }
}

impl fmt::Display for IsoDuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A reference to one version of a capability or flow, written `id@major.minor.patch`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct VersionedId {
    /// The id.
    pub id: String,
    /// The version.
    pub version: Version,
}

impl VersionedId {
    /// The two together.
    pub fn new(id: impl Into<String>, version: Version) -> Self {
        Self {
            id: id.into(),
            version,
        }
    }
}

text_schema!(
    VersionedId,
    "^[a-z][a-z0-9_-]*(\\.[a-z][a-z0-9_-]*)*@(0|[1-9][0-9]*)(\\.(0|[1-9][0-9]*)){2}$",
    "versioned id"
);

impl FromStr for VersionedId {
    type Err = NameError;
    fn from_str(s: &str) -> Result<Self, NameError> {
        let error = || NameError {
            text: s.to_owned(),
            kind: "versioned id",
            expected: "id@major.minor.patch, as in payment.refund@1.0.0",
        };
        let (id, version) = s.split_once('@').ok_or_else(error)?;
        if !dotted(id) {
            return Err(error());
        }
        Ok(Self {
            id: id.to_owned(),
            version: version.parse()?,
        })
    }
}

impl TryFrom<String> for VersionedId {
    type Error = NameError;
    fn try_from(s: String) -> Result<Self, NameError> {
        s.parse()
    }
}

impl From<VersionedId> for String {
    fn from(v: VersionedId) -> String {
        v.to_string()
    }
}

impl fmt::Display for VersionedId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.id, self.version)
    }
}
