//! The flows' own routes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use ::http::header::{ALLOW, CONTENT_TYPE};
use ::http::{HeaderName, HeaderValue, Method, StatusCode};
use axum::Router;
use axum::body::Body;
use axum::extract::{RawPathParams, Request, State};
use axum::response::Response;
use axum::routing::{MethodFilter, any};
use flowx_manifest::Trigger;

use super::binding::{Binder, query};
use super::idempotency;
use super::problem::CORRELATION;
use super::request::{Caller, body};
use super::{Web, nothing_here, wrong_method};
use crate::channel::NoChannel;
use crate::core::ServedFlow;
use crate::input::{InputError, invalid};
use crate::invocation::{CallOutcome, Invocation, Output, Transport};
use crate::refusal::{Refusal, codes};

const SKILL: HeaderName = HeaderName::from_static("flowx-skill");
const APPROVAL: HeaderName = HeaderName::from_static("flowx-approval");
const REPLAYED: HeaderName = HeaderName::from_static("idempotency-replayed");

/// Why the routes of the flows cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum RouteError {
    /// Two flows want one.
    #[error("{method} {route} belongs to {first} and to {second}")]
    Clash {
        /// The method.
        method: String,
        /// The route.
        route: String,
        /// A flow.
        first: String,
        /// Another.
        second: String,
    },
    /// Not a route.
    #[error("{flow} has the route {method} {route}, which cannot be one: {why}")]
    Unusable {
        /// The flow.
        flow: String,
        /// The method.
        method: String,
        /// The route.
        route: String,
        /// Why.
        why: &'static str,
    },
}

/// What is at one address, by methods.
type Place = Vec<Endpoint>;

struct Endpoint {
    method: Method,
    /// The flow's place in the core's list.
    flow: usize,
    /// The names of the path parameters, in order.
    parameters: Vec<String>,
    binder: Binder,
    key_required: bool,
}

pub(super) fn add(mut router: Router<Web>, web: &Web) -> Result<Router<Web>, RouteError> {
    let mut places: BTreeMap<String, Place> = BTreeMap::new();
    let mut taken: BTreeMap<(String, String), String> = BTreeMap::new();
    for (index, flow) in web.core.flows().iter().enumerate() {
        for trigger in &flow.published.triggers {
            let Trigger::Http {
                method,
                route,
                idempotent,
            } = trigger
            else {
                continue;
            };
            let unusable = |why| RouteError::Unusable {
                flow: flow.reference.clone(),
                method: method.clone(),
                route: route.clone(),
                why,
            };
            let named = Method::from_bytes(method.as_bytes())
                .ok()
                .filter(|m| MethodFilter::try_from(m.clone()).is_ok())
                .ok_or_else(|| unusable("no such method"))?;
            let (pattern, parameters) = pattern(route).map_err(unusable)?;
            if let Some(first) =
                taken.insert((method.clone(), pattern.clone()), flow.reference.clone())
            {
                let (method, route) = (method.clone(), route.clone());
                return Err(RouteError::Clash {
                    method,
                    route,
                    first,
                    second: flow.reference.clone(),
                });
            }
            let binder = web
                .core
                .input_schema(flow)
                .map(|s| Binder::new(&s))
                .unwrap_or_default();
            let endpoint = Endpoint {
                method: named,
                flow: index,
                parameters,
                binder,
                key_required: *idempotent,
            };
            places.entry(pattern).or_default().push(endpoint);
        }
    }
    for (pattern, place) in places {
        let place: Arc<Place> = Arc::new(place);
        // Every method comes here: which of them an address knows depends on who asks.
        let handler =
            move |State(web): State<Web>, words: Result<RawPathParams, _>, request: Request| {
                let place = Arc::clone(&place);
                async move { answer(&web, &place, words.ok(), request).await }
            };
        router = router.route(&pattern, any(handler));
    }
    Ok(router)
}

/// The route with its parameters named by place, since routes that differ in names alone are the same route; and their names.
fn pattern(route: &str) -> Result<(String, Vec<String>), &'static str> {
    if !route.starts_with('/') {
        return Err("it does not begin with /");
    }
    if route == "/mcp" || route.starts_with("/flowx/") || route.starts_with("/.well-known/") {
        return Err("the address is the platform's own");
    }
    let (mut out, mut names) = (String::new(), Vec::new());
    for segment in route[1..].split('/') {
        out.push('/');
        match segment.strip_prefix('{').and_then(|s| s.strip_suffix('}')) {
            Some(name) if !name.is_empty() && !name.contains(['{', '}', '*', '/']) => {
                out.push_str(&format!("{{p{}}}", names.len()));
                names.push(name.to_owned());
            }
            None if !segment.contains(['{', '}', '*', ':', '?', '#']) => out.push_str(segment),
            _ => return Err("a parameter is a whole segment, as in /tickets/{id}"),
        }
    }
    let distinct: BTreeSet<&String> = names.iter().collect();
    if distinct.len() != names.len() {
        return Err("two parameters of one name");
    }
    Ok((out, names))
}

async fn answer(
    web: &Web,
    place: &[Endpoint],
    words: Option<RawPathParams>,
    request: Request,
) -> Response {
    let (parts, raw) = request.into_parts();
    let mut caller = match Caller::establish(web, &parts).await {
        Ok(caller) => caller,
        Err(response) => return response,
    };
    let visible = |e: &&Endpoint| {
        let flow = &web.core.flows()[e.flow];
        web.core.visible(&caller.principal, flow)
    };
    let here: Vec<&Endpoint> = place.iter().filter(visible).collect();
    let of = |method: &Method| here.iter().find(|e| e.method == *method);
    // What answers GET answers HEAD, without the body (RFC 9110, section 9.3.2).
    let found = of(&parts.method).or_else(|| match parts.method {
        Method::HEAD => of(&Method::GET),
        _ => None,
    });
    let Some(endpoint) = found else {
        return if here.is_empty() {
            nothing_here(web, &caller)
        } else {
            with_methods(wrong_method(&caller), &here)
        };
    };
    let flow = &web.core.flows()[endpoint.flow];
    caller.challenge.scope = flow.demands.permissions.clone();
    match call(web, endpoint, flow, &caller, &parts, words, raw).await {
        Ok(Some((output, replayed))) => success(&output, &caller, replayed),
        Ok(None) => {
            caller.challenge.scope.clear();
            nothing_here(web, &caller)
        }
        Err(refusal) => caller.problem(&refusal),
    }
}

/// Says which methods there are for this caller.
fn with_methods(mut response: Response, here: &[&Endpoint]) -> Response {
    let mut methods: BTreeSet<&str> = here.iter().map(|e| e.method.as_str()).collect();
    if methods.contains("GET") {
        methods.insert("HEAD");
    }
    let methods: Vec<&str> = methods.into_iter().collect();
    if let Ok(allow) = HeaderValue::from_str(&methods.join(", ")) {
        response.headers_mut().insert(ALLOW, allow);
    }
    response
}

/// `None` where the flow is not there for this caller after all.
async fn call(
    web: &Web,
    endpoint: &Endpoint,
    flow: &ServedFlow,
    caller: &Caller,
    parts: &::http::request::Parts,
    words: Option<RawPathParams>,
    raw: Body,
) -> Result<Option<(Output, bool)>, Refusal> {
    let (invocation, key) = read(web, endpoint, flow, caller, parts, words, raw)
        .await
        .map_err(|wrong| flow.first_of(&caller.principal, wrong))?;
    let (outcome, replayed) = match key {
        Some(key) => idempotency::call(web, flow, invocation, key).await?,
        None => (web.core.call(invocation, Arc::new(NoChannel)).await, false),
    };
    match outcome {
        CallOutcome::Done(output) => Ok(Some((output, replayed))),
        CallOutcome::Refused(refusal) | CallOutcome::CannotAsk { refusal, .. } => Err(refusal),
        CallOutcome::Unknown => Ok(None),
        CallOutcome::InputRequired { .. } => Err(Refusal::internal(
            codes::INTERNAL,
            "the gate asked a caller who cannot be asked",
        )),
    }
}

/// What is asked for, and under which key.
async fn read(
    web: &Web,
    endpoint: &Endpoint,
    flow: &ServedFlow,
    caller: &Caller,
    parts: &::http::request::Parts,
    words: Option<RawPathParams>,
    raw: Body,
) -> Result<(Invocation, Option<String>), Refusal> {
    let read = body(parts, raw, web.core.limits()).await?;
    let input = endpoint
        .binder
        .bind(read, &parameters(endpoint, words, parts.uri.query())?)?;
    let mut invocation = Invocation::new(
        flow.reference.clone(),
        Arc::clone(&caller.principal),
        input,
        Transport::Http,
    );
    invocation.correlation_id.clone_from(&caller.correlation_id);
    invocation.skill = word(parts, &SKILL)?;
    invocation.redeem = word(parts, &APPROVAL)?;
    let key = idempotency::key(parts, endpoint.key_required)?
        .map(|key| idempotency::scoped(&key, &caller.principal.key(), &flow.reference));
    if let Some(key) = &key {
        invocation.idempotency_key.clone_from(key);
    }
    Ok((invocation, key))
}

/// The one value of a header that is optional.
fn word(parts: &::http::request::Parts, name: &HeaderName) -> Result<Option<String>, Refusal> {
    let mut values = parts.headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (None, _) => Ok(None),
        (Some(value), None) => match value.to_str() {
            Ok(text) if text.len() <= 128 => Ok(Some(text.to_owned())),
            _ => Err(invalid(vec![InputError {
                path: String::new(),
                message: format!("the header {name} is not a short plain word"),
            }])),
        },
        (Some(_), Some(_)) => Err(invalid(vec![InputError {
            path: String::new(),
            message: format!("the header {name} stands there twice"),
        }])),
    }
}

fn parameters(
    endpoint: &Endpoint,
    words: Option<RawPathParams>,
    text: Option<&str>,
) -> Result<Vec<(String, String)>, Refusal> {
    let mut out = Vec::new();
    let not_text = || {
        invalid(vec![InputError {
            path: String::new(),
            message: "the path is not UTF-8 text".to_owned(),
        }])
    };
    if !endpoint.parameters.is_empty() {
        let words = words.ok_or_else(not_text)?;
        for (name, (_, word)) in endpoint.parameters.iter().zip(&words) {
            if word.contains('\0') {
                return Err(not_text());
            }
            out.push((name.clone(), word.to_owned()));
        }
    }
    out.extend(query(text.unwrap_or(""))?);
    Ok(out)
}

fn success(output: &Output, caller: &Caller, replayed: bool) -> Response {
    let nothing = output.text == "null";
    let mut response = Response::new(if nothing {
        Body::empty()
    } else {
        Body::from(output.text.clone())
    });
    let headers = response.headers_mut();
    if let Ok(id) = HeaderValue::from_str(&caller.correlation_id) {
        headers.insert(CORRELATION, id);
    }
    if replayed {
        headers.insert(REPLAYED, HeaderValue::from_static("true"));
    }
    if nothing {
        *response.status_mut() = StatusCode::NO_CONTENT;
    } else {
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_route_is_its_shape_and_not_its_names() {
        assert_eq!(
            pattern("/a/{id}/b/{n}"),
            Ok(("/a/{p0}/b/{p1}".into(), vec!["id".into(), "n".into()]))
        );
        assert_eq!(pattern("/"), Ok(("/".into(), vec![])));
        for wrong in [
            "a",
            "/{a}/{a}",
            "/{*rest}",
            "/x{a}",
            "/{}",
            "/mcp",
            "/flowx/manifest",
            "/.well-known/x",
            "/a?b",
            "/:a",
        ] {
            assert!(pattern(wrong).is_err(), "{wrong}");
        }
    }
}
