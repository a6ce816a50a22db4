//! Graphs, positions and movements for algorithms that do not need every node in reach: components
//! merge and split, and in the end all nodes stop moving.

use std::collections::BTreeMap;
use std::time::Duration;

use tanist_core::timing::TimingConfig;
use tanist_core::{NodeId, Time};

use super::Maker;
use crate::world::dice::SeededDice;
use crate::world::faults::{Action, Fault, Moment};
use crate::world::places::{Area, Layout, Position};
use crate::world::topology::{Fading, RadioConfig, Topology};
use crate::world::walking::Mobility;

/// A hundred metres.
const RANGE: u32 = 1000;

impl Maker {
    /// More nodes than other worlds have: the hard cases need distance.
    pub(super) fn spread(&mut self) {
        let count = match self.air.below(8) {
            0 => 1 + self.air.below(3),
            1 => 8 + self.air.below(9),
            _ => 3 + self.air.below(6),
        };
        self.ids = (1..=count).filter_map(|id| u32::try_from(id).ok()).map(NodeId).collect();
    }

    /// Which nodes are in reach of each other; movements are added to the faults, and end before
    /// the calm phase.
    pub(super) fn topology(
        &mut self,
        timing: &TimingConfig,
        faults: &mut Vec<Fault>,
        calm: Duration,
    ) -> Topology {
        match self.air.below(8) {
            0 => Topology::Whole,
            1..=3 => Topology::Links(self.links()),
            _ => Topology::Radio(self.places(timing, faults, calm)),
        }
    }

    /// A line, a circle, a tree, or a graph that may be disconnected; sometimes denser.
    fn links(&mut self) -> Vec<(NodeId, NodeId)> {
        let ids = shuffled(&self.ids, &mut self.air);
        let mut links = Vec::new();
        let style = self.air.below(4);
        for (at, id) in ids.iter().enumerate().skip(1) {
            let near = match style {
                0 | 1 => at - 1,
                _ => usize::try_from(self.air.below(at as u64)).unwrap_or(0),
            };
            if style < 3 || self.air.below(5) > 0 {
                links.push((ids[near], *id));
            }
        }
        if let (1, [first, _, .., last]) = (style, ids.as_slice()) {
            links.push((*last, *first));
        }
        for _ in 0..self.air.below(ids.len() as u64) {
            if let (Some(a), Some(b)) = (self.air.pick(&ids), self.air.pick(&ids))
                && a != b
            {
                links.push((a, b));
            }
        }
        links
    }

    fn places(
        &mut self,
        timing: &TimingConfig,
        faults: &mut Vec<Fault>,
        calm: Duration,
    ) -> RadioConfig {
        // Wide enough that some are alone, narrow enough that some are not.
        let mut side = || {
            let side = RANGE / 2 + u32::try_from(self.air.below(3000)).unwrap_or(0);
            if self.air.below(4) == 0 { side / 10 } else { side }
        };
        let area = Area { width: side(), height: side() };
        let places: BTreeMap<NodeId, Position> =
            self.ids.iter().map(|id| (*id, area.draw(&mut self.air))).collect();
        for _ in 0..self.air.below(6) {
            let over = self.air.between(Duration::ZERO, calm);
            let at = self.air.between(Duration::ZERO, calm.saturating_sub(over));
            let node = self.air.pick(&self.ids).unwrap_or(NodeId(1));
            let action = Action::Move { node, to: area.draw(&mut self.air), over };
            faults.push(Fault { moment: Moment::At(Time::ZERO + at), action });
        }
        let is_roaming = self.air.below(2) == 0;
        let is_fading = self.is_rough && self.air.below(3) == 0;
        RadioConfig {
            range: RANGE,
            // It ends with the calm phase of every rough world.
            fading: if is_fading { Fading::Distance } else { Fading::Flat(0) },
            layout: Layout::At(places),
            mobility: is_roaming.then(|| self.mobility(area, timing, calm)),
            step: Duration::from_millis(5 + self.air.below(40)),
        }
    }

    /// Fast enough that much changes during a check period.
    fn mobility(&mut self, area: Area, timing: &TimingConfig, calm: Duration) -> Mobility {
        let speed_min = 50 + u32::try_from(self.air.below(1000)).unwrap_or(0);
        let pause_max = self.air.between(Duration::ZERO, timing.check_every * 4);
        Mobility {
            area,
            speed_min,
            speed_max: speed_min * 4,
            pause_min: Duration::ZERO,
            pause_max,
            until: Some(self.air.between(calm / 4, calm)),
        }
    }
}

fn shuffled(ids: &[NodeId], dice: &mut SeededDice) -> Vec<NodeId> {
    let mut left = ids.to_vec();
    let mut order = Vec::new();
    while !left.is_empty() {
        let at = usize::try_from(dice.below(left.len() as u64)).unwrap_or(0);
        order.push(left.swap_remove(at));
    }
    order
}
