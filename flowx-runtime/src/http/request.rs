//! Reading a request: who, in what words, and the body within its limits.

use std::sync::Arc;

use ::http::header::{CONTENT_LENGTH, CONTENT_TYPE, HOST};
use ::http::request::Parts;
use axum::body::Body;
use axum::response::Response;
use flowx_manifest::json::{self, JsonErrorKind, Limits};
use flowx_manifest::{Category, Json};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use uuid::Uuid;

use super::Web;
use super::problem::{self, CORRELATION, Challenge};
use crate::identity::Principal;
use crate::input::{InputError, invalid};
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
            correlation_id: correlation_id(parts),
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
pub(crate) fn correlation_id(parts: &Parts) -> String {
    let plain = |s: &&str| {
        !s.is_empty()
            && s.len() <= 64
            && s.bytes()
                .all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b))
    };
    let own = parts
        .headers
        .get(CORRELATION)
        .and_then(|v| v.to_str().ok())
        .filter(plain);
    own.map_or_else(|| Uuid::now_v7().to_string(), str::to_owned)
}

/// The body as strict JSON; `None` when there is none.
///
/// # Errors
/// `input.too_large`, `input.unsupported_media_type`, or `input.invalid` with what is wrong and where.
pub(crate) async fn body(
    parts: &Parts,
    body: Body,
    limits: Limits,
) -> Result<Option<Json>, Refusal> {
    let too_large = || {
        Refusal::new(
            codes::INPUT_TOO_LARGE,
            Category::Validation,
            format!("The body is larger than {} bytes.", limits.bytes),
        )
    };
    let length = parts
        .headers
        .get(CONTENT_LENGTH)
        .and_then(|l| l.to_str().ok())
        .and_then(|l| l.parse::<u64>().ok());
    if length.is_some_and(|l| l > limits.bytes as u64) {
        return Err(too_large()); // before a byte of it is read
    }
    let bytes = match Limited::new(body, limits.bytes).collect().await {
        Ok(collected) => collected.to_bytes(),
        Err(error) if error.is::<LengthLimitError>() => return Err(too_large()),
        Err(_) => return Err(invalid(vec![root("the body did not arrive whole")])),
    };
    if bytes.is_empty() {
        return Ok(None);
    }
    if !is_json(parts) {
        return Err(Refusal::new(
            codes::MEDIA_TYPE,
            Category::Validation,
            "The body has to be application/json.",
        ));
    }
    match json::parse(&bytes, limits) {
        Ok(value) => Ok(Some(value)),
        Err(error) if matches!(error.kind, JsonErrorKind::TooLarge(_)) => Err(too_large()),
        Err(error) => Err(invalid(vec![root(&error.to_string())])),
    }
}

fn root(message: &str) -> InputError {
    InputError {
        path: String::new(),
        message: message.to_owned(),
    }
}

fn is_json(parts: &Parts) -> bool {
    let Some(kind) = parts
        .headers
        .get(CONTENT_TYPE)
        .and_then(|v| v.to_str().ok())
    else {
        return false;
    };
    let essence = kind
        .split(';')
        .next()
        .unwrap_or("")
        .trim()
        .to_ascii_lowercase();
    essence == "application/json"
        || (essence.starts_with("application/") && essence.ends_with("+json"))
}
