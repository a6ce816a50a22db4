//! Listening sockets, and a connection limit for each.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tanist::transport::Throttle;
use tokio::net::{TcpStream, UnixStream};
use tokio::sync::{mpsc, oneshot};
use tokio::task::yield_now;
use tokio::time::{sleep, timeout};

use super::connection::Place;
use super::limits::Remote;
use super::{HttpError, Site, agent_check, connection};
use crate::config::HttpTable;
use crate::control::local_socket::{self, SocketPath, is_trusted};

/// Sockets that listen.
#[derive(Debug)]
pub(super) struct Listeners {
    page: Option<TcpListener>,
    check: Option<TcpListener>,
    socket: Option<UnixListener>,
}

impl Listeners {
    /// Listens wherever the agent's file wants it. The place of the Unix socket is removed when what
    /// comes with it is dropped.
    pub(super) fn bind(
        config: &HttpTable,
        socket: Option<&Path>,
    ) -> Result<(Self, Option<SocketPath>), HttpError> {
        let page = config.listen.map(listen).transpose()?;
        let check = config.agent_check.map(listen).transpose()?;
        let socket = socket.map(local_socket::bind).transpose()?;
        let (socket, place) = socket.map(|socket| (socket.listener, socket.place)).unzip();
        Ok((Self { page, check, socket }, place))
    }

    /// Whether there is none.
    pub(super) const fn are_none(&self) -> bool {
        self.page.is_none() && self.check.is_none() && self.socket.is_none()
    }

    /// Accepts connections until it is told to stop, and then lets open ones finish, for a moment.
    pub(super) async fn open(
        self,
        site: &Arc<Site>,
        stopped: oneshot::Receiver<()>,
    ) -> io::Result<()> {
        // Nothing is sent: at its end when the last connection has dropped its sender.
        let (held, mut all_closed) = mpsc::channel(1);
        let mut acceptors = Vec::new();
        if let Some(listener) = self.page {
            let listener = tokio::net::TcpListener::from_std(listener)?;
            acceptors.push(tokio::spawn(accept_pages(listener, Arc::clone(site), held.clone())));
        }
        if let Some(listener) = self.check {
            let listener = tokio::net::TcpListener::from_std(listener)?;
            acceptors.push(tokio::spawn(accept_checks(listener, Arc::clone(site), held.clone())));
        }
        if let Some(listener) = self.socket {
            let listener = tokio::net::UnixListener::from_std(listener)?;
            acceptors.push(tokio::spawn(accept_locals(listener, Arc::clone(site), held.clone())));
        }
        // An error means that the sender is gone.
        let _ = stopped.await;
        for acceptor in acceptors {
            acceptor.abort();
        }
        drop(held);
        // A client that is not done by then is cut off.
        let _ = timeout(FAREWELL, all_closed.recv()).await;
        Ok(())
    }
}

/// Held by every connection, so that the end of the last one is noticed.
type Open = mpsc::Sender<()>;

/// Serves every client: one that gets no ordinary place may still ask about health.
async fn accept_pages(listener: tokio::net::TcpListener, site: Arc<Site>, open: Open) {
    loop {
        let (stream, remote) = accept(&listener).await;
        let (site, open) = (Arc::clone(&site), open.clone());
        if let Some(permit) = site.ordinary.enter(remote) {
            let place = Place::Ordinary { _permit: permit };
            tokio::spawn(async move {
                connection::serve(stream, site, place).await;
                drop(open);
            });
        } else {
            if let Some(held_back) = CROWDED.pass() {
                let taken = site.ordinary.count();
                tracing::warn!(
                    taken,
                    ?remote,
                    held_back,
                    "too many connections over HTTP, or too many of one address: new ones are \
                     answered about health only"
                );
            }
            let reserve = Arc::clone(&site.reserve);
            reserve.serve(remote, |slot| async move {
                let serving = connection::serve(stream, site, Place::Reserve(slot));
                // A client that is not done by then is cut off.
                let _ = timeout(RESERVE_MAX, serving).await;
                drop(open);
            });
        }
        // The new connection runs before the next is accepted: a flood of them hides nothing.
        yield_now().await;
    }
}

async fn accept_checks(listener: tokio::net::TcpListener, site: Arc<Site>, open: Open) {
    loop {
        let (stream, remote) = accept(&listener).await;
        let (checks, site, open) = (Arc::clone(&site.checks), Arc::clone(&site), open.clone());
        checks.serve(remote, |slot| async move {
            agent_check::answer(stream, site, slot).await;
            drop(open);
        });
        yield_now().await;
    }
}

/// Serves a client of the Unix socket if there is room; if not, its connection is closed.
async fn accept_locals(listener: tokio::net::UnixListener, site: Arc<Site>, open: Open) {
    loop {
        let stream = accept_local(&listener).await;
        let (site, open) = (Arc::clone(&site), open.clone());
        let Ok(permit) = Arc::clone(&site.local).try_acquire_owned() else {
            if let Some(held_back) = CROWDED.pass() {
                tracing::warn!(
                    held_back,
                    "too many connections at the Unix socket for HTTP; one was closed"
                );
            }
            continue;
        };
        tokio::spawn(async move {
            connection::serve(stream, site, Place::Local { _permit: permit }).await;
            drop(open);
        });
        yield_now().await;
    }
}

async fn accept(listener: &tokio::net::TcpListener) -> (TcpStream, Remote) {
    loop {
        match listener.accept().await {
            Ok((stream, from)) => {
                // Events are small and should not wait for each other; if this fails, they do.
                let _ = stream.set_nodelay(true);
                return (stream, Remote::from(from.ip()));
            }
            Err(error) => pause(&error).await,
        }
    }
}

/// Accepts a client of the same user, or of root.
async fn accept_local(listener: &tokio::net::UnixListener) -> UnixStream {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => match stream.peer_cred() {
                Ok(peer) if is_trusted(peer.uid()) => return stream,
                Ok(peer) => {
                    if let Some(held_back) = STRANGERS.pass() {
                        tracing::warn!(
                            user = peer.uid(),
                            held_back,
                            "refused a client of another user"
                        );
                    }
                }
                Err(error) => {
                    if let Some(held_back) = STRANGERS.pass() {
                        tracing::warn!(
                            %error, held_back, "refused a client whose user is unknown"
                        );
                    }
                }
            },
            Err(error) => pause(&error).await,
        }
    }
}

/// The process may be out of descriptors; some may be free again soon.
async fn pause(error: &io::Error) {
    if let Some(held_back) = EXHAUSTED.pass() {
        tracing::warn!(%error, held_back, "HTTP cannot accept a connection");
    }
    sleep(Duration::from_millis(100)).await;
}

fn listen(address: SocketAddr) -> Result<TcpListener, HttpError> {
    let listen = || {
        let listener = TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        Ok(listener)
    };
    listen().map_err(|cause| HttpError::Address { address, cause })
}

/// Connections over the limit.
static CROWDED: Throttle = Throttle::new();
/// Clients of other users.
static STRANGERS: Throttle = Throttle::new();
/// Connections that the system could not give.
static EXHAUSTED: Throttle = Throttle::new();

/// For a connection of the reserve, from the first byte to the last.
const RESERVE_MAX: Duration = Duration::from_secs(5);
/// For answers that are on their way.
const FAREWELL: Duration = Duration::from_millis(500);
