//! Random scenarios from seeds: topologies, options, timings and faults, then a healed phase in
//! which liveness must come true.
//!
//! Every seed stays inside the algorithm's model, where all its assertions must hold, or leaves it
//! on purpose. Beyond the model only what needs no timing is required: unique numbers, stop before
//! acknowledge, definitions from the coordinator only, and recovery once the network keeps its
//! bounds again.

mod lapses;
mod peers;
mod radio;
mod requests;

use std::time::Duration;

use tanist_core::election::{Algorithm, EstablishedGroup};
use tanist_core::group::Counter;
use tanist_core::mutant::Mutant;
use tanist_core::options::Options;
use tanist_core::policy::Preempt;
use tanist_core::recall::RecallMode;
use tanist_core::timing::TimingConfig;
use tanist_core::trace::Link;
use tanist_core::{GroupSettings, Member, Membership, NodeId, Priority, Time, Timing};

use crate::algorithms;
use crate::monitors::Selection;
use crate::observe::observers::Violated;
use crate::scenario::{Expect, Scenario};
use crate::world::application::Pace;
use crate::world::dice::SeededDice;
use crate::world::faults::{Action, Fault, Moment};
use crate::world::host::RATE;
use crate::world::network::{Conditions, Delay};
use crate::world::topology::Topology;

/// Which worlds the fuzzer draws for an algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FuzzModel {
    /// How the nodes reach each other.
    pub world: FuzzWorld,
    /// Whether late and lost messages, cut links and several groups are within its model.
    pub is_asynchronous: bool,
    /// Whether priorities may change while it runs.
    pub changes_priorities: bool,
}

impl FuzzModel {
    /// Nodes that all reach each other, and messages that arrive in time.
    pub const SYNCHRONOUS: Self =
        Self { world: FuzzWorld::Whole, is_asynchronous: false, changes_priorities: false };
}

/// How the nodes of a drawn world reach each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FuzzWorld {
    /// Every node reaches every other.
    Whole,
    /// Graphs and positions: a node reaches those near it.
    Radio,
    /// Racks and zones, for super-peers.
    PeerGroups,
}

/// The outcome of one seed.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Steps that nodes took.
    pub events: u64,
    /// Simulated time.
    pub simulated: Duration,
    /// Elections that were decided.
    pub elections: u64,
    /// The first violated assertion, with time and nodes.
    pub failure: Option<Violated>,
}

/// Runs a fuzzed scenario without keeping its trace.
#[must_use]
pub fn judge(scenario: &Scenario) -> Outcome {
    let mut world = scenario.world(scenario.seed, false);
    let end = Time::ZERO + scenario.end;
    let timing = &scenario.settings.timing;
    let round = timing.check_every() + timing.suspect_after();
    let calm = last_fault(scenario);
    world.run_until(calm);
    let mut rounds_settled = 0;
    while world.now() < end && world.observers.first_violated().is_none() {
        world.run_until(end.min(world.now() + round));
        // The run may stop early, well after everything has settled; it fails only at its end.
        rounds_settled = if world.observers.is_settled() { rounds_settled + 1 } else { 0 };
        if rounds_settled > ROUNDS_SETTLED {
            break;
        }
    }
    let now = world.now();
    world.observers.finish(now);
    Outcome {
        events: world.events(),
        simulated: now.since(Time::ZERO),
        elections: world.observers.counts.elections_won,
        failure: world.observers.first_violated().cloned(),
    }
}

/// How much longer a round takes where nodes wait to be found, and coordinators wait before they
/// yield.
fn patience(settings: &GroupSettings, members: &Membership) -> Duration {
    let first_check = Preempt::Never.first_check(&settings.timing, members);
    if settings.preempt == Preempt::Always && settings.algorithm != Algorithm::Invitation {
        return Duration::ZERO;
    }
    first_check + settings.preempt.stable_for()
}

/// How many rounds a settled world is observed before the run counts as good.
const ROUNDS_SETTLED: u32 = 2;
/// How many rounds a healed world has to settle.
const ROUNDS_MAX: u32 = 60;

fn last_fault(scenario: &Scenario) -> Time {
    let times = scenario.faults.iter().map(|fault| match fault.moment {
        Moment::At(at) => at,
        Moment::When { .. } => Time::ZERO,
    });
    times.max().unwrap_or(Time::ZERO)
}

/// The scenario of a seed.
#[must_use]
pub fn scenario(algorithm: Algorithm, seed: u64, mutant: Option<Mutant>) -> Scenario {
    Maker::new(algorithm, seed, mutant).scenario()
}

/// Draws the parts of a scenario from the seed.
struct Maker {
    algorithm: Algorithm,
    model: FuzzModel,
    seed: u64,
    mutant: Option<Mutant>,
    dice: SeededDice,
    /// A separate sequence for later additions, so that the scenarios of other seeds stay the same.
    extras: SeededDice,
    /// More of them: for requests of operators, for positions and graphs, for leaders that stay.
    requests: SeededDice,
    air: SeededDice,
    steady: SeededDice,
    /// For applications that hang.
    hangs: SeededDice,
    /// Whether messages may be late, lost and duplicated, links cut, and nodes paused.
    is_rough: bool,
    /// Whether that leaves the algorithm's model.
    is_beyond_model: bool,
    ids: Vec<NodeId>,
}

impl Maker {
    fn new(algorithm: Algorithm, seed: u64, mutant: Option<Mutant>) -> Self {
        // The scenario is drawn from another sequence than the one that drives its run.
        let mut dice = SeededDice::new(seed ^ 0x7461_6e69_7374);
        let model = algorithms::study(algorithm).fuzz;
        let is_rough = dice.below(3) > 0 && (model.is_asynchronous || dice.below(2) == 0);
        // Mostly a handful; sometimes one alone, sometimes more.
        let count = match model.world {
            FuzzWorld::PeerGroups => 2 + dice.below(12),
            FuzzWorld::Whole | FuzzWorld::Radio => {
                if dice.below(8) == 0 {
                    1 + dice.below(9)
                } else {
                    2 + dice.below(5)
                }
            }
        };
        let mut maker = Self {
            algorithm,
            model,
            seed,
            mutant,
            is_rough,
            is_beyond_model: is_rough && !model.is_asynchronous,
            ids: (1..=count).filter_map(|id| u32::try_from(id).ok()).map(NodeId).collect(),
            dice,
            extras: SeededDice::new(seed ^ 0x6865_6172_7462_6561),
            requests: SeededDice::new(seed ^ 0x7769_7368_6573),
            air: SeededDice::new(seed ^ 0x0061_6972),
            steady: SeededDice::new(seed ^ 0x0073_7465_6164_7900),
            hangs: SeededDice::new(seed ^ 0x6861_6e67_7300),
        };
        if model.world == FuzzWorld::Radio {
            maker.spread();
        }
        maker
    }

    fn scenario(mut self) -> Scenario {
        let mut timing = self.timing();
        let options = self.options();
        let members = self.members();
        let (members, options, groups) = match self.model.world {
            FuzzWorld::PeerGroups => self.peer_groups(members),
            FuzzWorld::Whole | FuzzWorld::Radio => {
                let groups = self.groups(&members);
                (members, options, groups)
            }
        };
        let conditions = self.conditions(&timing);
        let (mut faults, mut calm) = self.faults(&timing);
        // A node that has seen a number may be out of reach of the node that recalls it; and the
        // members of a peer group do not see the numbers that its super-peers use above.
        let can_recall = self.model.world == FuzzWorld::Whole;
        let has_recall = self.extras.below(4) == 0 && can_recall;
        let recall = if has_recall { RecallMode::On } else { RecallMode::Off };
        match recall {
            RecallMode::Off => {}
            RecallMode::On => calm = self.lapses(&timing, &mut faults, calm),
        }
        let mut preempt = Preempt::Always;
        // A quarter of the seeds, and none that documents name.
        if (5..13).contains(&self.requests.below(32)) {
            calm = self.operator_requests(&timing, &mut faults, calm);
            preempt = self.preempt(&timing, &options);
            self.rank(&mut faults, calm);
            self.hand_over(&mut faults, calm);
            self.hang(&mut timing, &mut faults, calm);
        } else if self.steady.below(3) == 0 {
            preempt = Preempt::Never.checked(self.algorithm, &options).unwrap_or_default();
        }
        let topology = match self.model.world {
            FuzzWorld::Radio => self.topology(&timing, &mut faults, calm),
            FuzzWorld::Whole | FuzzWorld::PeerGroups => Topology::Whole,
        };
        let stop = self.dice.between(Duration::ZERO, timing.processing_max);
        let plan = self.dice.between(Duration::ZERO, timing.processing_max);
        let checked = Timing::new(timing).expect("drawn timings keep their bounds");
        let usual = GroupSettings::new(self.algorithm, checked);
        let settings = GroupSettings { options, recall, preempt, mutant: self.mutant, ..usual };
        let round = checked.check_every() + checked.suspect_after() + patience(&settings, &members);
        Scenario {
            name: format!("fuzz-{}-{}", self.algorithm.name(), self.seed),
            about: format!("drawn from seed {}", self.seed),
            settings,
            members,
            timing,
            seed: self.seed,
            end: calm + round * ROUNDS_MAX,
            stops_at_break: false,
            steps: Vec::new(),
            conditions,
            topology,
            rules: Vec::new(),
            pace: Pace { stop, plan },
            groups,
            down: Vec::new(),
            faults,
            selection: Selection {
                is_beyond_model: self.is_beyond_model,
                is_steady: !self.is_rough,
                ..Selection::STANDARD
            },
            expect: Expect::default(),
        }
    }

    fn timing(&mut self) -> TimingConfig {
        let message_max = self.dice.between(Duration::from_millis(1), Duration::from_millis(4));
        let processing_max = self.dice.between(Duration::ZERO, Duration::from_millis(2));
        let base = TimingConfig::bounded_by(message_max, processing_max);
        let answer = message_max * 2 + processing_max;
        let heartbeat =
            (self.extras.below(4) == 0).then(|| self.extras.between(message_max, answer * 6));
        TimingConfig {
            heartbeat,
            check_every: self.dice.between(answer * 6, answer * 30),
            timeout_every: self.dice.between(answer * 4, answer * 20),
            first_check: self.dice.between(Duration::ZERO, answer * 2),
            ..base
        }
    }

    fn members(&mut self) -> Membership {
        let count = self.ids.len() as u64;
        // Mostly id = priority; sometimes shuffled, sometimes equal.
        let style = self.dice.below(4);
        let members = self.ids.clone().into_iter().map(|id| {
            let drawn = u32::try_from(self.dice.below(count)).unwrap_or(0);
            let priority = match style {
                0 => drawn,
                1 => 7,
                _ => id.0,
            };
            Member { priority: Priority(priority), id }
        });
        Membership::new(members.collect::<Vec<_>>()).expect("ids are distinct")
    }

    /// Any value that is not literal.
    fn options(&mut self) -> Options {
        let mut options = Options::default();
        if self.dice.below(2) == 0 {
            return options;
        }
        for option in self.algorithm.options() {
            let safe: Vec<&str> = option
                .values
                .iter()
                .filter(|value| !value.is_literal)
                .map(|value| value.name)
                .collect();
            if let Some(value) = self.dice.pick(&safe) {
                options
                    .set(self.algorithm, option.name, value)
                    .expect("the catalogue's values are accepted");
            }
        }
        options
    }

    /// Half of the worlds boot, half begin as one group or two.
    fn groups(&mut self, members: &Membership) -> Vec<EstablishedGroup> {
        if self.dice.below(2) == 0 {
            return Vec::new();
        }
        let highest = self.ids.len() - 1;
        let split = if self.model.is_asynchronous {
            usize::try_from(self.dice.below(highest as u64 + 1)).unwrap_or(0)
        } else {
            0
        };
        let (low, high) = self.ids.split_at(split);
        [low, high]
            .into_iter()
            .filter_map(|ids| {
                // A bully node never follows a node of lower rank.
                let ranked = members.all().iter().rev();
                let coordinator = ranked.map(|node| node.id).find(|id| ids.contains(id))?;
                let group = Counter(1).group(coordinator);
                Some(EstablishedGroup {
                    group,
                    coordinator,
                    members: ids.iter().copied().collect(),
                })
            })
            .collect()
    }

    fn conditions(&mut self, timing: &TimingConfig) -> Conditions {
        let max = timing.message_max;
        let min = self.dice.between(Duration::ZERO, max);
        let is_fifo = self.dice.below(2) == 0;
        let has_refusals = self.dice.below(2) == 0;
        if !self.is_rough {
            let delay = Delay::Uniform { min, max };
            return Conditions { delay, is_fifo, loss_ppm: 0, duplicate_ppm: 0, has_refusals };
        }
        let share = |dice: &mut SeededDice, most: u64| {
            if dice.below(2) == 0 { 0 } else { u32::try_from(dice.below(most)).unwrap_or(0) }
        };
        let delay = match self.dice.below(3) {
            0 => Delay::Uniform { min, max },
            _ => Delay::Spiky {
                min,
                max,
                spike: max * 40,
                spike_ppm: share(&mut self.dice, 200_000),
            },
        };
        Conditions {
            delay,
            is_fifo,
            loss_ppm: share(&mut self.dice, 300_000),
            duplicate_ppm: share(&mut self.dice, 300_000),
            has_refusals,
        }
    }

    /// A burst of faults, after which everything is repaired at once.
    fn faults(&mut self, timing: &TimingConfig) -> (Vec<Fault>, Duration) {
        let mut faults = Vec::new();
        let mut now = Duration::ZERO;
        let gap = timing.check_every + timing.timeout_every;
        for _ in 0..self.dice.below(14) {
            // Faults come in bursts: close together, or after the group has settled.
            now += match self.dice.below(3) {
                0 => self.dice.between(Duration::ZERO, timing.message_max),
                1 => self.dice.between(Duration::ZERO, timing.message_max * 8),
                _ => self.dice.between(Duration::ZERO, gap),
            };
            let action = self.action(timing);
            if matches!(&action, Action::Cut(links) if links.is_empty()) {
                continue;
            }
            faults.push(Fault { moment: Moment::At(Time::ZERO + now), action });
        }
        now += self.dice.between(Duration::ZERO, gap);
        let at = Moment::At(Time::ZERO + now);
        let mut mend = |action| faults.push(Fault { moment: at, action });
        if self.is_rough {
            mend(Action::Calm);
            mend(Action::Heal(Vec::new()));
        }
        for node in self.ids.iter().copied() {
            if self.is_rough {
                mend(Action::Resume(node));
                mend(Action::Slow(node, Duration::ZERO));
                mend(Action::ClockRate(node, RATE));
            }
            // Most nodes restart in the end, not all: crashed nodes must not disturb the live ones.
            if self.dice.below(4) > 0 {
                mend(Action::Restart { node, lost_writes: 0 });
            }
        }
        (faults, now)
    }

    fn action(&mut self, timing: &TimingConfig) -> Action {
        let node = self.node();
        let kinds = if self.is_rough { 17 } else { 9 };
        match self.dice.below(kinds) {
            0 | 1 => Action::Crash(node),
            2 => {
                let effects = 1 + u32::try_from(self.dice.below(12)).unwrap_or(0);
                Action::CrashAfterEffects(node, effects)
            }
            3..=5 => Action::Restart { node, lost_writes: 0 },
            6 => Action::Call(node),
            7 => Action::Check(node),
            8 => Action::Suspect(node),
            9 => Action::Pause(node),
            10 | 11 => Action::Resume(node),
            12 => Action::Cut(self.sides()),
            13 => Action::Cut(self.some_links()),
            14 => Action::Heal(Vec::new()),
            15 => {
                let by = self.dice.between(Duration::ZERO, timing.message_max * 10);
                Action::Slow(node, by)
            }
            _ => {
                let rate = 500_000 + self.dice.below(1_500_000);
                Action::ClockRate(node, u32::try_from(rate).unwrap_or(RATE))
            }
        }
    }

    fn node(&mut self) -> NodeId {
        self.dice.pick(&self.ids).unwrap_or(NodeId(1))
    }

    /// A cut right through the network.
    fn sides(&mut self) -> Vec<Link> {
        let side: Vec<bool> = self.ids.iter().map(|_| self.dice.below(2) == 0).collect();
        let mut links = Vec::new();
        for (from, from_side) in self.ids.iter().zip(&side) {
            for (to, to_side) in self.ids.iter().zip(&side) {
                if from_side != to_side {
                    links.push(Link { from: *from, to: *to });
                }
            }
        }
        links
    }

    /// A few links, some in one direction only.
    fn some_links(&mut self) -> Vec<Link> {
        let mut links = Vec::new();
        for _ in 0..=self.dice.below(3) {
            let (from, to) = (self.node(), self.node());
            if from == to {
                continue;
            }
            links.push(Link { from, to });
            if self.dice.below(2) == 0 {
                links.push(Link { from: to, to: from });
            }
        }
        links
    }
}
