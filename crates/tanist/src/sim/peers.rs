//! What a simulated node's transport knows of its peers: whom it heard when, and who refused a
//! connection.
//!
//! Messages tell it, and probes: a leader that wants to act asks whether the nodes outside its
//! group are there. An answer takes as long as the network may take there and back. Leaves out:
//! what only real links have, such as keys and addresses.

use std::time::Duration;

use tanist_core::trace::Event;
use tanist_core::{NodeId, NodeSet, Time};
use tanist_sim::observe::global_state::GlobalState;

use crate::status::PeerSign;
use crate::transport::PeerView;

/// What all nodes know of their peers.
pub(super) struct Peers {
    known: Vec<Known>,
    probes: Vec<Probe>,
    /// How long a message takes at most.
    delay_max: Duration,
    has_refusals: bool,
}

/// What one node knows of another.
#[derive(Clone, Copy)]
struct Known {
    by: NodeId,
    of: NodeId,
    heard: Option<Time>,
    is_refused: bool,
}

/// A question whether a peer is there, until its answer is due.
struct Probe {
    at: Time,
    by: NodeId,
    of: NodeId,
}

impl Peers {
    pub(super) fn new(count: u32, delay_max: Duration, has_refusals: bool) -> Self {
        let nodes = || (1..=count).map(NodeId);
        let pairs =
            nodes().flat_map(|by| nodes().filter(move |of| *of != by).map(move |of| (by, of)));
        let known = pairs.map(|(by, of)| Known { by, of, heard: None, is_refused: false });
        Self { known: known.collect(), probes: Vec::new(), delay_max, has_refusals }
    }

    /// Notes what an event says.
    pub(super) fn note(&mut self, at: Time, event: &Event) {
        if let Event::Receive { node, from, .. } = event {
            self.hear(*node, *from, at);
        } else if let Event::Start { node, .. } = event {
            // A process that starts knows nothing.
            for known in self.known.iter_mut().filter(|known| known.by == *node) {
                (known.heard, known.is_refused) = (None, false);
            }
            self.probes.retain(|probe| probe.by != *node);
        }
    }

    /// Asks peers whether they are there; `slow` is what their machines add to a message.
    pub(super) fn probe(
        &mut self,
        by: NodeId,
        peers: &NodeSet,
        now: Time,
        slow: impl Fn(NodeId) -> Duration,
    ) {
        for of in peers.iter() {
            let there_and_back = (self.delay_max + slow(by) + slow(of)) * 2;
            self.probes.push(Probe { at: now + there_and_back, by, of });
        }
    }

    /// When the next probe comes to its end.
    pub(super) fn next_at(&self) -> Option<Time> {
        self.probes.iter().map(|probe| probe.at).min()
    }

    /// Ends the probes that are due: whether the peer is there is seen now.
    pub(super) fn conclude(&mut self, now: Time, global: &GlobalState) {
        let is_due = |probe: &mut Probe| probe.at <= now;
        let due: Vec<Probe> = self.probes.extract_if(.., is_due).collect();
        for Probe { by, of, .. } in due {
            let Some(view) = global.view(of) else { continue };
            if !global.can_talk(by, of) || view.is_paused {
                continue;
            }
            if view.is_running {
                self.hear(by, of, now);
            } else if self.has_refusals {
                self.known(by, of, |known| known.is_refused = true);
            }
        }
    }

    /// What a node knows, as its program sees it.
    pub(super) fn views(&self, by: NodeId) -> Vec<PeerView> {
        self.of(by).map(|known| view(*known)).collect()
    }

    /// The same in short, for its next change of role.
    pub(super) fn signs(&self, by: NodeId) -> Vec<PeerSign> {
        let sign = |known: &Known| PeerSign {
            peer: known.of,
            heard: known.heard,
            is_refused: known.is_refused,
        };
        self.of(by).map(sign).collect()
    }

    fn of(&self, by: NodeId) -> impl Iterator<Item = &Known> + '_ {
        self.known.iter().filter(move |known| known.by == by)
    }

    fn hear(&mut self, by: NodeId, of: NodeId, at: Time) {
        self.known(by, of, |known| (known.heard, known.is_refused) = (Some(at), false));
    }

    fn known(&mut self, by: NodeId, of: NodeId, change: impl Fn(&mut Known)) {
        self.known.iter_mut().filter(|known| (known.by, known.of) == (by, of)).for_each(change);
    }
}

fn view(known: Known) -> PeerView {
    let Known { of: id, heard, is_refused, .. } = known;
    PeerView {
        id,
        address: String::new(),
        is_connected: heard.is_some() && !is_refused,
        is_refused,
        heard,
        is_blocked: false,
        refusal: None,
        refused_here: None,
        differences: Vec::new(),
        told: None,
        key: None,
        proof: None,
        version: None,
        round_trip: None,
        datagrams_in: None,
        datagrams_out: None,
        bytes_out: 0,
        bytes_in: 0,
    }
}
