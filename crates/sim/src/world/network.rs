//! The network between the nodes: delay, loss, duplication, reordering, cut links, and which nodes
//! are in reach of each other.

use std::time::Duration;

use tanist_core::trace::{Kind, Loss};
use tanist_core::{NodeId, Time};

use crate::world::dice::SeededDice;
use crate::world::topology::{Reach, Topology};

/// How long messages take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delay {
    /// Always the same delay.
    Fixed(Duration),
    /// Uniformly distributed between the two.
    Uniform {
        /// At least.
        min: Duration,
        /// At most.
        max: Duration,
    },
    /// Mostly uniform, sometimes much longer: the long tail of real networks.
    Spiky {
        /// At least.
        min: Duration,
        /// At most, mostly.
        max: Duration,
        /// At most in a spike.
        spike: Duration,
        /// How often a spike happens, in millionths.
        spike_ppm: u32,
    },
}

impl Delay {
    /// The longest delay there is.
    #[must_use]
    pub const fn longest(self) -> Duration {
        match self {
            Self::Fixed(delay) => delay,
            Self::Uniform { max, .. } => max,
            Self::Spiky { spike, .. } => spike,
        }
    }

    fn draw(self, dice: &mut SeededDice) -> Duration {
        match self {
            Self::Fixed(delay) => delay,
            Self::Uniform { min, max } => dice.between(min, max),
            Self::Spiky { min, max, spike, spike_ppm } => {
                if dice.happens(spike_ppm) {
                    dice.between(max, spike)
                } else {
                    dice.between(min, max)
                }
            }
        }
    }
}

/// What the network does to messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conditions {
    /// How long they take.
    pub delay: Delay,
    /// Whether messages of one link stay in order.
    pub is_fifo: bool,
    /// How many are lost, in millionths.
    pub loss_ppm: u32,
    /// How many arrive twice, in millionths.
    pub duplicate_ppm: u32,
    /// Whether a crashed node's machine refuses connections, so that the sender learns it at once.
    pub has_refusals: bool,
}

/// A rule for particular messages, for scenarios that depend on them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Of this sender only.
    pub from: Option<NodeId>,
    /// To this addressee only.
    pub to: Option<NodeId>,
    /// Of this kind only.
    pub kind: Option<Kind>,
    /// Only the nth message that matches otherwise, counted from 1.
    pub nth: Option<u32>,
    /// What happens to them.
    pub fate: Fate,
    /// How many have matched so far.
    pub seen: u32,
}

impl Rule {
    fn fits(&self, parcel: &Parcel) -> bool {
        self.from.is_none_or(|from| from == parcel.from.1)
            && self.to.is_none_or(|to| to == parcel.to.1)
            && self.kind.is_none_or(|kind| kind == parcel.kind)
    }
}

/// What became of the messages that fit a rule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    /// How many were lost before the rule saw them, since their link was down.
    pub(crate) missed: u32,
    /// About how many the rule decided.
    pub(crate) decided: u32,
}

/// What a rule does to a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It is lost.
    Drop,
    /// It takes this long, whatever the network's delay.
    Delay(Duration),
}

/// The links, and their state.
#[derive(Clone, Debug)]
pub struct Network {
    /// The conditions of every link.
    pub conditions: Conditions,
    /// The rules for particular messages.
    pub rules: Vec<Rule>,
    /// What became of the messages of each rule.
    tallies: Vec<Tally>,
    /// `is_cut[from * n + to]`; empty until a link is cut, since large networks have many pairs.
    is_cut: Vec<bool>,
    /// The latest arrival on each link, for FIFO; empty until a message is kept in order.
    latest: Vec<Time>,
    /// Which nodes are in reach of each other; all of them if none.
    pub(crate) reach: Option<Reach>,
    count: usize,
}

/// When copies of a message arrive; none if it is lost.
pub(crate) enum Arrivals {
    Lost(Loss),
    Once(Time),
    Twice(Time, Time),
}

/// A message as the network sees it.
pub(crate) struct Parcel {
    pub(crate) from: (usize, NodeId),
    pub(crate) to: (usize, NodeId),
    pub(crate) kind: Kind,
    /// What slow machines at both ends add.
    pub(crate) extra: Duration,
}

impl Network {
    /// All links up.
    #[must_use]
    pub fn new(count: usize, conditions: Conditions, rules: Vec<Rule>) -> Self {
        let tallies = vec![Tally::default(); rules.len()];
        let (is_cut, latest) = (Vec::new(), Vec::new());
        Self { conditions, rules, tallies, is_cut, latest, reach: None, count }
    }

    /// The same network where only some nodes are in reach of each other; the ids are sorted.
    #[must_use]
    pub fn over(self, topology: &Topology, ids: Vec<NodeId>, seed: u64) -> Self {
        Self { reach: Reach::new(topology, ids, seed), ..self }
    }

    /// Cuts or restores a link, in one direction.
    pub fn set_cut(&mut self, from: usize, to: usize, is_cut: bool) {
        if self.is_cut.is_empty() {
            self.is_cut = vec![false; self.count * self.count];
        }
        self.is_cut[from * self.count + to] = is_cut;
    }

    /// Whether this link was cut by a fault, in reach or not.
    #[must_use]
    pub fn is_cut(&self, from: usize, to: usize) -> bool {
        self.is_cut.get(from * self.count + to).copied().unwrap_or(false)
    }

    /// Whether a message from one node can reach the other now.
    #[must_use]
    pub fn is_open(&self, from: usize, to: usize) -> bool {
        !self.is_cut(from, to) && self.is_in_reach(from, to)
    }

    /// Whether one node would be in reach of the other if no link were cut.
    #[must_use]
    pub fn is_in_reach(&self, from: usize, to: usize) -> bool {
        self.reach.as_ref().is_none_or(|reach| reach.contains(from, to))
    }

    /// The nodes that a broadcast can reach now, in order.
    #[must_use]
    pub fn hearers(&self, of: usize) -> Vec<usize> {
        let is_open = |to: &usize| !self.is_cut(of, *to);
        match &self.reach {
            None => (0..self.count).filter(|to| *to != of).filter(is_open).collect(),
            Some(reach) => reach.neighbours(of).iter().copied().filter(is_open).collect(),
        }
    }

    pub(crate) fn carry(&mut self, now: Time, parcel: &Parcel, dice: &mut SeededDice) -> Arrivals {
        let link = parcel.from.0 * self.count + parcel.to.0;
        if !self.is_open(parcel.from.0, parcel.to.0) {
            self.miss(parcel);
            return Arrivals::Lost(Loss::Cut);
        }
        match self.ruled(parcel) {
            Some(Fate::Drop) => return Arrivals::Lost(Loss::Dropped),
            Some(Fate::Delay(delay)) => {
                return Arrivals::Once(self.in_order(link, now + delay + parcel.extra));
            }
            None => {}
        }
        let fading =
            self.reach.as_ref().map_or(0, |reach| reach.loss_ppm(parcel.from.0, parcel.to.0));
        if dice.happens(self.conditions.loss_ppm) || dice.happens(fading) {
            return Arrivals::Lost(Loss::Dropped);
        }
        let first = now + self.conditions.delay.draw(dice) + parcel.extra;
        let first = self.in_order(link, first);
        if dice.happens(self.conditions.duplicate_ppm) {
            let second = now + self.conditions.delay.draw(dice) + parcel.extra;
            return Arrivals::Twice(first, self.in_order(link, second));
        }
        Arrivals::Once(first)
    }

    /// How long it takes until the sender learns of a refused connection.
    pub(crate) fn refusal_delay(&self, dice: &mut SeededDice) -> Duration {
        self.conditions.delay.draw(dice)
    }

    fn ruled(&mut self, parcel: &Parcel) -> Option<Fate> {
        let mut fate = None;
        for (rule, tally) in self.rules.iter_mut().zip(&mut self.tallies) {
            if !rule.fits(parcel) {
                continue;
            }
            rule.seen += 1;
            if fate.is_none() && rule.nth.is_none_or(|nth| nth == rule.seen) {
                fate = Some(rule.fate);
                tally.decided += 1;
            }
        }
        fate
    }

    /// Counts a message that no rule sees, since its addressee cannot be reached.
    pub(crate) fn miss(&mut self, parcel: &Parcel) {
        let rules = self.rules.iter().zip(&mut self.tallies);
        rules.filter(|(rule, _)| rule.fits(parcel)).for_each(|(_, tally)| tally.missed += 1);
    }

    /// The rules that have decided about no message.
    pub(crate) fn undecided(&self) -> impl Iterator<Item = (&Rule, Tally)> {
        let tallies = self.tallies.iter().copied();
        self.rules.iter().zip(tallies).filter(|(_, tally)| tally.decided == 0)
    }

    fn in_order(&mut self, link: usize, at: Time) -> Time {
        if !self.conditions.is_fifo {
            return at;
        }
        if self.latest.is_empty() {
            self.latest = vec![Time::ZERO; self.count * self.count];
        }
        self.latest[link] = self.latest[link].max(at);
        self.latest[link]
    }
}
