//! What a pause keeps from the election, and what is made good after it.

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

    /// Elections that run go on; only who is settled is kept from beginning one.
    fn is_held_back(&self) -> bool {
        self.policy.is_paused() && self.view().status == Status::Normal
    }

    /// How much later a timer that would begin something is to ring again.
    pub(super) fn postponed(&self, cx: &Context<'_>, timer: election::Timer) -> Option<Duration> {
        timer.period(cx.config.timing()).filter(|_| self.is_held_back())
    }

    /// Tells the election what is known of a peer, or keeps it for later.
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

    /// The pause is over. Peers are reported as silent, since what was evidence then may be old.
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
