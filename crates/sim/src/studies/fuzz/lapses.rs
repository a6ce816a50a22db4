//! Disks that lose writes in a drawn scenario.

use std::time::Duration;

use tanist_core::timing::TimingConfig;
use tanist_core::{NodeId, Time};

use super::Maker;
use crate::world::faults::{Action, Fault, Moment};

impl Maker {
    /// Disks that lose writes once the network keeps its bounds: a node that restarts must learn
    /// from its peers which numbers it has used.
    pub(super) fn lapses(
        &mut self,
        timing: &TimingConfig,
        faults: &mut Vec<Fault>,
        calm: Duration,
    ) -> Duration {
        let answer = timing.message_max * 2 + timing.processing_max;
        // Late messages hold up those behind them, so they must have arrived.
        let mut now = calm + timing.message_max * 100;
        let mut at = |now, action| {
            faults.push(Fault { moment: Moment::At(Time::ZERO + now), action });
        };
        for _ in 0..=self.extras.below(3) {
            let node = self.extras.pick(&self.ids).unwrap_or(NodeId(1));
            let lost_writes = 1 + u32::try_from(self.extras.below(3)).unwrap_or(0);
            at(now, Action::Crash(node));
            now += self.extras.between(Duration::ZERO, answer * 2);
            at(now, Action::Forget { node, lost_writes });
            at(now, Action::Restart { node, lost_writes: 0 });
            // No other node crashes while this one recalls.
            now += answer;
            now += self.extras.between(Duration::ZERO, timing.check_every + timing.timeout_every);
        }
        now
    }
}
