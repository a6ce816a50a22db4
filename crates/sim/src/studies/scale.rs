//! Very large networks: an election among super-peers from a cold start, counted and checked at its
//! end.
//!
//! The nodes and the world are those of every other run; only the observers are fewer, since
//! monitors would take longer than the steps. Every message takes the same time, nothing fails, and
//! nothing periodic happens during the run, so messages and time are exactly those of the formula.

use std::time::Duration;

use tanist_core::election::Algorithm;
use tanist_core::membership::NodeNames;
use tanist_core::options::{OptionError, Options};
use tanist_core::time::micros;
use tanist_core::timing::TimingConfig;
use tanist_core::trace::{Header, SCHEMA, Source};
use tanist_core::{GroupConfig, GroupSettings, Membership, Time, Timing};

use crate::monitors::unsettled_super_peers;
use crate::observe::observers::Observers;
use crate::studies::theory::super_peers::{cold_start, cold_start_above, per_node_max};
use crate::world::application::{Application, Pace};
use crate::world::network::{Conditions, Delay, Network};
use crate::world::{World, WorldSetup};

/// The largest network; more would exceed ids and memory.
pub const NODES_MAX: u32 = 10_000_000;

/// How many nodes a group has at most.
pub const GROUP_MAX: u64 = 16;

/// The result of one size.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// How many nodes.
    pub nodes: u32,
    /// How many levels of groups.
    pub levels: u32,
    /// How many groups on all levels.
    pub groups: u64,
    /// Messages sent.
    pub messages: u64,
    /// Messages by formula.
    pub theory_messages: u64,
    /// Messages for each node.
    pub per_node: f64,
    /// The upper bound for each node, whatever the size.
    pub per_node_max: f64,
    /// Simulated time until nothing changed any more.
    pub simulated: Duration,
    /// What is wrong at the end, if anything.
    pub wrong: Option<String>,
}

impl Row {
    /// Whether every node has its super-peers, the count is that of the formula, and the bound
    /// holds.
    #[must_use]
    pub fn is_good(&self) -> bool {
        self.wrong.is_none()
            && self.messages == self.theory_messages
            && self.per_node <= self.per_node_max
    }
}

/// How far a run has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Messages so far.
    pub messages: u64,
    /// Messages by formula.
    pub expected: u64,
}

/// What the caller answers to a report of progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// Go on.
    GoOn,
    /// Stop here.
    Stop,
}

/// Why a size cannot be run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScaleError {
    /// No nodes, or too many.
    #[error(
        "a network has 1 to {NODES_MAX} nodes and {0} were asked for, so nothing was run; give \
         another number"
    )]
    Size(u32),
    /// An option of the run does not exist, which is a bug in this program.
    #[error("{0}, so nothing was run; please report it")]
    Option(#[from] OptionError),
}

/// Runs one size from a cold start; none if the caller stopped it.
pub fn scale(
    nodes: u32,
    on_progress: &mut dyn FnMut(Progress) -> Control,
) -> Result<Option<Row>, ScaleError> {
    let (config, members) = group(nodes)?;
    let hierarchy = members.hierarchy().cloned().ok_or(ScaleError::Size(nodes))?;
    let sizes = |level| (0..hierarchy.groups(level)).map(move |group| (level, group));
    let mut expected = 0;
    let mut groups = 0;
    for (level, group) in (0..hierarchy.depth()).flat_map(sizes) {
        groups += 1;
        expected += match level {
            0 => hierarchy.peers(group).map_or(0, |peers| cold_start(peers.count() as u64)),
            _ => cold_start_above(hierarchy.children(level, group).len() as u64),
        };
    }
    let header = header(&config, &members);
    let mut world = World::new(world_setup(config, members), 1);
    let mut settled = Time::ZERO;
    let mut steps = 0_u64;
    while world.next_at().is_some_and(|at| at < Time::ZERO + NEVER) {
        let before = traffic(&world);
        world.step();
        // A timer that was cancelled moves the clock, too, and ends nothing.
        if traffic(&world) != before {
            settled = world.now();
        }
        steps += 1;
        if steps.is_multiple_of(STEPS_BETWEEN_LOOKS) {
            let messages = world.observers.counts.sent;
            match on_progress(Progress { messages, expected }) {
                Control::GoOn => {}
                Control::Stop => return Ok(None),
            }
        }
    }
    let messages = world.observers.counts.sent;
    let levels = u32::try_from(hierarchy.depth()).unwrap_or(u32::MAX);
    let wrong =
        unsettled_super_peers(&header, &world.observers.global).map(|violation| violation.why);
    #[expect(clippy::cast_precision_loss, reason = "counts of messages are far below 2^52")]
    let per_node = messages as f64 / f64::from(nodes);
    Ok(Some(Row {
        nodes,
        levels,
        groups,
        messages,
        theory_messages: expected,
        per_node,
        per_node_max: per_node_max(GROUP_MAX, u64::from(levels), u64::from(nodes)),
        simulated: settled.since(Time::ZERO),
        wrong,
    }))
}

/// How many messages were sent, and how many arrived.
fn traffic(world: &World) -> (u64, u64) {
    let counts = &world.observers.counts;
    (counts.sent, counts.delivered)
}

fn group(nodes: u32) -> Result<(GroupConfig, Membership), ScaleError> {
    if nodes > NODES_MAX {
        return Err(ScaleError::Size(nodes));
    }
    let mut options = Options::default();
    options.set(Algorithm::SuperPeer, "by", "hash")?;
    options.set(Algorithm::SuperPeer, "max", "16")?;
    let timing = TimingConfig {
        check_every: NEVER,
        timeout_every: NEVER,
        ..TimingConfig::bounded_by(D, Duration::ZERO)
    };
    let timing = Timing::new(timing).map_err(|_| ScaleError::Size(nodes))?;
    let usual = GroupSettings::new(Algorithm::SuperPeer, timing);
    let config = GroupConfig::new(GroupSettings { options, ..usual });
    let config = config.map_err(|_| ScaleError::Size(nodes))?;
    let members = Membership::numbered(nodes).map_err(|_| ScaleError::Size(nodes))?;
    let members = members.arranged(&config).map_err(|_| ScaleError::Size(nodes))?;
    Ok((config, members))
}

fn world_setup(config: GroupConfig, members: Membership) -> WorldSetup {
    // Messages with equal delays stay in order by themselves.
    let conditions = Conditions {
        delay: Delay::Fixed(D),
        is_fifo: false,
        loss_ppm: 0,
        duplicate_ppm: 0,
        has_refusals: false,
    };
    let count = members.count();
    WorldSetup {
        network: Network::new(count, conditions, Vec::new()),
        application: Application::BuiltIn(Pace::default()),
        groups: Vec::new(),
        down: Vec::new(),
        faults: Vec::new(),
        observers: Observers::counting(members.clone()),
        config,
        members,
    }
}

fn header(config: &GroupConfig, members: &Membership) -> Header {
    let changed = config.options().changed(config.algorithm());
    Header {
        tanist_trace: SCHEMA,
        source: Source::Sim,
        scenario: "scale".to_owned(),
        algorithm: config.algorithm().name().to_owned(),
        options: changed.iter().map(|(name, value)| format!("{name}={value}")).collect(),
        seed: 1,
        nodes: members.all().to_vec(),
        labels: Vec::new(),
        names: NodeNames::default(),
        answer_us: micros(config.timing().answer()),
        ring: Vec::new(),
        stop_within_us: micros(config.timing().stop_within()),
        check_every_us: micros(config.timing().check_every()),
        preempt: config.preempt().in_header(),
    }
}

/// The delay of a message.
const D: Duration = Duration::from_millis(1);
/// Nothing periodic happens before this.
const NEVER: Duration = Duration::from_secs(1000);
/// Often enough for a progress bar that moves.
const STEPS_BETWEEN_LOOKS: u64 = 1 << 16;
