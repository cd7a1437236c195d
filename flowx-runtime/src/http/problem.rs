//! A refusal as an RFC 9457 problem.

use ::http::header::{CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use ::http::{HeaderName, HeaderValue, Response, StatusCode};
use axum::body::Body;
use flowx_manifest::{Category, Json};

use crate::refusal::{Refusal, codes};

/// Joins a caller's report and the operator's log.
pub(crate) const CORRELATION: HeaderName = HeaderName::from_static("x-correlation-id");

/// What a 401 and a 403 tell about how to do better (RFC 6750 §3, RFC 9728 §5.1).
#[derive(Clone, Debug, Default)]
pub(crate) struct Challenge {
    /// Where the protected resource metadata stands.
    pub(crate) metadata: String,
    /// Whether a token came and was not good.
    pub(crate) invalid_token: bool,
    /// Every permission that the call can need, at once.
    pub(crate) scope: Vec<String>,
}

/// The problem document of a refusal. Operator detail is not in it.
pub(crate) fn document(refusal: &Refusal, correlation_id: &str) -> Json {
    let status = refusal.status();
    let mut members = vec![
        (
            "type",
            Json::from(format!("https://flowx.dev/errors/{}", refusal.code)),
        ),
        ("title", Json::from(title(refusal.category, status))),
        ("status", Json::from(status.as_u16())),
        ("detail", Json::from(&*refusal.message)),
        ("code", Json::from(&*refusal.code)),
        ("category", Json::from(refusal.category.as_str())),
        ("correlationId", Json::from(correlation_id)),
    ];
    if let Some(Json::Object(detail)) = &refusal.detail {
        for (name, value) in detail {
            // The standard members are the platform's.
            if !members.iter().any(|(n, _)| n == name) && name != "instance" {
                members.push((name, value.clone()));
            }
        }
    }
    Json::object(members)
}

/// The answer that carries the problem.
pub(crate) fn response(
    refusal: &Refusal,
    correlation_id: &str,
    challenge: &Challenge,
) -> Response<Body> {
    let mut response = Response::new(Body::from(document(refusal, correlation_id).to_canonical()));
    *response.status_mut() = refusal.status();
    let headers = response.headers_mut();
    headers.insert(
        CONTENT_TYPE,
        HeaderValue::from_static("application/problem+json"),
    );
    if let Ok(id) = HeaderValue::from_str(correlation_id) {
        headers.insert(CORRELATION, id);
    }
    if refusal.code == codes::RATE_LIMITED {
        headers.insert(RETRY_AFTER, HeaderValue::from_static("1"));
    }
    if let Some(challenge) = challenge_of(refusal, challenge)
        && let Ok(value) = HeaderValue::from_str(&challenge)
    {
        headers.insert(WWW_AUTHENTICATE, value);
    }
    response
}

/// The `WWW-Authenticate` of a refusal, for whoever answers 401 or 403.
pub(crate) fn challenge_of(refusal: &Refusal, challenge: &Challenge) -> Option<String> {
    let error = match &*refusal.code {
        codes::NOT_AUTHENTICATED if challenge.invalid_token => Some("invalid_token"),
        codes::NOT_AUTHENTICATED => None,
        codes::PERMISSION_DENIED => Some("insufficient_scope"),
        _ => return None,
    };
    let mut out = String::from("Bearer ");
    if let Some(error) = error {
        out.push_str(&format!("error=\"{error}\", "));
    }
    if !challenge.scope.is_empty() {
        // A permission holds no quotes and no spaces, by its grammar.
        out.push_str(&format!("scope=\"{}\", ", challenge.scope.join(" ")));
    }
    out.push_str(&format!("resource_metadata=\"{}\"", challenge.metadata));
    Some(out)
}

fn title(category: Category, status: StatusCode) -> &'static str {
    match (category, status) {
        (_, StatusCode::UNAUTHORIZED) => "Not authenticated",
        (_, StatusCode::GATEWAY_TIMEOUT) => "Out of time",
        (_, StatusCode::TOO_MANY_REQUESTS) => "Too many calls",
        (Category::Validation, _) => "The input is not right",
        (Category::NotFound, _) => "Not found",
        (Category::Conflict, _) => "The state does not allow this",
        (Category::Forbidden, _) => "Not allowed",
        (Category::Unavailable, _) => "Not available at the moment",
        (Category::Internal, _) => "A failure of the server",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn internal_detail_is_in_no_part_of_a_problem() {
        let refusal = Refusal::internal("flow.internal", "password=hunter2 at db:5432");
        let response = response(&refusal, "c-1", &Challenge::default());
        assert_eq!(response.status(), 500);
        let text = document(&refusal, "c-1").to_canonical();
        assert!(!text.contains("hunter2") && text.contains("c-1"), "{text}");
        assert!(!format!("{:?}", response.headers()).contains("hunter2"));
    }

    #[test]
    fn a_detail_cannot_replace_a_standard_member() {
        let refusal = Refusal::permission_denied("payment.refund")
            .with("status", 200)
            .with("code", "fine")
            .with("instance", "x");
        let problem = document(&refusal, "c");
        assert_eq!(
            problem.get("code").and_then(Json::as_str),
            Some(codes::PERMISSION_DENIED)
        );
        assert_eq!(problem.get("status"), Some(&Json::from(403)));
        assert_eq!(problem.get("instance"), None);
    }

    #[test]
    fn a_challenge_names_the_metadata_and_all_scopes_at_once() {
        let challenge = Challenge {
            metadata: "http://d/x".into(),
            invalid_token: true,
            scope: vec!["a.b".into(), "c.d".into()],
        };
        assert_eq!(
            challenge_of(&Refusal::permission_denied("a.b"), &challenge).unwrap(),
            r#"Bearer error="insufficient_scope", scope="a.b c.d", resource_metadata="http://d/x""#
        );
        let nobody = Challenge {
            invalid_token: false,
            scope: vec![],
            ..challenge
        };
        assert_eq!(
            challenge_of(&Refusal::not_authenticated(), &nobody).unwrap(),
            r#"Bearer resource_metadata="http://d/x""#
        );
        assert_eq!(
            challenge_of(&Refusal::new("a.b", Category::Conflict, ""), &nobody),
            None
        );
    }
}
