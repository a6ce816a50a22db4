//! HTTP for load balancers, monitoring, scripts and people: whether the node is active, what it is,
//! what it was, everything that it becomes; and, with a token, actions.
//!
//! ```text
//!   TCP (http.listen) ----\
//!   Unix (socket + .http) --> connection --> access -> router --> health | read | watch | metrics
//!                              (deadlines)  (who may ask)         actions --> Agent::act
//!   TCP (http.agent_check) --> agent_check: one line for HAProxy
//! ```
//!
//! All of it runs in one thread of its own. The thread that elects answers questions and
//! never waits for anything here. Everything that a client can take is bounded: time,
//! bytes, connections (`limits`), watchers, questions to the driver (`question`), work (`turn`);
//! and health is answered when everything else is taken. There is no TLS: bind to loopback or a
//! private network, or put a proxy before it.

mod access;
mod actions;
mod agent_check;
mod answer;
mod connection;
mod counters;
mod exposition;
mod health;
mod limits;
mod listeners;
mod metrics;
pub(crate) mod offline;
mod paced;
mod query;
mod question;
mod read;
mod refusal;
mod router;
mod turn;
mod watch;

use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use tanist::private_file::PrivateFileError;
use tokio::sync::{Semaphore, oneshot};

use self::access::Token;
use self::counters::Counters;
use self::limits::{ConnectionLimits, Ordinary, Reserve};
use self::listeners::Listeners;
use self::question::Question;
use self::turn::Turn;
use crate::agent::Agent;
use crate::config::{Config, HttpTable};
use crate::control::local_socket::{LocalSocketError, SocketPath};

/// What runs as long as this is held. Dropping it waits a moment for answers that are on their way.
#[derive(Debug)]
pub(crate) struct Http {
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
    /// After the thread, whose listener it belongs to.
    _place: Option<SocketPath>,
}

/// The sockets and the token, before anything is answered.
#[derive(Debug)]
pub(crate) struct Listening {
    token: Option<Token>,
    listeners: Listeners,
    place: Option<SocketPath>,
}

impl Listening {
    /// Binds what the agent's file asks for.
    pub(crate) fn bind(config: &Config) -> Result<Self, HttpError> {
        let token = Token::of(&config.http)?;
        let socket = config.socket.as_deref().map(beside);
        let (listeners, place) = Listeners::bind(&config.http, socket.as_deref())?;
        Ok(Self { token, listeners, place })
    }
}

/// Whether the token that a configuration names can be used.
pub(crate) fn check_token(config: &HttpTable) -> Result<(), HttpError> {
    Token::of(config).map(drop)
}

/// Why HTTP cannot be served.
#[derive(Debug, thiserror::Error)]
pub(crate) enum HttpError {
    /// The address is taken, or not one of this machine.
    #[error("HTTP cannot be served at {address}: {cause}. See who listens there: ss -ltnp")]
    Address {
        /// Where.
        address: SocketAddr,
        /// Why not.
        cause: io::Error,
    },
    /// The Unix socket cannot be made.
    #[error("HTTP cannot be served: {0}")]
    Socket(#[from] LocalSocketError),
    /// The token cannot be read.
    #[error("the token in {path} cannot be read: {cause}. Write one, or leave out token_file")]
    TokenFile {
        /// Where.
        path: PathBuf,
        /// Why not.
        cause: io::Error,
    },
    /// It is not a file that only this user and root can read and change.
    #[error("the token of HTTP (token_file): {0}")]
    TokenPrivate(PrivateFileError),
    /// The token could be guessed or not be sent.
    #[error(
        "the token in {path} must be {} printable characters or more, without spaces. Make one: \
         head -c 24 /dev/urandom | base64 > {path}",
        access::TOKEN_MIN
    )]
    TokenWeak {
        /// Where.
        path: PathBuf,
    },
    /// The system has no thread left.
    #[error("HTTP cannot be served: {0}")]
    Thread(io::Error),
}

impl HttpError {
    /// Whether another try may succeed without any change.
    pub(crate) fn is_temporary(&self) -> bool {
        match self {
            Self::Address { cause, .. } | Self::TokenFile { cause, .. } => {
                tanist::is_temporary(cause)
            }
            Self::Socket(error) => error.is_temporary(),
            Self::TokenPrivate(error) => error.is_temporary(),
            Self::TokenWeak { .. } => false,
            Self::Thread(_) => true,
        }
    }
}

impl Http {
    /// Serves what the agent's file asks for.
    pub(crate) fn start(agent: &Agent, listening: Listening) -> Result<Self, HttpError> {
        let Listening { token, listeners, place } = listening;
        let site = Arc::new(Site::new(agent, token));
        if listeners.are_none() {
            return Ok(Self { stop: None, thread: None, _place: None });
        }
        let (stop, stopped) = oneshot::channel();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(HttpError::Thread)?;
        let body = move || {
            let serve = async {
                let counted = Arc::clone(&site);
                tokio::spawn(async move { counted.counters.follow(counted.agent.history()).await });
                tokio::spawn(renew_token(Arc::clone(&site)));
                listeners.open(&site, stopped).await
            };
            if let Err(error) = runtime.block_on(serve) {
                tracing::error!(%error, "HTTP is not served any more; restart the agent");
            }
        };
        let thread = thread::Builder::new().name("http".to_owned()).spawn(body);
        let thread = thread.map_err(HttpError::Thread)?;
        Ok(Self { stop: Some(stop), thread: Some(thread), _place: place })
    }
}

impl Drop for Http {
    fn drop(&mut self) {
        // The thread may have failed already; then there is nothing to stop.
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// What all requests share.
#[derive(Debug)]
struct Site {
    agent: Agent,
    token: RwLock<Option<Token>>,
    limits: ConnectionLimits,
    ordinary: Arc<Ordinary>,
    reserve: Arc<Reserve>,
    checks: Arc<Reserve>,
    local: Arc<Semaphore>,
    watchers: Arc<Semaphore>,
    question: Question,
    turn: Turn,
    counters: Counters,
}

impl Site {
    fn new(agent: &Agent, token: Option<Token>) -> Self {
        let limits = ConnectionLimits::of(&agent.budget());
        Self {
            agent: agent.clone(),
            token: RwLock::new(token),
            limits,
            ordinary: Ordinary::new(&limits),
            reserve: Reserve::new(limits.reserve),
            checks: Reserve::new(limits.checks),
            local: Arc::new(Semaphore::new(limits.local)),
            watchers: Arc::new(Semaphore::new(limits.watchers)),
            question: Question::default(),
            turn: Turn::default(),
            counters: Counters::new(),
        }
    }

    /// What allows actions over the network at the moment.
    fn token(&self) -> Option<Token> {
        // No holder can panic: it is only replaced.
        self.token.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set_token(&self, token: Option<Token>) {
        *self.token.write().unwrap_or_else(PoisonError::into_inner) = token;
    }
}

/// Reads the token again whenever the configuration was. One that cannot be used changes nothing.
async fn renew_token(site: Arc<Site>) {
    let mut config = site.agent.follow_config();
    while config.changed().await.is_ok() {
        let read = Token::of(&config.borrow_and_update().http);
        match read {
            Ok(token) => site.set_token(token),
            Err(error) => tracing::error!("{error}. The old token stays"),
        }
    }
}

/// Which kind of socket a client uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SocketKind {
    /// Over the network: it reads, and acts with a token.
    Tcp,
    /// On this machine, as the same user or root: it may do everything.
    Unix,
}

/// What a connection may ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scope {
    /// Every path.
    Everything,
    /// Health paths: all other places are taken.
    HealthOnly,
}

/// Who asks, as far as a request's answer depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Client {
    socket: SocketKind,
    scope: Scope,
}

/// Beside the control socket.
fn beside(socket: &Path) -> PathBuf {
    let mut path = socket.as_os_str().to_owned();
    path.push(".http");
    path.into()
}

/// A request is here within this, and so is the next one on the same connection.
const REQUEST_MAX: Duration = Duration::from_secs(10);
/// Names and values of all headers together.
const HEADERS_MAX: usize = 16 * 1024;
/// So many headers.
const HEADER_COUNT_MAX: usize = 64;
/// The path with its query.
const PATH_MAX: usize = 2048;
/// What comes with an action.
const BODY_MAX: usize = 64 * 1024;

/// All paths, for programs.
const OPENAPI: &str = include_str!("../../openapi.json");
