//! Where clients come in, and how many may be inside.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tanist::transport::Throttle;
use tokio::net::{TcpStream, UnixStream};
use tokio::sync::{Semaphore, oneshot};
use tokio::time::{sleep, timeout};

use super::{CONNECTIONS_MAX, Door, HttpError, Site, agent_check, connection};
use crate::config::HttpTable;
use crate::live::local_socket::{self, Place, is_trusted};

/// Sockets that listen.
#[derive(Debug)]
pub(super) struct Doors {
    page: Option<TcpListener>,
    check: Option<TcpListener>,
    socket: Option<UnixListener>,
}

impl Doors {
    /// Listens wherever the agent's file wants it. The place of the Unix socket is removed when what
    /// comes with it is dropped.
    pub(super) fn bind(
        config: &HttpTable,
        socket: Option<&Path>,
    ) -> Result<(Self, Option<Place>), HttpError> {
        let page = config.listen.map(listen).transpose()?;
        let check = config.agent_check.map(listen).transpose()?;
        let socket = socket.map(local_socket::bind).transpose()?;
        let (socket, place) = socket.map(|socket| (socket.listener, socket.place)).unzip();
        Ok((Self { page, check, socket }, place))
    }

    /// Whether nobody can come in.
    pub(super) const fn are_none(&self) -> bool {
        self.page.is_none() && self.check.is_none() && self.socket.is_none()
    }

    /// Takes clients until it is told to stop, and then lets those inside finish, for a moment.
    pub(super) async fn open(
        self,
        site: &Arc<Site>,
        stopped: oneshot::Receiver<()>,
    ) -> io::Result<()> {
        let rooms = Rooms::new(&site.connections);
        let mut takers = Vec::new();
        if let Some(listener) = self.page {
            let listener = tokio::net::TcpListener::from_std(listener)?;
            let (site, room) = (Arc::clone(site), Arc::clone(&rooms.page));
            takers.push(tokio::spawn(async move {
                loop {
                    let stream = take(&listener).await;
                    enter(&room, connection::serve(stream, Arc::clone(&site), Door::Tcp));
                }
            }));
        }
        if let Some(listener) = self.check {
            let listener = tokio::net::TcpListener::from_std(listener)?;
            let (site, room) = (Arc::clone(site), Arc::clone(&rooms.check));
            takers.push(tokio::spawn(async move {
                loop {
                    let stream = take(&listener).await;
                    enter(&room, agent_check::answer(stream, Arc::clone(&site)));
                }
            }));
        }
        if let Some(listener) = self.socket {
            let listener = tokio::net::UnixListener::from_std(listener)?;
            let (site, room) = (Arc::clone(site), Arc::clone(&rooms.socket));
            takers.push(tokio::spawn(async move {
                loop {
                    let stream = take_local(&listener).await;
                    enter(&room, connection::serve(stream, Arc::clone(&site), Door::Unix));
                }
            }));
        }
        // An error means that whoever would stop it is gone.
        let _ = stopped.await;
        for taker in takers {
            taker.abort();
        }
        // Whoever is not done by then is cut off.
        let _ = timeout(FAREWELL, rooms.are_empty()).await;
        Ok(())
    }
}

/// How many may be inside, door by door: a crowd at one keeps nobody from another.
struct Rooms {
    page: Arc<Semaphore>,
    check: Arc<Semaphore>,
    socket: Arc<Semaphore>,
}

impl Rooms {
    fn new(page: &Arc<Semaphore>) -> Self {
        Self {
            page: Arc::clone(page),
            check: Arc::new(Semaphore::new(CHECK_MAX)),
            socket: Arc::new(Semaphore::new(SOCKET_MAX)),
        }
    }

    /// Waits until nobody is inside.
    async fn are_empty(&self) {
        for (room, size) in
            [(&self.page, CONNECTIONS_MAX), (&self.check, CHECK_MAX), (&self.socket, SOCKET_MAX)]
        {
            let all = u32::try_from(size).unwrap_or(u32::MAX);
            // Nobody closes it, so there is no error.
            let _ = room.acquire_many(all).await;
        }
    }
}

/// Serves a client if there is room; if not, its connection is closed.
fn enter(room: &Arc<Semaphore>, serving: impl Future<Output = ()> + Send + 'static) {
    let Ok(permit) = Arc::clone(room).try_acquire_owned() else {
        if let Some(held_back) = CROWDED.pass() {
            tracing::warn!(held_back, "too many connections at once; one was closed");
        }
        return;
    };
    tokio::spawn(async move {
        serving.await;
        drop(permit);
    });
}

async fn take(listener: &tokio::net::TcpListener) -> TcpStream {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                // Events are small and should not wait for each other; if this fails, they do.
                let _ = stream.set_nodelay(true);
                return stream;
            }
            Err(error) => pause(&error).await,
        }
    }
}

/// Takes a client of the same user, or root.
async fn take_local(listener: &tokio::net::UnixListener) -> UnixStream {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => match stream.peer_cred() {
                Ok(peer) if is_trusted(peer.uid()) => return stream,
                Ok(peer) => {
                    if let Some(held_back) = TURNED_AWAY.pass() {
                        tracing::warn!(user = peer.uid(), held_back, "a user was turned away");
                    }
                }
                Err(error) => {
                    if let Some(held_back) = TURNED_AWAY.pass() {
                        tracing::warn!(
                            %error, held_back, "a client whose user is unknown was refused"
                        );
                    }
                }
            },
            Err(error) => pause(&error).await,
        }
    }
}

/// Out of descriptors, say: others may still be served when some are free again.
async fn pause(error: &io::Error) {
    if let Some(held_back) = EXHAUSTED.pass() {
        tracing::warn!(%error, held_back, "HTTP cannot take a client");
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
static TURNED_AWAY: Throttle = Throttle::new();
/// Connections that the system could not give.
static EXHAUSTED: Throttle = Throttle::new();

/// One load balancer asks once a second, each time for a moment.
const CHECK_MAX: usize = 64;
/// People and scripts on this machine.
const SOCKET_MAX: usize = 64;
/// For answers that are on their way.
const FAREWELL: Duration = Duration::from_millis(500);
