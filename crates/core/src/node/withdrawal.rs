//! How a node withdraws and rejoins: applies the decisions of [`Policy`] to the other layers.
//!
//! Leaving is one rule, applied after every step: while the node is leaving, a running application
//! is told to stop, and once it has stopped the node withdraws. So it does not matter whether the
//! application was running, was stopping for an election, or had stopped before.
//!
//! Whatever the application is asked for has a limit: the timer runs while it stops or plans, and
//! starts again with everything that it has done.

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
use crate::reorganization::{self, Owed};

impl Node {
    /// Whether the node has withdrawn and not rejoined.
    #[must_use]
    pub const fn is_withdrawn(&self) -> bool {
        self.policy.is_withdrawn()
    }

    /// Whether the application has not stopped or planned in time: the node takes no part and is
    /// silent until it has, and then withdraws.
    #[must_use]
    pub const fn is_overdue(&self) -> bool {
        self.policy.is_overdue()
    }

    /// Whether the node takes part, and is not about to withdraw.
    #[must_use]
    pub const fn takes_part(&self) -> bool {
        !self.policy.is_withdrawn() && !self.policy.is_leaving()
    }

    pub(super) fn takes_no_part(&self, cx: &Context<'_>) -> bool {
        self.is_out() && !cx.is_mutated(Mutant::ANSWER_WHILE_WITHDRAWN)
    }

    /// Whether it is in no group, withdrawn or silent.
    pub(super) const fn is_out(&self) -> bool {
        self.policy.is_withdrawn() || self.policy.is_overdue()
    }

    /// Lets the limit run while the application owes something; `before` is what it owed before
    /// this step. A further plan does not make the limit longer: an application that hangs would be
    /// asked for one election after election, and be waited for without end. A limit that ran out
    /// while the node had withdrawn counts once the node is back.
    pub(super) fn limit_application(
        &self,
        cx: &Context<'_>,
        before: Owed,
        is_limit: bool,
        out: &mut Effects<Self>,
    ) {
        let limit = Timer::Policy(policy::Timer::Stop);
        let now = self.reorganization.owed();
        if self.policy.is_overdue() || cx.is_mutated(Mutant::STOP_WITHOUT_LIMIT) {
            return;
        }
        let has_done = now.stop != before.stop || now.plans < before.plans;
        if now.is_nothing() {
            if !before.is_nothing() {
                out.cancel_timer(limit);
            }
        } else if before.is_nothing() || has_done || is_limit {
            out.set_timer(limit, cx.config.timing().stop_within());
        }
    }

    pub(super) fn go_on_leaving(&mut self, cx: &mut Context<'_>, out: &mut Effects<Self>) {
        if !self.policy.is_leaving() {
            return;
        }
        if self.reorganization.has_stopped() {
            // One that hangs in a plan would hang in the next one, too, so the node stays away.
            if !self.policy.is_overdue() || self.reorganization.owed().is_nothing() {
                self.tell_policy(cx, Event::Command(policy::Command::Stopped), out);
            }
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
            policy::Notice::Overdue => out.notify(Notice::Overdue),
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
