//! One JSON value, one strict reader, one canonical writer.
//!
//! Everything FlowX reads from outside (a manifest, a request, a saved tool list) goes through [`parse`], and everything
//! whose bytes matter (the manifest, a fingerprint) is written by [`Json::write`] or through its `Serialize`. Neither
//! depends on which `serde_json` features the dependency graph switches on: `preserve_order` and `arbitrary_precision`
//! change `serde_json::Value`, which is why that type never appears in a manifest.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::value::{MapDeserializer, SeqDeserializer};
use serde::de::{self, Deserialize, Deserializer, IntoDeserializer, MapAccess, SeqAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};

/// A JSON value whose object keys are sorted by code point.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub enum Json {
    /// `null`.
    #[default]
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number, kept as its literal.
    Number(Number),
    /// A string.
    String(String),
    /// An array.
    Array(Vec<Json>),
    /// An object. A `BTreeMap<String, _>` iterates in byte order, which for UTF-8 is code point order.
    Object(BTreeMap<String, Json>),
}

/// A JSON number, kept as the literal that was read, so that `10` and `1e1` stay apart and 128-bit bounds stay exact.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Number(String);

impl Number {
    /// The literal.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The value as an integer, when the literal has neither fraction nor exponent and fits.
    pub fn as_i128(&self) -> Option<i128> {
        self.0.parse().ok()
    }

    /// The value as an unsigned integer, when the literal has neither sign, fraction nor exponent and fits.
    pub fn as_u128(&self) -> Option<u128> {
        self.0.parse().ok()
    }

    /// The same number as an integer literal, where it is whole and fits 128 bits. Exact: the digits are moved, never computed.
    fn whole(self) -> Number {
        if self.0 != "-0" && self.0.bytes().all(|b| b == b'-' || b.is_ascii_digit()) {
            return self;
        }
        let (sign, text) = match self.0.strip_prefix('-') {
            Some(rest) => ("-", rest),
            None => ("", self.0.as_str()),
        };
        let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let (int, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits = format!("{int}{fraction}");
        let digits = digits.trim_start_matches('0');
        let significant = digits.trim_end_matches('0');
        if significant.is_empty() {
            return Number("0".to_owned());
        }
        let Ok(exponent) = exponent.parse::<i64>() else {
            return self; // beyond what anybody means
        };
        let trailing = digits.len() - significant.len();
        let zeros = i64::try_from(fraction.len())
            .ok()
            .and_then(|f| exponent.checked_sub(f))
            .and_then(|e| e.checked_add(i64::try_from(trailing).ok()?))
            .and_then(|zeros| usize::try_from(zeros).ok())
            .filter(|zeros| *zeros <= 39);
        let Some(zeros) = zeros else {
            return self;
        };
        let whole = Number(format!("{sign}{significant}{}", "0".repeat(zeros)));
        if whole.as_i128().is_some() || whole.as_u128().is_some() {
            whole
        } else {
            self
        }
    }

    /// The nearest double. Infinite for a literal beyond the range of a double.
    pub fn as_f64(&self) -> f64 {
        self.0.parse().unwrap_or(f64::NAN)
    }
}

macro_rules! number_from {
    ($($int:ty),*) => {$(
        impl From<$int> for Number {
            fn from(value: $int) -> Self {
                Number(value.to_string())
            }
        }
        impl From<$int> for Json {
            fn from(value: $int) -> Self {
                Json::Number(value.into())
            }
        }
    )*};
}
number_from!(
    u8, u16, u32, u64, u128, usize, i8, i16, i32, i64, i128, isize
);

impl Json {
    /// A finite double in its shortest form, integers without a fraction; `null` for NaN and infinities, as serde does.
    pub fn from_f64(value: f64) -> Json {
        if !value.is_finite() {
            return Json::Null;
        }
        if value.fract() == 0.0 && value.abs() < 1e15 {
            return Json::Number(Number(format!("{value:.0}")));
        }
        Json::Number(Number(format!("{value:?}")))
    }

    /// An object of the given entries; a later entry of the same key wins.
    pub fn object<K: Into<String>>(entries: impl IntoIterator<Item = (K, Json)>) -> Json {
        Json::Object(entries.into_iter().map(|(k, v)| (k.into(), v)).collect())
    }

    /// An empty object.
    pub fn empty() -> Json {
        Json::Object(BTreeMap::new())
    }

    /// The member of that name, when this is an object that has it.
    pub fn get(&self, key: &str) -> Option<&Json> {
        self.as_object()?.get(key)
    }

    /// The string, when this is one.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Json::String(s) => Some(s),
            _ => None,
        }
    }

    /// The boolean, when this is one.
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Json::Bool(b) => Some(*b),
            _ => None,
        }
    }

    /// The elements, when this is an array.
    pub fn as_array(&self) -> Option<&[Json]> {
        match self {
            Json::Array(items) => Some(items),
            _ => None,
        }
    }

    /// The members, when this is an object.
    pub fn as_object(&self) -> Option<&BTreeMap<String, Json>> {
        match self {
            Json::Object(map) => Some(map),
            _ => None,
        }
    }

    /// The members, when this is an object.
    pub fn as_object_mut(&mut self) -> Option<&mut BTreeMap<String, Json>> {
        match self {
            Json::Object(map) => Some(map),
            _ => None,
        }
    }

    /// The number, when this is one.
    pub fn as_number(&self) -> Option<&Number> {
        match self {
            Json::Number(n) => Some(n),
            _ => None,
        }
    }

    /// The value at an RFC 6901 pointer (`""` is the whole value).
    pub fn pointer(&self, pointer: &str) -> Option<&Json> {
        if pointer.is_empty() {
            return Some(self);
        }
        pointer
            .strip_prefix('/')?
            .split('/')
            .try_fold(self, |at, token| {
                let token = token.replace("~1", "/").replace("~0", "~");
                match at {
                    Json::Object(map) => map.get(&token),
                    Json::Array(items) => items.get(token.parse::<usize>().ok()?),
                    _ => None,
                }
            })
    }

    /// The value with every whole number written as an integer: `500.0`, `5e2` and `500` are one number, for JSON Schema too, and readers that
    /// ask for an integer refuse the first two. Numbers beyond 128 bits, and those with a fraction, stay as they are.
    #[must_use]
    pub fn with_whole_numbers(self) -> Json {
        match self {
            Json::Number(n) => Json::Number(n.whole()),
            Json::Array(items) => {
                Json::Array(items.into_iter().map(Json::with_whole_numbers).collect())
            }
            Json::Object(map) => Json::Object(
                map.into_iter()
                    .map(|(k, v)| (k, v.with_whole_numbers()))
                    .collect(),
            ),
            other => other,
        }
    }

    /// Appends the canonical form: compact, keys sorted by code point, numbers as their literals.
    pub fn write(&self, out: &mut String) {
        match self {
            Json::Null => out.push_str("null"),
            Json::Bool(b) => out.push_str(if *b { "true" } else { "false" }),
            Json::Number(n) => out.push_str(&n.0),
            Json::String(s) => write_string(s, out),
            Json::Array(items) => {
                out.push('[');
                for (i, item) in items.iter().enumerate() {
                    if i > 0 {
                        out.push(',');
                    }
                    item.write(out);
                }
                out.push(']');
            }
            Json::Object(map) => {
                out.push('{');
                for (i, (key, value)) in map.iter().enumerate() {
                    if i > 0 {
                        out.push(',');
                    }
                    write_string(key, out);
                    out.push(':');
                    value.write(out);
                }
                out.push('}');
            }
        }
    }

    /// The canonical form as a string.
    pub fn to_canonical(&self) -> String {
        let mut out = String::new();
        self.write(&mut out);
        out
    }

    /// The same value for crates that speak `serde_json`. Integers beyond 64 bits become doubles there.
    pub fn to_value(&self) -> serde_json::Value {
        use serde_json::Value;
        match self {
            Json::Null => Value::Null,
            Json::Bool(b) => Value::Bool(*b),
            Json::Number(n) => {
                // `-0` is a double to serde_json, on which every integer type refuses it.
                if let (Ok(i), true) = (n.0.parse::<i64>(), n.0 != "-0") {
                    i.into()
                } else if let Ok(u) = n.0.parse::<u64>() {
                    u.into()
                } else {
                    serde_json::Number::from_f64(n.as_f64()).map_or(Value::Null, Value::Number)
                }
            }
            Json::String(s) => Value::String(s.clone()),
            Json::Array(items) => Value::Array(items.iter().map(Json::to_value).collect()),
            Json::Object(map) => {
                Value::Object(map.iter().map(|(k, v)| (k.clone(), v.to_value())).collect())
            }
        }
    }

    /// From a `serde_json` value. A double is written in its shortest form.
    pub fn from_value(value: &serde_json::Value) -> Json {
        use serde_json::Value;
        match value {
            Value::Null => Json::Null,
            Value::Bool(b) => Json::Bool(*b),
            Value::Number(n) => {
                if let Some(i) = n.as_i64() {
                    i.into()
                } else if let Some(u) = n.as_u64() {
                    u.into()
                } else {
                    Json::from_f64(n.as_f64().unwrap_or(f64::NAN))
                }
            }
            Value::String(s) => Json::String(s.clone()),
            Value::Array(items) => Json::Array(items.iter().map(Json::from_value).collect()),
            Value::Object(map) => Json::Object(
                map.iter()
                    .map(|(k, v)| (k.clone(), Json::from_value(v)))
                    .collect(),
            ),
        }
    }
}

impl Json {
    /// Indented by two spaces, with a final newline, for files that people read. Never the form that is digested.
    pub fn to_pretty(&self) -> String {
        let mut out = String::new();
        write_pretty(self, 0, &mut out);
        out.push('\n');
        out
    }
}

fn write_pretty(json: &Json, depth: usize, out: &mut String) {
    let line = |out: &mut String, depth: usize| {
        out.push('\n');
        out.extend(std::iter::repeat_n("  ", depth));
    };
    match json {
        Json::Array(items) if !items.is_empty() => {
            out.push('[');
            for (i, item) in items.iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                line(out, depth + 1);
                write_pretty(item, depth + 1, out);
            }
            line(out, depth);
            out.push(']');
        }
        Json::Object(map) if !map.is_empty() => {
            out.push('{');
            for (i, (key, value)) in map.iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                line(out, depth + 1);
                write_string(key, out);
                out.push_str(": ");
                write_pretty(value, depth + 1, out);
            }
            line(out, depth);
            out.push('}');
        }
        scalar => scalar.write(out),
    }
}

impl From<&str> for Json {
    fn from(value: &str) -> Self {
        Json::String(value.to_owned())
    }
}

impl From<String> for Json {
    fn from(value: String) -> Self {
        Json::String(value)
    }
}

impl From<bool> for Json {
    fn from(value: bool) -> Self {
        Json::Bool(value)
    }
}

impl<T: Into<Json>> From<Vec<T>> for Json {
    fn from(value: Vec<T>) -> Self {
        Json::Array(value.into_iter().map(Into::into).collect())
    }
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_canonical())
    }
}

/// Appends a JSON string literal: only what JSON requires is escaped, control characters as `\u00xx`, so the text never
/// holds a raw newline (a descriptor must survive line-framed transports).
pub fn write_string(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if (c as u32) < 0x20 => out.push_str(&format!("\\u{:04x}", c as u32)),
            c => out.push(c),
        }
    }
    out.push('"');
}

/// What [`parse`] accepts at most.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes of the whole document.
    pub bytes: usize,
    /// Nesting of arrays and objects.
    pub depth: usize,
    /// Characters of one number literal.
    pub number_chars: usize,
    /// Absolute value of an exponent.
    pub exponent: u32,
    /// Whether `\u0000` may stand in a string or a key.
    pub allow_nul: bool,
}

impl Limits {
    /// For documents of this project on disk: 256 MiB, 128 levels.
    pub const DOCUMENT: Limits = Limits {
        bytes: 256 << 20,
        depth: 128,
        number_chars: 64,
        exponent: 400,
        allow_nul: true,
    };
    /// For bytes from a caller: 1 MiB, 64 levels, no NUL.
    pub const REQUEST: Limits = Limits {
        bytes: 1 << 20,
        depth: 64,
        number_chars: 64,
        exponent: 308,
        allow_nul: false,
    };
}

/// Why a document was refused, and where (a byte offset into it).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{kind} at byte {offset}")]
pub struct JsonError {
    /// What is wrong.
    pub kind: JsonErrorKind,
    /// The byte offset.
    pub offset: usize,
}

/// The kinds of refusal of [`parse`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JsonErrorKind {
    /// More bytes than the limit.
    #[error("the document is larger than {0} bytes")]
    TooLarge(usize),
    /// Nested deeper than the limit.
    #[error("nested deeper than {0} levels")]
    TooDeep(usize),
    /// The same key twice in one object.
    #[error("the key {0:?} stands twice in one object")]
    DuplicateKey(String),
    /// A number literal that is too long or whose exponent is too large.
    #[error("a number literal that is too long or too large")]
    Number,
    /// U+0000 in a string where it is not allowed.
    #[error("a NUL character in a string")]
    Nul,
    /// Bytes that are not UTF-8.
    #[error("not UTF-8")]
    Utf8,
    /// Half of a surrogate pair.
    #[error("an unpaired surrogate")]
    Surrogate,
    /// Not JSON.
    #[error("not JSON: expected {0}")]
    Syntax(&'static str),
}

/// Reads one JSON document, strictly (RFC 8259, and beyond it: no duplicate keys, no unpaired surrogates, no byte order
/// mark, the limits given). Two readers of an accepted document cannot disagree about what it says.
///
/// # Errors
/// The first thing that is wrong, with its offset.
pub fn parse(bytes: &[u8], limits: Limits) -> Result<Json, JsonError> {
    if bytes.len() > limits.bytes {
        return Err(JsonError {
            kind: JsonErrorKind::TooLarge(limits.bytes),
            offset: limits.bytes,
        });
    }
    let text = std::str::from_utf8(bytes).map_err(|e| JsonError {
        kind: JsonErrorKind::Utf8,
        offset: e.valid_up_to(),
    })?;
    let mut reader = Reader {
        text,
        bytes: text.as_bytes(),
        at: 0,
        limits,
        depth: 0,
    };
    reader.space();
    let value = reader.value()?;
    reader.space();
    if reader.at != bytes.len() {
        return Err(reader.error(JsonErrorKind::Syntax("the end of the document")));
    }
    Ok(value)
}

struct Reader<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    limits: Limits,
    depth: usize,
}

impl Reader<'_> {
    fn error(&self, kind: JsonErrorKind) -> JsonError {
        JsonError {
            kind,
            offset: self.at,
        }
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn expect(&mut self, literal: &'static str) -> Result<(), JsonError> {
        if self.bytes[self.at..].starts_with(literal.as_bytes()) {
            self.at += literal.len();
            Ok(())
        } else {
            Err(self.error(JsonErrorKind::Syntax(literal)))
        }
    }

    fn value(&mut self) -> Result<Json, JsonError> {
        match self.peek() {
            Some(b'n') => self.expect("null").map(|()| Json::Null),
            Some(b't') => self.expect("true").map(|()| Json::Bool(true)),
            Some(b'f') => self.expect("false").map(|()| Json::Bool(false)),
            Some(b'"') => self.string().map(Json::String),
            Some(b'-' | b'0'..=b'9') => self.number().map(Json::Number),
            Some(b'[') => {
                self.enter()?;
                let mut items = Vec::new();
                if self.peek() != Some(b']') {
                    loop {
                        items.push(self.value()?);
                        self.space();
                        if self.peek() != Some(b',') {
                            break;
                        }
                        self.at += 1;
                        self.space();
                    }
                }
                self.leave("]")?;
                Ok(Json::Array(items))
            }
            Some(b'{') => {
                self.enter()?;
                let mut map = BTreeMap::new();
                if self.peek() != Some(b'}') {
                    loop {
                        let start = self.at;
                        if self.peek() != Some(b'"') {
                            return Err(self.error(JsonErrorKind::Syntax("a string as key")));
                        }
                        let key = self.string()?;
                        self.space();
                        self.expect(":")?;
                        self.space();
                        let value = self.value()?;
                        if map.contains_key(&key) {
                            return Err(JsonError {
                                kind: JsonErrorKind::DuplicateKey(key),
                                offset: start,
                            });
                        }
                        map.insert(key, value);
                        self.space();
                        if self.peek() != Some(b',') {
                            break;
                        }
                        self.at += 1;
                        self.space();
                    }
                }
                self.leave("}")?;
                Ok(Json::Object(map))
            }
            _ => Err(self.error(JsonErrorKind::Syntax("a value"))),
        }
    }

    fn enter(&mut self) -> Result<(), JsonError> {
        self.depth += 1;
        if self.depth > self.limits.depth {
            return Err(self.error(JsonErrorKind::TooDeep(self.limits.depth)));
        }
        self.at += 1;
        self.space();
        Ok(())
    }

    fn leave(&mut self, close: &'static str) -> Result<(), JsonError> {
        self.depth -= 1;
        self.expect(close)
    }

    fn number(&mut self) -> Result<Number, JsonError> {
        let start = self.at;
        let digits = |r: &mut Self| {
            let from = r.at;
            while matches!(r.peek(), Some(b'0'..=b'9')) {
                r.at += 1;
            }
            r.at > from
        };
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        let leading_zero = self.peek() == Some(b'0');
        let first = self.at;
        if !digits(self) || (leading_zero && self.at - first > 1) {
            return Err(self.error(JsonErrorKind::Syntax("a number without leading zeros")));
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            if !digits(self) {
                return Err(self.error(JsonErrorKind::Syntax("a digit")));
            }
        }
        let mut exponent = 0;
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            let from = self.at;
            if !digits(self) {
                return Err(self.error(JsonErrorKind::Syntax("a digit")));
            }
            exponent = self.text[from..self.at].parse::<u32>().unwrap_or(u32::MAX);
        }
        if self.at - start > self.limits.number_chars || exponent > self.limits.exponent {
            return Err(JsonError {
                kind: JsonErrorKind::Number,
                offset: start,
            });
        }
        Ok(Number(self.text[start..self.at].to_owned()))
    }

    fn string(&mut self) -> Result<String, JsonError> {
        self.at += 1;
        let mut out = String::new();
        loop {
            let start = self.at;
            while !matches!(self.peek(), None | Some(b'"' | b'\\' | 0..=0x1f)) {
                self.at += 1;
            }
            out.push_str(&self.text[start..self.at]);
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(out);
                }
                Some(b'\\') => {
                    self.at += 1;
                    let escape = self
                        .peek()
                        .ok_or_else(|| self.error(JsonErrorKind::Syntax("an escape")))?;
                    self.at += 1;
                    out.push(match escape {
                        b'"' => '"',
                        b'\\' => '\\',
                        b'/' => '/',
                        b'b' => '\u{8}',
                        b'f' => '\u{c}',
                        b'n' => '\n',
                        b'r' => '\r',
                        b't' => '\t',
                        b'u' => self.unicode()?,
                        _ => return Err(self.error(JsonErrorKind::Syntax("an escape"))),
                    });
                }
                _ => return Err(self.error(JsonErrorKind::Syntax("the end of the string"))),
            }
        }
    }

    fn hex4(&mut self) -> Result<u32, JsonError> {
        let digits = self
            .bytes
            .get(self.at..self.at + 4)
            .filter(|d| d.iter().all(u8::is_ascii_hexdigit));
        let Some(digits) = digits else {
            return Err(self.error(JsonErrorKind::Syntax("four hexadecimal digits")));
        };
        let value = digits
            .iter()
            .fold(0, |v, d| v * 16 + (*d as char).to_digit(16).unwrap_or(0));
        self.at += 4;
        Ok(value)
    }

    fn unicode(&mut self) -> Result<char, JsonError> {
        let start = self.at;
        let unpaired = JsonError {
            kind: JsonErrorKind::Surrogate,
            offset: start,
        };
        let first = self.hex4()?;
        let code = match first {
            0xD800..=0xDBFF => {
                if !self.bytes[self.at..].starts_with(b"\\u") {
                    return Err(unpaired);
                }
                self.at += 2;
                match self.hex4()? {
                    second @ 0xDC00..=0xDFFF => {
                        0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00)
                    }
                    _ => return Err(unpaired),
                }
            }
            code => code,
        };
        if code == 0 && !self.limits.allow_nul {
            return Err(JsonError {
                kind: JsonErrorKind::Nul,
                offset: start,
            });
        }
        char::from_u32(code).ok_or(unpaired)
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Json::Null => serializer.serialize_unit(),
            Json::Bool(b) => serializer.serialize_bool(*b),
            Json::Number(n) => {
                if let (Some(i), true) = (n.as_i128(), n.0 != "-0") {
                    match (i64::try_from(i), u64::try_from(i)) {
                        (Ok(i), _) => serializer.serialize_i64(i),
                        (_, Ok(u)) => serializer.serialize_u64(u),
                        _ => serializer.serialize_i128(i),
                    }
                } else if let Some(u) = n.as_u128() {
                    serializer.serialize_u128(u)
                } else {
                    serializer.serialize_f64(n.as_f64())
                }
            }
            Json::String(s) => serializer.serialize_str(s),
            Json::Array(items) => {
                let mut seq = serializer.serialize_seq(Some(items.len()))?;
                for item in items {
                    seq.serialize_element(item)?;
                }
                seq.end()
            }
            Json::Object(map) => {
                let mut out = serializer.serialize_map(Some(map.len()))?;
                for (key, value) in map {
                    out.serialize_entry(key, value)?;
                }
                out.end()
            }
        }
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct V;
        impl<'de> Visitor<'de> for V {
            type Value = Json;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a JSON value")
            }
            fn visit_unit<E>(self) -> Result<Json, E> {
                Ok(Json::Null)
            }
            fn visit_none<E>(self) -> Result<Json, E> {
                Ok(Json::Null)
            }
            fn visit_some<D: Deserializer<'de>>(self, d: D) -> Result<Json, D::Error> {
                Deserialize::deserialize(d)
            }
            fn visit_bool<E>(self, v: bool) -> Result<Json, E> {
                Ok(Json::Bool(v))
            }
            fn visit_i64<E>(self, v: i64) -> Result<Json, E> {
                Ok(v.into())
            }
            fn visit_u64<E>(self, v: u64) -> Result<Json, E> {
                Ok(v.into())
            }
            fn visit_i128<E>(self, v: i128) -> Result<Json, E> {
                Ok(v.into())
            }
            fn visit_u128<E>(self, v: u128) -> Result<Json, E> {
                Ok(v.into())
            }
            fn visit_f64<E>(self, v: f64) -> Result<Json, E> {
                Ok(Json::from_f64(v))
            }
            fn visit_str<E>(self, v: &str) -> Result<Json, E> {
                Ok(v.into())
            }
            fn visit_string<E>(self, v: String) -> Result<Json, E> {
                Ok(v.into())
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Json, A::Error> {
                let mut items = Vec::new();
                while let Some(item) = seq.next_element()? {
                    items.push(item);
                }
                Ok(Json::Array(items))
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Json, A::Error> {
                let mut out = BTreeMap::new();
                while let Some((key, value)) = map.next_entry::<String, Json>()? {
                    out.insert(key, value);
                }
                Ok(Json::Object(out))
            }
        }
        deserializer.deserialize_any(V)
    }
}

/// The error of reading a typed value out of a [`Json`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ShapeError(String);

impl de::Error for ShapeError {
    fn custom<T: fmt::Display>(msg: T) -> Self {
        ShapeError(msg.to_string())
    }
}

impl<'de> IntoDeserializer<'de, ShapeError> for Json {
    type Deserializer = Json;
    fn into_deserializer(self) -> Json {
        self
    }
}

impl<'de> Deserializer<'de> for Json {
    type Error = ShapeError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ShapeError> {
        match self {
            Json::Null => visitor.visit_unit(),
            Json::Bool(b) => visitor.visit_bool(b),
            Json::Number(n) => {
                if let Ok(u) = n.0.parse::<u64>() {
                    visitor.visit_u64(u)
                } else if n.0 == "-0" {
                    visitor.visit_f64(-0.0)
                } else if let Ok(i) = n.0.parse::<i64>() {
                    visitor.visit_i64(i)
                } else if let Some(u) = n.as_u128() {
                    visitor.visit_u128(u)
                } else if let Some(i) = n.as_i128() {
                    visitor.visit_i128(i)
                } else {
                    visitor.visit_f64(n.as_f64())
                }
            }
            Json::String(s) => visitor.visit_string(s),
            Json::Array(items) => {
                let mut seq = SeqDeserializer::new(items.into_iter());
                let value = visitor.visit_seq(&mut seq)?;
                seq.end()?;
                Ok(value)
            }
            Json::Object(map) => {
                let mut map = MapDeserializer::new(map.into_iter());
                let value = visitor.visit_map(&mut map)?;
                map.end()?;
                Ok(value)
            }
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ShapeError> {
        match self {
            Json::Null => visitor.visit_none(),
            value => visitor.visit_some(value),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, ShapeError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ShapeError> {
        match self {
            Json::String(s) => visitor.visit_enum(s.into_deserializer()),
            Json::Object(map) if map.len() == 1 => visitor.visit_enum(
                de::value::MapAccessDeserializer::new(MapDeserializer::new(map.into_iter())),
            ),
            _ => Err(de::Error::custom(
                "expected a string or an object of one member",
            )),
        }
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct map struct identifier ignored_any
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Json {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Json".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        // Every `Json` of the model is a JSON Schema of its own: an object, or `true` and `false`.
        schemars::json_schema!({ "type": ["object", "boolean"] })
    }
}
