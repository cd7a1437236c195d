//! The platform's own addresses: the manifest, health, and protected resource metadata (RFC 9728).

use ::http::header::{CACHE_CONTROL, CONTENT_TYPE, ETAG, IF_NONE_MATCH};
use ::http::{HeaderName, HeaderValue, StatusCode};
use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::Response;
use axum::routing::get;
use flowx_manifest::Json;

use super::Web;
use super::request::Caller;
use crate::core::MANIFEST_READ;
use crate::refusal::Refusal;
use crate::visible::Visibility;

const DIGEST: HeaderName = HeaderName::from_static("flowx-manifest-digest");

pub(super) fn add(router: Router<Web>) -> Router<Web> {
    router
        .route("/flowx/manifest", get(manifest))
        .route("/flowx/health", get(health))
        .route("/.well-known/oauth-protected-resource", get(resource))
        .route("/.well-known/oauth-protected-resource/mcp", get(resource))
}

/// The document, byte for byte as it was reviewed.
async fn manifest(State(web): State<Web>, request: Request) -> Response {
    let (parts, _) = request.into_parts();
    let mut caller = match Caller::establish(&web, &parts).await {
        Ok(caller) => caller,
        Err(response) => return response,
    };
    caller.challenge.scope = vec![MANIFEST_READ.to_owned()];
    if !web.core.may_read_manifest(&caller.principal) {
        let known = !caller.principal.is_anonymous();
        let refusal = if known {
            Refusal::permission_denied(MANIFEST_READ)
        } else {
            Refusal::not_authenticated()
        };
        return caller.problem(&refusal);
    }
    let embedded = web.core.embedded();
    let tag = format!("\"{}\"", embedded.digest);
    let same = parts
        .headers
        .get(IF_NONE_MATCH)
        .and_then(|v| v.to_str().ok())
        .is_some_and(|v| v.split(',').any(|t| t.trim() == tag));
    let mut response = if same {
        empty(StatusCode::NOT_MODIFIED)
    } else {
        json(embedded.text)
    };
    let headers = response.headers_mut();
    if let (Ok(tag), Ok(digest)) = (
        HeaderValue::from_str(&tag),
        HeaderValue::from_str(embedded.digest),
    ) {
        headers.insert(ETAG, tag);
        headers.insert(DIGEST, digest);
    }
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("private, no-cache"));
    response
}

async fn health(State(web): State<Web>) -> Response {
    let stopping = web.core.is_stopping();
    let application = &web.core.manifest().application;
    let body = Json::object([
        (
            "status",
            Json::from(if stopping { "stopping" } else { "ok" }),
        ),
        ("application", Json::from(application.name.as_str())),
        ("version", Json::from(application.version.as_str())),
        ("manifest", Json::from(web.core.embedded().digest)),
    ]);
    let mut response = json(&body.to_canonical());
    if stopping {
        *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
    }
    response
}

async fn resource(State(web): State<Web>, request: Request) -> Response {
    let (parts, _) = request.into_parts();
    let base = web.public_url.base(&parts);
    // RFC 9728 §3.3: the resource is the address that the metadata was asked for.
    let path = if parts.uri.path().ends_with("/mcp") {
        "/mcp"
    } else {
        ""
    };
    let mut members = vec![
        ("resource", Json::from(format!("{base}{path}"))),
        ("bearer_methods_supported", Json::from(vec!["header"])),
        (
            "resource_name",
            Json::from(web.core.manifest().application.name.as_str()),
        ),
    ];
    let servers = web.core.authorization_servers();
    if !servers.is_empty() {
        members.push(("authorization_servers", Json::from(servers)));
    }
    // The names of permissions tell what there is, which under `Permitted` is nobody's business.
    if web.core.visibility() == Visibility::All {
        members.push(("scopes_supported", Json::from(web.core.permissions())));
    }
    json(&Json::object(members).to_canonical())
}

fn json(text: &str) -> Response {
    let mut response = Response::new(Body::from(text.to_owned()));
    response
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

fn empty(status: StatusCode) -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = status;
    response
}
