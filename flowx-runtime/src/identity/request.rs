//! The credential of a request: one `Authorization: Bearer` header, nowhere else.

use http::header::AUTHORIZATION;
use http::request::Parts;

use super::{Identity, Principal};
use crate::refusal::Refusal;

/// Longer tokens are not looked at.
const LONGEST_TOKEN: usize = 8 * 1024;

/// Who calls; anonymous without a credential.
pub(crate) async fn from_request(
    identity: Option<&dyn Identity>,
    parts: &Parts,
) -> Result<Principal, Refusal> {
    if parts.uri.query().is_some_and(names_a_token) {
        // RFC 6750 §5.3: such a token stands in logs by now.
        return Err(Refusal::not_authenticated().because("a token in the query string"));
    }
    let mut headers = parts.headers.get_all(AUTHORIZATION).iter();
    let Some(header) = headers.next() else {
        return Ok(Principal::anonymous());
    };
    if headers.next().is_some() {
        return Err(Refusal::not_authenticated().because("two Authorization headers"));
    }
    let token = header
        .to_str()
        .ok()
        .and_then(bearer)
        .ok_or_else(|| Refusal::not_authenticated().because("not a bearer token"))?;
    match identity {
        Some(identity) => identity.authenticate(token, parts).await,
        None => {
            Err(Refusal::not_authenticated().because("a token came, and no identity is configured"))
        }
    }
}

/// The token of `Bearer TOKEN`; the scheme in any case, the token in RFC 6750's alphabet.
fn bearer(header: &str) -> Option<&str> {
    let (scheme, token) = header.split_once(' ')?;
    let token = token.trim();
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"-._~+/=".contains(&b);
    (scheme.eq_ignore_ascii_case("bearer")
        && !token.is_empty()
        && token.len() <= LONGEST_TOKEN
        && token.bytes().all(plain))
    .then_some(token)
}

fn names_a_token(query: &str) -> bool {
    query
        .split('&')
        .any(|pair| pair.split('=').next() == Some("access_token"))
}

#[cfg(test)]
mod tests {
    use super::bearer;

    #[test]
    fn only_one_plain_bearer_token_is_read() {
        assert_eq!(bearer("Bearer abc.def"), Some("abc.def"));
        assert_eq!(bearer("bearer abc"), Some("abc"));
        for wrong in [
            "Basic abc",
            "Bearer",
            "Bearer ",
            "Bearer a b",
            "Bearer a,b",
            "abc",
        ] {
            assert_eq!(bearer(wrong), None, "{wrong}");
        }
    }
}
