//! Trouble from the seed: machines that die, hang and come back, links that are cut, messages that
//! are lost or arrive twice, nodes that withdraw, and calm in the end.

use std::time::Duration;

use tanist_core::NodeId;
use tanist_core::trace::Link;
use tanist_sim::world::dice::SeededDice;
use tanist_sim::world::faults::Action;

use super::trial::Trial;
use super::world::World;
use crate::task::GroupTask;

/// What a storm does. It always ends in calm: every node up, running and taking part, every link
/// healed.
///
/// ```
/// use std::time::Duration;
/// use tanist::sim::{Idle, Storm, World};
///
/// for seed in 0..10 {
///     let mut world = World::new(seed, 5, |_| Idle);
///     world.storm(Storm::default().crashes(0));
///     world.run_until(World::is_one_group).unwrap_or_else(|error| panic!("{error}"));
///     assert_eq!(world.violations(), []);
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Storm {
    lasts: Duration,
    every: Duration,
    /// Shares of each kind of trouble.
    crashes: u32,
    cuts: u32,
    pauses: u32,
    losses: u32,
    duplicates: u32,
    withdrawals: u32,
    down_max: Option<u32>,
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
            duplicates: 1,
            withdrawals: 1,
            down_max: None,
        }
    }
}

impl Storm {
    /// How long it lasts; ten seconds if not given.
    #[must_use]
    pub const fn lasts(mut self, lasts: Duration) -> Self {
        self.lasts = lasts;
        self
    }

    /// How often something happens, on average; every half second if not given, every millisecond
    /// at most.
    #[must_use]
    pub const fn every(mut self, every: Duration) -> Self {
        self.every = every;
        self
    }

    /// How likely a crash is, in proportion to the other numbers; 3 if not given. A node that
    /// crashed may come back during the storm, and comes back at its end.
    #[must_use]
    pub const fn crashes(mut self, share: u32) -> Self {
        self.crashes = share;
        self
    }

    /// How likely a cut right through the network, or of a few links, is; 3 if not given. Cuts may
    /// be healed during the storm.
    #[must_use]
    pub const fn cuts(mut self, share: u32) -> Self {
        self.cuts = share;
        self
    }

    /// How likely it is that a machine hangs; 2 if not given. It may go on during the storm.
    #[must_use]
    pub const fn pauses(mut self, share: u32) -> Self {
        self.pauses = share;
        self
    }

    /// How likely a change of the share of lost messages is; 1 if not given.
    #[must_use]
    pub const fn losses(mut self, share: u32) -> Self {
        self.losses = share;
        self
    }

    /// How likely a change of the share of messages that arrive twice is; 1 if not given.
    #[must_use]
    pub const fn duplicates(mut self, share: u32) -> Self {
        self.duplicates = share;
        self
    }

    /// How likely it is that an operator lets a node withdraw, or step down for a few seconds; 1 if
    /// not given. It may rejoin during the storm, and does at its end.
    #[must_use]
    pub const fn withdrawals(mut self, share: u32) -> Self {
        self.withdrawals = share;
        self
    }

    /// How many nodes may be down at the same time; fewer than half if not given, so that what all
    /// of them knew is never lost.
    #[must_use]
    pub const fn down_max(mut self, nodes: u32) -> Self {
        self.down_max = Some(nodes);
        self
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
        while self.now() < end && !self.trial.as_ref().is_some_and(Trial::is_spent) {
            let every = storm.every.max(Duration::from_millis(1));
            let gap = weather.dice.between(Duration::ZERO, every * 2);
            self.run_for(gap.min(end - self.now()));
            let action = weather.next(self);
            self.suffer(action);
        }
        self.calm();
    }

    /// Mends everything: links, machines that hang, machines that are down, nodes that have
    /// withdrawn, and the network's loss and duplicates.
    pub fn calm(&mut self) {
        self.act(Action::Loss(self.scenario.conditions.loss_ppm));
        self.act(Action::Duplicate(self.scenario.conditions.duplicate_ppm));
        self.heal();
        for node in self.nodes() {
            self.resume(node);
            self.rejoin(node);
            self.restart(node);
        }
    }

    /// Lets a fault that was drawn happen, unless it is left out of this run.
    fn suffer(&mut self, drawn: Option<Action>) {
        let number = self.trial.as_ref().map(Trial::draws);
        let (Some(action), Some(number)) = (drawn, number.unwrap_or(Some(0))) else { return };
        if let Some(trial) = &self.trial {
            trial.notes(number, format!("{:.3}s {}", self.now().as_secs_f64(), words(&action)));
        }
        self.act(action);
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
        let Storm { crashes, cuts, pauses, losses, duplicates, withdrawals, .. } = self.storm;
        let shares = [crashes, cuts, pauses, losses, duplicates, withdrawals];
        let total = shares.iter().map(|share| u64::from(*share)).sum();
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
        let drawn = drawn - u64::from(pauses);
        if drawn < u64::from(losses) {
            return Some(Action::Loss(self.share(is_trouble)));
        }
        let drawn = drawn - u64::from(losses);
        if drawn < u64::from(duplicates) {
            return Some(Action::Duplicate(self.share(is_trouble)));
        }
        // Nothing at all if no kind of trouble was asked for.
        (withdrawals > 0).then(|| self.withdrawal(node, is_trouble))
    }

    /// How many of a million messages are lost, or arrive twice.
    fn share(&mut self, is_trouble: bool) -> u32 {
        let ppm = if is_trouble { self.dice.below(PPM_MAX) } else { 0 };
        u32::try_from(ppm).unwrap_or(0)
    }

    /// Half of those that withdraw come back by themselves.
    fn withdrawal(&mut self, node: NodeId, is_trouble: bool) -> Action {
        if !is_trouble {
            return Action::Rejoin(node);
        }
        let is_brief = self.dice.below(2) == 0;
        let hold = is_brief.then(|| self.dice.between(Duration::ZERO, HOLD_MAX));
        Action::Withdraw { node, hold }
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

/// What a fault does, for people.
fn words(action: &Action) -> String {
    let nodes: Vec<String> = action.nodes().iter().map(|node| node.to_string()).collect();
    let nodes = nodes.join(" ");
    if let Action::Cut(links) = action {
        let link = |link: &Link| format!("{}->{}", link.from, link.to);
        format!("cut {}", links.iter().map(link).collect::<Vec<_>>().join(" "))
    } else if let Action::Heal(_) = action {
        "heal all links".to_owned()
    } else if let Action::Loss(ppm) = action {
        format!("lose {ppm} of a million messages")
    } else if let Action::Duplicate(ppm) = action {
        format!("duplicate {ppm} of a million messages")
    } else if let Action::Crash(_) = action {
        format!("crash {nodes}")
    } else if let Action::Restart { .. } = action {
        format!("restart {nodes}")
    } else if let Action::Pause(_) = action {
        format!("pause {nodes}")
    } else if let Action::Resume(_) = action {
        format!("resume {nodes}")
    } else if let Action::Withdraw { hold: Some(hold), .. } = action {
        format!("step down {nodes} for {hold:?}")
    } else if let Action::Withdraw { hold: None, .. } = action {
        format!("withdraw {nodes}")
    } else if let Action::Rejoin(_) = action {
        format!("rejoin {nodes}")
    } else {
        format!("{action:?}")
    }
}

/// At most this many of a million messages are lost, or arrive twice.
const PPM_MAX: u64 = 200_000;
/// At most this long a node steps down.
const HOLD_MAX: Duration = Duration::from_secs(4);
/// Keeps the sequences of storms apart from each other and from the run's.
const SALT: u64 = 0x7374_6f72_6d5f_7369;
