//! One URL for both eras: what happens to a request before and after the MCP library.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use bytes::Bytes;
use flowx_manifest::Category;
use futures_util::StreamExt;
use http::header::{ALLOW, CONTENT_LENGTH, CONTENT_TYPE, RETRY_AFTER};
use http::request::Parts;
use http::{HeaderValue, Method, Request, StatusCode};
use http_body_util::{BodyExt, Full};
use rmcp::model::ProtocolVersion;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio_util::sync::CancellationToken;

use super::envelope::{Envelope, EnvelopeRefusal};
use super::handler::{CALLER, Endpoint, Handler};
use super::options::McpOptions;
use super::sessions::{Claim, Holder, Sessions, SessionsError};
use super::splice::{BrokenSplice, Lines};
use crate::core::Core;
use crate::http::guard::BadAllowed;
use crate::http::{correlation_id, problem};
use crate::identity::Principal;
use crate::refusal::{Refusal, codes};

const SESSION: &str = "mcp-session-id";
const VERSION: &str = "mcp-protocol-version";

/// Why the MCP endpoint does not start.
#[derive(Clone, Debug, thiserror::Error)]
pub enum McpStartError {
    /// A host or origin that cannot be read.
    #[error("the MCP endpoint cannot start: {0}")]
    Allowed(#[from] BadAllowed),
    /// Descriptors could not be sent as they were reviewed.
    #[error("the MCP endpoint cannot start: {0}")]
    Splice(#[from] BrokenSplice),
    /// No random bytes.
    #[error("the MCP endpoint cannot start: no random bytes: {0}")]
    Random(String),
}

struct Served {
    endpoint: Arc<Endpoint>,
    sessions: Arc<Sessions>,
    library: StreamableHttpService<Handler, Sessions>,
}

/// The MCP endpoint alone, at `/mcp` and behind the guard of [`McpOptions::allowed_hosts`], for both eras: `POST`, and `GET` and `DELETE` for the sessions of 2025-11-25 clients.
///
/// Expects an `Arc<Principal>` in the request's extensions, and asks [`Core::authenticate`] where there is none. `shutdown` ends open
/// streams, which would otherwise outlive the server.
///
/// # Errors
/// When a setting cannot be read, or the reviewed bytes could not be sent as they are.
pub fn router(
    core: Arc<Core>,
    options: &McpOptions,
    shutdown: CancellationToken,
) -> Result<Router, McpStartError> {
    let guard = options.guard(None)?;
    Ok(guard.before(routes(core, options, shutdown)?))
}

/// The same for a server that has a guard before all of its addresses.
pub(crate) fn routes(
    core: Arc<Core>,
    options: &McpOptions,
    shutdown: CancellationToken,
) -> Result<Router, McpStartError> {
    let endpoint = endpoint(core, options)?;
    let sessions = Sessions::new(options);
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(options.legacy_sessions)
        .with_json_response(true)
        .with_cancellation_token(shutdown)
        .with_max_request_body_bytes(options.limits.bytes)
        // The guard has looked already, and more strictly.
        .disable_allowed_hosts()
        .disable_allowed_origins();
    let handler = Handler {
        endpoint: Arc::clone(&endpoint),
        only: None,
    };
    let library =
        StreamableHttpService::new(move || Ok(handler.clone()), Arc::clone(&sessions), config);
    let served = Arc::new(Served {
        endpoint,
        sessions,
        library,
    });
    Ok(Router::new().route("/mcp", any(serve)).with_state(served))
}

/// What both transports start from, checked.
pub(super) fn endpoint(
    core: Arc<Core>,
    options: &McpOptions,
) -> Result<Arc<Endpoint>, McpStartError> {
    let mut secret = [0; 16];
    getrandom::fill(&mut secret).map_err(|e| McpStartError::Random(e.to_string()))?;
    let endpoint = Endpoint::new(core, options.clone(), secret);
    endpoint.splice.verify()?;
    Ok(Arc::new(endpoint))
}

async fn serve(State(served): State<Arc<Served>>, request: Request<Body>) -> Response {
    match served.handle(request).await {
        Ok(response) | Err(response) => response,
    }
}

impl Served {
    async fn handle(&self, request: Request<Body>) -> Result<Response, Response> {
        let (mut parts, body) = request.into_parts();
        let principal = self.principal(&parts).await?;
        parts.extensions.insert(Arc::clone(&principal));
        let holder = Holder {
            owner: principal.key(),
            counted_as: self.endpoint.core.counted_as(&principal, &parts),
            anonymous: principal.is_anonymous(),
        };
        let correlation = correlation_id(&parts.headers);

        let session = parts
            .headers
            .get(SESSION)
            .map(|id| id.to_str().map(str::to_owned))
            .transpose();
        let session =
            session.map_err(|_| plain(StatusCode::NOT_FOUND, "Not Found: Session not found"))?;
        // A session of somebody else does not exist. One that nobody has is left to the library: it matters to one era only.
        if let Some(id) = &session
            && self.sessions.claim(id, &holder.owner) == Claim::Not
        {
            return Err(plain(StatusCode::NOT_FOUND, "Not Found: Session not found"));
        }

        let (request, method) = match parts.method {
            Method::POST => {
                let bytes = self.read(&parts, body).await?;
                let envelope = Envelope::read(&bytes, self.endpoint.options.limits)
                    .map_err(|refusal| refused(&refusal))?;
                if let Some(named) = old_version(&parts, &envelope) {
                    let text = format!("Bad Request: Unsupported MCP-Protocol-Version: {named}");
                    return Err(plain(StatusCode::BAD_REQUEST, &text));
                }
                if let Some(what) = envelope.bad_arguments() {
                    return Err(rpc_error(
                        StatusCode::BAD_REQUEST,
                        -32602,
                        what,
                        envelope.id(),
                    ));
                }
                let method = envelope.method().map(str::to_owned);
                parts.extensions.insert(envelope);
                (Request::from_parts(parts, Full::new(bytes)), method)
            }
            Method::GET | Method::DELETE if self.endpoint.options.legacy_sessions => {
                let resumes = (parts.method == Method::GET).then(|| "resume".to_owned());
                (Request::from_parts(parts, Full::new(Bytes::new())), resumes)
            }
            _ => {
                let allow = if self.endpoint.options.legacy_sessions {
                    "GET, POST, DELETE"
                } else {
                    "POST"
                };
                return Err((StatusCode::METHOD_NOT_ALLOWED, [(ALLOW, allow)]).into_response());
            }
        };
        let opens =
            method.as_deref() == Some("initialize") && self.endpoint.options.legacy_sessions;
        if opens {
            self.sessions
                .admit(&holder)
                .await
                .map_err(|error| match error {
                    SessionsError::Full => full(&error, &correlation),
                    SessionsError::Local(error) => {
                        tracing::error!(%error, "an ended session could not be closed");
                        StatusCode::INTERNAL_SERVER_ERROR.into_response()
                    }
                })?;
        }

        let response = CALLER.scope(principal, self.library.handle(request)).await;
        if opens
            && let Some(id) = response
                .headers()
                .get(SESSION)
                .and_then(|id| id.to_str().ok())
        {
            self.sessions.bind(id, holder).await;
        }
        let response = response.map(|body| body.map_err(|never| match never {}).boxed_unsync());
        match method.as_deref() {
            Some("tools/list" | "tools/call" | "resources/read" | "resume") => {
                Ok(self.fill(response).await)
            }
            _ => Ok(response.map(Body::new)),
        }
    }

    async fn principal(&self, parts: &Parts) -> Result<Arc<Principal>, Response> {
        if let Some(principal) = parts.extensions.get::<Arc<Principal>>() {
            return Ok(Arc::clone(principal));
        }
        self.endpoint
            .core
            .authenticate(parts)
            .await
            .map_err(|refusal| {
                let status = refusal.status();
                let mut response = plain(status, refusal.message.as_ref());
                if status == StatusCode::UNAUTHORIZED {
                    response.headers_mut().insert(
                        http::header::WWW_AUTHENTICATE,
                        HeaderValue::from_static("Bearer"),
                    );
                }
                response
            })
    }

    async fn read(&self, parts: &Parts, body: Body) -> Result<Bytes, Response> {
        let (limit, time) = (
            self.endpoint.options.limits.bytes,
            self.endpoint.core.limits().body_time,
        );
        let read = crate::http::bytes(&parts.headers, body, limit, time).await;
        read.map_err(|refusal| rpc_error(refusal.status(), -32600, &refusal.message, None))
    }

    /// Puts the reviewed bytes where the library left marks.
    async fn fill(&self, response: http::Response<LibraryBody>) -> Response {
        let (mut parts, body) = response.into_parts();
        let is_stream = parts
            .headers
            .get(CONTENT_TYPE)
            .is_some_and(|t| t.as_bytes().starts_with(b"text/event-stream"));
        if is_stream {
            let endpoint = Arc::clone(&self.endpoint);
            return Response::from_parts(parts, Body::from_stream(fill_stream(endpoint, body)));
        }
        let whole = match body.collect().await {
            Ok(collected) => collected.to_bytes(),
            Err(never) => match never {},
        };
        match self.endpoint.splice.fill(&whole) {
            Ok(pieces) => {
                let length: usize = pieces.iter().map(Bytes::len).sum();
                parts
                    .headers
                    .insert(CONTENT_LENGTH, HeaderValue::from(length));
                let pieces =
                    futures_util::stream::iter(pieces.into_iter().map(Ok::<_, BrokenSplice>));
                Response::from_parts(parts, Body::from_stream(pieces))
            }
            Err(broken) => {
                tracing::error!(%broken, "an answer was not sent");
                StatusCode::INTERNAL_SERVER_ERROR.into_response()
            }
        }
    }
}

type LibraryBody = http_body_util::combinators::UnsyncBoxBody<Bytes, std::convert::Infallible>;

/// Server-sent events, filled. An event is a line, so whole lines are filled; what cannot be filled ends the stream unsent.
fn fill_stream(
    endpoint: Arc<Endpoint>,
    body: LibraryBody,
) -> impl futures_util::Stream<Item = Result<Bytes, BrokenSplice>> {
    let mut lines = Lines::default();
    let pieces = body
        .into_data_stream()
        .map(Some)
        .chain(futures_util::stream::once(std::future::ready(None)));
    pieces.flat_map(move |piece| {
        let whole = match piece {
            Some(Ok(piece)) => lines.push(piece),
            Some(Err(never)) => match never {},
            None => lines.finish(),
        };
        let filled = match endpoint.splice.fill(&whole) {
            Ok(pieces) => pieces
                .into_iter()
                .filter(|p| !p.is_empty())
                .map(Ok)
                .collect(),
            Err(broken) => {
                tracing::error!(%broken, "an event was not sent");
                vec![Err(broken)]
            }
        };
        futures_util::stream::iter(filled)
    })
}

/// Revisions that the library knows and this server does not serve. It refuses them where they are named in a message; a
/// header alone would pass.
fn old_version<'a>(parts: &'a Parts, envelope: &Envelope) -> Option<&'a str> {
    let old = [
        ProtocolVersion::V_2024_11_05,
        ProtocolVersion::V_2025_03_26,
        ProtocolVersion::V_2025_06_18,
    ];
    let named = parts.headers.get(VERSION)?.to_str().ok()?;
    (envelope.method() != Some("initialize") && old.iter().any(|v| v.as_str() == named))
        .then_some(named)
}

fn refused(refusal: &EnvelopeRefusal) -> Response {
    let status = if refusal.is_too_large() {
        StatusCode::PAYLOAD_TOO_LARGE
    } else {
        StatusCode::BAD_REQUEST
    };
    rpc_error(status, refusal.code(), &refusal.to_string(), None)
}

fn rpc_error(
    status: StatusCode,
    code: i32,
    message: &str,
    id: Option<&flowx_manifest::Json>,
) -> Response {
    (
        status,
        [(CONTENT_TYPE, "application/json")],
        super::envelope::rpc_error(code, message, id),
    )
        .into_response()
}

fn full(error: &SessionsError, correlation: &str) -> Response {
    let refusal = Refusal::new(codes::SESSIONS, Category::Unavailable, error.to_string());
    let mut response = problem::response(&refusal, correlation, &Default::default());
    response
        .headers_mut()
        .insert(RETRY_AFTER, HeaderValue::from_static("30"));
    response
}

fn plain(status: StatusCode, text: &str) -> Response {
    (status, text.to_owned()).into_response()
}
