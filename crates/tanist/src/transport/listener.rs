//! Taking connections in.
//!
//! ```text
//!   accepted --greeting--> [unauthenticated] --message 1--> [unconfirmed] --message 3--> link
//!                           64 in all                        a few per peer
//! ```
//!
//! Every machine that can reach the port can connect, so a connection costs little until it has
//! shown a group key: a greeting, a deadline, and a cap. Over a cap the oldest gives way and not the
//! newest, since a real peer is done within a round trip and a silent stranger never is. All of this
//! runs on the thread for handshakes, not on the thread that elects.

use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::OwnedSemaphorePermit;
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::{Instant, sleep, timeout};

use super::admission::{Accepted, explain_own, judge};
use super::claim::Claim;
use super::dial::{read_message, write_message};
use super::frame::Record;
use super::greeting::Greeting;
use super::handshake::{Answer, HandshakeError, Hello, Listener, Refusal, Refused};
use super::hub::{Hub, PeerState};
use super::link::Established;
use super::sockets::tune;

/// Accepts connections and shakes hands until the task is dropped.
pub(super) async fn listen(hub: Arc<Hub>, tcp: TcpListener) {
    let mut handshakes = JoinSet::new();
    let mut oldest_first: VecDeque<Unauthenticated> = VecDeque::new();
    loop {
        tokio::select! {
            accepted = tcp.accept() => match accepted {
                Ok((stream, remote)) => {
                    hub.counters.accepted.bump();
                    // Without a place the connection is closed right here.
                    let Ok(place) = Arc::clone(&hub.places).try_acquire_owned() else {
                        hub.counters.connections_over_cap.bump();
                        continue;
                    };
                    oldest_first.retain(Unauthenticated::is_open);
                    if oldest_first.len() >= hub.limits.unauthenticated_max
                        && let Some(oldest) = oldest_first.pop_front()
                    {
                        hub.counters.connections_over_cap.bump();
                        oldest.task.abort();
                    }
                    let has_shown_key = Arc::<AtomicBool>::default();
                    let connection =
                        Connection { remote, place, has_shown_key: Arc::clone(&has_shown_key) };
                    let task = handshakes.spawn(receive(Arc::clone(&hub), stream, connection));
                    oldest_first.push_back(Unauthenticated { task, has_shown_key });
                }
                Err(error) => {
                    tracing::debug!(%error, "cannot accept a connection; trying again");
                    sleep(RETRY).await;
                }
            },
            Some(ended) = handshakes.join_next(), if !handshakes.is_empty() => {
                // A panic ends the node, wherever it was.
                if let Some(panic) = ended.err().and_then(|error| error.try_into_panic().ok()) {
                    std::panic::resume_unwind(panic);
                }
            }
        }
    }
}

/// A handshake whose dialler has not shown a key yet.
struct Unauthenticated {
    task: AbortHandle,
    has_shown_key: Arc<AtomicBool>,
}

impl Unauthenticated {
    fn is_open(&self) -> bool {
        !self.task.is_finished() && !self.has_shown_key.load(Ordering::Relaxed)
    }
}

/// A connection that was accepted.
struct Connection {
    remote: SocketAddr,
    /// Its place among all connections.
    place: OwnedSemaphorePermit,
    has_shown_key: Arc<AtomicBool>,
}

/// One handshake, under its deadline, and what it leads to.
async fn receive(hub: Arc<Hub>, stream: TcpStream, connection: Connection) {
    let remote = connection.remote;
    let handshake = shake_hands(&hub, stream, connection);
    match timeout(hub.limits.handshake, handshake).await {
        Ok(Ok((peer, link))) => {
            // The channel has room for as many links as a peer may have.
            if peer.arrivals.try_send(link).is_err() {
                hub.counters.refused_too_busy.bump();
            }
        }
        Ok(Err(failure)) => report(&hub, remote, &failure),
        Err(_) => hub.counters.handshakes_timed_out.bump(),
    }
}

/// Why a connection led to no link.
#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error("it was closed before the handshake was done ({0})")]
    Closed(#[from] io::Error),
    #[error("the system gives no random bytes ({0})")]
    Chance(getrandom::Error),
    #[error(transparent)]
    Handshake(#[from] HandshakeError),
    #[error("a node with the right key was refused: {}", .0.reason)]
    Refused(Box<Refused>),
    #[error("the dialler refuses this node: {0}")]
    RefusedUs(Box<Refused>),
    #[error("the dialler went away after our answer, as it does when another link came first")]
    Abandoned,
    #[error("a newer handshake of the same peer came before this one was confirmed")]
    Evicted,
    #[error("the first record does not confirm the handshake; it was damaged")]
    Unconfirmed,
}

async fn shake_hands(
    hub: &Hub,
    mut stream: TcpStream,
    connection: Connection,
) -> Result<(&PeerState, Established), Failure> {
    tune(&stream, &hub.limits)?;
    let secrets = hub.secrets();
    let greeting = Greeting::fresh(&secrets.keyring).map_err(Failure::Chance)?;
    write_message(&mut stream, greeting.bytes()).await?;
    let message = read_message(&mut stream).await?;
    let own = secrets.identities.own();
    let (listener, hello, key) = Listener::receive(&secrets.keyring, own, &greeting, &message)?;
    connection.has_shown_key.store(true, Ordering::Relaxed);
    let listener = listener.introduce(hub.about.introduction());
    if let Some(peer) = hub.peers.get(&hello.from) {
        peer.note_introduction(hello.introduction.clone());
    }
    let Accepted { peer, version, proof } = match judge(hub, &hello).await {
        Ok(accepted) => accepted,
        Err(refused) => {
            complain(hub, connection.remote, &hello, &refused);
            let (message, _) = listener.answer(&Answer::Refused(refused.clone()))?;
            write_message(&mut stream, &message).await?;
            return Err(Failure::Refused(Box::new(refused)));
        }
    };
    if peer.is_blocked() {
        // As silent as a broken network; the deadline ends it.
        std::future::pending::<()>().await;
    }
    let mut evicted = peer.unconfirmed.enter();
    let welcome = Answer::Welcome { from: hub.me, incarnation: hub.incarnation, version };
    let (message, answered) = listener.answer(&welcome)?;
    // Noted before the dialler can know the session, so that no frame can overtake it.
    let reading = peer.reading.begin(answered.id());
    let begun = Instant::now();
    let confirmation = async {
        write_message(&mut stream, &message).await?;
        let third = read_message(&mut stream).await.map_err(|_| Failure::Abandoned)?;
        let round_trip = begun.elapsed();
        let first = match answered.confirm(&third)? {
            Ok((session, shown)) if shown == hello.identity => {
                let first = read_message(&mut stream).await.map_err(|_| Failure::Abandoned)?;
                (session, first, round_trip)
            }
            Ok(_) => return Err(Failure::Unconfirmed),
            Err(refused) => return Err(Failure::RefusedUs(Box::new(refused))),
        };
        Ok(first)
    };
    let (session, first, round_trip) = tokio::select! {
        // First, so that a confirmation which has arrived counts.
        biased;
        confirmed = confirmation => confirmed?,
        // An error cannot happen: the pool keeps its side until it sends.
        _ = &mut evicted => return Err(Failure::Evicted),
    };
    let mut plaintext = Vec::new();
    let opened = session.open_record(0, &first, &mut plaintext);
    let after = match (opened, Record::decode(&plaintext)) {
        (Ok(()), Ok(Record::Opening { after })) => after,
        (Ok(()), Ok(Record::Last(_) | Record::More(_) | Record::Datagrams(_)) | Err(_))
        | (Err(_), _) => {
            return Err(Failure::Unconfirmed);
        }
    };
    let Hello { from, dial, lost, incarnation, .. } = hello;
    // The peer takes datagrams at its configured port, on the machine that it dials from.
    let mut address = connection.remote;
    address.set_port(peer.port().unwrap_or(address.port()));
    let link = Established {
        stream: stream.into_std()?,
        claim: Claim { session: session.id(), dialler: from, dial, lost },
        session: Arc::new(session),
        incarnation,
        address,
        round_trip,
        key,
        proof,
        own: own.public(),
        confirmation: None,
        records_read: 1,
        after,
        reading,
        place: Some(connection.place),
    };
    Ok((peer, link))
}

/// Says why a node with the right key was refused: that is a mistake of an operator.
fn complain(hub: &Hub, remote: SocketAddr, hello: &Hello, refused: &Refused) {
    let peer = hub.peers.get(&hello.from);
    let why = explain_own(hub, hello, refused);
    let text = why.text.clone();
    // Too many links pass by themselves; what else is refused needs a person.
    if let Some(peer) = peer.filter(|_| refused.reason != Refusal::TooBusy) {
        peer.set_refused_here(Some(why));
    }
    let throttle = peer.map_or(&hub.warning, |peer| &peer.refused_warning);
    if let Some(held_back) = throttle.pass() {
        let peer = hub.settings.names.of(hello.from);
        tracing::error!(%peer, %remote, held_back, "refused {peer}: {text}");
    }
}

fn report(hub: &Hub, remote: SocketAddr, failure: &Failure) {
    let counters = &hub.counters;
    match failure {
        Failure::Abandoned => {}
        Failure::Refused(refused) => count_refusal(hub, refused.reason),
        Failure::Evicted => counters.handshakes_evicted.bump(),
        Failure::RefusedUs(refused) => {
            counters.refused_by_peers.bump();
            if let Some(held_back) = hub.warning.pass() {
                tracing::error!(%remote, held_back, "a node with the group's key: {refused}");
            }
        }
        Failure::Closed(_) | Failure::Unconfirmed | Failure::Chance(_) => {
            counters.handshakes_failed.bump();
        }
        Failure::Handshake(error) => {
            counters.handshakes_failed.bump();
            if let Some(held_back) = hub.warning.pass() {
                tracing::warn!(%remote, %error, held_back, "refused a connection");
            }
        }
    }
    tracing::debug!(%remote, %failure, "a connection led to no link");
}

/// Counts a refusal, whichever side refused.
pub(super) fn count_refusal(hub: &Hub, refusal: Refusal) {
    let counters = &hub.counters;
    match refusal {
        Refusal::Version => counters.refused_version.bump(),
        Refusal::Group => counters.refused_group.bump(),
        Refusal::UnknownNode => counters.refused_unknown_peer.bump(),
        Refusal::WrongNode => counters.refused_wrong_node.bump(),
        Refusal::OwnId => counters.refused_own_id.bump(),
        Refusal::TooBusy => counters.refused_too_busy.bump(),
        Refusal::Settings => counters.refused_settings.bump(),
        Refusal::Identity => counters.refused_identity.bump(),
        Refusal::Twin => counters.refused_twin.bump(),
        Refusal::Other(_) => counters.handshakes_failed.bump(),
    }
}

const RETRY: Duration = Duration::from_millis(50);
