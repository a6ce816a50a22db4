//! Taking connections in.
//!
//! Whoever can reach the port can connect, so a connection costs little until its handshake is
//! done: a deadline, and a cap. Over the cap the oldest unfinished handshake gives way and not the
//! newest, since a real peer is done within a round trip and a silent stranger never is.

use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::OwnedSemaphorePermit;
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::{Instant, sleep, timeout};

use super::claim::Claim;
use super::dial::{read_message, write_message};
use super::frame::Record;
use super::handshake::{Answer, HandshakeError, Hello, Listener, Refusal, VERSION};
use super::hub::{Hub, PeerState};
use super::link::Established;
use super::sockets::tune;

/// Accepts connections and shakes hands, for ever.
pub(super) async fn listen(hub: Arc<Hub>, tcp: TcpListener) {
    let mut handshakes = JoinSet::new();
    let mut oldest_first: VecDeque<AbortHandle> = VecDeque::new();
    loop {
        tokio::select! {
            accepted = tcp.accept() => match accepted {
                Ok((stream, remote)) => {
                    hub.tally.accepted.bump();
                    // Without a place the connection is closed right here.
                    let Ok(place) = Arc::clone(&hub.places).try_acquire_owned() else {
                        hub.tally.connections_over_cap.bump();
                        continue;
                    };
                    oldest_first.retain(|handshake| !handshake.is_finished());
                    if oldest_first.len() >= hub.limits.unauthenticated_max {
                        hub.tally.connections_over_cap.bump();
                        oldest_first.pop_front().inspect(AbortHandle::abort);
                    }
                    let task = receive(Arc::clone(&hub), stream, remote, place);
                    oldest_first.push_back(handshakes.spawn(task));
                }
                Err(error) => {
                    tracing::debug!(%error, "cannot accept a connection; trying again");
                    sleep(RETRY).await;
                }
            },
            Some(_) = handshakes.join_next(), if !handshakes.is_empty() => {}
        }
    }
}

/// One handshake, under its deadline, and what it leads to.
async fn receive(
    hub: Arc<Hub>,
    stream: TcpStream,
    remote: SocketAddr,
    place: OwnedSemaphorePermit,
) {
    let handshake = shake_hands(&hub, stream, remote, place);
    match timeout(hub.limits.handshake, handshake).await {
        Ok(Ok((peer, link))) => {
            // The channel has room for as many links as a peer may have.
            if peer.arrivals.try_send(link).is_err() {
                hub.tally.refused_too_busy.bump();
            }
        }
        Ok(Err(failure)) => report(&hub, remote, &failure),
        Err(_) => hub.tally.handshakes_timed_out.bump(),
    }
}

/// Why a connection led to no link.
#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error("it was closed before the handshake was done ({0})")]
    Closed(#[from] io::Error),
    #[error(transparent)]
    Handshake(#[from] HandshakeError),
    /// The dialler was told; the words are for its log, not for ours.
    #[error("a node with the right key was refused")]
    Refused(Refusal),
    #[error("the dialler went away after our answer, as it does when another link came first")]
    Abandoned,
    #[error("the first record does not confirm the handshake; message 1 was replayed or damaged")]
    Unconfirmed,
}

async fn shake_hands(
    hub: &Hub,
    mut stream: TcpStream,
    remote: SocketAddr,
    place: OwnedSemaphorePermit,
) -> Result<(&PeerState, Established), Failure> {
    tune(&stream, &hub.limits)?;
    let message = read_message(&mut stream).await?;
    let (listener, hello) = Listener::hear(&hub.key, &message)?;
    let peer = match judge(hub, &hello) {
        Ok(peer) => peer,
        Err(refusal) => {
            let (message, _) = listener.answer(Answer::Refused(refusal))?;
            write_message(&mut stream, &message).await?;
            return Err(Failure::Refused(refusal));
        }
    };
    if peer.is_blocked() {
        // As silent as a broken network; the deadline ends it.
        std::future::pending::<()>().await;
    }
    let welcome = Answer::Welcome { from: hub.me, incarnation: hub.incarnation };
    let (message, session) = listener.answer(welcome)?;
    // Noted before the dialler can know the session, so that no frame can overtake it.
    let reading = peer.reading.begin(session.id());
    let begun = Instant::now();
    write_message(&mut stream, &message).await?;
    let confirmation = read_message(&mut stream).await.map_err(|_| Failure::Abandoned)?;
    let mut plaintext = Vec::new();
    let opened = session.open_record(0, &confirmation, &mut plaintext);
    let after = match (opened, Record::decode(&plaintext)) {
        (Ok(()), Ok(Record::Opening { after })) => after,
        (Ok(()), Ok(Record::Last(_) | Record::More(_)) | Err(_)) | (Err(_), _) => {
            return Err(Failure::Unconfirmed);
        }
    };
    let Hello { from, dial, lost, incarnation, .. } = hello;
    // The peer takes datagrams at its configured port, on the machine that it dials from.
    let mut address = remote;
    address.set_port(peer.port().unwrap_or(remote.port()));
    let link = Established {
        stream,
        claim: Claim { session: session.id(), dialler: from, dial, lost },
        session: Arc::new(session),
        incarnation,
        address,
        round_trip: begun.elapsed(),
        records_read: 1,
        after,
        reading,
        place: Some(place),
    };
    Ok((peer, link))
}

/// Whether a node with the right key gets a link.
fn judge<'a>(hub: &'a Hub, hello: &Hello) -> Result<&'a PeerState, Refusal> {
    if hello.version != VERSION {
        return Err(Refusal::Version);
    }
    if hello.group != *hub.group {
        return Err(Refusal::Group);
    }
    if hello.from == hub.me {
        return Err(Refusal::OwnId);
    }
    if hello.to != hub.me {
        return Err(Refusal::WrongNode);
    }
    let peer = hub.peers.get(&hello.from).ok_or(Refusal::UnknownNode)?;
    if peer.reading.count() >= hub.limits.links_per_peer_max {
        return Err(Refusal::TooBusy);
    }
    Ok(peer)
}

fn report(hub: &Hub, remote: SocketAddr, failure: &Failure) {
    let tally = &hub.tally;
    match failure {
        Failure::Abandoned => {}
        Failure::Refused(refusal) => count_refusal(hub, *refusal),
        Failure::Closed(_) | Failure::Unconfirmed => tally.handshakes_failed.bump(),
        Failure::Handshake(error) => {
            tally.handshakes_failed.bump();
            if let Some(held_back) = hub.warning.pass() {
                tracing::warn!(%remote, %error, held_back, "refused a connection");
            }
        }
    }
    tracing::debug!(%remote, %failure, "a connection led to no link");
}

/// Counts a refusal, whichever side refused.
pub(super) fn count_refusal(hub: &Hub, refusal: Refusal) {
    let tally = &hub.tally;
    match refusal {
        Refusal::Version => tally.refused_version.bump(),
        Refusal::Group => tally.refused_group.bump(),
        Refusal::UnknownNode => tally.refused_unknown_peer.bump(),
        Refusal::WrongNode => tally.refused_wrong_node.bump(),
        Refusal::OwnId => tally.refused_own_id.bump(),
        Refusal::TooBusy => tally.refused_too_busy.bump(),
        Refusal::Other(_) => tally.handshakes_failed.bump(),
    }
}

const RETRY: Duration = Duration::from_millis(50);
