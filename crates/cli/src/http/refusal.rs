//! Why a request was not answered with what it asked for.
//!
//! Every refusal is JSON of one shape: `{"error": {"code", "text", "hint"}}`. Codes stay as they
//! are; texts and hints are for people and may change.

use std::time::Duration;

use hyper::StatusCode;
use serde_json::json;

use super::answer::{Reply, json};

/// Why a request was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Refusal {
    /// No route has this path.
    #[error("there is nothing at {0}")]
    UnknownPath(String),
    /// The path is the old name of another one.
    #[error("{old} is called {new}; nothing was done")]
    RenamedPath {
        /// Asked for.
        old: String,
        /// What is there instead.
        new: &'static str,
    },
    /// The path takes other methods.
    #[error("{method} cannot be used here, only {allow}")]
    WrongMethod {
        /// What was tried.
        method: String,
        /// What may be.
        allow: &'static str,
    },
    /// Neither a Host header nor an address in the request line.
    #[error("the request does not say whom it is for")]
    NoHost,
    /// The request is for another host: a name that was made to lead here, perhaps.
    #[error("this node does not answer for `{0}`")]
    UnknownHost(String),
    /// A page of another origin asks.
    #[error("pages of {0} may not ask this node")]
    ForeignOrigin(String),
    /// An action without a token.
    #[error("actions over the network need a token, and the request has none")]
    NoToken,
    /// An action with another token.
    #[error("this is not the token of this node")]
    WrongToken,
    /// The node takes no actions over the network.
    #[error("this node takes no actions over the network: it has no token")]
    ActionsOff,
    /// Too many headers, or too long.
    #[error(
        "the headers are longer than {} bytes or more than {}",
        super::HEADERS_MAX,
        super::HEADER_COUNT_MAX
    )]
    HeadersTooLong,
    /// The path with its query is too long.
    #[error("the path is longer than {} bytes", super::PATH_MAX)]
    PathTooLong,
    /// The body is too long.
    #[error("the body is longer than {} bytes", super::BODY_MAX)]
    BodyTooLong,
    /// The request did not come in time.
    #[error("the request did not come within {0:?}")]
    Slow(Duration),
    /// The body broke off or is not what was asked for.
    #[error("the body cannot be used: {0}")]
    BadBody(String),
    /// The body is not declared as JSON.
    #[error("a body must be application/json, not {0}")]
    NotJson(String),
    /// The query cannot be used.
    #[error("the query cannot be used: {0}")]
    BadQuery(String),
    /// As many clients watch or wait as may.
    #[error("{0} clients watch or wait already, and no more may")]
    TooManyWatchers(usize),
    /// Only health is answered on this connection.
    #[error(
        "all places for connections are taken, or all of your address; on this connection only \
         health is answered"
    )]
    TooManyConnections,
    /// The node has stopped.
    #[error("the node has stopped")]
    Ended,
    /// The node does not answer.
    #[error("the node did not answer within {0:?}")]
    Silent(Duration),
    /// The group is another than the one that the action was meant for.
    #[error("the action was meant for group {expected}, but the node is in {found}")]
    GroupChanged {
        /// Meant.
        expected: String,
        /// There.
        found: String,
    },
    /// The action cannot be done.
    #[error("{0}")]
    Refused(String),
    /// The action takes longer than a client should wait.
    #[error("the action was begun and was not done within {0:?}")]
    Unfinished(Duration),
    /// There is no majority that could make a leader the primary.
    #[error("no node is a primary: each part of a cut network may have a leader of its own")]
    NoPrimary,
}

impl Refusal {
    /// The answer.
    pub(super) fn reply(&self) -> Reply {
        let (status, code, hint) = self.parts();
        let what = json!({"error": {"code": code, "text": self.to_string(), "hint": hint}});
        let mut reply = json(status, &what);
        let mut head = |name: &'static str, value: &'static str| {
            reply.headers_mut().insert(name, hyper::header::HeaderValue::from_static(value));
        };
        match self {
            Self::WrongMethod { allow, .. } => head("allow", allow),
            Self::NoToken | Self::WrongToken => {
                head("www-authenticate", "Bearer realm=\"tanist\"");
            }
            Self::TooManyWatchers(_) => head("retry-after", "5"),
            Self::TooManyConnections => {
                head("retry-after", "5");
                head("connection", "close");
            }
            Self::HeadersTooLong
            | Self::PathTooLong
            | Self::BodyTooLong
            | Self::Slow(_)
            | Self::BadBody(_) => {
                // What is left of the request is not read.
                head("connection", "close");
            }
            Self::UnknownPath(_)
            | Self::RenamedPath { .. }
            | Self::NoHost
            | Self::UnknownHost(_)
            | Self::ForeignOrigin(_)
            | Self::ActionsOff
            | Self::NotJson(_)
            | Self::BadQuery(_)
            | Self::Ended
            | Self::Silent(_)
            | Self::GroupChanged { .. }
            | Self::Refused(_)
            | Self::Unfinished(_)
            | Self::NoPrimary => {}
        }
        reply
    }

    /// The status, the code that programs match, and what to do next.
    const fn parts(&self) -> (StatusCode, &'static str, &'static str) {
        match self {
            Self::UnknownPath(_) | Self::RenamedPath { .. } => {
                (StatusCode::NOT_FOUND, "unknown_path", "GET /v1/openapi.json lists all paths")
            }
            Self::WrongMethod { .. } => {
                (StatusCode::METHOD_NOT_ALLOWED, "wrong_method", "see the header Allow")
            }
            Self::NoHost => (StatusCode::BAD_REQUEST, "no_host", "send a Host header"),
            Self::UnknownHost(_) => (
                StatusCode::MISDIRECTED_REQUEST,
                "unknown_host",
                "ask by address, or add the name to allowed_hosts in the table [http]",
            ),
            Self::ForeignOrigin(_) => (
                StatusCode::FORBIDDEN,
                "foreign_origin",
                "add the origin to allowed_origins in the table [http], if you trust its pages",
            ),
            Self::NoToken => (
                StatusCode::UNAUTHORIZED,
                "no_token",
                "send Authorization: Bearer TOKEN, or use the Unix socket on the machine itself",
            ),
            Self::WrongToken => (
                StatusCode::UNAUTHORIZED,
                "wrong_token",
                "send what stands in the file that token_file in the table [http] names",
            ),
            Self::ActionsOff => (
                StatusCode::FORBIDDEN,
                "actions_off",
                "put a long random line into a file of mode 0600, name it as token_file in the \
                 table [http] and restart; or use the Unix socket on the machine itself",
            ),
            Self::HeadersTooLong => (
                StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
                "headers_too_long",
                "send fewer or shorter headers",
            ),
            Self::PathTooLong => {
                (StatusCode::URI_TOO_LONG, "path_too_long", "GET /v1/openapi.json lists all paths")
            }
            Self::BodyTooLong => {
                (StatusCode::PAYLOAD_TOO_LARGE, "body_too_long", "no action needs that much")
            }
            Self::Slow(_) => (StatusCode::REQUEST_TIMEOUT, "slow", "send it again, all at once"),
            Self::BadBody(_) => {
                (StatusCode::BAD_REQUEST, "bad_body", "GET /v1/openapi.json describes all bodies")
            }
            Self::NotJson(_) => (
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                "not_json",
                "send Content-Type: application/json, or no body",
            ),
            Self::BadQuery(_) => {
                (StatusCode::BAD_REQUEST, "bad_query", "GET /v1/openapi.json describes all queries")
            }
            Self::TooManyWatchers(_) => {
                (StatusCode::SERVICE_UNAVAILABLE, "too_many_watchers", "ask another node, or later")
            }
            Self::TooManyConnections => (
                StatusCode::SERVICE_UNAVAILABLE,
                "too_many_connections",
                "close connections that you do not need, or ask another node, or later",
            ),
            Self::Ended => {
                (StatusCode::SERVICE_UNAVAILABLE, "ended", "ask another node; read this one's log")
            }
            Self::Silent(_) => {
                (StatusCode::SERVICE_UNAVAILABLE, "silent", "look at the machine: disk, CPU, log")
            }
            Self::GroupChanged { .. } => {
                (StatusCode::CONFLICT, "group_changed", "look at /v1/status and decide again")
            }
            Self::Refused(_) => {
                (StatusCode::PRECONDITION_FAILED, "refused", "look at /v1/status and /readyz")
            }
            Self::Unfinished(_) => (
                StatusCode::GATEWAY_TIMEOUT,
                "unfinished",
                "look at /v1/status for what became of it",
            ),
            Self::NoPrimary => (
                StatusCode::NOT_IMPLEMENTED,
                "no_primary",
                "use /leader: it answers 200 if this node is the active leader",
            ),
        }
    }
}
