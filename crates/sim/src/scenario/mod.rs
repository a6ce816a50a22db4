//! A scenario: nodes, algorithm and options, timing, faults, and the expected outcome.
//!
//! This is the checked form. [`parse`] reads it from the text that people write, reports the line
//! of every mistake, and writes it back; a shrunk failure becomes a file that way. Each table of
//! the file is read and written in the source file that is named after it.

mod action_keys;
mod arrangement;
mod cuts;
mod expect;
mod faults;
pub mod library;
mod messages;
mod network;
mod nodes;
pub mod parse;
mod possible;
mod radio;
pub mod script;
mod timing;
mod unknown;

use std::time::Duration;

use tanist_core::election::EstablishedGroup;
use tanist_core::membership::NodeNames;
use tanist_core::time::micros;
use tanist_core::timing::TimingConfig;
use tanist_core::trace::{Header, SCHEMA, Source};
use tanist_core::{GroupConfig, GroupSettings, Membership, NodeId};

use crate::monitors::Selection;
use crate::observe::observers::{ObserverConfig, Observers};
use crate::scenario::script::ScriptStep;
use crate::world::application::{Application, Pace};
use crate::world::faults::Fault;
use crate::world::network::{Conditions, Network, Rule};
use crate::world::topology::Topology;
use crate::world::{World, WorldSetup};

pub use expect::{Expect, ExpectNode};
pub use nodes::NODES_MAX;
pub use parse::ScenarioError;

/// Everything that determines a run, except a seed that replaces its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scenario {
    /// Its name.
    pub name: String,
    /// What it shows, in a sentence.
    pub about: String,
    /// The settings of the group.
    pub settings: GroupSettings,
    /// The nodes that take part.
    pub members: Membership,
    /// The timing as given, before defaults were derived.
    pub timing: TimingConfig,
    /// The seed, unless the run is given another.
    pub seed: u64,
    /// How long the run lasts.
    pub end: Duration,
    /// Whether the run ends at the first violated assertion.
    pub stops_at_break: bool,
    /// What the network does.
    pub conditions: Conditions,
    /// Which nodes are in reach of each other.
    pub topology: Topology,
    /// Rules for particular messages.
    pub rules: Vec<Rule>,
    /// How long applications take.
    pub pace: Pace,
    /// Groups that are established when the run begins.
    pub groups: Vec<EstablishedGroup>,
    /// Nodes that are down when the run begins.
    pub down: Vec<NodeId>,
    /// The faults of the run.
    pub faults: Vec<Fault>,
    /// The script: steps that are taken first, in order, before the clock drives the run.
    pub steps: Vec<ScriptStep>,
    /// Which assertions are checked.
    pub selection: Selection,
    /// The expected outcome.
    pub expect: Expect,
}

impl Scenario {
    /// The world of this scenario.
    #[must_use]
    pub fn world(&self, seed: u64, is_recorded: bool) -> World {
        World::new(self.world_setup(seed, is_recorded), seed)
    }

    /// The setup of its world, for callers that change something in it.
    #[must_use]
    pub fn world_setup(&self, seed: u64, is_recorded: bool) -> WorldSetup {
        let config = ObserverConfig { assertions: self.selection, is_recorded };
        let members = self.members.clone();
        let observers = Observers::new(members, self.settings.algorithm, self.header(seed), config);
        // Derived values are computed here, so that a scenario can be edited freely. Contradictory
        // settings were refused when the scenario was read.
        let config = GroupConfig::new(self.settings).expect("a scenario's settings fit each other");
        let members = self.members.clone();
        let members = members.arranged(&config).unwrap_or_else(|_| self.members.clone());
        let mut ids: Vec<NodeId> = self.members.all().iter().map(|node| node.id).collect();
        ids.sort_unstable();
        let network = Network::new(ids.len(), self.conditions.clone(), self.rules.clone());
        WorldSetup {
            config,
            members,
            network: network.over(&self.topology, ids, seed),
            application: Application::BuiltIn(self.pace),
            groups: self.groups.clone(),
            down: self.down.clone(),
            faults: self.faults.clone(),
            observers,
        }
    }

    /// The header of its trace.
    #[must_use]
    pub fn header(&self, seed: u64) -> Header {
        let algorithm = self.settings.algorithm;
        let changed = self.settings.options.changed(algorithm);
        Header {
            tanist_trace: SCHEMA,
            source: Source::Sim,
            scenario: self.name.clone(),
            algorithm: algorithm.name().to_owned(),
            options: changed.iter().map(|(name, value)| format!("{name}={value}")).collect(),
            seed,
            nodes: self.members.all().to_vec(),
            labels: self.members.labelled().to_vec(),
            names: NodeNames::clone(self.members.names()),
            ring: self.members.ring().unwrap_or_default().to_vec(),
            answer_us: micros(self.settings.timing.answer()),
            stop_within_us: micros(self.settings.timing.stop_within()),
            check_every_us: micros(self.settings.timing.check_every()),
            preempt: self.settings.preempt.in_header(),
        }
    }
}
