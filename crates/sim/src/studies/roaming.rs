//! Many nodes that roam, as in the paper of Vasudevan, Kurose and Towsley (2004): a scenario from a
//! few parameters, and its outcome.
//!
//! The paper's simulations let 20 to 50 nodes move by random waypoint in 2000 m x 2000 m, at 3 to
//! 19 m/s, with ranges from 200 to 300 m, and a leader that sends a heartbeat every 20 s.

use std::time::Duration;

use tanist_core::election::Algorithm;
use tanist_core::membership::MembershipError;
use tanist_core::options::Options;
use tanist_core::timing::{TimingConfig, TimingError};
use tanist_core::{GroupSettings, Membership, NodeId, Time, Timing};

use crate::monitors::Selection;
use crate::observe::counts::Counts;
use crate::observe::observers::Observers;
use crate::scenario::{Expect, Scenario};
use crate::studies::agreement::{self, Agreement, Component};
use crate::studies::scale::Control;
use crate::world::World;
use crate::world::application::Pace;
use crate::world::network::{Conditions, Delay};
use crate::world::places::{Area, Layout, Position};
use crate::world::topology::{Fading, RadioConfig, Topology};
use crate::world::walking::Mobility;

/// The parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Roaming {
    /// The algorithm.
    pub algorithm: Algorithm,
    /// Its options.
    pub options: Options,
    /// How many nodes.
    pub nodes: u32,
    /// For how long.
    pub time: Duration,
    /// The radio range, in decimetres.
    pub range: u32,
    /// Loss within the range.
    pub fading: Fading,
    /// How they move.
    pub mobility: Mobility,
    /// A message takes at most this long over one link.
    pub message_max: Duration,
    /// The heartbeat interval of a leader.
    pub heartbeat: Duration,
    /// The seed of all randomness.
    pub seed: u64,
}

/// Why the parameters make no run.
#[derive(Debug, thiserror::Error)]
pub enum RoamingError {
    /// No nodes.
    #[error("{0}, and nothing was run")]
    Members(#[from] MembershipError),
    /// Timeouts that cannot work.
    #[error("these times cannot work, and nothing was run: {0}")]
    Timing(#[from] TimingError),
}

/// The outcome.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// How far nodes agreed.
    pub agreement: Agreement,
    /// The counters.
    pub counts: Counts,
    /// How often a link came or went, in both directions together.
    pub links_changed: u64,
    /// How many neighbours a node had, on average, at the end.
    pub neighbours: f64,
    /// Steps that nodes took.
    pub steps: u64,
    /// The components at the end, biggest first.
    pub components: Vec<Component>,
    /// The ids of the nodes, in order.
    pub ids: Vec<NodeId>,
    /// Their positions at the end, in the same order.
    pub positions: Vec<Position>,
    /// The links at the end, each pair once, as indexes in the order of ids.
    pub links: Vec<(usize, usize)>,
}

impl Roaming {
    /// The scenario of these parameters; `tanist sim run` runs it, too.
    /// | # Errors
    /// If there are no nodes, or if timeouts are shorter than messages may take.
    pub fn scenario(&self) -> Result<Scenario, RoamingError> {
        let timing = TimingConfig {
            heartbeat: Some(self.heartbeat),
            check_every: self.heartbeat,
            timeout_every: self.heartbeat,
            // Whole components miss the same heartbeats; their nodes should not all start an
            // election at once.
            jitter: Some(self.heartbeat / 2),
            ..TimingConfig::bounded_by(self.message_max, self.message_max / 2)
        };
        let members = Membership::numbered(self.nodes)?;
        let checked = Timing::new(timing)?;
        Ok(Scenario {
            name: "roaming".to_owned(),
            about: format!("{} nodes roam under {}", self.nodes, self.algorithm.name()),
            settings: GroupSettings {
                options: self.options,
                ..GroupSettings::new(self.algorithm, checked)
            },
            members,
            timing,
            seed: self.seed,
            end: self.time,
            stops_at_break: false,
            steps: Vec::new(),
            conditions: Conditions {
                delay: Delay::Uniform { min: self.message_max / 4, max: self.message_max },
                is_fifo: false,
                loss_ppm: 0,
                duplicate_ppm: 0,
                has_refusals: false,
            },
            topology: Topology::Radio(RadioConfig {
                range: self.range,
                fading: self.fading,
                layout: Layout::Random(self.area()),
                mobility: Some(self.mobility),
                step: STEP,
            }),
            rules: Vec::new(),
            pace: Pace::default(),
            groups: Vec::new(),
            down: Vec::new(),
            faults: Vec::new(),
            selection: Selection::STANDARD,
            expect: Expect::default(),
        })
    }

    const fn area(&self) -> Area {
        self.mobility.area
    }

    /// Runs it; `on_second` is called every simulated second, and may stop the run.
    ///
    /// # Errors
    /// As for [`Roaming::scenario`].
    pub fn run(&self, on_second: &mut dyn FnMut(u64) -> Control) -> Result<Outcome, RoamingError> {
        let scenario = self.scenario()?;
        let mut setup = scenario.world_setup(self.seed, false);
        // Assertions are checked in smaller worlds; here the monitors would take longer than the
        // run.
        setup.observers = Observers::counting(scenario.members.clone());
        let mut world = World::new(setup, self.seed);
        // Links that are out of reach from the beginning do not count as changes.
        let links_before = world.observers.global.links_changed();
        let agreement = agreement::watch(&mut world, Time::ZERO + self.time, on_second);
        let links = links(&world);
        let nodes = f64::from(self.nodes.max(1));
        Ok(Outcome {
            agreement,
            counts: world.observers.counts.clone(),
            links_changed: (world.observers.global.links_changed() - links_before) / 2,
            neighbours: f64::from(u32::try_from(links.len()).unwrap_or(u32::MAX)) * 2.0 / nodes,
            steps: world.events(),
            components: agreement::components(&world),
            ids: world.observers.global.views().iter().map(|view| view.id).collect(),
            positions: world.positions().to_vec(),
            links,
        })
    }
}

fn links(world: &World) -> Vec<(usize, usize)> {
    let all = 0..world.positions().len();
    all.flat_map(|from| {
        let later = world.hearers(from).into_iter().filter(move |to| *to > from);
        later.map(move |to| (from, to))
    })
    .collect()
}

/// How often positions are sampled: at 19 m/s a node moves two metres in between.
const STEP: Duration = Duration::from_millis(100);
