//! The HTTP side: the flows' own routes, the manifest, health, and what OAuth clients look for.

pub(crate) mod binding;
pub(crate) mod guard;
mod idempotency;
pub(crate) mod problem;
mod request;
mod routes;
mod surface;

use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::Response;

pub(crate) use binding::query;
pub(crate) use request::{Caller, PublicUrl, body, bytes, correlation_id};
pub use routes::RouteError;

use crate::core::Core;
use crate::refusal::{Refusal, codes};
use crate::visible::Visibility;
use flowx_manifest::Category;

/// What the HTTP side needs beside the core.
#[derive(Clone)]
pub(crate) struct Web {
    pub(crate) core: Arc<Core>,
    pub(crate) public_url: PublicUrl,
}

/// The routes of the flows, the platform's own, MCP's behind its door, and the program's.
///
/// # Errors
/// When two flows want one route, or a route cannot be one.
pub(crate) fn router(web: Web, mcp: Router, own: Router) -> Result<Router, RouteError> {
    let router = routes::add(Router::new(), &web)?;
    let mcp = mcp.layer(from_fn_with_state(web.clone(), door));
    Ok(crate::gate::router(surface::add(router))
        .method_not_allowed_fallback(method_not_allowed)
        .fallback(not_found)
        .with_state(web)
        .merge(mcp)
        .merge(own))
}

/// Establishes who calls before MCP reads a byte, and tells clients without a credential how to get one.
async fn door(State(web): State<Web>, request: Request, next: Next) -> Response {
    let (mut parts, body) = request.into_parts();
    let caller = match Caller::establish(&web, &parts).await {
        Ok(caller) => caller,
        Err(response) => return response,
    };
    if caller.principal.is_anonymous() && !web.core.has_anything_for_anonymous() {
        return caller.problem(&Refusal::not_authenticated());
    }
    parts.extensions.insert(caller.principal);
    next.run(Request::from_parts(parts, body)).await
}

/// What is not there, and what is not there for this caller, are answered alike: who asks is established first, so that neither the
/// status nor a challenge tells one from the other.
async fn not_found(State(web): State<Web>, request: Request) -> Response {
    let (parts, _) = request.into_parts();
    match Caller::establish(&web, &parts).await {
        Ok(caller) => nothing_here(&web, &caller),
        Err(response) => response,
    }
}

/// There is nothing at this address for this caller. Where what a caller may not use is absent, somebody unknown is asked at every address
/// to become known, since becoming known can make something appear there.
fn nothing_here(web: &Web, caller: &Caller) -> Response {
    let hides = web.core.visibility() == Visibility::Permitted && web.core.knows_callers();
    if caller.principal.is_anonymous() && hides {
        return caller.problem(&Refusal::not_authenticated());
    }
    caller.problem(&Refusal::new(
        codes::UNKNOWN_ROUTE,
        Category::NotFound,
        "There is nothing at this address.",
    ))
}

async fn method_not_allowed(State(web): State<Web>, request: Request) -> Response {
    let (parts, _) = request.into_parts();
    wrong_method(&Caller::unknown(&web, &parts))
}

fn wrong_method(caller: &Caller) -> Response {
    caller.problem(&Refusal::new(
        codes::METHOD,
        Category::Validation,
        "This address is not for this method.",
    ))
}
