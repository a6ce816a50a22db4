//! Pausing: for maintenance, the group calls no elections by itself.
//!
//! The flag belongs to the whole group. The node at which it is set tells all others, and the
//! highest stamp counts. While it is on, a node that receives a message from a peer tells that peer
//! of it, once in a period of Check, so that a peer that restarted or missed it learns of it; a
//! peer that has a higher stamp answers with it.
//!
//! ```text
//!   paused, and Normal   what the detector reports of peers is withheld from the election;
//!                        Check and Timeout are postponed from period to period
//!   resumed              peers that were reported, and silent since, are reported to the election;
//!                        a member probes its coordinator, a coordinator checks
//! ```
//!
//! A paused node still answers all requests, so the guarantees of elections hold as before. A pause
//! does not stop an election in progress, nor a node that restarts, rejoins or is told to call one.
//! With the bully and the rings such a node takes over if it is the highest.
//!
//! Leaves out: keeping it over a restart of all nodes; and a command given to a node that has just
//! started and has received no message, whose stamp may be lower than one that it will receive.

use minicbor::{Decode, Encode};

use super::{Message, Notice, Policy, Timer};
use crate::membership::{NodeId, NodeSet};
use crate::mutant::{Mutant, mutants};
use crate::protocol::{Context, Effects};

/// Whether elections are paused, and since which command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Flag {
    pub(super) stamp: Stamp,
    pub(super) is_on: bool,
}

/// Orders the commands of a group: the highest is the last. Of two concurrent commands the one at
/// the node with the higher id counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Encode, Decode)]
pub struct Stamp {
    // Field order is the order of stamps: derived Ord compares the counter first.
    /// One more than the highest that was known.
    #[n(0)]
    pub counter: u64,
    /// The node at which the command was given.
    #[n(1)]
    pub node: NodeId,
}

impl Default for Stamp {
    /// Below that of any command.
    fn default() -> Self {
        Self { counter: 0, node: NodeId(0) }
    }
}

impl Policy {
    pub(super) fn set_flag(&mut self, cx: &Context<'_>, is_on: bool, out: &mut Effects<Self>) {
        let stamp = Stamp { counter: self.pause.stamp.counter.saturating_add(1), node: cx.me };
        for other in cx.members.peer_group(cx.me).others(cx.me) {
            out.send(other, Message::Pause { stamp, is_on });
        }
        self.adopt(cx, Flag { stamp, is_on }, out);
        self.told = cx.members.peer_group(cx.me).others(cx.me).collect();
    }

    pub(super) fn on_pause(
        &mut self,
        cx: &Context<'_>,
        from: NodeId,
        stamp: Stamp,
        is_on: bool,
        out: &mut Effects<Self>,
    ) {
        if stamp < self.pause.stamp {
            return self.tell_flag(from, out);
        }
        if stamp > self.pause.stamp {
            self.adopt(cx, Flag { stamp, is_on }, out);
        }
        self.told.insert(from);
    }

    /// A message of a peer arrived; the peer may not know of the pause yet.
    pub(super) fn meet(&mut self, peer: NodeId, out: &mut Effects<Self>) {
        self.withheld.remove(peer);
        if self.pause.is_on && self.told.insert(peer) {
            self.tell_flag(peer, out);
        }
    }

    pub(super) fn remind(&mut self, cx: &Context<'_>, out: &mut Effects<Self>) {
        if self.pause.is_on {
            self.told = NodeSet::new();
            out.set_timer(Timer::Remind, cx.config.timing().check_every());
        }
    }

    fn tell_flag(&self, to: NodeId, out: &mut Effects<Self>) {
        let Flag { stamp, is_on } = self.pause;
        out.send(to, Message::Pause { stamp, is_on });
    }

    fn adopt(&mut self, cx: &Context<'_>, flag: Flag, out: &mut Effects<Self>) {
        if cx.is_mutated(Mutant::PAUSED_FOREVER) && !flag.is_on {
            return;
        }
        let was_on = core::mem::replace(&mut self.pause, flag).is_on;
        self.told = NodeSet::new();
        match (was_on, flag.is_on) {
            (false, true) => {
                out.set_timer(Timer::Remind, cx.config.timing().check_every());
                out.notify(Notice::Paused);
            }
            (true, false) => {
                out.cancel_timer(Timer::Remind);
                out.notify(Notice::Resumed);
            }
            (false, false) | (true, true) => {}
        }
    }
}

mutants! {
    /// Pausing: nothing ends a pause.
    PAUSED_FOREVER = "paused-forever",
}
