//! JSON Web Tokens of an issuer, checked against its keys.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use flowx_manifest::{AgentId, NameError};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use http::request::Parts;
use jsonwebtoken::jwk::KeyAlgorithm;
use jsonwebtoken::{Algorithm, DecodingKey, Validation, decode, decode_header};
use serde_json::{Map, Value};

use super::jwks::{KeyError, Keys, Source};
use super::{Identity, Principal, PrincipalKind, claims};
use crate::refusal::{Refusal, codes};

/// JSON Web Tokens (RFC 9068 access tokens, and the like) of one issuer.
///
/// Checked on every request: the signature against the issuer's keys, with an algorithm of the list (asymmetric ones only) that is also the key's own;
/// `iss`, `aud` (RFC 8707: tokens for another resource are refused), `exp`, `nbf`. `sub` says who. Permissions come from `permission`,
/// `permissions`, `scope` and `scp`; the tenant from `tid` or `tenant_id`.
///
/// Whoever has an `act.sub` (RFC 8693) is an agent or service that acts for `sub`. Which clients are agents is said here with
/// [`Jwt::agent`], never by the token alone; everybody else with an `azp` or `client_id` equal to `sub` is a service.
pub struct Jwt {
    issuer: String,
    algorithms: Vec<Algorithm>,
    validation: Validation,
    keys: Keys,
    agents: BTreeMap<String, AgentId>,
    people: Option<BTreeSet<String>>,
}

/// Why a JWT identity cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum JwtError {
    /// The JWKS file cannot be read.
    #[error("the JWKS file {path} cannot be read: {error}")]
    Read {
        /// The file.
        path: String,
        /// Why.
        error: std::io::Error,
    },
    /// The JWKS document is none.
    #[error("not a JWKS document: {0}")]
    Syntax(#[from] serde_json::Error),
    /// An agent id that is none.
    #[error(transparent)]
    Agent(#[from] NameError),
    /// A shared secret, which whoever checks could also sign with.
    #[error("{0:?} is not for tokens of an issuer; use an asymmetric algorithm")]
    Algorithm(Algorithm),
}

impl Jwt {
    /// Tokens of that issuer for that audience. Keys come from the `jwks_uri` of the issuer's metadata.
    pub fn from_issuer(issuer: impl Into<String>, audience: impl Into<String>) -> Jwt {
        let issuer = issuer.into();
        let algorithms = vec![
            Algorithm::RS256,
            Algorithm::PS256,
            Algorithm::ES256,
            Algorithm::ES384,
            Algorithm::EdDSA,
        ];
        let mut validation = Validation::new(Algorithm::RS256);
        validation.set_issuer(&[&issuer]);
        validation.set_audience(&[audience.into()]);
        validation.set_required_spec_claims(&["exp", "iss", "aud", "sub"]);
        validation.validate_nbf = true;
        validation.leeway = 30;
        let keys = Keys::new(Source::Issuer(issuer.clone()));
        Jwt {
            issuer,
            algorithms,
            validation,
            keys,
            agents: BTreeMap::new(),
            people: None,
        }
    }

    /// Keys from a JWKS document at that URL (https, or http on this machine): cached for ten minutes, fetched anew for an unknown key id.
    #[must_use]
    pub fn jwks_url(mut self, url: impl Into<String>) -> Jwt {
        self.keys = Keys::new(Source::Url(url.into()));
        self
    }

    /// Keys from a JWKS file, read once.
    ///
    /// # Errors
    /// When it cannot be read or is none.
    pub fn jwks_file(self, path: impl AsRef<Path>) -> Result<Jwt, JwtError> {
        let path = path.as_ref();
        let text = std::fs::read_to_string(path).map_err(|error| JwtError::Read {
            path: path.display().to_string(),
            error,
        })?;
        self.jwks(&text)
    }

    /// Keys from the text of a JWKS document.
    ///
    /// # Errors
    /// When it is none.
    pub fn jwks(mut self, text: &str) -> Result<Jwt, JwtError> {
        self.keys = Keys::new(Source::Set(serde_json::from_str(text)?));
        Ok(self)
    }

    /// These algorithms and no others. The default: RS256, PS256, ES256, ES384, EdDSA.
    ///
    /// # Errors
    /// For an algorithm with a shared secret.
    pub fn algorithms(mut self, algorithms: &[Algorithm]) -> Result<Jwt, JwtError> {
        let shared =
            |a: &&Algorithm| matches!(a, Algorithm::HS256 | Algorithm::HS384 | Algorithm::HS512);
        if let Some(algorithm) = algorithms.iter().find(shared) {
            return Err(JwtError::Algorithm(*algorithm));
        }
        self.algorithms = algorithms.to_vec();
        Ok(self)
    }

    /// The client with that id (`azp`, `client_id` or `act.sub` of its tokens) is that declared agent.
    ///
    /// # Errors
    /// When it is not an agent id.
    pub fn agent(mut self, client: impl Into<String>, agent: &str) -> Result<Jwt, JwtError> {
        self.agents.insert(client.into(), AgentId::new(agent)?);
        Ok(self)
    }

    /// Only tokens of these clients (`azp` or `client_id`) are a person's own. Tokens of any other client that is not an agent by
    /// [`Jwt::agent`] are an agent's without a declaration, which has the narrowest leave. Set it where people's tokens reach agents: without it
    /// a token that names no agent is its person's.
    #[must_use]
    pub fn people_use<C: Into<String>>(mut self, clients: impl IntoIterator<Item = C>) -> Jwt {
        self.people = Some(clients.into_iter().map(Into::into).collect());
        self
    }

    async fn check(&self, token: &str) -> Result<Principal, Refusal> {
        let no = |why: String| Refusal::not_authenticated().because(why);
        let header = decode_header(token).map_err(|e| no(format!("not a JWT: {e}")))?;
        let kind = header
            .typ
            .as_deref()
            .unwrap_or("JWT")
            .trim_start_matches("application/")
            .to_ascii_lowercase();
        if !matches!(kind.as_str(), "jwt" | "at+jwt") {
            // RFC 9068 §4: an id token or a proof must not pass as an access token.
            return Err(no(format!("a token of type {kind}")));
        }
        if !self.algorithms.contains(&header.alg) {
            return Err(no(format!("the algorithm {:?}", header.alg)));
        }
        let key = self
            .keys
            .find(header.kid.as_deref())
            .await
            .map_err(|e| match e {
                KeyError::Unknown => no("a key that the issuer does not have".to_owned()),
                KeyError::Unavailable(why) => Refusal::new(
                    codes::UNAVAILABLE,
                    flowx_manifest::Category::Unavailable,
                    "Callers cannot be established at the moment.",
                )
                .because(why),
            })?;
        if key
            .common
            .key_algorithm
            .is_some_and(|a| !same(a, header.alg))
        {
            return Err(no("the key is for another algorithm".to_owned()));
        }
        let key = DecodingKey::from_jwk(&key).map_err(|e| no(format!("an unusable key: {e}")))?;
        let mut validation = self.validation.clone();
        validation.algorithms = vec![header.alg];
        let claims = decode::<Map<String, Value>>(token, &key, &validation)
            .map_err(|e| no(e.to_string()))?
            .claims;
        self.principal(&claims).map_err(|why| no(why.to_owned()))
    }

    /// Whether a token through that client may be a person's own.
    fn is_own(&self, client: Option<&str>) -> bool {
        match &self.people {
            None => true,
            Some(clients) => client.is_some_and(|c| clients.contains(c)),
        }
    }

    fn principal(&self, claims: &Map<String, Value>) -> Result<Principal, &'static str> {
        let word = |name: &str| {
            claims
                .get(name)
                .and_then(Value::as_str)
                .filter(|s| !s.is_empty())
        };
        let subject = word("sub").ok_or("no sub")?;
        let actor = claims
            .get("act")
            .and_then(|a| a["sub"].as_str())
            .filter(|s| !s.is_empty());
        if claims.contains_key("act") && actor.is_none() {
            return Err("an act without a sub");
        }
        let client = actor.or(word("azp")).or(word("client_id"));
        let agent = client
            .or(Some(subject))
            .and_then(|c| self.agents.get(c))
            .cloned();
        let kind = match (&agent, actor, client) {
            (Some(_), ..) => PrincipalKind::Agent,
            (None, ..) if !self.is_own(client) => PrincipalKind::Agent,
            (None, Some(_), _) => PrincipalKind::Service,
            (None, None, Some(client)) if client == subject => PrincipalKind::Service,
            _ => PrincipalKind::Person,
        };
        // An agent whose token is a person's works for that person.
        let through = client.filter(|_| kind == PrincipalKind::Agent);
        let own = actor.or(through).unwrap_or(subject);
        Ok(Principal {
            kind,
            subject: own.to_owned(),
            issuer: self.issuer.clone(),
            tenant: claims::tenant(claims)?,
            permissions: claims::permissions(claims),
            agent,
            on_behalf_of: (own != subject).then(|| subject.to_owned()),
        })
    }
}

impl Identity for Jwt {
    fn authenticate<'a>(
        &'a self,
        token: &'a str,
        _: &'a Parts,
    ) -> BoxFuture<'a, Result<Principal, Refusal>> {
        self.check(token).boxed()
    }

    fn authorization_servers(&self) -> Vec<String> {
        vec![self.issuer.clone()]
    }
}

impl std::fmt::Debug for Jwt {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Jwt")
            .field("issuer", &self.issuer)
            .finish_non_exhaustive()
    }
}

fn same(key: KeyAlgorithm, token: Algorithm) -> bool {
    format!("{key:?}") == format!("{token:?}")
}

#[cfg(test)]
mod tests;
