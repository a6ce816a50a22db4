//! What a pause withholds from the election, and reports to it afterwards.

use core::time::Duration;

use super::Node;
use crate::election;
use crate::group::Status;
use crate::membership::NodeId;
use crate::policy;
use crate::protocol::{Context, Effects, Event};

impl Node {
    /// Whether elections are paused, as far as this node knows.
    #[must_use]
    pub const fn is_paused(&self) -> bool {
        self.policy.is_paused()
    }

    /// The coordinator, if it is gone and a pause keeps it from being replaced: the detector has
    /// reported it, or it has withdrawn, and it was not heard since.
    #[must_use]
    pub fn lost_leader(&self) -> Option<NodeId> {
        let is_withheld = |leader: &NodeId| self.policy.is_withheld(*leader);
        self.view().coordinator.filter(is_withheld).filter(|_| self.is_held_back())
    }

    /// Whether a pause keeps this node from calling an election; an election in progress goes on.
    fn is_held_back(&self) -> bool {
        self.policy.is_paused() && self.view().status == Status::Normal
    }

    /// The delay after which a periodic timer is to fire again, if a pause postpones it.
    pub(super) fn postponed(&self, cx: &Context<'_>, timer: election::Timer) -> Option<Duration> {
        timer.period(cx.config.timing()).filter(|_| self.is_held_back())
    }

    /// Reports a peer to the election, or withholds the report during a pause.
    pub(super) fn report(
        &mut self,
        cx: &mut Context<'_>,
        command: election::Command,
        peer: NodeId,
        out: &mut Effects<Self>,
    ) {
        if self.is_held_back() {
            self.tell_policy(cx, Event::Command(policy::Command::Withhold(peer)), out);
        } else {
            self.tell_election(cx, Event::Command(command), out);
        }
    }

    /// The pause is over: reports the withheld peers as silent only, since evidence that they
    /// failed may be outdated.
    pub(super) fn report_withheld(&mut self, cx: &mut Context<'_>, out: &mut Effects<Self>) {
        for peer in self.policy.take_withheld().iter() {
            self.tell_election(cx, Event::Command(election::Command::Silent(peer)), out);
        }
        let view = self.view();
        if view.status != Status::Normal {
            return;
        }
        let command = if view.coordinator == Some(cx.me) {
            election::Command::Check
        } else {
            election::Command::Suspect
        };
        self.tell_election(cx, Event::Command(command), out);
    }
}
