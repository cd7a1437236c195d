//! One strict reading of a JSON-RPC message, which the gate and the handler then share.
//!
//! The MCP library decodes with serde, where the last of two equal keys wins and a NUL is a character like any other. A message that
//! two readers could understand differently is refused here, before the library sees it; what the call runs on is the value
//! read here, never the library's own.

use std::collections::BTreeMap;
use std::sync::Arc;

use flowx_manifest::json::{self, Json, JsonError, JsonErrorKind, Limits};

/// A message that was read strictly. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Envelope(Arc<Json>);

/// Why a message was refused before anything acted on it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum EnvelopeRefusal {
    /// Not a document that can be trusted.
    #[error("{0}")]
    Json(#[from] JsonError),
    /// JSON, but no JSON-RPC message.
    #[error("not a JSON-RPC 2.0 message: {0}")]
    Shape(&'static str),
}

impl EnvelopeRefusal {
    /// The JSON-RPC error code.
    pub(crate) fn code(&self) -> i32 {
        match self {
            EnvelopeRefusal::Json(JsonError {
                kind: JsonErrorKind::Syntax(_) | JsonErrorKind::Utf8 | JsonErrorKind::Surrogate,
                ..
            }) => -32700,
            EnvelopeRefusal::Json(_) | EnvelopeRefusal::Shape(_) => -32600,
        }
    }

    /// Whether it was refused for its size.
    pub(crate) fn is_too_large(&self) -> bool {
        matches!(
            self,
            EnvelopeRefusal::Json(JsonError {
                kind: JsonErrorKind::TooLarge(_),
                ..
            })
        )
    }
}

impl Envelope {
    /// Reads one message.
    ///
    /// # Errors
    /// What is wrong first.
    pub(crate) fn read(bytes: &[u8], limits: Limits) -> Result<Envelope, EnvelopeRefusal> {
        let message = json::parse(bytes, limits)?;
        if message.as_object().is_none() {
            return Err(EnvelopeRefusal::Shape(
                "an object is expected, and batches are not served",
            ));
        }
        if message.get("jsonrpc").and_then(Json::as_str) != Some("2.0") {
            return Err(EnvelopeRefusal::Shape("`jsonrpc` must be \"2.0\""));
        }
        let is = |key| message.get(key).is_some();
        match (message.get("method"), is("result") || is("error")) {
            (Some(Json::String(_)), false) | (None, true) => {}
            (Some(Json::String(_)), true) => {
                return Err(EnvelopeRefusal::Shape("both a request and an answer"));
            }
            _ => return Err(EnvelopeRefusal::Shape("neither a request nor an answer")),
        }
        match message.get("id") {
            None | Some(Json::String(_)) => {}
            // What the library and clients keep an id in: anything else would come back as another number.
            Some(Json::Number(n)) if n.as_i128().is_some_and(|i| i64::try_from(i).is_ok()) => {}
            Some(_) => {
                return Err(EnvelopeRefusal::Shape(
                    "`id` must be a string or a 64-bit integer",
                ));
            }
        }
        Ok(Envelope(Arc::new(message)))
    }

    /// The method; `None` for an answer.
    pub(crate) fn method(&self) -> Option<&str> {
        self.0.get("method").and_then(Json::as_str)
    }

    /// The id of a request.
    pub(crate) fn id(&self) -> Option<&Json> {
        self.0.get("id")
    }

    /// What is wrong with the shape of a call's arguments. The library would take such a call for a method it does not know.
    pub(crate) fn bad_arguments(&self) -> Option<&'static str> {
        match (self.method(), self.param("arguments")) {
            (Some("tools/call"), Some(arguments))
                if !matches!(arguments, Json::Object(_) | Json::Null) =>
            {
                Some("`arguments` must be an object")
            }
            (Some("tools/call"), _) if self.param("name").and_then(Json::as_str).is_none() => {
                Some("`name` must be a string")
            }
            _ => None,
        }
    }

    fn param(&self, name: &str) -> Option<&Json> {
        self.0.get("params").and_then(|p| p.get(name))
    }

    /// The arguments of a `tools/call`: an empty object when there are none.
    pub(crate) fn arguments(&self) -> Json {
        match self.param("arguments") {
            None | Some(Json::Null) => Json::empty(),
            Some(arguments) => arguments.clone(),
        }
    }

    /// A member of the request's `_meta`.
    pub(crate) fn meta(&self, key: &str) -> Option<&Json> {
        self.param("_meta")?.get(key)
    }

    /// What the client answers to an earlier `input_required`.
    pub(crate) fn input_responses(&self) -> Option<&BTreeMap<String, Json>> {
        self.param("inputResponses").and_then(Json::as_object)
    }

    /// The state it was given with it.
    pub(crate) fn request_state(&self) -> Option<&str> {
        self.param("requestState").and_then(Json::as_str)
    }
}

/// A JSON-RPC error as text. Without an id where the request's could not be read, as the protocol wants it.
pub(crate) fn rpc_error(code: i32, message: &str, id: Option<&Json>) -> String {
    let error = Json::object([("code", Json::from(code)), ("message", Json::from(message))]);
    let mut members = vec![("jsonrpc", Json::from("2.0")), ("error", error)];
    members.extend(id.map(|id| ("id", id.clone())));
    Json::object(members).to_canonical()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Envelope, EnvelopeRefusal> {
        Envelope::read(text.as_bytes(), Limits::REQUEST)
    }

    #[test]
    fn what_two_readers_could_read_differently_is_refused() {
        for body in [
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{"x":1,"x":2}}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"inputResponses":{"confirm":{"content":{"confirm":false,"confirm":true}}}}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"a","method":"b"}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"a","params":{"x":"\u0000"}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"a","params":{"x":1e999}}"#,
        ] {
            assert_eq!(read(body).expect_err(body).code(), -32600, "{body}");
        }
    }

    #[test]
    fn what_is_no_json_is_a_parse_error() {
        for body in [
            "",
            "{",
            "{\"jsonrpc\":\"2.0\"",
            "\u{feff}{}",
            r#"{"a":"\ud800"}"#,
        ] {
            assert_eq!(read(body).expect_err(body).code(), -32700, "{body}");
        }
    }

    #[test]
    fn what_is_no_single_message_is_refused() {
        for body in [
            "[]",
            r#"[{"jsonrpc":"2.0","id":1,"method":"a"}]"#,
            r#"{"id":1,"method":"a"}"#,
            r#"{"jsonrpc":"2.0","id":1}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":1}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"a","result":{}}"#,
            r#"{"jsonrpc":"2.0","id":null,"method":"a"}"#,
            r#"{"jsonrpc":"2.0","id":1.5,"method":"a"}"#,
            r#"{"jsonrpc":"2.0","id":99999999999999999999,"method":"a"}"#,
        ] {
            assert!(
                matches!(read(body), Err(EnvelopeRefusal::Shape(_))),
                "{body}"
            );
        }
    }

    #[test]
    fn a_body_beyond_the_limits_is_refused() {
        let deep = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"a","params":{}{}}}"#,
            "[".repeat(80),
            "]".repeat(80)
        );
        assert_eq!(read(&deep).expect_err("deep").code(), -32600);
        let large = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"a","params":"{}"}}"#,
            "x".repeat(2 << 20)
        );
        assert!(read(&large).expect_err("large").is_too_large());
    }

    #[test]
    fn arguments_are_read_as_they_were_sent() {
        let call = read(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{"n":1e1,"m":10}}}"#).expect("well-formed");
        assert_eq!(call.arguments().to_canonical(), r#"{"m":10,"n":1e1}"#);
        assert_eq!(call.method(), Some("tools/call"));
        let none = read(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}}"#)
            .expect("well-formed");
        assert_eq!(none.arguments(), Json::empty());
    }
}
