//! Who calls.

mod bearer;
mod claims;
mod jwks;
mod jwt;
mod request;

use std::collections::BTreeSet;

use flowx_manifest::{AgentId, PermissionName};
use futures_util::future::BoxFuture;
use http::request::Parts;

use crate::refusal::Refusal;

pub use bearer::{BearerTokens, TokenFileError};
pub use jwt::{Jwt, JwtError};
pub(crate) use request::from_request;

/// What kind of somebody a principal is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PrincipalKind {
    /// Nobody known.
    Anonymous,
    /// A person.
    Person,
    /// An AI agent; meets the gate on every transport.
    Agent,
    /// Another program.
    Service,
}

/// Who calls, as established by an [`Identity`] from a credential; never from what the caller says about itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Principal {
    /// What kind of somebody.
    pub kind: PrincipalKind,
    /// Who, unique within the issuer.
    pub subject: String,
    /// Who vouches for it; empty for a token file.
    pub issuer: String,
    /// The tenant, when the credential names one.
    pub tenant: Option<String>,
    /// What it may, exact and case-sensitive.
    pub permissions: BTreeSet<PermissionName>,
    /// The declared agent that it is, when it is one. A principal of kind `Agent` without a declaration has none.
    pub agent: Option<AgentId>,
    /// The subject of the person that an agent or service works for, when the credential names one.
    pub on_behalf_of: Option<String>,
}

impl Principal {
    /// Nobody known.
    pub fn anonymous() -> Principal {
        Principal {
            kind: PrincipalKind::Anonymous,
            subject: String::new(),
            issuer: String::new(),
            tenant: None,
            permissions: BTreeSet::new(),
            agent: None,
            on_behalf_of: None,
        }
    }

    /// Whether anybody is known.
    pub fn is_anonymous(&self) -> bool {
        self.kind == PrincipalKind::Anonymous
    }

    /// Whether it holds that permission.
    pub fn holds(&self, permission: &str) -> bool {
        !self.is_anonymous() && self.permissions.contains(permission)
    }

    /// A text that is equal for equal principals and for no others, to bind sessions, keys and records to. Each part carries its
    /// length, so that no two principals run together.
    pub fn key(&self) -> String {
        let kind = match self.kind {
            PrincipalKind::Anonymous => "anonymous",
            PrincipalKind::Person => "person",
            PrincipalKind::Agent => "agent",
            PrincipalKind::Service => "service",
        };
        let tenant = self.tenant.as_deref().unwrap_or("");
        let on_behalf_of = self.on_behalf_of.as_deref().unwrap_or("");
        let mut key = String::from(kind);
        for part in [self.issuer.as_str(), &self.subject, tenant, on_behalf_of] {
            key.push_str(&format!("|{}:{part}", part.len()));
        }
        key
    }
}

/// What somebody who called before is now, without a token of theirs; see [`Identity::current`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Current {
    /// Still somebody, with these permissions now.
    Known(BTreeSet<PermissionName>),
    /// Nobody any more: revoked, expired, gone.
    Gone,
    /// This identity knows people by their tokens alone, and cannot say.
    CannotSay,
}

/// Establishes who calls from the bearer token of a request.
pub trait Identity: Send + Sync + 'static {
    /// The principal that the token stands for. The token is never in the refusal.
    ///
    /// # Errors
    /// [`Refusal::not_authenticated`] for a token that stands for nobody; `server.unavailable` when that cannot be established now.
    fn authenticate<'a>(
        &'a self,
        token: &'a str,
        parts: &'a Parts,
    ) -> BoxFuture<'a, Result<Principal, Refusal>>;

    /// What that principal may now, looked up without its token: asked when a person's yes is to run what it asked for earlier, so that
    /// a permission or a token that was taken away meanwhile is not used. The run has at most what this says, what it had when it asked,
    /// and what the approver has. What cannot be said is believed for a time; see [`GateOptions::believe_asker`](crate::GateOptions).
    ///
    /// # Errors
    /// When it cannot be established now. The yes is refused then, and nothing has happened.
    fn current<'a>(&'a self, who: &'a Principal) -> BoxFuture<'a, Result<Current, Refusal>> {
        let _ = who;
        Box::pin(std::future::ready(Ok(Current::CannotSay)))
    }

    /// The authorization servers whose tokens are taken, for RFC 9728 metadata. Empty when there is none.
    fn authorization_servers(&self) -> Vec<String> {
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_holds_anything_whatever_stands_beside_the_name() {
        let mut nobody = Principal::anonymous();
        nobody
            .permissions
            .extend(["payment.refund".parse::<PermissionName>().unwrap()]);
        assert!(!nobody.holds("payment.refund"));
    }

    #[test]
    fn principals_that_differ_have_keys_that_differ() {
        let of = |issuer: &str, subject: &str, tenant: Option<&str>| Principal {
            kind: PrincipalKind::Person,
            issuer: issuer.to_owned(),
            subject: subject.to_owned(),
            tenant: tenant.map(str::to_owned),
            ..Principal::anonymous()
        };
        let all = [
            of("i", "a", None),
            of("i", "b", None),
            of("ia", "", None),
            of("", "ia", None),
            of("i", "a", Some("t")),
            of("i", "a|1:t", None),
            Principal {
                kind: PrincipalKind::Agent,
                ..of("i", "a", None)
            },
            Principal {
                on_behalf_of: Some("a".to_owned()),
                ..of("i", "a", None)
            },
        ];
        let keys: BTreeSet<String> = all.iter().map(Principal::key).collect();
        assert_eq!(keys.len(), all.len());
    }
}
