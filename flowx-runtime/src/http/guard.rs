//! What a request's head must be like before anything reads its body: one guard for every address of the server.
//!
//! A page that rebinds its own name to a loopback or private address makes the browser a caller inside. It sends its own name as `Host`, so
//! a server that answers to its own names alone is out of its reach; a foreign page that calls a right name sends its `Origin`.
//!
//! The MCP library takes the first of several equal headers and splits an authority at its first colon, so that
//! `127.0.0.1:8080.evil.example` passes for `127.0.0.1`. Everything here is stricter than the library, and runs before it.

use std::sync::Arc;

use ::http::header::{AUTHORIZATION, CONTENT_TYPE, HOST, HeaderName, ORIGIN};
use ::http::{HeaderMap, Uri};
use axum::Router;
use axum::extract::{Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::Response;
use flowx_manifest::Category;

use super::problem::{self, Challenge};
use super::request::correlation_id;
use crate::refusal::{Refusal, codes};

/// Asked by address by whatever watches over the server, and tells nothing that a page could use.
const OPEN: &str = "/flowx/health";

/// Headers that must not stand twice: two readers could choose two values.
const SINGLE: [HeaderName; 9] = [
    HOST,
    ORIGIN,
    AUTHORIZATION,
    CONTENT_TYPE,
    HeaderName::from_static("mcp-protocol-version"),
    HeaderName::from_static("mcp-session-id"),
    HeaderName::from_static("mcp-method"),
    HeaderName::from_static("mcp-name"),
    HeaderName::from_static("last-event-id"),
];

/// Why a request's head was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum HeadRefusal {
    /// A header that may stand once stands twice.
    #[error("the header {0} stands more than once")]
    Twice(HeaderName),
    /// No host, or one that is not `name`, `name:port`, an address, or `[address]:port`.
    #[error("the Host header is missing or malformed")]
    MalformedHost,
    /// A host that this server does not answer to.
    #[error(
        "this server does not answer to the host {0:?}; allow it with `McpOptions::allowed_hosts`"
    )]
    Host(String),
    /// Not `scheme://host[:port]`.
    #[error("the Origin header is malformed")]
    MalformedOrigin,
    /// An origin whose pages may not call this server.
    #[error(
        "pages of {0:?} may not call this server; allow them with `McpOptions::allowed_origins`"
    )]
    Origin(String),
}

impl HeadRefusal {
    fn refusal(&self) -> Refusal {
        let (code, category) = match self {
            HeadRefusal::Twice(_) | HeadRefusal::MalformedHost => {
                (codes::HEAD_MALFORMED, Category::Validation)
            }
            HeadRefusal::Host(_) => (codes::HOST, Category::Forbidden),
            HeadRefusal::MalformedOrigin | HeadRefusal::Origin(_) => {
                (codes::ORIGIN, Category::Forbidden)
            }
        };
        Refusal::new(code, category, self.to_string())
    }
}

/// An entry of `allowed_hosts` or `allowed_origins`, or a public URL, that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{entry:?} is not {expected}")]
pub struct BadAllowed {
    /// The entry.
    pub entry: String,
    /// What it should look like.
    pub expected: &'static str,
}

/// Who may be addressed, and from which pages.
#[derive(Clone, Debug)]
pub(crate) struct Guard {
    hosts: Vec<Authority>,
    origins: Vec<(String, Authority)>,
    /// Whether a page that this server itself served is told by the `Host` that it was asked under. Where there is a public URL, that says it.
    own_pages_by_host: bool,
}

impl Guard {
    /// `public` is where the server is for the world; it answers to that name, and its own pages come from there.
    pub(crate) fn new(
        hosts: &[String],
        origins: &[String],
        public: Option<&str>,
    ) -> Result<Guard, BadAllowed> {
        let host = |entry: &String| {
            Authority::parse_allowed(entry).ok_or_else(|| BadAllowed {
                entry: entry.clone(),
                expected: "a host, `host:port` or `host:*`",
            })
        };
        let origin = |entry: &String| {
            let bad = || BadAllowed {
                entry: entry.clone(),
                expected: "an origin: `scheme://host`, `scheme://host:port` or `scheme://host:*`",
            };
            let (scheme, authority) = entry.split_once("://").ok_or_else(bad)?;
            let mut authority = Authority::parse_allowed(authority)
                .filter(|_| is_scheme(scheme))
                .ok_or_else(bad)?;
            // An origin is written without a port when it is the scheme's own (RFC 6454, section 6.2).
            if authority.port == Port::Unsaid {
                authority.port = default_port(scheme).map_or(Port::Unsaid, Port::Is);
            }
            Ok((scheme.to_ascii_lowercase(), authority))
        };
        let mut hosts: Vec<Authority> = hosts.iter().map(host).collect::<Result<_, _>>()?;
        let mut origins: Vec<_> = origins.iter().map(origin).collect::<Result<_, _>>()?;
        if let Some(url) = public {
            // The address of a server may go on with a path; an origin does not.
            let end = url.find("://").map_or(0, |at| at + 3);
            let end = url[end..].find('/').map_or(url.len(), |at| end + at);
            let (scheme, authority) = origin(&url[..end].to_owned()).map_err(|_| BadAllowed {
                entry: url.to_owned(),
                expected: "where the server is for the world: `https://desk.example`",
            })?;
            // On any port: a proxy in front passes on what it likes.
            hosts.push(Authority {
                port: Port::Any,
                ..authority.clone()
            });
            origins.push((scheme, authority));
        }
        Ok(Guard {
            hosts,
            origins,
            own_pages_by_host: public.is_none(),
        })
    }

    /// Puts the guard before every address of that router.
    pub(crate) fn before<S: Clone + Send + Sync + 'static>(self, router: Router<S>) -> Router<S> {
        router.layer(from_fn_with_state(Arc::new(self), guarded))
    }

    /// Refuses a head that two readers could read differently, that is not addressed to this server, or that a page of a
    /// foreign origin sent.
    pub(crate) fn check(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), HeadRefusal> {
        for name in SINGLE {
            if headers.get_all(&name).iter().nth(1).is_some() {
                return Err(HeadRefusal::Twice(name));
            }
        }
        let host = match headers.get(HOST) {
            Some(value) => value.to_str().map_err(|_| HeadRefusal::MalformedHost)?,
            // HTTP/2 puts it into the request line.
            None => uri
                .authority()
                .map(|a| a.as_str())
                .ok_or(HeadRefusal::MalformedHost)?,
        };
        let asked = Authority::parse(host).ok_or(HeadRefusal::MalformedHost)?;
        if let Some(line) = uri.authority()
            && Authority::parse(line.as_str()).as_ref() != Some(&asked)
        {
            return Err(HeadRefusal::MalformedHost);
        }
        if !self
            .hosts
            .iter()
            .any(|allowed| allowed.host == asked.host && allowed.port.allows(asked.port))
        {
            return Err(HeadRefusal::Host(host.to_owned()));
        }
        let Some(origin) = headers.get(ORIGIN) else {
            return Ok(());
        };
        let origin = origin.to_str().map_err(|_| HeadRefusal::MalformedOrigin)?;
        let (scheme, authority) = origin
            .split_once("://")
            .ok_or(HeadRefusal::MalformedOrigin)?;
        let mut from = Authority::parse(authority)
            .filter(|_| is_scheme(scheme))
            .ok_or(HeadRefusal::MalformedOrigin)?;
        let scheme = scheme.to_ascii_lowercase();
        if from.port == Port::Unsaid {
            from.port = default_port(&scheme).map_or(Port::Unsaid, Port::Is);
        }
        let allowed = |(s, a): &(String, Authority)| {
            *s == scheme && a.host == from.host && a.port.allows_exactly(from.port)
        };
        let own = || {
            self.own_pages_by_host
                && scheme == "http"
                && asked.host == from.host
                && (asked.port == from.port
                    || asked.port == Port::Unsaid && from.port == Port::Is(80))
        };
        if self.origins.iter().any(allowed) || own() {
            Ok(())
        } else {
            Err(HeadRefusal::Origin(origin.to_owned()))
        }
    }
}

async fn guarded(State(guard): State<Arc<Guard>>, request: Request, next: Next) -> Response {
    if request.uri().path() == OPEN {
        return next.run(request).await;
    }
    match guard.check(request.uri(), request.headers()) {
        Ok(()) => next.run(request).await,
        Err(refused) => {
            tracing::warn!(%refused, "a request was refused at its head");
            let id = correlation_id(request.headers());
            problem::response(&refused.refusal(), &id, &Challenge::default())
        }
    }
}

fn is_scheme(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
}

fn default_port(scheme: &str) -> Option<u16> {
    match scheme {
        "http" => Some(80),
        "https" => Some(443),
        _ => None,
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Port {
    Unsaid,
    Any,
    Is(u16),
}

impl Port {
    /// An allowed host without a port answers on any.
    fn allows(self, asked: Port) -> bool {
        matches!(self, Port::Unsaid | Port::Any) || self == asked
    }

    fn allows_exactly(self, asked: Port) -> bool {
        self == Port::Any || self == asked
    }
}

/// A host, in lower case, and a port.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Authority {
    host: String,
    port: Port,
}

impl Authority {
    /// `name`, `name:port`, `1.2.3.4:port`, `[::1]:port`, and nothing else: no user, no path, no second colon.
    fn parse(text: &str) -> Option<Authority> {
        let (host, port) = match text.strip_prefix('[') {
            Some(rest) => {
                let (address, port) = rest.split_once(']')?;
                let address: std::net::Ipv6Addr = address.parse().ok()?;
                (format!("[{address}]"), port)
            }
            None => {
                let end = text.find(':').unwrap_or(text.len());
                let (name, port) = text.split_at(end);
                let is_label = |label: &str| {
                    !label.is_empty()
                        && label
                            .bytes()
                            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'))
                };
                if !name.split('.').all(is_label) {
                    return None;
                }
                (name.to_ascii_lowercase(), port)
            }
        };
        let port = match port.strip_prefix(':') {
            None if port.is_empty() => Port::Unsaid,
            Some(digits) if digits.bytes().all(|b| b.is_ascii_digit()) => {
                Port::Is(digits.parse().ok()?)
            }
            _ => return None,
        };
        Some(Authority { host, port })
    }

    fn parse_allowed(entry: &str) -> Option<Authority> {
        match entry.strip_suffix(":*") {
            Some(host) => {
                let authority = Authority::parse(host)?;
                (authority.port == Port::Unsaid).then_some(Authority {
                    port: Port::Any,
                    ..authority
                })
            }
            None => Authority::parse(entry),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guard() -> Guard {
        let loopback = ["localhost", "127.0.0.1", "[::1]", "desk.example:8443"].map(str::to_owned);
        let origins = [
            "http://localhost:*",
            "https://app.example",
            "http://dev.example:8080",
        ]
        .map(str::to_owned);
        Guard::new(&loopback, &origins, None).expect("the entries are well-formed")
    }

    fn check(pairs: &[(&str, &str)]) -> Result<(), HeadRefusal> {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(
                HeaderName::from_bytes(name.as_bytes()).expect("a name"),
                value.parse().expect("a value"),
            );
        }
        guard().check(&Uri::from_static("/mcp"), &headers)
    }

    #[test]
    fn a_host_that_only_begins_like_an_allowed_one_is_refused() {
        for host in [
            "127.0.0.1:8080.evil.example",
            "127.0.0.1.evil.example",
            "localhost@evil.example",
            "localhost:80:90",
            "",
            "a..b",
            "[::1",
        ] {
            assert!(check(&[("host", host)]).is_err(), "{host}");
        }
        for host in [
            "127.0.0.1:8080",
            "LOCALHOST",
            "[::1]:9",
            "[0:0:0:0:0:0:0:1]",
            "desk.example:8443",
        ] {
            assert_eq!(check(&[("host", host)]), Ok(()), "{host}");
        }
        assert_eq!(
            check(&[("host", "desk.example:80")]),
            Err(HeadRefusal::Host("desk.example:80".to_owned()))
        );
    }

    #[test]
    fn a_request_without_a_host_is_refused() {
        assert_eq!(check(&[]), Err(HeadRefusal::MalformedHost));
    }

    #[test]
    fn an_authority_in_the_request_line_must_agree_with_the_host() {
        let mut headers = HeaderMap::new();
        headers.insert(HOST, "localhost".parse().expect("a value"));
        let same = Uri::from_static("http://localhost/mcp");
        let other = Uri::from_static("http://evil.example/mcp");
        assert_eq!(guard().check(&same, &headers), Ok(()));
        assert_eq!(
            guard().check(&other, &headers),
            Err(HeadRefusal::MalformedHost)
        );
        assert_eq!(guard().check(&same, &HeaderMap::new()), Ok(()));
    }

    #[test]
    fn any_header_that_decides_something_may_stand_once_only() {
        for name in SINGLE {
            let mut pairs = vec![
                ("host", "localhost"),
                (name.as_str(), "localhost"),
                (name.as_str(), "localhost"),
            ];
            if name == HOST {
                pairs.remove(0);
            }
            assert_eq!(check(&pairs), Err(HeadRefusal::Twice(name.clone())));
        }
    }

    #[test]
    fn an_origin_is_matched_whole() {
        for origin in [
            "http://localhost:6274",
            "http://localhost",
            "https://app.example",
            "https://app.example:443",
            "http://dev.example:8080",
        ] {
            assert_eq!(
                check(&[("host", "localhost"), ("origin", origin)]),
                Ok(()),
                "{origin}"
            );
        }
        for origin in [
            "http://localhost:6274.evil.example",
            "http://evil.example",
            "https://app.example:8443",
            "http://app.example",
            "https://localhost",
            "http://localhost/path",
            "http://user@localhost",
            "null",
            "",
        ] {
            assert!(
                check(&[("host", "localhost"), ("origin", origin)]).is_err(),
                "{origin}"
            );
        }
    }

    #[test]
    fn a_page_of_this_server_may_call_it_and_a_page_beside_it_may_not() {
        let from = |guard: &Guard, host: &str, origin: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(HOST, host.parse().expect("a value"));
            headers.insert(ORIGIN, origin.parse().expect("a value"));
            guard.check(&Uri::from_static("/"), &headers).is_ok()
        };
        let named = Guard::new(&["desk.example".to_owned()], &[], None).expect("well-formed");
        assert!(from(&named, "desk.example", "http://desk.example"));
        assert!(from(
            &named,
            "desk.example:8080",
            "http://desk.example:8080"
        ));
        for origin in [
            "http://desk.example:8081",
            "https://desk.example",
            "http://evil.example",
        ] {
            assert!(!from(&named, "desk.example:8080", origin), "{origin}");
        }
        assert!(
            !from(&named, "evil.example", "http://evil.example"),
            "a rebound name is same-origin with itself"
        );
        let public = Guard::new(&[], &[], Some("https://desk.example/base/")).expect("well-formed");
        assert!(from(&public, "desk.example", "https://desk.example"));
        assert!(from(&public, "desk.example:8080", "https://desk.example"));
        assert!(
            !from(&public, "desk.example", "http://desk.example"),
            "an unencrypted page is not the server's own"
        );
    }

    #[test]
    fn an_entry_that_cannot_be_read_is_an_error_at_start_up() {
        let bad = |hosts: &[&str], origins: &[&str]| {
            let own = |list: &[&str]| list.iter().map(|s| (*s).to_owned()).collect::<Vec<_>>();
            Guard::new(&own(hosts), &own(origins), None).is_err()
        };
        for public in ["desk.example", "https://", "https://a b/"] {
            assert!(Guard::new(&[], &[], Some(public)).is_err(), "{public}");
        }
        assert!(bad(&["http://localhost"], &[]));
        assert!(bad(&["localhost:*:*"], &[]));
        assert!(bad(&[], &["localhost"]));
        assert!(bad(&[], &["*"]));
    }
}
