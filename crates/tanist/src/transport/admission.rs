//! Whether a node with the right key gets a link, and how a refusal is told.

use std::time::Duration;

use tokio::time::timeout;

use super::handshake::{Hello, Refusal, Refused};
use super::hub::{Hub, PeerState};
use super::link::ECHO_ASK;
use super::overflow;
use super::queue::Pushed;
use crate::key::Proof;

/// What a hello that is accepted leads to.
pub(super) struct Accepted<'a> {
    pub(super) peer: &'a PeerState,
    pub(super) version: u8,
    /// What the dialler has proven once message 3 shows the key that its hello names.
    pub(super) proof: Proof,
}

/// Judges a hello. The last question may take a moment: whether a process with the same id that is
/// linked already still answers.
pub(super) async fn judge<'a>(hub: &'a Hub, hello: &Hello) -> Result<Accepted<'a>, Refused> {
    let Some(version) = hub.versions.common(hello.versions) else {
        return Err(Refused::with(Refusal::Version, &hub.versions.to_string()));
    };
    if hello.group != *hub.group {
        return Err(Refused::plain(Refusal::Group));
    }
    if hello.from == hub.me {
        return Err(Refused::plain(Refusal::OwnId));
    }
    if hello.to != hub.me {
        return Err(Refused::plain(Refusal::WrongNode));
    }
    // First of what concerns the members: nodes with other lists are told that they differ.
    if hello.settings.digest != hub.settings.digest {
        return Err(Refused::with(Refusal::Settings, &hub.settings.text));
    }
    let unknown = || Refused::plain(Refusal::UnknownNode);
    let peer = hub.peers.get(&hello.from).ok_or_else(unknown)?;
    let proof = hub.secrets().identities.prove(peer.id, hello.identity);
    let proof = proof.map_err(|error| Refused::with(Refusal::Identity, &error.to_string()))?;
    if peer.reading.confirmed() >= hub.limits.links_per_peer_max {
        return Err(Refused::plain(Refusal::TooBusy));
    }
    if let Some(other) = twin(hub, peer, hello.incarnation).await {
        return Err(Refused::with(Refusal::Twin, &other));
    }
    Ok(Accepted { peer, version, proof })
}

/// Where another process with this peer's id is, if it is linked and answers. A process that was
/// restarted finds the link of the earlier one closed, or at least silent.
async fn twin(hub: &Hub, peer: &PeerState, incarnation: u64) -> Option<String> {
    let (linked, address) = peer.linked()?;
    if linked == incarnation {
        return None;
    }
    let number = peer.note_asked();
    match peer.queue.push(ECHO_ASK, number.to_be_bytes().to_vec()).1 {
        Pushed::Queued => {}
        Pushed::Overflowed { dropped } => overflow::note(hub, peer, dropped),
    }
    let answered = timeout(patience(hub), peer.echoed(number, linked)).await;
    (answered == Ok(true)).then(|| format!("at {}", address.ip()))
}

/// The dialler waits for the whole of a handshake's time.
fn patience(hub: &Hub) -> Duration {
    hub.limits.handshake / 2
}

/// A refusal by a peer in words that name both sides' values.
pub(super) fn explain(hub: &Hub, refused: &Refused) -> String {
    match refused.reason {
        Refusal::Settings => {
            let told = differences(hub, &refused.detail);
            format!("its settings differ: {told}; give all nodes the same settings")
        }
        Refusal::Version => {
            let (theirs, ours) = (&refused.detail, hub.versions);
            format!("it speaks versions {theirs}, this node {ours}; upgrade one release at a time")
        }
        Refusal::Group
        | Refusal::UnknownNode
        | Refusal::WrongNode
        | Refusal::OwnId
        | Refusal::TooBusy
        | Refusal::Identity
        | Refusal::Twin
        | Refusal::Other(_) => refused.to_string(),
    }
}

/// Why this node has refused a hello, in words that name both sides' values.
pub(super) fn explain_own(hub: &Hub, hello: &Hello, refused: &Refused) -> String {
    match refused.reason {
        Refusal::Settings => {
            let told = differences(hub, &hello.settings.text);
            format!("its settings differ: {told}; give all nodes the same settings")
        }
        Refusal::Version => {
            let (theirs, ours) = (hello.versions, hub.versions);
            format!("it speaks versions {theirs}, this node {ours}; upgrade one release at a time")
        }
        Refusal::Group => {
            let name: String = hello.group.chars().filter(|c| !c.is_control()).collect();
            format!("it belongs to group `{name}`, this node to `{}`", hub.group)
        }
        Refusal::UnknownNode => "it is not one of this node's peers; add it to the peers here, or \
                                 remove this node from its list"
            .to_owned(),
        Refusal::WrongNode => {
            format!("it looks for {} at this node's address; correct its peers", hello.to)
        }
        Refusal::OwnId => "it has this node's id; give every node an id of its own".to_owned(),
        Refusal::TooBusy => "it has too many links with this node already".to_owned(),
        Refusal::Identity => explain_identity(&refused.detail),
        Refusal::Twin => format!(
            "another process with its id is linked {} and answers; stop one of the two",
            refused.detail
        ),
        Refusal::Other(number) => format!("reason {number}"),
    }
}

/// Why this node does not accept a peer's identity.
pub(super) fn explain_identity(why: &str) -> String {
    format!("its identity is not accepted: {why}; correct identity.peer_keys here")
}

fn differences(hub: &Hub, theirs: &str) -> String {
    let all = hub.settings.differences(theirs);
    let told: Vec<String> = all.iter().map(ToString::to_string).collect();
    let text =
        if told.is_empty() { "in a way that is not told".to_owned() } else { told.join("; ") };
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}
