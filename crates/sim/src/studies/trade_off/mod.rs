//! The timeout T against two coordinators: how often a wait that is too short elects a second one,
//! and how long a real failover takes (F-12, F-13).
//!
//! For each T there are three kinds of runs, each with as many seeds as asked for, in a group of
//! nodes 1..=N under N:
//!
//! - *false suspicion*, on a network whose delays have a tail beyond the bound that T assumes: node
//!   N - 1 takes the live coordinator for dead. Are there two coordinators at some moment?
//! - *failover*, on the same network without its tail: the coordinator crashes and node N - 1
//!   notices it at once. When does every live node follow one live coordinator? This is the price
//!   of a long T.
//! - *failover with the tail*: the same, where late answers also spoil elections. A short T then
//!   need not be faster, because elections are repeated.
//!
//! T is the wait for an answer, 2Tm with Tp = 0; all other waits follow from it as usual. Leaves
//! out detection, which has timeouts of its own.

pub mod picture;

use std::time::Duration;

use tanist_core::election::descriptor::Network;
use tanist_core::election::{Algorithm, EstablishedGroup};
use tanist_core::group::Counter;
use tanist_core::time::micros;
use tanist_core::timing::TimingConfig;
use tanist_core::{GroupSettings, Membership, NodeId, Status, Time, Timing};

use crate::monitors::Selection;
use crate::observe::global_state::{GlobalState, NodeView};
use crate::observe::observers::Observers;
use crate::scenario::{Expect, Scenario};
use crate::studies::sample::{Sample, Share};
use crate::world::World;
use crate::world::application::Pace;
use crate::world::faults::Action;
use crate::world::network::{Conditions, Delay};
use crate::world::topology::Topology;

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TradeOff {
    algorithm: Algorithm,
    nodes: u32,
    delay: Delay,
}

/// Why it cannot be measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TradeOffError {
    /// An algorithm for another kind of network, or one that has several coordinators on purpose.
    #[error(
        "{} cannot be measured: expected an algorithm that elects one coordinator of nodes that \
         have links to each other, such as bully", .0.name()
    )]
    Algorithm(Algorithm),
    /// Too few or too many nodes.
    #[error("{0} nodes: expected 2 to {NODES_MAX}")]
    Nodes(u32),
    /// A delay that is too long to wait for.
    #[error("a message delay of {0:?}: expected at most {DELAY_MAX:?}")]
    Delay(Duration),
    /// A timeout that cannot be set.
    #[error(
        "a timeout of {0:?}: expected {TIMEOUT_MIN:?} to {TIMEOUT_MAX:?}, in whole microseconds"
    )]
    Timeout(Duration),
}

/// The measurements for one timeout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Point {
    /// T.
    pub timeout: Duration,
    /// Of the false suspicions, those that led to two coordinators at once.
    pub split: Share,
    /// Failovers without the tail of the delays.
    pub calm: Failovers,
    /// Failovers with it; none if the delays have no tail.
    pub tail: Option<Failovers>,
}

/// Elections after a crash of the coordinator.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Failovers {
    /// Those that ended in agreement.
    pub agreed: Share,
    /// How long these took, in microseconds.
    pub time_us: Sample,
}

impl Failovers {
    fn add(&mut self, took: Option<Duration>) {
        self.agreed.add(took.is_some());
        if let Some(took) = took {
            self.time_us.add(micros(took));
        }
    }
}

impl TradeOff {
    /// Checks what is to be measured.
    ///
    /// # Errors
    /// If the algorithm or a number does not fit.
    pub fn new(algorithm: Algorithm, nodes: u32, delay: Delay) -> Result<Self, TradeOffError> {
        match algorithm.descriptor().network {
            Network::Links | Network::Partitions | Network::Ring => {}
            Network::Radio | Network::Hierarchy => {
                return Err(TradeOffError::Algorithm(algorithm));
            }
        }
        if !(2..=NODES_MAX).contains(&nodes) {
            return Err(TradeOffError::Nodes(nodes));
        }
        if longest(delay) > DELAY_MAX {
            return Err(TradeOffError::Delay(longest(delay)));
        }
        Ok(Self { algorithm, nodes, delay })
    }

    /// Checks a timeout.
    ///
    /// # Errors
    /// If it is too short, too long, or has a part of a microsecond.
    pub fn check_timeout(timeout: Duration) -> Result<(), TradeOffError> {
        let is_whole = timeout.subsec_nanos().is_multiple_of(1000);
        if is_whole && (TIMEOUT_MIN..=TIMEOUT_MAX).contains(&timeout) {
            Ok(())
        } else {
            Err(TradeOffError::Timeout(timeout))
        }
    }

    /// Measures one timeout with seeds 1 to `seeds`. `on_seed` is called after each; the rest is
    /// left out once `is_over`.
    ///
    /// # Errors
    /// As for [`TradeOff::check_timeout`].
    pub fn measure(
        &self,
        timeout: Duration,
        seeds: u32,
        is_over: &dyn Fn() -> bool,
        on_seed: &dyn Fn(),
    ) -> Result<Point, TradeOffError> {
        Self::check_timeout(timeout)?;
        let calm = Self { delay: without_tail(self.delay), ..*self };
        let mut tail = (calm != *self).then(Failovers::default);
        let (mut split, mut failovers) = (Share::default(), Failovers::default());
        for seed in (1..=u64::from(seeds)).take_while(|_| !is_over()) {
            split.add(self.splits(timeout, seed));
            failovers.add(calm.failover(timeout, seed));
            if let Some(tail) = &mut tail {
                tail.add(self.failover(timeout, seed));
            }
            on_seed();
        }
        Ok(Point { timeout, split, calm: failovers, tail })
    }

    /// Whether a false suspicion leads to two coordinators at once.
    #[must_use]
    pub fn splits(&self, timeout: Duration, seed: u64) -> bool {
        let horizon = (timeout + longest(self.delay)) * 20;
        // Nothing else happens: no check and no other suspicion.
        let mut world = self.world(timeout, Periods::Never, seed);
        world.run_until(Time::ZERO + BEFORE);
        world.act(Action::Suspect(self.second()));
        first(&mut world, horizon, has_two_coordinators).is_some()
    }

    /// How long it takes until all live nodes agree after the coordinator has crashed; none if they
    /// do not.
    #[must_use]
    pub fn failover(&self, timeout: Duration, seed: u64) -> Option<Duration> {
        let horizon = (timeout + longest(self.delay)) * 400;
        let mut world = self.world(timeout, Periods::Usual, seed);
        world.run_until(Time::ZERO + BEFORE);
        world.act(Action::Crash(self.highest()));
        world.act(Action::Suspect(self.second()));
        let at = first(&mut world, horizon, has_agreed)?;
        Some(Duration::from_micros(at.as_micros()) - BEFORE)
    }

    const fn highest(&self) -> NodeId {
        NodeId(self.nodes)
    }

    const fn second(&self) -> NodeId {
        NodeId(self.nodes - 1)
    }

    fn world(&self, timeout: Duration, periods: Periods, seed: u64) -> World {
        let scenario = self.scenario(timeout, periods);
        let mut setup = scenario.world_setup(seed, false);
        setup.observers = Observers::counting(scenario.members.clone());
        World::new(setup, seed)
    }

    fn scenario(&self, timeout: Duration, periods: Periods) -> Scenario {
        let usual = TimingConfig::bounded_by(timeout / 2, Duration::ZERO);
        let timing = match periods {
            Periods::Usual => usual,
            Periods::Never => {
                let long = (timeout + longest(self.delay)) * 1000;
                TimingConfig { check_every: long, timeout_every: long, ..usual }
            }
        };
        let checked = Timing::new(timing).expect("all waits follow from T");
        let coordinator = self.highest();
        let members = Membership::numbered(self.nodes).expect("at least two nodes, each once");
        let group = EstablishedGroup {
            group: Counter(1).group(coordinator),
            coordinator,
            members: members.all().iter().map(|member| member.id).collect(),
        };
        Scenario {
            name: "trade-off".to_owned(),
            about: "A timeout on a network that does not keep its bound.".to_owned(),
            settings: GroupSettings::new(self.algorithm, checked),
            members,
            timing,
            seed: 1,
            end: timing.check_every,
            stops_at_break: false,
            steps: Vec::new(),
            conditions: Conditions {
                delay: self.delay,
                is_fifo: true,
                loss_ppm: 0,
                duplicate_ppm: 0,
                has_refusals: false,
            },
            topology: Topology::default(),
            rules: Vec::new(),
            pace: Pace::default(),
            groups: vec![group],
            down: Vec::new(),
            faults: Vec::new(),
            selection: Selection::STANDARD,
            expect: Expect::default(),
        }
    }
}

/// How often nodes look after each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Periods {
    /// As usual with this timeout.
    Usual,
    /// Not while the run lasts.
    Never,
}

/// When the global state first has this property, within `horizon` from here.
fn first(world: &mut World, horizon: Duration, property: fn(&GlobalState) -> bool) -> Option<Time> {
    let end = world.now() + horizon;
    let mut seen = None;
    for _ in 0..EVENTS_MAX {
        let changes = Some(world.observers.global.changes());
        if seen != changes && property(&world.observers.global) {
            return Some(world.now());
        }
        seen = changes;
        if world.next_at().is_none_or(|at| at > end) {
            return None;
        }
        world.step();
    }
    None
}

/// Whether two live nodes take themselves for the coordinator.
fn has_two_coordinators(global: &GlobalState) -> bool {
    global.live().filter(|view| is_coordinator(view)).count() > 1
}

fn is_coordinator(view: &NodeView) -> bool {
    let is_in_office = match view.state.status {
        Status::Normal | Status::Reorganization => true,
        Status::Down | Status::Election => false,
    };
    is_in_office && view.state.coordinator == Some(view.id)
}

/// Whether every live node is Normal under the same live node.
fn has_agreed(global: &GlobalState) -> bool {
    let mut live = global.live();
    let Some(coordinator) = live.next().and_then(|view| view.state.coordinator) else {
        return false;
    };
    let is_led = |view: &NodeView| {
        view.state.status == Status::Normal && view.state.coordinator == Some(coordinator)
    };
    global.view(coordinator).is_some_and(|view| view.is_up) && global.live().all(is_led)
}

const fn without_tail(delay: Delay) -> Delay {
    match delay {
        Delay::Fixed(_) | Delay::Uniform { .. } => delay,
        Delay::Spiky { min, max, .. } => Delay::Uniform { min, max },
    }
}

/// The longest that a message may take.
fn longest(delay: Delay) -> Duration {
    match delay {
        Delay::Fixed(delay) => delay,
        Delay::Uniform { max, .. } => max,
        Delay::Spiky { max, spike, .. } => max.max(spike),
    }
}

/// The points as CSV, times in microseconds.
#[must_use]
pub fn csv(points: &[Point]) -> String {
    let mut text = "timeout_us,runs,two_coordinators,probability,ci95_low,ci95_high,\
                    agreed,mean_time_us,time_ci95_us,tail_agreed,tail_mean_time_us,\
                    tail_time_ci95_us\n"
        .to_owned();
    let number = |value: Option<f64>| value.map_or_else(String::new, |value| format!("{value:.6}"));
    let cells = |failovers: &Failovers| {
        let mean = failovers.time_us.mean().map_or_else(String::new, |mean| mean.to_string());
        let interval = number(failovers.time_us.confidence());
        format!("{},{mean},{interval}", failovers.agreed.hits())
    };
    for Point { timeout, split, calm, tail } in points {
        let interval = split.confidence();
        text.push_str(&format!(
            "{},{},{},{},{},{},{},{}\n",
            timeout.as_micros(),
            split.count(),
            split.hits(),
            number(split.value()),
            number(interval.map(|(low, _)| low)),
            number(interval.map(|(_, high)| high)),
            cells(calm),
            tail.as_ref().map_or_else(|| ",,".to_owned(), cells),
        ));
    }
    text
}

/// The group has been at rest for this long when something happens.
const BEFORE: Duration = Duration::from_millis(1);

/// So many events are more than any failover needs.
const EVENTS_MAX: u64 = 2_000_000;

/// The largest group.
pub const NODES_MAX: u32 = 64;

/// The longest message delay.
pub const DELAY_MAX: Duration = Duration::from_secs(60);

/// The shortest timeout.
pub const TIMEOUT_MIN: Duration = Duration::from_micros(2);

/// The longest timeout.
pub const TIMEOUT_MAX: Duration = Duration::from_secs(3600);
