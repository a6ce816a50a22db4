//! Dialling a peer: find its address, connect, shake hands.
//!
//! A refused connection is the one outcome that is evidence, and it counts only if a second
//! connection is refused right after the first: one reset that a third party slipped in proves
//! nothing. A connection that is closed during the handshake may be one to a process that is just
//! dying: its listener goes a moment after its links. So the dial is repeated for a moment before
//! it counts as failed.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpSocket, TcpStream, lookup_host};
use tokio::time::{Instant, sleep, sleep_until, timeout};

use super::claim::Claim;
use super::greeting::Greeting;
use super::handshake::{Answer, Dialler, HandshakeError, Hello, MESSAGE_MAX, Refusal, Refused};
use super::hub::{Hub, PeerState};
use super::link::{Established, LENGTH_BYTES};
use super::queue::Ticket;
use super::session::SessionId;
use super::sockets::tune;
use crate::key::IdentityError;

/// How a dial ended.
#[derive(Debug)]
pub(super) enum Dialled {
    /// There is a link; its first record is still to be written.
    Linked(Box<Established>),
    /// No process listens there. The dial began after this frame had been handed over.
    Refused { covers: Ticket },
    /// Nothing came of it, and nothing is known.
    Failed(DialError),
}

/// Why a dial failed, without being evidence.
#[derive(Debug, thiserror::Error)]
pub(super) enum DialError {
    #[error("its name cannot be looked up ({0}); check the address in the configuration")]
    Lookup(io::Error),
    #[error("it cannot be connected to ({0}); check the address, the machine and the firewall")]
    Connect(io::Error),
    #[error("it does not answer in time; check the machine, the network and the firewall")]
    Silent,
    #[error(
        "it closes connections during the handshake; most often the group keys differ: compare \
         the key files, and see the log of the peer"
    )]
    Closed,
    #[error(transparent)]
    Handshake(#[from] HandshakeError),
    /// It has the right key and refuses this node: it is there.
    #[error("it refuses this node: {0}")]
    Refused(Refused),
    /// It has the group's key, and not the key pair that is listed for it.
    #[error("this node refuses it: {0}; compare `tanist key status` there with the list here")]
    Identity(IdentityError),
}

/// Dials until there is an outcome, not before `earliest`.
pub(super) async fn dial(
    hub: Arc<Hub>,
    peer: Arc<PeerState>,
    lost: Option<SessionId>,
    earliest: Instant,
) -> Dialled {
    if earliest > Instant::now() {
        sleep_until(earliest).await;
    }
    let mut pause = FIRST_PAUSE;
    let mut refused = None;
    loop {
        hub.counters.dials.bump();
        let covers = refused.unwrap_or_else(|| peer.queue.last());
        let attempt = match connect(&peer.address, hub.listening_ip(), hub.limits.dial).await {
            Ok((stream, address)) => {
                let greeting = greet(&hub, &peer, stream, address, lost);
                let greeted = timeout(hub.limits.handshake, greeting).await;
                greeted.unwrap_or(Err(DialError::Silent))
            }
            Err(ConnectError::Refused) if refused.is_some() => return Dialled::Refused { covers },
            Err(ConnectError::Refused) => {
                refused = Some(covers);
                continue;
            }
            Err(ConnectError::Failed(error)) => Err(error),
        };
        refused = None;
        match attempt {
            Ok(link) => return Dialled::Linked(Box::new(link)),
            Err(DialError::Closed) if pause <= LAST_PAUSE => {
                sleep(pause).await;
                pause *= 2;
            }
            Err(error) => return Dialled::Failed(error),
        }
    }
}

enum ConnectError {
    Refused,
    Failed(DialError),
}

/// Tries the peer's addresses in order. It is refused only if every one of them refuses: one that
/// does not answer may be the one where the peer is.
async fn connect(
    address: &str,
    from: Option<IpAddr>,
    patience: Duration,
) -> Result<(TcpStream, SocketAddr), ConnectError> {
    let found: Vec<SocketAddr> = match timeout(patience, lookup_host(address)).await {
        Ok(Ok(found)) => found.collect(),
        Ok(Err(error)) => return Err(ConnectError::Failed(DialError::Lookup(error))),
        Err(_) => return Err(ConnectError::Failed(DialError::Silent)),
    };
    // An address that does not answer must not use up the time of the next one.
    let patience = patience / u32::try_from(found.len().max(1)).unwrap_or(u32::MAX);
    let mut failure = None;
    let mut is_refused = false;
    for address in found {
        match timeout(patience, connect_from(from, address)).await {
            Ok(Ok(stream)) if is_own_echo(&stream) => is_refused = true,
            Ok(Ok(stream)) => return Ok((stream, address)),
            Ok(Err(error)) if error.kind() == io::ErrorKind::ConnectionRefused => {
                is_refused = true;
            }
            // A listener that closes resets what it has not accepted, which can be so soon that
            // it looks like an error of connecting.
            Ok(Err(error)) if error.kind() == io::ErrorKind::ConnectionReset => {
                failure = Some(DialError::Closed);
            }
            Ok(Err(error)) => failure = Some(DialError::Connect(error)),
            Err(_) => failure = Some(DialError::Silent),
        }
    }
    match failure {
        Some(error) => Err(ConnectError::Failed(error)),
        None if is_refused => Err(ConnectError::Refused),
        None => {
            let nothing = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
            Err(ConnectError::Failed(DialError::Lookup(nothing)))
        }
    }
}

/// Connects from the address where this node listens, if it is one of several: the other side sends
/// its datagrams to where a link comes from.
async fn connect_from(from: Option<IpAddr>, to: SocketAddr) -> io::Result<TcpStream> {
    let socket = if to.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    if let Some(source) = from.and_then(|from| source(from, to.ip())) {
        socket.bind(SocketAddr::new(source, 0))?;
    }
    socket.connect(to).await
}

/// The address to bind before connecting; none where binding is impossible or not needed.
fn source(from: IpAddr, to: IpAddr) -> Option<IpAddr> {
    // One that listens for a tunnel on its own machine must still be able to leave it.
    let can_reach = from.is_ipv4() == to.is_ipv4() && (!from.is_loopback() || to.is_loopback());
    // From localhost to localhost the system takes that address by itself. A socket that is bound
    // first has its port alone, and 200 nodes at one address have more links than there are ports.
    let is_chosen = from == to && (to == Ipv4Addr::LOCALHOST || to == Ipv6Addr::LOCALHOST);
    (can_reach && !is_chosen).then_some(from)
}

/// TCP can connect a socket to itself, if no process listens at a port of this machine and the
/// system picks that very port for the dialling side.
fn is_own_echo(stream: &TcpStream) -> bool {
    match (stream.local_addr(), stream.peer_addr()) {
        (Ok(local), Ok(remote)) => local == remote,
        (Ok(_), Err(_)) | (Err(_), Ok(_) | Err(_)) => false,
    }
}

/// The dialling side of the handshake.
async fn greet(
    hub: &Hub,
    peer: &PeerState,
    mut stream: TcpStream,
    address: SocketAddr,
    lost: Option<SessionId>,
) -> Result<Established, DialError> {
    tune(&stream, &hub.limits).map_err(|_| DialError::Closed)?;
    let secrets = hub.secrets();
    let own = secrets.identities.own();
    let greeting = read_message(&mut stream).await.map_err(|_| DialError::Closed)?;
    let greeting = Greeting::decode(&greeting)?;
    let key = greeting.choose(&secrets.keyring).ok_or(HandshakeError::NoCommonKey)?;
    let hello = Hello {
        versions: hub.versions,
        group: hub.group.to_string(),
        from: hub.me,
        to: peer.id,
        incarnation: hub.incarnation,
        dial: hub.next_dial(),
        lost,
        identity: own.public(),
        settings: hub.settings.clone(),
        introduction: Some(hub.about.introduction()),
    };
    let (dialler, message) = Dialler::begin(key, own, &greeting, &hello)?;
    let begun = Instant::now();
    write_message(&mut stream, &message).await.map_err(|_| DialError::Closed)?;
    let message = read_message(&mut stream).await.map_err(|_| DialError::Closed)?;
    let round_trip = begun.elapsed();
    let (answer, shown, confirming) = dialler.receive(&message)?;
    let is_other = matches!(&answer, Answer::Refused(why) if why.reason == Refusal::WrongNode);
    peer.note_introduction(confirming.introduction().filter(|_| !is_other).cloned());
    let proof = match secrets.identities.prove(peer.id, shown) {
        Ok(proof) => proof,
        Err(error) => {
            let refusal = Refused::with(Refusal::Identity, &error.to_string());
            let message = confirming.refuse(&refusal)?;
            write_message(&mut stream, &message).await.map_err(|_| DialError::Closed)?;
            return Err(DialError::Identity(error));
        }
    };
    let (incarnation, version) = match answer {
        Answer::Welcome { from, incarnation, version }
            if from == peer.id && hub.versions.includes(version) =>
        {
            (incarnation, version)
        }
        Answer::Welcome { version, .. } if !hub.versions.includes(version) => {
            let detail = format!("it chose version {version}");
            return Err(DialError::Refused(Refused::with(Refusal::Version, &detail)));
        }
        Answer::Welcome { from, .. } => {
            return Err(DialError::Refused(Refused::with(Refusal::WrongNode, &from.to_string())));
        }
        Answer::Refused(refused) => return Err(DialError::Refused(refused)),
    };
    let (confirmation, session) = confirming.confirm(version)?;
    let claim = Claim { session: session.id(), dialler: hub.me, dial: hello.dial, lost };
    Ok(Established {
        // The node's own thread reads and writes it from here on.
        stream: stream.into_std().map_err(|_| DialError::Closed)?,
        reading: peer.reading.begin(session.id()),
        session: Arc::new(session),
        claim,
        incarnation,
        address,
        round_trip,
        key: key.id(),
        proof,
        own: own.public(),
        records_read: 0,
        confirmation: Some(confirmation),
        after: None,
        place: None,
    })
}

/// Writes one message of the handshake.
pub(super) async fn write_message(stream: &mut TcpStream, message: &[u8]) -> io::Result<()> {
    let length = u16::try_from(message.len()).map_err(|_| io::ErrorKind::InvalidInput)?;
    let mut bytes = Vec::with_capacity(LENGTH_BYTES + message.len());
    bytes.extend_from_slice(&length.to_be_bytes());
    bytes.extend_from_slice(message);
    stream.write_all(&bytes).await
}

/// Reads one message of the handshake and not a byte more.
pub(super) async fn read_message(stream: &mut TcpStream) -> io::Result<Vec<u8>> {
    let length = usize::from(stream.read_u16().await?);
    if length > MESSAGE_MAX {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut message = vec![0; length];
    stream.read_exact(&mut message).await?;
    Ok(message)
}

const FIRST_PAUSE: Duration = Duration::from_millis(1);
/// 1 + 2 + 4 + 8 + 16 + 32 + 64 ms, a bit more than 100 ms in all.
const LAST_PAUSE: Duration = Duration::from_millis(64);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_comes_from_where_its_node_listens_unless_the_system_chooses_that_anyway() {
        let bound = |from: &str, to: &str| {
            let source = source(from.parse().unwrap(), to.parse().unwrap());
            source.map(|source| source.to_string())
        };
        assert_eq!(bound("10.0.0.1", "10.0.0.2").as_deref(), Some("10.0.0.1"));
        assert_eq!(bound("127.0.0.7", "127.0.0.7").as_deref(), Some("127.0.0.7"));
        assert_eq!(bound("127.0.0.1", "10.0.0.2"), None);
        assert_eq!(bound("10.0.0.1", "fd00::2"), None);
        assert_eq!(bound("127.0.0.1", "127.0.0.1"), None);
        assert_eq!(bound("::1", "::1"), None);
    }

    /// The system chooses localhost for localhost, and gives one port to links with several peers.
    #[tokio::test]
    async fn a_link_to_localhost_comes_from_localhost() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let to = listener.local_addr().unwrap();
        let stream = connect_from(Some(to.ip()), to).await.unwrap();
        assert_eq!(stream.local_addr().unwrap().ip(), to.ip());
    }
}
