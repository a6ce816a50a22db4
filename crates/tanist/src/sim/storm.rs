//! Trouble from the seed: machines that die, hang and come back, links that are cut, messages that
//! are lost, and calm in the end.

use std::time::Duration;

use tanist_core::NodeId;
use tanist_core::trace::Link;
use tanist_sim::world::dice::SeededDice;
use tanist_sim::world::faults::Action;

use super::world::World;
use crate::task::GroupTask;

/// What a storm does. It always ends in calm: every node up and running, every link healed.
///
/// ```
/// use std::time::Duration;
/// use tanist::sim::{Idle, Storm, World};
///
/// for seed in 0..10 {
///     let mut world = World::new(seed, 5, |_| Idle);
///     world.storm(Storm { crashes: 0, ..Storm::default() });
///     world.run_until(World::is_one_group).unwrap_or_else(|error| panic!("{error}"));
///     assert_eq!(world.violations(), []);
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Storm {
    /// How long it lasts.
    pub lasts: Duration,
    /// How often something happens, on average.
    pub every: Duration,
    /// How likely a crash is, in proportion to the other numbers. A node that crashed may come back
    /// during the storm, and comes back at its end.
    pub crashes: u32,
    /// How likely a cut right through the network, or of a few links, is. Cuts may be healed during
    /// the storm.
    pub cuts: u32,
    /// How likely it is that a machine hangs. It may go on during the storm.
    pub pauses: u32,
    /// How likely a change of the share of lost messages is.
    pub losses: u32,
    /// How many nodes may be down at the same time; fewer than half if not given, so that what all
    /// of them knew is never lost.
    pub down_max: Option<u32>,
}

impl Default for Storm {
    /// Ten seconds of everything, two faults each second.
    fn default() -> Self {
        Self {
            lasts: Duration::from_secs(10),
            every: Duration::from_millis(500),
            crashes: 3,
            cuts: 3,
            pauses: 2,
            losses: 1,
            down_max: None,
        }
    }
}

impl<T: GroupTask> World<T> {
    /// Lets a storm pass over the world. The seed says what happens; a second storm is another one.
    pub fn storm(&mut self, storm: Storm) {
        self.storms += 1;
        // Another sequence than the one that drives the run, and another for each storm.
        let dice = SeededDice::new(self.seed() ^ SALT.wrapping_mul(self.storms));
        let nodes = self.nodes().collect();
        let mut weather = Weather { storm, dice, nodes };
        let end = self.now() + storm.lasts;
        while self.now() < end {
            let gap = weather.dice.between(Duration::ZERO, storm.every * 2);
            self.run_for(gap.min(end - self.now()));
            if let Some(action) = weather.next(self) {
                self.act(action);
            }
        }
        self.calm();
    }

    /// Mends everything: links, machines that hang, machines that are down, and the network's loss.
    pub fn calm(&mut self) {
        self.act(Action::Loss(self.scenario.conditions.loss_ppm));
        self.heal();
        for node in self.nodes() {
            self.resume(node);
            self.restart(node);
        }
    }
}

/// Draws one fault after the other.
struct Weather {
    storm: Storm,
    dice: SeededDice,
    nodes: Vec<NodeId>,
}

impl Weather {
    fn next<T: GroupTask>(&mut self, world: &World<T>) -> Option<Action> {
        let Storm { crashes, cuts, pauses, losses, .. } = self.storm;
        let total = [crashes, cuts, pauses, losses].iter().map(|share| u64::from(*share)).sum();
        let drawn = self.dice.below(total);
        let node = self.dice.pick(&self.nodes)?;
        let is_trouble = self.dice.below(2) == 0;
        if drawn < u64::from(crashes) {
            return self.crash(world, node, is_trouble);
        }
        let drawn = drawn - u64::from(crashes);
        if drawn < u64::from(cuts) {
            return if is_trouble { self.cut() } else { Some(Action::Heal(Vec::new())) };
        }
        let drawn = drawn - u64::from(cuts);
        if drawn < u64::from(pauses) {
            return Some(if is_trouble { Action::Pause(node) } else { Action::Resume(node) });
        }
        // Nothing at all if no kind of trouble was asked for.
        (losses > 0).then(|| {
            let ppm = if is_trouble { self.dice.below(LOSS_PPM_MAX) } else { 0 };
            Action::Loss(u32::try_from(ppm).unwrap_or(0))
        })
    }

    fn crash<T: GroupTask>(
        &mut self,
        world: &World<T>,
        node: NodeId,
        is_trouble: bool,
    ) -> Option<Action> {
        if !is_trouble {
            return Some(Action::Restart { node, lost_writes: 0 });
        }
        let count = self.nodes.len();
        let most = self.storm.down_max.map_or((count - 1) / 2, |most| most as usize);
        let down = self.nodes.iter().filter(|node| !world.is_up(**node)).count();
        (down < most).then_some(Action::Crash(node))
    }

    /// Half of the cuts go right through the network, the others are a few links.
    fn cut(&mut self) -> Option<Action> {
        let mut links = Vec::new();
        if self.dice.below(2) == 0 {
            let side: Vec<bool> = self.nodes.iter().map(|_| self.dice.below(2) == 0).collect();
            for (from, from_side) in self.nodes.iter().zip(&side) {
                for (to, to_side) in self.nodes.iter().zip(&side) {
                    if from_side != to_side {
                        links.push(Link { from: *from, to: *to });
                    }
                }
            }
        } else {
            for _ in 0..=self.dice.below(3) {
                let (from, to) = (self.dice.pick(&self.nodes)?, self.dice.pick(&self.nodes)?);
                if from != to {
                    links.push(Link { from, to });
                    links.push(Link { from: to, to: from });
                }
            }
        }
        (!links.is_empty()).then_some(Action::Cut(links))
    }
}

/// At most this many of a million messages are lost.
const LOSS_PPM_MAX: u64 = 200_000;
/// Keeps the sequences of storms apart from each other and from the run's.
const SALT: u64 = 0x7374_6f72_6d5f_7369;
