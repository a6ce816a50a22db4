//! One algorithm, one script, one size, one seed: run until all nodes agree, with the cost of it.

use std::time::Duration;

use tanist_core::election::{Algorithm, EstablishedGroup};
use tanist_core::group::Counter;
use tanist_core::time::micros;
use tanist_core::timing::TimingConfig;
use tanist_core::trace::Kind;
use tanist_core::{
    GroupConfig, GroupSettings, Member, Membership, NodeId, NodeSet, Priority, Status, Time, Timing,
};

use super::{D, HEARTBEAT, Script, TP};
use crate::monitors::Selection;
use crate::observe::global_state::NodeView;
use crate::scenario::{Expect, Scenario};
use crate::world::World;
use crate::world::application::Pace;
use crate::world::dice::SeededDice;
use crate::world::network::{Conditions, Delay};
use crate::world::topology::Topology;

/// The outcome of one seed.
pub(super) struct Outcome {
    /// The cost of all stages together; none if a stage did not end in agreement.
    pub(super) cost: Option<Cost>,
    pub(super) breakage: Option<Breakage>,
}

/// What was sent and how long it took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Cost {
    pub(super) messages: u64,
    pub(super) time_us: u64,
    pub(super) bytes: u64,
}

/// An assertion that was violated in a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Breakage {
    /// The seed.
    pub seed: u64,
    /// Its id.
    pub assertion: &'static str,
    /// What was seen.
    pub why: String,
}

pub(super) fn run(algorithm: Algorithm, script: Script, n: u32, seed: u64) -> Outcome {
    let mut draw = Draw::new(n, seed);
    let members = draw.members(n);
    let scenario = scenario(algorithm, script, members, seed);
    let mut world = scenario.world(seed, false);
    world.weigh();
    let mut cost = Some(Cost::default());
    for actions in script.stages(&scenario.members) {
        let quiet = draw.quiet(script);
        world.run_until(world.now() + quiet);
        let before = Tally::of(&world);
        for action in actions {
            world.act(action);
        }
        let after = agreement(&mut world, scenario.end);
        cost = cost.zip(after).map(|(sum, after)| sum.plus(before, after));
        if cost.is_none() {
            break;
        }
    }
    let breakage = world.observers.first_violated().map(|violated| Breakage {
        seed,
        assertion: violated.assertion,
        why: violated.violation.why.clone(),
    });
    Outcome { cost, breakage }
}

/// What a seed determines. It is independent of the algorithm, so that all get the same.
pub(super) struct Draw {
    /// The same for all sizes, so that a line over the sizes shows the effect of size only.
    moments: SeededDice,
    seats: SeededDice,
}

impl Draw {
    pub(super) fn new(n: u32, seed: u64) -> Self {
        let seats = SeededDice::new((seed << 32) ^ u64::from(n));
        Self { moments: SeededDice::new(seed << 32), seats }
    }

    /// The ring is in order of ids, so priorities in random order make a random ring. All algorithms
    /// are given the same nodes, and most have no ring to put them in another order.
    pub(super) fn members(&mut self, n: u32) -> Membership {
        let mut left: Vec<u32> = (1..=n).collect();
        let members: Vec<Member> = (1..=n)
            .map(|id| {
                let at = usize::try_from(self.seats.below(left.len() as u64)).unwrap_or(0);
                Member { priority: Priority(left.swap_remove(at)), id: NodeId(id) }
            })
            .collect();
        Membership::new(members).expect("a group that is compared has nodes, each once")
    }

    /// How long the run is left alone before the fault, so that periodic activities are at a random
    /// point of their period. A cold start needs none: it starts every timer.
    pub(super) fn quiet(&mut self, script: Script) -> Duration {
        let period = timing().check_every;
        match script {
            Script::ColdStart => Duration::ZERO,
            Script::LeaderCrash
            | Script::LeaderReturns
            | Script::Rolling
            | Script::PartitionAndHeal => period + self.moments.between(Duration::ZERO, period),
        }
    }
}

/// The counters at a moment.
#[derive(Clone, Copy)]
struct Tally {
    at: Time,
    messages: u64,
    bytes: u64,
}

impl Tally {
    fn of(world: &World) -> Self {
        let counts = &world.observers.counts;
        let messages = counts.sent - counts.of(Kind::Heartbeat);
        Self { at: world.now(), messages, bytes: world.bytes() }
    }
}

impl Cost {
    const fn plus(self, before: Tally, after: Tally) -> Self {
        Self {
            messages: self.messages + after.messages - before.messages,
            time_us: self.time_us + after.at.as_micros() - before.at.as_micros(),
            bytes: self.bytes + after.bytes - before.bytes,
        }
    }
}

/// Runs until all nodes have agreed for so long that it will last; returns the counters when the
/// agreement began. None if they do not agree within `patience`.
fn agreement(world: &mut World, patience: Duration) -> Option<Tally> {
    let end = world.now() + patience;
    let mut looks = Looks::default();
    let mut since = looks.has_agreed(world).then(|| Tally::of(world));
    loop {
        let next = world.next_at().unwrap_or(end);
        match since {
            Some(tally) if next > tally.at + calm() => return Some(tally),
            Some(_) | None if next >= end => return None,
            Some(_) | None => {}
        }
        world.step();
        since = match (since, looks.has_agreed(world)) {
            (Some(tally), true) => Some(tally),
            (None, true) => Some(Tally::of(world)),
            (Some(_) | None, false) => None,
        };
    }
}

/// Whether all nodes agree, called after every step and computed after those that change the
/// answer.
#[derive(Default)]
struct Looks {
    /// How many changes the global state had when the answer was computed.
    seen: Option<u64>,
    answer: bool,
}

impl Looks {
    fn has_agreed(&mut self, world: &World) -> bool {
        let changes = Some(world.observers.global.changes());
        if self.seen != changes {
            self.seen = changes;
            self.answer = has_agreed(world);
        }
        self.answer
    }
}

/// Whether every live node is Normal under a live coordinator, and the algorithm's liveness
/// guarantees hold: one coordinator for all nodes that can reach each other, where it guarantees
/// one.
fn has_agreed(world: &World) -> bool {
    let global = &world.observers.global;
    let leads = |id| global.view(id).is_some_and(|view| view.is_up && is_own_coordinator(view));
    let is_led = |view: &NodeView| {
        view.state.status == Status::Normal && view.state.coordinator.is_some_and(leads)
    };
    if !global.live().all(is_led) {
        return false;
    }
    if global.is_whole() { world.observers.is_settled() } else { has_agreed_in_parts(world) }
}

/// While links are cut no algorithm guarantees one coordinator for all, so each side is checked
/// separately. Super-peers guarantee one for each of their groups only.
fn has_agreed_in_parts(world: &World) -> bool {
    let global = &world.observers.global;
    let has_several = world.observers.assertions().iter().any(|(id, _)| *id == "V-02");
    global.components().iter().all(|component| {
        let mut coordinators: Vec<NodeId> = component
            .iter()
            .filter_map(|id| global.view(id).and_then(|view| view.state.coordinator))
            .collect();
        coordinators.dedup();
        let is_one = has_several || coordinators.len() == 1;
        is_one && coordinators.iter().all(|id| component.contains(*id))
    })
}

fn is_own_coordinator(view: &NodeView) -> bool {
    view.state.coordinator == Some(view.id)
}

fn scenario(algorithm: Algorithm, script: Script, members: Membership, seed: u64) -> Scenario {
    let timing = timing();
    let checked = checked();
    let standing = script.standing(&members);
    let ids = members.all().iter().map(|member| member.id);
    let down = ids.filter(|id| !standing.contains(*id)).collect();
    let count = u32::try_from(members.count()).unwrap_or(u32::MAX);
    let settings = GroupSettings::new(algorithm, checked);
    let config = GroupConfig::new(settings).expect("the usual settings fit each other");
    let arranged = members.clone().arranged(&config);
    let arranged = arranged.expect("the usual options do not contradict each other");
    Scenario {
        name: format!("compare-{}", script.name()),
        about: script.about().to_owned(),
        groups: groups(&arranged, &standing),
        settings,
        members,
        timing,
        seed,
        end: calm() * ROUNDS_MAX + checked.stall() * count,
        stops_at_break: false,
        conditions: Conditions {
            delay: Delay::Fixed(D),
            is_fifo: true,
            loss_ppm: 0,
            duplicate_ppm: 0,
            has_refusals: false,
        },
        rules: Vec::new(),
        steps: Vec::new(),
        topology: Topology::default(),
        pace: Pace::default(),
        down,
        faults: Vec::new(),
        selection: Selection {
            is_beyond_model: script.is_beyond_synchronous(),
            ..Selection::STANDARD
        },
        expect: Expect::default(),
    }
}

/// One group of all nodes that are up, or one for each group that the algorithm makes, under its
/// highest.
fn groups(members: &Membership, standing: &NodeSet) -> Vec<EstablishedGroup> {
    let homes: Vec<&Membership> = match members.hierarchy() {
        None => vec![members],
        Some(hierarchy) => {
            (0..hierarchy.groups(0)).filter_map(|group| hierarchy.peers(group)).collect()
        }
    };
    let group = |home: &Membership| {
        let ranks = home.all().iter().map(|member| member.id);
        let ranks: Vec<NodeId> = ranks.filter(|id| standing.contains(*id)).collect();
        let coordinator = *ranks.last()?;
        let group = Counter(1).group(coordinator);
        Some(EstablishedGroup { group, coordinator, members: ranks.into_iter().collect() })
    };
    homes.into_iter().filter_map(group).collect()
}

/// Whether an algorithm guarantees this assertion in every run of its model.
pub(super) fn is_promised(algorithm: Algorithm, assertion: &str) -> bool {
    let script = Script::LeaderCrash;
    let world = scenario(algorithm, script, Draw::new(2, 1).members(2), 1).world(1, false);
    world.observers.assertions().iter().any(|(id, _)| *id == assertion)
}

fn timing() -> TimingConfig {
    TimingConfig { heartbeat: Some(HEARTBEAT), ..TimingConfig::bounded_by(D, TP) }
}

pub(super) fn checked() -> Timing {
    Timing::new(timing()).expect("the timing of comparisons keeps its bounds")
}

/// How long an agreement must last to count: everything periodic has happened and was answered.
fn calm() -> Duration {
    let timing = checked();
    (timing.check_every() + timing.suspect_after() + timing.answer()) * 2
}

/// How long after a crash the first survivor can suspect it: S after the last heartbeat, which had
/// been in flight for d when S began. Heartbeats are sent from the beginning of the run on.
pub(super) fn detection_us(quiet: Duration) -> u64 {
    let since_last = micros(quiet) % micros(HEARTBEAT);
    micros(checked().suspect_after()) + micros(D) - since_last
}

/// How many times this calm period a group has to agree.
const ROUNDS_MAX: u32 = 20;
