//! How a node withdraws and rejoins: applies the decisions of [`Policy`] to the other layers.
//!
//! Leaving is one rule, applied after every step: while the node is leaving, a running application
//! is told to stop, and once it has stopped the node withdraws. So it does not matter whether the
//! application was running, was stopping for an election, or had stopped before.

use alloc::vec::Vec;

use super::{Node, Notice, Timer};
use crate::detector;
use crate::election::Election;
use crate::group::{Counter, Status};
use crate::membership::NodeSet;
use crate::mutant::Mutant;
use crate::policy::{self, Policy};
use crate::protocol::compose::Upward;
use crate::protocol::{Context, Effects, Event, Protocol};
use crate::reorganization;

impl Node {
    /// Whether the node has withdrawn and not rejoined.
    #[must_use]
    pub const fn is_withdrawn(&self) -> bool {
        self.policy.is_withdrawn()
    }

    /// Whether the node takes part, and is not about to withdraw.
    #[must_use]
    pub const fn takes_part(&self) -> bool {
        !self.policy.is_withdrawn() && !self.policy.is_leaving()
    }

    pub(super) fn takes_no_part(&self, cx: &Context<'_>) -> bool {
        self.policy.is_withdrawn() && !cx.is_mutated(Mutant::ANSWER_WHILE_WITHDRAWN)
    }

    pub(super) fn go_on_leaving(&mut self, cx: &mut Context<'_>, out: &mut Effects<Self>) {
        if !self.policy.is_leaving() {
            return;
        }
        if self.reorganization.has_stopped() {
            self.tell_policy(cx, Event::Command(policy::Command::Stopped), out);
        } else if !self.reorganization.is_stopping() {
            let stop = Event::Command(reorganization::Command::Yield);
            self.tell_reorganization(cx, stop, out);
        }
    }

    /// Tells the policy whether a member of the group that this node coordinates outranks it.
    pub(super) fn check_outranked(&mut self, cx: &mut Context<'_>, out: &mut Effects<Self>) {
        let view = self.view();
        let members = cx.members;
        let is_outranked = view.status == Status::Normal
            && view.coordinator == Some(cx.me)
            && view.up.iter().any(|member| members.outranks(member, cx.me));
        let group = view.group.filter(|_| is_outranked);
        self.tell_policy(cx, Event::Command(policy::Command::Outranked(group)), out);
    }

    pub(super) fn tell_policy(
        &mut self,
        cx: &mut Context<'_>,
        event: Event<Policy>,
        out: &mut Effects<Self>,
    ) {
        self.step_layer(cx, event, out, Self::route_policy);
    }

    pub(super) fn route_policy(
        &mut self,
        cx: &mut Context<'_>,
        upward: Upward<Policy>,
        out: &mut Effects<Self>,
    ) {
        let notice = match upward {
            Upward::Save(record) => match record {},
            Upward::Notify(notice) => notice,
        };
        match notice {
            policy::Notice::Drop => self.drop_election(cx, out),
            policy::Notice::Withdrawn => out.notify(Notice::Withdrawn),
            policy::Notice::Rejoined => {
                out.notify(Notice::Rejoined);
                // None: recall is still in progress, and starts the election when it is done.
                if let Some(counter) = self.kept.take() {
                    self.start_election(cx, Some(counter), out);
                }
            }
            policy::Notice::Farewell { peer, successor } => {
                self.on_farewell(cx, peer, successor, out);
            }
            policy::Notice::NoSuccessor(group) => self.no_successor(cx, group, out),
            policy::Notice::Acting { peer, group } => out.notify(Notice::Acting { peer, group }),
            policy::Notice::Paused => out.notify(Notice::Paused),
            policy::Notice::Resumed => {
                out.notify(Notice::Resumed);
                self.report_withheld(cx, out);
            }
        }
    }

    /// Drops the state as a crash does, except the counter, the report and the last definition.
    fn drop_election(&mut self, cx: &mut Context<'_>, out: &mut Effects<Self>) {
        if cx.is_mutated(Mutant::ANSWER_WHILE_WITHDRAWN) {
            return;
        }
        let Some(election) = self.election.take() else { return };
        self.kept = Some(election.counter());
        let timers: Vec<_> = election.timers(cx);
        timers.into_iter().for_each(|timer| out.cancel_timer(Timer::Election(timer)));
        self.reorganization.give_up();
        out.cancel_timer(Timer::Reorganization(reorganization::Handover));
        self.tell_detector(cx, detector::Command::Watch(NodeSet::new()), out);
        self.tell_detector(cx, detector::Command::HeartbeatPeers(NodeSet::new()), out);
    }

    pub(super) fn start_election(
        &mut self,
        cx: &mut Context<'_>,
        saved: Option<Counter>,
        out: &mut Effects<Self>,
    ) {
        let mut effects = Effects::new();
        self.election = Some(Election::start(cx, saved, &mut effects));
        self.route_election(cx, effects, out);
    }
}
