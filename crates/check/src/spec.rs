//! What an exploration checks: which group, under which assumptions, how far.
//!
//! A group starts with its highest node as coordinator, each peer group with its own highest,
//! unless the nodes start apart. From there every step that the assumptions allow is taken.

use tanist_core::config::ConfigError;
use tanist_core::election::{Algorithm, EstablishedGroup};
use tanist_core::membership::HierarchyError;
use tanist_core::mutant::Mutant;
use tanist_core::options::OptionError;
use tanist_core::policy::Preempt;
use tanist_core::trace::Link;
use tanist_core::{GroupConfig, GroupNumber, Membership, NodeId, Time};
use tanist_sim::Scenario;
use tanist_sim::algorithms;
use tanist_sim::scenario::ScenarioError;
use tanist_sim::world::faults::{Action, Fault, Moment};

use crate::assumption::Assumption;
use crate::explore::{Progress, explore};
use crate::model::Bounds;
use crate::report::CheckReport;

/// A group, the assumptions under which it runs, and the bounds of the exploration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckSpec {
    /// The algorithm.
    pub algorithm: Algorithm,
    /// How many nodes, from 1 on.
    pub nodes: u32,
    /// Options that differ from their default.
    pub options: Vec<(String, String)>,
    /// Priorities of the nodes, from the first on; the default is the number of the node.
    pub priorities: Vec<u32>,
    /// Links that are cut forever.
    pub cuts: Vec<(u32, u32)>,
    /// How the group starts.
    pub beginning: Beginning,
    /// Whether a higher node takes over from an established coordinator.
    pub preempt: Preempt,
    /// A rule that is broken on purpose.
    pub mutant: Option<Mutant>,
    /// Which steps are allowed.
    pub assumption: Assumption,
    /// The bounds of the exploration.
    pub bounds: Bounds,
}

/// How a group starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beginning {
    /// All nodes are in the group of their highest node.
    Together,
    /// Every node is in a group of its own, which only Invitation allows.
    Apart,
}

/// Why a spec cannot be run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CheckSpecError {
    /// The group is not valid.
    #[error("{}. Nothing was explored; change the group", .0.what)]
    Group(ScenarioError),
    /// An option cannot be set.
    #[error("{0}. Nothing was explored. See: tanist algorithms")]
    Option(OptionError),
    /// Settings that contradict each other.
    #[error("{0}. Nothing was explored")]
    Config(ConfigError),
    /// Options that do not give peer groups.
    #[error("{0}. Nothing was explored")]
    Hierarchy(HierarchyError),
    /// A link between nodes that do not exist.
    #[error(
        "there is no link {0}-{1} among {2} nodes. Nothing was explored; name two different nodes"
    )]
    Link(u32, u32, u32),
    /// The nodes cannot start apart under this algorithm.
    #[error(
        "{0} has one group only, so its nodes cannot start apart. Nothing was explored; check \
         invitation instead"
    )]
    Apart(&'static str),
}

impl CheckSpec {
    /// A pair of nodes under AS0 with one crash.
    #[must_use]
    pub const fn new(algorithm: Algorithm) -> Self {
        Self {
            algorithm,
            nodes: 2,
            options: Vec::new(),
            priorities: Vec::new(),
            cuts: Vec::new(),
            beginning: Beginning::Together,
            preempt: Preempt::Always,
            mutant: None,
            assumption: Assumption::As0,
            bounds: Bounds::USUAL,
        }
    }

    /// Explores every run within the bounds.
    pub fn run(&self, on_level: &mut dyn FnMut(Progress)) -> Result<CheckReport, CheckSpecError> {
        let scenario = self.scenario()?;
        let exploration = explore(&scenario, self.assumption, &self.bounds, on_level);
        Ok(CheckReport::new(self, scenario, exploration))
    }

    /// The scenario whose world is the first state.
    pub fn scenario(&self) -> Result<Scenario, CheckSpecError> {
        if self.beginning == Beginning::Apart && !algorithms::study(self.algorithm).follows_lower {
            return Err(CheckSpecError::Apart(self.algorithm.name()));
        }
        let mut scenario = Scenario::parse(&self.text()).map_err(CheckSpecError::Group)?;
        for (name, value) in &self.options {
            let options = &mut scenario.settings.options;
            options.set(self.algorithm, name, value).map_err(CheckSpecError::Option)?;
        }
        scenario.settings.preempt = self.preempt;
        // A leader stays while nothing is lost and no wait ends too early.
        scenario.selection.is_steady =
            self.preempt.is_sticky() && !self.assumption.has_loss() && self.cuts.is_empty();
        let config = GroupConfig::new(scenario.settings).map_err(CheckSpecError::Config)?;
        let members = scenario.members.clone();
        let arranged = members.arranged(&config).map_err(CheckSpecError::Hierarchy)?;
        scenario.groups = self.groups(&arranged);
        scenario.settings.mutant = self.mutant;
        let is_known = |node: u32| (1..=self.nodes).contains(&node);
        let unknown = self.cuts.iter().find(|(a, b)| !is_known(*a) || !is_known(*b) || a == b);
        if let Some((a, b)) = unknown {
            return Err(CheckSpecError::Link(*a, *b, self.nodes));
        }
        let links: Vec<Link> = self.cuts.iter().flat_map(|(a, b)| both(*a, *b)).collect();
        if !links.is_empty() {
            let moment = Moment::At(Time::ZERO);
            scenario.faults.push(Fault { moment, action: Action::Cut(links) });
        }
        Ok(scenario)
    }

    /// Every node is in the group of the highest node of its peer group, or alone.
    fn groups(&self, members: &Membership) -> Vec<EstablishedGroup> {
        let established = |coordinator, members| {
            let group = GroupNumber { counter: 1, node: coordinator };
            EstablishedGroup { group, coordinator, members }
        };
        let all = members.all().iter().map(|member| member.id);
        match self.beginning {
            Beginning::Apart => all.map(|id| established(id, [id].into_iter().collect())).collect(),
            Beginning::Together => all
                .filter_map(|id| {
                    let peer_group = members.peer_group(id).all();
                    let is_highest = peer_group.last().is_some_and(|highest| highest.id == id);
                    let members = peer_group.iter().map(|member| member.id).collect();
                    is_highest.then(|| established(id, members))
                })
                .collect(),
        }
    }

    fn text(&self) -> String {
        let name = self.algorithm.name();
        let mut text = format!("name = \"check-{name}\"\nalgorithm = \"{name}\"\nend = \"1s\"\n");
        for id in 1..=self.nodes {
            text += &format!("[[node]]\nid = {id}\npriority = {}\n", self.priority(id));
        }
        text
    }

    fn priority(&self, id: u32) -> u32 {
        let at = usize::try_from(id).map_or(0, |id| id - 1);
        self.priorities.get(at).copied().unwrap_or(id)
    }
}

fn both(a: u32, b: u32) -> [Link; 2] {
    let (a, b) = (NodeId(a), NodeId(b));
    [Link { from: a, to: b }, Link { from: b, to: a }]
}
