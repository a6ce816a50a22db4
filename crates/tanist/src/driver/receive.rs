//! What arrives from other nodes: messages, evidence that a peer is gone, a twin of this node.

use tanist_core::node::{Command, Message};
use tanist_core::trace::Event as Trace;
use tanist_core::{Event, NodeId, wire};

use super::Driver;
use crate::error::Failure;
use crate::transport::Incoming;

impl Driver {
    pub(super) fn on_incoming(&mut self, incoming: Incoming) -> Result<(), Failure> {
        match incoming {
            Incoming::Frame { from, id, payload } => match wire::decode(&payload) {
                Ok(message) => {
                    if !self.admits(from, &message) {
                        return Ok(());
                    }
                    let facts = message.facts(self.config.algorithm());
                    self.metrics.received(facts.kind);
                    let contents = message.contents();
                    self.note(|node| Trace::Receive { node, from, id, message: facts, contents });
                    self.desk.heard(from);
                    self.step(Event::Message { from, message })
                }
                Err(error) => {
                    self.metrics.undecodable += 1;
                    if let Some(held_back) = self.undecodable.pass() {
                        let from = self.members.names().of(from);
                        tracing::warn!(
                            %from, %error, held_back, "a frame that is no message was dropped"
                        );
                    }
                    Ok(())
                }
            },
            Incoming::Datagram { from, payload } => match wire::decode(&payload) {
                Ok(message @ Message::Detector(_)) => {
                    self.desk.heard(from);
                    self.metrics.received(message.facts(self.config.algorithm()).kind);
                    self.step(Event::Message { from, message })
                }
                // Only heartbeats travel unacknowledged.
                Ok(_) | Err(_) => {
                    self.metrics.undecodable += 1;
                    Ok(())
                }
            },
            Incoming::Gone { peer, ticket } => {
                if self.last_sent.get(&peer).is_none_or(|last| *last <= ticket) {
                    self.metrics.refusals += 1;
                    return self.step(Event::Command(Command::Refused(peer)));
                }
                Ok(())
            }
            Incoming::Met { peer, incarnation } => {
                tracing::debug!(peer = %self.members.names().of(peer), incarnation, "met");
                self.twin_seen_by.remove(peer);
                Ok(())
            }
            Incoming::Twin { peer, detail } => self.suspect_twin(peer, detail),
        }
    }

    /// A peer has a link with another process of this node's id. The process that fewer peers know
    /// is the newcomer and ends, as does one that knows no better: never do both go on.
    fn suspect_twin(&mut self, peer: NodeId, at: String) -> Result<(), Failure> {
        self.twin_seen_by.insert(peer);
        let peers = self.network.peers();
        let linked = peers.iter().filter(|peer| peer.is_connected).count();
        let called = |node| self.members.names().of(node).to_string();
        if self.twin_seen_by.len() >= linked {
            return Err(Failure::Twin { node: called(self.me), peer: called(peer), at });
        }
        let peer = called(peer);
        tracing::error!(
            peer,
            at,
            "another process with this node's id runs; this one goes on, since more peers know it: \
             stop the other one"
        );
        Ok(())
    }

    /// Whether a message may reach the node: its counters must not wear out those of this node.
    fn admits(&mut self, from: NodeId, message: &Message) -> bool {
        let Err(error) = self.cap.admit(message) else { return true };
        self.metrics.refused_counters += 1;
        if let Some(held_back) = self.warning.pass() {
            let from = self.members.names().of(from);
            tracing::warn!(peer = %from, %error, held_back, "refused a message");
        }
        false
    }
}
