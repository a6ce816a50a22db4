//! A detector that counts silence: nothing heard from a watched peer for S.
//!
//! Any message is a sign of life. Silence is reported again every S while it lasts, so whoever acts
//! on it may fail and try again. Evidence from the transport (a refused or reset connection) is
//! passed on at once. Leaves out: adapting S to what the network does.

use crate::members::{NodeId, NodeSet};
use crate::protocol::{Context, Effects, Event, Protocol};

/// Silence of the peers that the layer above asked to watch.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Detector {
    watched: NodeSet,
}

/// The timer that one peer's next sign of life replaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Silence(pub NodeId);

/// What the detector is told.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Command {
    /// Watch these peers and no others.
    Watch(NodeSet),
    /// A message came from this peer.
    Heard(NodeId),
    /// The transport has evidence that this peer is dead.
    Refused(NodeId),
}

/// What the detector tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Notice {
    /// Nothing was heard from a watched peer for S.
    Silent(NodeId),
    /// A peer is dead, as far as evidence goes.
    Failed(NodeId),
}

/// The detector says nothing to its peers: every message of the algorithms is a sign of life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NoMessage {}

/// The detector keeps nothing on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NoRecord {}

impl Protocol for Detector {
    type Message = NoMessage;
    type Timer = Silence;
    type Record = NoRecord;
    type Command = Command;
    type Notice = Notice;

    fn start(_: &mut Context<'_>, _: Option<NoRecord>, _: &mut Effects<Self>) -> Self {
        Self::default()
    }

    fn step(&mut self, cx: &mut Context<'_>, event: Event<Self>, out: &mut Effects<Self>) {
        match event {
            Event::Message { message, .. } => match message {},
            Event::Timer(Silence(peer)) => {
                out.set_timer(Silence(peer), cx.config.timing.silence());
                out.notify(Notice::Silent(peer));
            }
            Event::Command(Command::Watch(peers)) => self.watch(cx, peers, out),
            Event::Command(Command::Heard(peer)) => {
                if self.watched.contains(peer) {
                    out.set_timer(Silence(peer), cx.config.timing.silence());
                }
            }
            Event::Command(Command::Refused(peer)) => out.notify(Notice::Failed(peer)),
        }
    }
}

impl Detector {
    fn watch(&mut self, cx: &Context<'_>, peers: NodeSet, out: &mut Effects<Self>) {
        for gone in self.watched.without(&peers).iter() {
            out.cancel_timer(Silence(gone));
        }
        for new in peers.without(&self.watched).iter() {
            out.set_timer(Silence(new), cx.config.timing.silence());
        }
        self.watched = peers;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::election::Algorithm;
    use crate::testing::{Bench, NOTHING, group_of, nodes};

    fn watching<const N: usize>(peers: [u32; N]) -> Bench<Detector> {
        let mut bench = Bench::coming_up(group_of(Algorithm::Bully, 3, &[]), 1, None);
        bench.tell(Command::Watch(nodes(peers)));
        bench
    }

    const fn silence(node: u32) -> Silence {
        Silence(NodeId(node))
    }

    #[test]
    fn silence_is_reported_and_reported_again_while_it_lasts() {
        let mut bench = watching([2]);
        let lines = ["set silence of n2 515ms", "silent n2"];
        assert_eq!(bench.ring(silence(2)), lines);
        assert_eq!(bench.ring(silence(2)), lines);
    }

    #[test]
    fn any_message_of_a_watched_peer_is_a_sign_of_life() {
        let mut bench = watching([2]);
        assert_eq!(bench.tell(Command::Heard(NodeId(2))), ["set silence of n2 515ms"]);
        assert_eq!(bench.tell(Command::Heard(NodeId(3))), NOTHING);
    }

    #[test]
    fn watching_others_leaves_running_waits_alone() {
        let mut bench = watching([2]);
        assert_eq!(bench.tell(Command::Watch(nodes([2, 3]))), ["set silence of n3 515ms"]);
        assert_eq!(bench.tell(Command::Watch(nodes([3]))), ["cancel silence of n2"]);
        assert_eq!(bench.tell(Command::Watch(nodes([]))), ["cancel silence of n3"]);
    }

    #[test]
    fn evidence_of_the_transport_is_passed_on_at_once() {
        let mut bench = watching([2]);
        assert_eq!(bench.tell(Command::Refused(NodeId(3))), ["failed n3"]);
    }
}
