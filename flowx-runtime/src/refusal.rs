//! The one "no" of the runtime, whatever said it and whatever transport carries it.

use std::borrow::Cow;
use std::fmt;

use flowx_manifest::{Category, Json};

use crate::traits::FlowError;

/// A typed, expected "no". Carries what a caller may know; what only the operator may know stands in [`Refusal::internal`].
#[derive(Clone, Debug, PartialEq)]
pub struct Refusal {
    /// The code, dotted lower-case (`refund.already_issued`).
    pub code: Cow<'static, str>,
    /// Its category, which decides the HTTP status unless the code has one of its own.
    pub category: Category,
    /// One sentence for the caller.
    pub message: Cow<'static, str>,
    /// Data for the caller: `outcome`, `errors`, `scope`, …
    pub detail: Option<Json>,
    /// For logs alone; never leaves the process.
    internal: Option<Box<str>>,
    /// Whether something that must not be done twice may have been done and not undone.
    pub(crate) standing: bool,
}

/// The codes that the platform itself can answer with.
pub mod codes {
    /// Nobody knows who is calling. 401.
    pub const NOT_AUTHENTICATED: &str = "authorization.not_authenticated";
    /// The caller lacks a permission. 403.
    pub const PERMISSION_DENIED: &str = "authorization.permission_denied";
    /// The input does not meet its contract, or is not JSON that can be trusted. 400.
    pub const INPUT_INVALID: &str = "input.invalid";
    /// The body is larger than the limit. 413.
    pub const INPUT_TOO_LARGE: &str = "input.too_large";
    /// The body is not `application/json`. 415.
    pub const MEDIA_TYPE: &str = "input.unsupported_media_type";
    /// The flow did not end within its deadline. 504.
    pub const DEADLINE_EXCEEDED: &str = "flow.deadline_exceeded";
    /// A step did not end within its timeout, in all its attempts. 504.
    pub const STEP_TIMED_OUT: &str = "step.timed_out";
    /// A defect. 500.
    pub const INTERNAL: &str = "flow.internal";
    /// No such flow, for this caller. 404.
    pub const UNKNOWN_FLOW: &str = "flow.unknown";
    /// No such route. 404.
    pub const UNKNOWN_ROUTE: &str = "http.not_found";
    /// The route knows other methods. 405.
    pub const METHOD: &str = "http.method_not_allowed";
    /// A header that decides something stands twice, or no `Host` that can be read. 400.
    pub const HEAD_MALFORMED: &str = "http.head_malformed";
    /// The server does not answer to that `Host`. 403.
    pub const HOST: &str = "http.host_not_allowed";
    /// Pages of that `Origin` may not call. 403.
    pub const ORIGIN: &str = "http.origin_not_allowed";
    /// The route demands an `Idempotency-Key`. 400.
    pub const KEY_REQUIRED: &str = "http.idempotency_key_required";
    /// The key is malformed. 400.
    pub const KEY_INVALID: &str = "http.idempotency_key_invalid";
    /// The same key came with other input. 422.
    pub const KEY_REUSED: &str = "idempotency.key_reused";
    /// A call with the same key is still running. 409.
    pub const IN_PROGRESS: &str = "idempotency.in_progress";
    /// The body did not come in time. 408.
    pub const INPUT_TOO_SLOW: &str = "input.too_slow";
    /// Too many calls. 429.
    pub const RATE_LIMITED: &str = "limits.rate_exceeded";
    /// Too many sessions. 503.
    pub const SESSIONS: &str = "limits.sessions_exceeded";
    /// Too many connections. 503.
    pub const CONNECTIONS: &str = "limits.connections_exceeded";
    /// The server is going down, or a part of it that is needed cannot be reached. 503.
    pub const UNAVAILABLE: &str = "server.unavailable";
}

impl Refusal {
    /// A refusal with that code and message.
    pub fn new(
        code: impl Into<Cow<'static, str>>,
        category: Category,
        message: impl Into<Cow<'static, str>>,
    ) -> Refusal {
        Refusal {
            code: code.into(),
            category,
            message: message.into(),
            detail: None,
            internal: None,
            standing: false,
        }
    }

    /// Of a flow's or capability's own error.
    pub fn of(error: &dyn AnyFlowError) -> Refusal {
        let category = error.category();
        if category == Category::Internal {
            return Refusal::internal(error.code(), error.message());
        }
        Refusal::new(error.code(), category, error.message())
    }

    /// A defect: the caller reads one fixed sentence, the log reads `what`.
    pub fn internal(code: impl Into<Cow<'static, str>>, what: impl Into<Box<str>>) -> Refusal {
        let mut refusal = Refusal::new(
            code,
            Category::Internal,
            "The server failed at this call; its operator can find it by its correlation id.",
        );
        refusal.internal = Some(what.into());
        refusal
    }

    /// Nobody knows who is calling.
    pub fn not_authenticated() -> Refusal {
        Refusal::new(
            codes::NOT_AUTHENTICATED,
            Category::Forbidden,
            "This needs a caller that is known: send a bearer token.",
        )
    }

    /// The caller lacks that permission.
    pub fn permission_denied(permission: &str) -> Refusal {
        Refusal::new(
            codes::PERMISSION_DENIED,
            Category::Forbidden,
            format!("This needs the permission {permission}."),
        )
        .with("permission", permission)
    }

    /// The same refusal with one more member in its detail.
    #[must_use]
    pub fn with(mut self, member: &str, value: impl Into<Json>) -> Refusal {
        let detail = self.detail.get_or_insert_with(Json::empty);
        if let Some(map) = detail.as_object_mut() {
            map.insert(member.to_owned(), value.into());
        }
        self
    }

    /// The same refusal with something for the log.
    #[must_use]
    pub fn because(mut self, what: impl Into<Box<str>>) -> Refusal {
        self.internal = Some(what.into());
        self
    }

    /// Whether the call may have done something that must not be done twice, and that was not undone: a step that is not idempotent had
    /// begun and did not say no itself. Such a call is not simply made again.
    pub fn may_have_taken_effect(&self) -> bool {
        self.standing
    }

    /// What only the operator may know.
    pub fn operator_detail(&self) -> Option<&str> {
        self.internal.as_deref()
    }

    /// The HTTP status: the code's own where it has one, the category's otherwise.
    pub fn status(&self) -> http::StatusCode {
        use http::StatusCode as S;
        match &*self.code {
            codes::NOT_AUTHENTICATED => S::UNAUTHORIZED,
            codes::DEADLINE_EXCEEDED | codes::STEP_TIMED_OUT => S::GATEWAY_TIMEOUT,
            codes::KEY_REUSED => S::UNPROCESSABLE_ENTITY,
            codes::INPUT_TOO_LARGE => S::PAYLOAD_TOO_LARGE,
            codes::MEDIA_TYPE => S::UNSUPPORTED_MEDIA_TYPE,
            codes::INPUT_TOO_SLOW => S::REQUEST_TIMEOUT,
            codes::METHOD => S::METHOD_NOT_ALLOWED,
            codes::RATE_LIMITED => S::TOO_MANY_REQUESTS,
            "approval.required" => S::PRECONDITION_REQUIRED,
            "approval.too_many_waiting" => S::TOO_MANY_REQUESTS,
            _ => match self.category {
                Category::Validation => S::BAD_REQUEST,
                Category::NotFound => S::NOT_FOUND,
                Category::Conflict => S::CONFLICT,
                Category::Forbidden => S::FORBIDDEN,
                Category::Unavailable => S::SERVICE_UNAVAILABLE,
                Category::Internal => S::INTERNAL_SERVER_ERROR,
            },
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.message, self.code)
    }
}

impl std::error::Error for Refusal {}

/// The part of [`FlowError`] that does not name the type.
pub trait AnyFlowError {
    /// The code.
    fn code(&self) -> &'static str;
    /// Its category.
    fn category(&self) -> Category;
    /// The sentence.
    fn message(&self) -> String;
}

impl<E: FlowError> AnyFlowError for E {
    fn code(&self) -> &'static str {
        FlowError::code(self)
    }
    fn category(&self) -> Category {
        FlowError::category(self)
    }
    fn message(&self) -> String {
        self.to_string()
    }
}
