//! A timeout detector: a watched peer is silent if nothing came from it for S.
//!
//! Any message counts as a heartbeat. Silence is reported again every S while it lasts, so an
//! election that failed is tried again. Evidence from the transport (a refused or reset connection)
//! is passed on at once.
//!
//! With heartbeats configured, a coordinator and its participants are heartbeat peers: they send
//! each other a [`Heartbeat`] every period and watch each other. A new heartbeat peer gets one at
//! once; without heartbeat peers nothing is sent and no timer runs.
//!
//! Assumes that two heartbeat peers learn of each other at about the same time. Leaves out:
//! adapting S to the network.

#[cfg(test)]
mod tests;

use minicbor::{Decode, Encode};

use crate::election::descriptor::{MessageInfo, TimerInfo, rows};
use crate::membership::{NodeId, NodeSet};
use crate::protocol::{Context, Effects, Event, Protocol};
use crate::trace::{Kind, MessageFacts, TimerName};

/// Watches the peers that the layer above asked for, and the heartbeat peers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Detector {
    watched: NodeSet,
    heartbeat_peers: NodeSet,
}

/// A heartbeat, which carries nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Encode, Decode)]
pub struct Heartbeat;

impl Heartbeat {
    /// What a trace says of it.
    #[must_use]
    pub const fn facts(self) -> MessageFacts {
        MessageFacts::new(Kind::Heartbeat, None, None)
    }
}

/// Timers, named for what they end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Timer {
    /// The time until the next message of one peer must have come.
    Silence(NodeId),
    /// The time between two heartbeats of this node.
    Beat,
}

impl Timer {
    /// What a trace calls it.
    #[must_use]
    pub const fn name(self) -> TimerName {
        match self {
            Self::Silence(_) => TimerName::Silence,
            Self::Beat => TimerName::Heartbeat,
        }
    }
}

/// What the detector is told.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Command {
    /// Watch these peers and no others, beside the heartbeat peers.
    Watch(NodeSet),
    /// These are the heartbeat peers, and no others. Sent only where heartbeats are configured.
    HeartbeatPeers(NodeSet),
    /// A message came from this peer.
    Received(NodeId),
    /// The transport has evidence that this peer has failed.
    Refused(NodeId),
}

/// What the detector tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Notice {
    /// Nothing came for S from a watched peer or a heartbeat peer.
    Silent(NodeId),
    /// A peer has failed, as far as evidence goes.
    Failed(NodeId),
}

/// The detector keeps nothing on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NoRecord {}

impl Protocol for Detector {
    type Message = Heartbeat;
    type Timer = Timer;
    type Record = NoRecord;
    type Command = Command;
    type Notice = Notice;

    fn start(_: &mut Context<'_>, _: Option<NoRecord>, _: &mut Effects<Self>) -> Self {
        Self::default()
    }

    fn step(&mut self, cx: &mut Context<'_>, event: Event<Self>, out: &mut Effects<Self>) {
        match event {
            // A heartbeat says no more than that its sender is up.
            Event::Message { from, message: Heartbeat } => self.received(cx, from, out),
            Event::Timer(Timer::Silence(peer)) => {
                out.set_timer(Timer::Silence(peer), cx.config.timing().suspect_after());
                out.notify(Notice::Silent(peer));
            }
            Event::Timer(Timer::Beat) => self.beat(cx, out),
            Event::Command(Command::Watch(peers)) => {
                let heartbeat_peers = self.heartbeat_peers.clone();
                self.attend(cx, peers, heartbeat_peers, out);
            }
            Event::Command(Command::HeartbeatPeers(peers)) => {
                self.set_heartbeat_peers(cx, peers, out)
            }
            Event::Command(Command::Received(peer)) => self.received(cx, peer, out),
            Event::Command(Command::Refused(peer)) => out.notify(Notice::Failed(peer)),
        }
    }
}

impl Detector {
    fn received(&self, cx: &Context<'_>, peer: NodeId, out: &mut Effects<Self>) {
        if self.watched.contains(peer) || self.heartbeat_peers.contains(peer) {
            out.set_timer(Timer::Silence(peer), cx.config.timing().suspect_after());
        }
    }

    fn set_heartbeat_peers(&mut self, cx: &Context<'_>, peers: NodeSet, out: &mut Effects<Self>) {
        let Some(period) = cx.config.timing().heartbeat() else { return };
        if peers == self.heartbeat_peers {
            return;
        }
        for new in peers.without(&self.heartbeat_peers).iter() {
            out.send(new, Heartbeat);
        }
        if peers.is_empty() {
            out.cancel_timer(Timer::Beat);
        } else if self.heartbeat_peers.is_empty() {
            out.set_timer(Timer::Beat, period);
        }
        let watched = self.watched.clone();
        self.attend(cx, watched, peers, out);
    }

    fn beat(&self, cx: &Context<'_>, out: &mut Effects<Self>) {
        for peer in self.heartbeat_peers.iter() {
            out.send(peer, Heartbeat);
        }
        if let Some(period) = cx.config.timing().heartbeat() {
            out.set_timer(Timer::Beat, period);
        }
    }

    /// Waits for messages of all these peers; waits that run already are left alone.
    fn attend(
        &mut self,
        cx: &Context<'_>,
        watched: NodeSet,
        heartbeat_peers: NodeSet,
        out: &mut Effects<Self>,
    ) {
        let silence = cx.config.timing().suspect_after();
        let before: NodeSet = self.watched.iter().chain(self.heartbeat_peers.iter()).collect();
        let after: NodeSet = watched.iter().chain(heartbeat_peers.iter()).collect();
        for gone in before.without(&after).iter() {
            out.cancel_timer(Timer::Silence(gone));
        }
        for new in after.without(&before).iter() {
            out.set_timer(Timer::Silence(new), silence);
        }
        (self.watched, self.heartbeat_peers) = (watched, heartbeat_peers);
    }
}

pub(crate) const MESSAGES: &[MessageInfo] = &[rows::HEARTBEAT];

pub(crate) const TIMERS: &[TimerInfo] = &[rows::SILENCE, rows::BEAT];
