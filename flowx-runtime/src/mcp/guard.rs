//! What a request's head must be like before anything reads its body.
//!
//! The MCP library takes the first of several equal headers and splits an authority at its first colon, so that
//! `127.0.0.1:8080.evil.example` passes for `127.0.0.1`. A page that rebinds its own name to a loopback address would then reach a
//! server that listens there. Everything here is stricter than the library, and runs before it.

use http::header::{AUTHORIZATION, CONTENT_TYPE, HOST, HeaderName, ORIGIN};
use http::{HeaderMap, StatusCode, Uri};

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
    pub(crate) fn status(&self) -> StatusCode {
        match self {
            HeadRefusal::Twice(_) | HeadRefusal::MalformedHost => StatusCode::BAD_REQUEST,
            HeadRefusal::Host(_) | HeadRefusal::MalformedOrigin | HeadRefusal::Origin(_) => {
                StatusCode::FORBIDDEN
            }
        }
    }
}

/// An entry of `allowed_hosts` or `allowed_origins` that cannot be read.
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
}

impl Guard {
    pub(crate) fn new(hosts: &[String], origins: &[String]) -> Result<Guard, BadAllowed> {
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
        Ok(Guard {
            hosts: hosts.iter().map(host).collect::<Result<_, _>>()?,
            origins: origins.iter().map(origin).collect::<Result<_, _>>()?,
        })
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
        if self.origins.iter().any(allowed) {
            Ok(())
        } else {
            Err(HeadRefusal::Origin(origin.to_owned()))
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
        Guard::new(&loopback, &origins).expect("the entries are well-formed")
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
    fn an_entry_that_cannot_be_read_is_an_error_at_start_up() {
        let bad = |hosts: &[&str], origins: &[&str]| {
            let own = |list: &[&str]| list.iter().map(|s| (*s).to_owned()).collect::<Vec<_>>();
            Guard::new(&own(hosts), &own(origins)).is_err()
        };
        assert!(bad(&["http://localhost"], &[]));
        assert!(bad(&["localhost:*:*"], &[]));
        assert!(bad(&[], &["localhost"]));
        assert!(bad(&[], &["*"]));
    }
}
