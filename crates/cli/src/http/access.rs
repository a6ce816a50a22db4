//! Who may ask: sizes, the Host header, the Origin header, and the token for actions.
//!
//! The Host and Origin rules keep pages of other sites from using a browser on this machine or in
//! this network as their messenger: a name that its owner makes lead here (DNS rebinding) is not
//! one that this node answers to, and a page of another origin is refused even for reading.

use std::fmt;
use std::io::Read as _;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::path::Path;

use hyper::header::{AUTHORIZATION, HOST, HeaderMap, ORIGIN};
use hyper::{Request, Version};
use subtle::ConstantTimeEq;
use tanist::private_file;

use super::refusal::Refusal;
use crate::config::HttpTable;

use super::{HEADER_COUNT_MAX, HEADERS_MAX, HttpError, PATH_MAX, Site, SocketKind};

/// Whether a request may be answered at all, and if a page asks, of which origin.
pub(super) fn admit<B>(
    site: &Site,
    socket: SocketKind,
    request: &Request<B>,
) -> Result<Option<String>, Refusal> {
    let path = request.uri().path_and_query().map_or(0, |path| path.as_str().len());
    if path > PATH_MAX {
        return Err(Refusal::PathTooLong);
    }
    let headers = request.headers();
    let length: usize = headers.iter().map(|(name, value)| name.as_str().len() + value.len()).sum();
    if length > HEADERS_MAX || headers.len() > HEADER_COUNT_MAX {
        return Err(Refusal::HeadersTooLong);
    }
    match socket {
        // No browser gets there.
        SocketKind::Unix => Ok(None),
        SocketKind::Tcp => {
            let host = host(site, request)?;
            origin(site, headers, host.as_deref())
        }
    }
}

/// Whom the request is for, if it says so.
fn host<B>(site: &Site, request: &Request<B>) -> Result<Option<String>, Refusal> {
    let named = request.uri().authority().map(|authority| authority.as_str().as_bytes());
    let mut headers = request.headers().get_all(HOST).iter();
    let header = headers.next().map(|host| host.as_bytes());
    let Some(host) = named.or(header) else {
        // HTTP/1.0 knows no Host; load balancers use it, browsers do not.
        let is_old = request.version() == Version::HTTP_10;
        return if is_old { Ok(None) } else { Err(Refusal::NoHost) };
    };
    let host = String::from_utf8_lossy(host).to_ascii_lowercase();
    let name = without_port(&host);
    let is_ours = name == "localhost"
        || name.parse::<Ipv4Addr>().is_ok()
        || name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).is_some_and(is_ipv6)
        || allows(&site.agent.config().http.allowed_hosts, name);
    if is_ours && headers.next().is_none() {
        Ok(Some(host))
    } else {
        Err(Refusal::UnknownHost(host))
    }
}

fn is_ipv6(name: &str) -> bool {
    name.parse::<Ipv6Addr>().is_ok()
}

fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        Some(_) | None => host,
    }
}

/// Of which origin the asking page is, if it is one.
fn origin(site: &Site, headers: &HeaderMap, host: Option<&str>) -> Result<Option<String>, Refusal> {
    let Some(origin) = headers.get(ORIGIN) else { return Ok(None) };
    let origin = String::from_utf8_lossy(origin.as_bytes()).to_ascii_lowercase();
    // With a proxy for TLS before this node, the origin has https.
    let place = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
    let is_same = place.is_some() && place == host;
    let is_allowed = allows(&site.agent.config().http.allowed_origins, &origin);
    if is_same || is_allowed { Ok(Some(origin)) } else { Err(Refusal::ForeignOrigin(origin)) }
}

fn allows(list: &[String], name: &str) -> bool {
    list.iter().any(|allowed| allowed.eq_ignore_ascii_case(name))
}

/// Whether the sender may make the node do something.
pub(super) fn authorize(
    site: &Site,
    socket: SocketKind,
    headers: &HeaderMap,
) -> Result<(), Refusal> {
    match socket {
        // The socket accepts only trusted users.
        SocketKind::Unix => return Ok(()),
        SocketKind::Tcp => {}
    }
    let Some(token) = site.token() else { return Err(Refusal::ActionsOff) };
    let Some(given) = headers.get(AUTHORIZATION) else { return Err(Refusal::NoToken) };
    let given = given.as_bytes();
    let Some((scheme, given)) = given.split_at_checked(BEARER.len()) else {
        return Err(Refusal::NoToken);
    };
    if !scheme.eq_ignore_ascii_case(BEARER) {
        return Err(Refusal::NoToken);
    }
    if token.is(given.trim_ascii()) { Ok(()) } else { Err(Refusal::WrongToken) }
}

/// What allows actions over the network.
#[derive(Clone)]
pub(super) struct Token(String);

impl Token {
    /// The one that a configuration names, if it names one.
    pub(super) fn of(config: &HttpTable) -> Result<Option<Self>, HttpError> {
        config.token_file.as_deref().map(Self::read).transpose()
    }

    /// Reads it from a file that no other user can read.
    fn read(path: &Path) -> Result<Self, HttpError> {
        let fail = |cause| HttpError::TokenFile { path: path.to_owned(), cause };
        let file = private_file::open(path).map_err(HttpError::TokenPrivate)?;
        let mut text = String::new();
        file.take(TOKEN_FILE_MAX).read_to_string(&mut text).map_err(fail)?;
        let token = text.trim();
        let is_plain = token.bytes().all(|byte| byte.is_ascii_graphic());
        if token.len() < TOKEN_MIN || !is_plain {
            return Err(HttpError::TokenWeak { path: path.to_owned() });
        }
        Ok(Self(token.to_owned()))
    }

    /// Whether these bytes are the token; how long that takes depends on their number alone.
    fn is(&self, given: &[u8]) -> bool {
        self.0.as_bytes().ct_eq(given).into()
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

const BEARER: &[u8] = b"Bearer ";
/// What is longer is another file.
const TOKEN_FILE_MAX: u64 = 64 * 1024;
/// Less can be guessed.
pub(super) const TOKEN_MIN: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_port_is_no_part_of_the_name() {
        for (host, name) in [
            ("10.0.0.1:7480", "10.0.0.1"),
            ("[::1]:7480", "[::1]"),
            ("[::1]", "[::1]"),
            ("localhost", "localhost"),
            ("n1.example:80", "n1.example"),
        ] {
            assert_eq!(without_port(host), name);
        }
    }

    #[test]
    fn a_token_never_shows_and_is_equal_only_to_itself() {
        let token = Token("0123456789abcdef".to_owned());
        assert!(!format!("{token:?}").contains('0'));
        assert!(token.is(b"0123456789abcdef"));
        assert!(!token.is(b"0123456789abcdeF") && !token.is(b"0123456789abcde") && !token.is(b""));
    }
}
