//! Reading a request: who, in what words, and the body within its limits.

use std::sync::Arc;
use std::time::Duration;

use ::http::HeaderMap;
use ::http::header::{CONTENT_LENGTH, CONTENT_TYPE, HOST};
use ::http::request::Parts;
use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use flowx_manifest::json;
use flowx_manifest::{Category, Json};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use tokio::time::timeout;
use uuid::Uuid;

use super::Web;
use super::problem::{self, CORRELATION, Challenge};
use crate::identity::Principal;
use crate::input::{InputError, invalid};
use crate::limits::Limits;
use crate::refusal::{Refusal, codes};

/// Where this server is for the world; without one, what the caller's `Host` says.
#[derive(Clone, Debug, Default)]
pub(crate) struct PublicUrl(pub(crate) Option<Arc<str>>);

impl PublicUrl {
    /// Scheme and authority, without a slash at the end.
    pub(crate) fn base(&self, parts: &Parts) -> String {
        if let Some(url) = &self.0 {
            return url.trim_end_matches('/').to_owned();
        }
        let host = parts
            .headers
            .get(HOST)
            .and_then(|h| h.to_str().ok())
            .filter(|h| plain_host(h));
        format!("http://{}", host.unwrap_or("localhost"))
    }
}

fn plain_host(host: &str) -> bool {
    !host.is_empty()
        && host
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b".-:[]".contains(&b))
}

/// Whoever a request is answered to.
pub(crate) struct Caller {
    pub(crate) principal: Arc<Principal>,
    pub(crate) correlation_id: String,
    pub(crate) challenge: Challenge,
}

impl Caller {
    /// Establishes who calls.
    ///
    /// # Errors
    /// The answer, for a caller who is nobody or too busy.
    pub(crate) async fn establish(web: &Web, parts: &Parts) -> Result<Caller, Response> {
        let mut caller = Caller::unknown(web, parts);
        match web.core.authenticate(parts).await {
            Ok(principal) => caller.principal = principal,
            Err(refusal) => {
                caller.challenge.invalid_token = true;
                return Err(caller.problem(&refusal));
            }
        }
        Ok(caller)
    }

    /// Nobody, in the words of that request.
    pub(crate) fn unknown(web: &Web, parts: &Parts) -> Caller {
        let metadata = format!(
            "{}/.well-known/oauth-protected-resource",
            web.public_url.base(parts)
        );
        Caller {
            principal: Arc::new(Principal::anonymous()),
            correlation_id: correlation_id(&parts.headers),
            challenge: Challenge {
                metadata,
                ..Challenge::default()
            },
        }
    }

    /// The refusal as an answer to this caller.
    pub(crate) fn problem(&self, refusal: &Refusal) -> Response {
        tracing::info!(
            code = &*refusal.code,
            status = refusal.status().as_u16(),
            correlation_id = self.correlation_id,
            internal = refusal.operator_detail(),
            "refused"
        );
        let mut challenge = self.challenge.clone();
        challenge.invalid_token &= refusal.code == codes::NOT_AUTHENTICATED;
        problem::response(refusal, &self.correlation_id, &challenge)
    }
}

/// The caller's own where it is a short plain word, since it goes to logs; else a new one.
pub(crate) fn correlation_id(headers: &HeaderMap) -> String {
    let plain = |s: &&str| {
        !s.is_empty()
            && s.len() <= 64
            && s.bytes()
                .all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b))
    };
    let own = headers
        .get(CORRELATION)
        .and_then(|v| v.to_str().ok())
        .filter(plain);
    own.map_or_else(|| Uuid::now_v7().to_string(), str::to_owned)
}

/// The bytes of a body, within their limits.
///
/// # Errors
/// `input.too_large` (before a byte is read, where the head says so), `input.too_slow`, or `input.invalid` for one that breaks off.
pub(crate) async fn bytes(
    headers: &HeaderMap,
    body: Body,
    most: usize,
    time: Duration,
) -> Result<Bytes, Refusal> {
    let too_large = || {
        Refusal::new(
            codes::INPUT_TOO_LARGE,
            Category::Validation,
            format!("The body is larger than {most} bytes."),
        )
    };
    let length = headers
        .get(CONTENT_LENGTH)
        .and_then(|l| l.to_str().ok())
        .and_then(|l| l.parse::<u64>().ok());
    if length.is_some_and(|l| l > most as u64) {
        return Err(too_large());
    }
    match timeout(time, Limited::new(body, most).collect()).await {
        Ok(Ok(collected)) => Ok(collected.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(too_large()),
        Ok(Err(_)) => Err(invalid(vec![root("the body did not arrive whole")])),
        Err(_) => Err(Refusal::new(
            codes::INPUT_TOO_SLOW,
            Category::Validation,
            format!("The body did not arrive within {} s.", time.as_secs_f32()),
        )),
    }
}

/// The body as strict JSON; `None` when there is none.
///
/// # Errors
/// As [`bytes`], `input.unsupported_media_type`, or `input.invalid` with what is wrong and where.
pub(crate) async fn body(
    parts: &Parts,
    body: Body,
    limits: &Limits,
) -> Result<Option<Json>, Refusal> {
    let json = limits.json;
    let bytes = bytes(&parts.headers, body, json.bytes, limits.body_time).await?;
    if bytes.is_empty() {
        return Ok(None);
    }
    if !is_json(parts) {
        return Err(Refusal::new(
            codes::MEDIA_TYPE,
            Category::Validation,
            "The body has to be application/json, in UTF-8.",
        ));
    }
    // That it is too large was seen above, so what is left is a matter of the text.
    json::parse(&bytes, json)
        .map(Some)
        .map_err(|error| invalid(vec![root(&error.to_string())]))
}

fn root(message: &str) -> InputError {
    InputError {
        path: String::new(),
        message: message.to_owned(),
    }
}

/// `application/json` or a kind of it. JSON is UTF-8 (RFC 8259, section 8.1), so another `charset` is another format, and so is a
/// parameter that nobody knows.
fn is_json(parts: &Parts) -> bool {
    let Some(kind) = parts
        .headers
        .get(CONTENT_TYPE)
        .and_then(|v| v.to_str().ok())
    else {
        return false;
    };
    let mut words = kind.split(';').map(str::trim);
    let essence = words.next().unwrap_or("").to_ascii_lowercase();
    let known = essence == "application/json"
        || (essence.starts_with("application/") && essence.ends_with("+json"));
    known
        && words.filter(|w| !w.is_empty()).all(|word| {
            word.split_once('=').is_some_and(|(name, value)| {
                // A profile or version of the format is its own matter; the characters are not.
                !name.trim().eq_ignore_ascii_case("charset")
                    || value.trim().trim_matches('"').eq_ignore_ascii_case("utf-8")
            })
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_in_other_characters_than_utf_8_is_another_format() {
        let read = |kind: &str| {
            let request = ::http::Request::builder().header(CONTENT_TYPE, kind);
            is_json(&request.body(()).expect("a request").into_parts().0)
        };
        for kind in [
            "application/json",
            "Application/JSON",
            "application/json;",
            "application/json; charset=utf-8",
            "application/json;charset=\"UTF-8\"",
            "application/vnd.desk+json; version=1",
        ] {
            assert!(read(kind), "{kind}");
        }
        for kind in [
            "text/json",
            "application/jsonx",
            "application/json; charset=utf-16",
            "application/json; charset=latin1",
            "application/json; charset=",
            "application/json; charset",
            "text/plain; application/json",
        ] {
            assert!(!read(kind), "{kind}");
        }
    }
}
