//! Operator requests in a drawn scenario: withdraw, rejoin, pause elections, change priorities,
//! hand over.

use std::time::Duration;

use tanist_core::options::Options;
use tanist_core::policy::Preempt;
use tanist_core::timing::TimingConfig;
use tanist_core::{NodeId, Time};

use super::Maker;
use crate::world::faults::{Action, Fault, Moment};

impl Maker {
    /// Draws nodes that withdraw and rejoin, and pauses of elections; returns when the faults end.
    pub(super) fn operator_requests(
        &mut self,
        timing: &TimingConfig,
        faults: &mut Vec<Fault>,
        calm: Duration,
    ) -> Duration {
        let answer = timing.message_max * 2 + timing.processing_max;
        let mut now = Duration::ZERO;
        for _ in 0..=self.requests.below(8) {
            now = match self.requests.below(3) {
                0 => now + self.requests.between(Duration::ZERO, timing.message_max),
                1 => now + self.requests.between(Duration::ZERO, answer * 4),
                _ => self.requests.between(Duration::ZERO, calm.max(answer)),
            };
            let node = self.requests.pick(&self.ids).unwrap_or(NodeId(1));
            let action = match self.requests.below(7) {
                0 => Action::Withdraw { node, hold: None },
                1 | 2 => {
                    let hold = Some(self.requests.between(Duration::ZERO, answer * 8));
                    Action::Withdraw { node, hold }
                }
                3 => Action::Rejoin(node),
                4 | 5 => Action::PauseElections(node),
                _ => Action::ResumeElections(node),
            };
            faults.push(Fault { moment: Moment::At(Time::ZERO + now.min(calm)), action });
        }
        // Most rejoin, not all: withdrawn nodes must not disturb the others.
        for node in self.ids.clone() {
            if self.requests.below(4) > 0 {
                let moment = Moment::At(Time::ZERO + calm);
                faults.push(Fault { moment, action: Action::Rejoin(node) });
            }
        }
        if !faults.iter().any(|fault| matches!(fault.action, Action::PauseElections(_))) {
            return calm;
        }
        // Late messages may pause elections once more, so they must have arrived.
        let late = calm + timing.message_max * 100;
        for node in self.ids.iter().copied() {
            let moment = Moment::At(Time::ZERO + late);
            faults.push(Fault { moment, action: Action::ResumeElections(node) });
        }
        late
    }

    pub(super) fn preempt(&mut self, timing: &TimingConfig, options: &Options) -> Preempt {
        let drawn = match self.requests.below(3) {
            0 => Preempt::Always,
            1 => Preempt::Never,
            _ => Preempt::After(self.requests.between(Duration::ZERO, timing.check_every * 2)),
        };
        drawn.checked(self.algorithm, options).unwrap_or_default()
    }

    /// Priorities that change, drawn last so that the other requests of a seed stay the same. A
    /// node that is cut off or down does not learn of it, and elections must come to an end all the
    /// same.
    pub(super) fn rank(&mut self, faults: &mut Vec<Fault>, calm: Duration) {
        if !self.model.changes_priorities {
            return;
        }
        for _ in 0..self.requests.below(4) {
            let node = self.requests.pick(&self.ids).unwrap_or(NodeId(1));
            let value = u32::try_from(self.requests.below(10)).unwrap_or(0);
            let moment = Moment::At(Time::ZERO + self.requests.between(Duration::ZERO, calm));
            faults.push(Fault { moment, action: Action::Priority { node, value } });
        }
    }

    /// Hand-overs to named nodes, drawn after everything else for the same reason. All nodes are
    /// told, and the one that leads does it.
    pub(super) fn hand_over(&mut self, faults: &mut Vec<Fault>, calm: Duration) {
        if self.algorithm.descriptor().adjustable.is_none() {
            return;
        }
        for _ in 0..self.requests.below(4) {
            let to = self.requests.pick(&self.ids).unwrap_or(NodeId(1));
            let moment = Moment::At(Time::ZERO + self.requests.between(Duration::ZERO, calm));
            for node in self.ids.iter().copied().filter(|node| *node != to) {
                faults.push(Fault { moment, action: Action::HandOver { node, to } });
            }
        }
    }

    /// Applications that hang while nodes are asked to withdraw. Most go on in the end, some never
    /// do.
    pub(super) fn hang(
        &mut self,
        timing: &mut TimingConfig,
        faults: &mut Vec<Fault>,
        calm: Duration,
    ) {
        if self.hangs.below(2) == 0 {
            return;
        }
        let answer = timing.message_max * 2 + timing.processing_max;
        timing.stop_within = self.hangs.between(answer, answer * 20);
        for _ in 0..=self.hangs.below(3) {
            let node = self.hangs.pick(&self.ids).unwrap_or(NodeId(1));
            let moment = Moment::At(Time::ZERO + self.hangs.between(Duration::ZERO, calm));
            faults.push(Fault { moment, action: Action::Hang(node) });
            if self.hangs.below(4) > 0 {
                let moment = Moment::At(Time::ZERO + calm);
                faults.push(Fault { moment, action: Action::Unhang(node) });
            }
        }
    }
}
