//! Whether a node with the right key gets a link, and how a refusal is told.

use std::time::Duration;

use tanist_core::membership::NodeId;
use tokio::time::timeout;

use super::handshake::{Hello, Refusal, Refused};
use super::hub::{Hub, PeerState};
use super::link::ECHO_ASK;
use super::overflow;
use super::queue::Pushed;
use crate::key::Proof;
use crate::settings::{Difference, GROUP, NODE, WIRE};

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
        return Err(Refused::with(Refusal::Group, &hub.group));
    }
    if hello.from == hub.me {
        return Err(Refused::plain(Refusal::OwnId));
    }
    if hello.to != hub.me {
        return Err(Refused::with(Refusal::WrongNode, &hub.me.to_string()));
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

/// Why there is no link with a node that has the right key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Why {
    /// For people, with both sides' values.
    pub(super) text: String,
    /// What the two were told differently, if that is the reason.
    pub(super) differences: Vec<Difference>,
}

impl Why {
    /// A reason that is no difference between two values.
    pub(super) const fn plain(text: String) -> Self {
        Self { text, differences: Vec::new() }
    }
}

/// A refusal by a peer in words that name both sides' values.
pub(super) fn explain(hub: &Hub, peer: NodeId, refused: &Refused) -> Why {
    let theirs = refused.detail.as_str();
    match refused.reason {
        Refusal::Settings => other_settings(hub, theirs),
        Refusal::Version => other_versions(hub, theirs),
        // A release before this one names neither its group nor itself.
        Refusal::Group if !theirs.is_empty() => other_group(hub, theirs),
        Refusal::WrongNode if !theirs.is_empty() => {
            // It says its short form.
            let names = &hub.settings.names;
            let called = |node: NodeId| names.of(node).to_string();
            let theirs = names.find(theirs).map_or_else(|| theirs.to_owned(), called);
            let peer = called(peer);
            let differences = vec![difference(NODE, peer.clone(), &theirs)];
            let text = format!("{theirs} answers at the address of {peer}; correct the peers here");
            Why { text, differences }
        }
        Refusal::Group
        | Refusal::UnknownNode
        | Refusal::WrongNode
        | Refusal::OwnId
        | Refusal::TooBusy
        | Refusal::Identity
        | Refusal::Twin
        | Refusal::Other(_) => Why::plain(refused.to_string()),
    }
}

/// Why this node has refused a hello, in words that name both sides' values.
pub(super) fn explain_own(hub: &Hub, hello: &Hello, refused: &Refused) -> Why {
    Why::plain(match refused.reason {
        Refusal::Settings => return other_settings(hub, &hello.settings.text),
        Refusal::Version => return other_versions(hub, &hello.versions.to_string()),
        Refusal::Group => return other_group(hub, &hello.group),
        Refusal::UnknownNode => "it is not one of this node's peers; add it to the peers here, or \
                                 remove this node from its list"
            .to_owned(),
        Refusal::WrongNode => {
            format!("it looks for {} at this node's address; correct its peers", hello.to)
        }
        Refusal::OwnId => "it has this node's id; give every node an id of its own".to_owned(),
        Refusal::TooBusy => "it has too many links with this node already".to_owned(),
        Refusal::Identity => return explain_identity(&refused.detail),
        Refusal::Twin => format!(
            "another process with its id is linked {} and answers; stop one of the two",
            refused.detail
        ),
        Refusal::Other(number) => format!("reason {number}"),
    })
}

/// Why this node does not accept a peer's identity.
pub(super) fn explain_identity(why: &str) -> Why {
    Why::plain(format!("its identity is not accepted: {why}; correct identity.peer_keys here"))
}

fn other_settings(hub: &Hub, theirs: &str) -> Why {
    let plain: String =
        theirs.chars().map(|c| if c.is_control() && c != '\n' { ' ' } else { c }).collect();
    let differences = hub.settings.differences(&plain);
    let told: Vec<String> = differences.iter().map(ToString::to_string).collect();
    let told =
        if told.is_empty() { "in a way that is not told".to_owned() } else { told.join("; ") };
    let text = format!("its settings differ: {told}; give all nodes the same settings");
    Why { text, differences }
}

fn other_versions(hub: &Hub, theirs: &str) -> Why {
    let ours = hub.versions.to_string();
    let text =
        format!("it speaks versions {theirs}, this node {ours}; upgrade one release at a time");
    Why { text, differences: vec![difference(WIRE, ours, theirs)] }
}

fn other_group(hub: &Hub, theirs: &str) -> Why {
    let theirs: String = theirs.chars().filter(|c| !c.is_control()).collect();
    let ours = hub.group.to_string();
    let text = format!("it belongs to group `{theirs}`, this node to `{ours}`");
    Why { text, differences: vec![difference(GROUP, ours, &theirs)] }
}

fn difference(key: &str, ours: String, theirs: &str) -> Difference {
    Difference { key: key.to_owned(), ours, theirs: theirs.to_owned() }
}
