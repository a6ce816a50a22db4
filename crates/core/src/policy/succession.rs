//! Handing over to a named node, and telling that a leader acts.
//!
//! A leader that hands over withdraws, and its farewell names its successor:
//!
//! ```text
//!   the successor        takes over the standing of the leader, and calls an election at once
//!   the other members    leave the election to it for a while, and then do as after any farewell
//!   the old leader       rejoins by itself as soon as the successor must have formed its group
//! ```
//!
//! With `preempt` at `never` or `after` a node that leads comes before all that do not, and each
//! node says of itself whether it leads. So it is enough that the successor alone takes over that
//! standing: no rule needs the other nodes to know of it, and one that got no farewell, or gets it
//! late, obeys the successor as it would obey any leader. The name counts only for a node that is
//! Normal in the group of the leader that withdraws; so it cannot turn over a later election.
//!
//! Assumes messages within Tm. Where they are later the members elect by themselves, and another
//! node may lead than the named one. Leaves out: whether the successor may act, which its own
//! application decides; [`Message::Acting`] tells when it does.

use alloc::format;
use alloc::string::{String, ToString};
use core::fmt;
use core::time::Duration;

use super::{Message, Policy, Presence, Timer};
use crate::config::GroupConfig;
use crate::election::descriptor::Network;
use crate::group::GroupNumber;
use crate::membership::{Membership, NodeId, NodeNames};
use crate::mutant::mutants;
use crate::policy::Preempt;
use crate::protocol::{Context, Effects};

/// Why a leader does not hand over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HandOverError {
    /// The algorithm keeps no leader that could name another one.
    KeepsNoLeader(&'static str),
    /// The node is not configured.
    Unknown(NodeId),
    /// The asked node does not lead.
    NotLeader {
        /// The asked node.
        node: NodeId,
        /// The node that leads, as far as the asked one knows.
        leader: Option<NodeId>,
    },
    /// The named node leads.
    Already(NodeId),
    /// Elections are paused.
    Paused,
    /// The named node is not in the leader's group.
    NotInGroup(NodeId),
    /// The leader is alone.
    Alone,
    /// The old leader would take over again as soon as it rejoins.
    WouldNotLast {
        /// The leader.
        from: NodeId,
        /// The named node.
        to: NodeId,
    },
}

impl HandOverError {
    /// The reason in words that call nodes by their names.
    #[must_use]
    pub fn called(&self, names: &NodeNames) -> String {
        match *self {
            Self::KeepsNoLeader(algorithm) => format!(
                "with {algorithm} no leader can name its successor, so nothing was done; choose \
                 `invitation`, `bully` or a ring"
            ),
            Self::Unknown(node) => {
                format!("{} is not in the peer list; nothing was done", names.of(node))
            }
            Self::NotLeader { node, leader } => {
                let node = names.of(node);
                let told = match leader {
                    Some(leader) => format!(". {} leads: ask there", names.of(leader)),
                    None => ", and the group has no leader at the moment".to_string(),
                };
                format!("{node} does not lead, so it cannot hand over; nothing was done{told}")
            }
            Self::Already(node) => format!("{} leads already; nothing was done", names.of(node)),
            Self::Paused => "elections are paused, so nothing was done; end the pause first: \
                             tanist resume"
                .to_string(),
            Self::NotInGroup(node) => {
                let node = names.of(node);
                format!("{node} is not in the group, so nothing was done; wait until it has joined")
            }
            Self::Alone => "no other node is in the group, so nothing was done; wait until one \
                            has joined"
                .to_string(),
            Self::WouldNotLast { from, to } => {
                let (from, to) = (names.of(from), names.of(to));
                format!(
                    "{from} outranks {to} and would take over again at once, since `preempt` is \
                     `always`; nothing was done. Raise the priority of {to}, or set `preempt` to \
                     `never` on all nodes"
                )
            }
        }
    }
}

impl fmt::Display for HandOverError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.called(&NodeNames::default()))
    }
}

impl core::error::Error for HandOverError {}

impl HandOverError {
    /// Refuses what a configuration does not allow, whatever the state of the nodes.
    pub fn check(
        config: &GroupConfig,
        members: &Membership,
        from: NodeId,
        to: NodeId,
    ) -> Result<(), Self> {
        let descriptor = config.algorithm().descriptor();
        if descriptor.adjustable.is_none() {
            return Err(Self::KeepsNoLeader(descriptor.name));
        }
        if !members.contains(to) {
            return Err(Self::Unknown(to));
        }
        match config.preempt() {
            Preempt::Always if members.outranks(from, to) => Err(Self::WouldNotLast { from, to }),
            Preempt::Always | Preempt::Never | Preempt::After(_) => Ok(()),
        }
    }
}

impl Policy {
    /// Withdraws in favour of a named node, for as long as that one needs to form its group.
    pub(super) fn hand_over(&mut self, cx: &Context<'_>, to: NodeId, out: &mut Effects<Self>) {
        if self.presence != Presence::Present {
            return;
        }
        self.withdraw(cx, Some(wait(cx)), out);
        self.successor = Some(to);
    }

    /// Withdraws until the process has ended, in favour of a named node if there is one.
    pub(super) fn leave_for_good(
        &mut self,
        cx: &Context<'_>,
        successor: Option<NodeId>,
        out: &mut Effects<Self>,
    ) {
        if self.presence == Presence::Present {
            self.successor = successor;
        }
        self.withdraw(cx, None, out);
    }

    /// Another node was named: this one leaves the election to it for a while.
    pub(super) fn await_successor(
        &mut self,
        cx: &Context<'_>,
        group: GroupNumber,
        out: &mut Effects<Self>,
    ) {
        if self.handed_over != Some(group) {
            self.handed_over = Some(group);
            out.set_timer(Timer::Succession, wait(cx));
        }
    }

    /// Tells all others that this node acts as the leader of a group.
    pub(super) fn tell_acting(cx: &Context<'_>, group: GroupNumber, out: &mut Effects<Self>) {
        for other in cx.members.peer_group(cx.me).others(cx.me) {
            out.send(other, Message::Acting { group });
        }
    }
}

/// How long a successor may take until its election has reached all members: it gets the farewell,
/// asks those that may lead as well, and sends its own requests, which go from node to node in a
/// ring.
fn wait(cx: &Context<'_>) -> Duration {
    let timing = cx.config.timing();
    let hops = match cx.config.algorithm().descriptor().network {
        Network::Ring => u32::try_from(cx.members.count()).unwrap_or(u32::MAX),
        Network::Links | Network::Partitions | Network::Radio | Network::Hierarchy => 0,
    };
    timing.answer() * 2 + timing.answer().saturating_mul(hops)
}

mutants! {
    /// Hand-over: each member takes itself for the successor.
    SUCCEED_UNNAMED = "succeed-unnamed",
}
