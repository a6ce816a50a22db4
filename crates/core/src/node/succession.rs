//! Handing over to a named node: when a name in a farewell counts, and what it does.

use super::{Node, Notice};
use crate::config::GroupConfig;
use crate::election;
use crate::group::{GroupNumber, Status};
use crate::membership::{Membership, NodeId};
use crate::mutant::Mutant;
use crate::policy::{self, HandOverError};
use crate::protocol::{Context, Effects, Event};

impl Node {
    /// The node that this one would hand over to: the named one, or the highest member of its
    /// group.
    ///
    /// # Errors
    /// If it cannot hand over, or not to that node.
    pub fn successor(
        &self,
        me: NodeId,
        config: &GroupConfig,
        members: &Membership,
        to: Option<NodeId>,
    ) -> Result<NodeId, HandOverError> {
        let in_force = self.policy.members_in_force(members);
        let members = in_force.as_ref().unwrap_or(members);
        // Whether a node could ever be named comes first, then what may change by itself.
        HandOverError::check(config, members, me, to.unwrap_or(me))?;
        let view = self.view();
        let is_normal = view.status == Status::Normal && self.takes_part();
        let leader = view.coordinator.filter(|_| is_normal);
        match (leader, to) {
            (Some(leader), Some(to)) if leader == to => return Err(HandOverError::Already(to)),
            (leader, _) if leader != Some(me) => {
                return Err(HandOverError::NotLeader { node: me, leader });
            }
            (Some(_) | None, _) => {}
        }
        if self.is_paused() {
            return Err(HandOverError::Paused);
        }
        let others = || members.all().iter().rev().map(|member| member.id);
        let best = others().find(|other| *other != me && view.up.contains(*other));
        let to = to.or(best).ok_or(HandOverError::Alone)?;
        if !view.up.contains(to) {
            return Err(HandOverError::NotInGroup(to));
        }
        HandOverError::check(config, members, me, to)?;
        Ok(to)
    }

    pub(super) fn hand_over(&mut self, cx: &mut Context<'_>, to: NodeId, out: &mut Effects<Self>) {
        if self.successor(cx.me, cx.config, cx.members, Some(to)).is_ok() {
            self.tell_policy(cx, Event::Command(policy::Command::HandOver { to }), out);
        }
    }

    /// The process ends. A leader names its successor: without a name all members would elect, and
    /// a node that restarts while they do takes part, and might win.
    pub(super) fn leave(&mut self, cx: &mut Context<'_>, out: &mut Effects<Self>) {
        let successor = self.successor(cx.me, cx.config, cx.members, None).ok();
        self.tell_policy(cx, Event::Command(policy::Command::Leave { successor }), out);
    }

    /// A peer has withdrawn. If it led, the node that it names takes over, and the others leave
    /// the election to that one for a while.
    pub(super) fn on_farewell(
        &mut self,
        cx: &mut Context<'_>,
        peer: NodeId,
        successor: Option<NodeId>,
        out: &mut Effects<Self>,
    ) {
        out.notify(Notice::Farewell(peer));
        let view = self.view();
        let has_led = view.status == Status::Normal && view.coordinator == Some(peer);
        let group = view.group.filter(|_| has_led);
        let is_member = |node: &NodeId| *node == cx.me || view.up.contains(*node);
        match (successor.filter(is_member), group) {
            (Some(successor), Some(_))
                if successor == cx.me || cx.is_mutated(Mutant::SUCCEED_UNNAMED) =>
            {
                self.tell_election(cx, Event::Command(election::Command::Succeed(peer)), out);
            }
            (Some(_), Some(group)) => {
                let wait = policy::Command::AwaitSuccessor(group);
                self.tell_policy(cx, Event::Command(wait), out);
            }
            // Evidence for the election only: a withdrawn node still answers recall, so a node
            // that asks it for its own numbers goes on waiting for the answer.
            (Some(_) | None, _) => {
                self.report(cx, election::Command::Failed(peer), peer, out);
            }
        }
    }

    /// The named successor has not formed a group: the members elect as after any farewell.
    pub(super) fn no_successor(
        &mut self,
        cx: &mut Context<'_>,
        group: GroupNumber,
        out: &mut Effects<Self>,
    ) {
        let view = self.view();
        if view.status == Status::Normal
            && view.group == Some(group)
            && let Some(peer) = view.coordinator
        {
            self.report(cx, election::Command::Failed(peer), peer, out);
        }
    }
}
