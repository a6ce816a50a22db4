//! A simulated group and what a test does to it.
//!
//! The driver is [`tanist_sim::World`]; this puts users' tasks and programs above its nodes. How
//! time passes is in [`super::time`], what a test does to the nodes in [`super::faults`]. Assumes
//! nothing about tasks and programs but that they follow from what they are told.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use tanist_core::{NodeId, Time};
use tanist_sim::scenario::Scenario;
use tanist_sim::world::application::{Application, Listener};

use super::builder::WorldBuilder;
use super::evidence::Violated;
use super::leader_check::{LeaderCheck, Links};
use super::name::Name;
use super::peers::Peers;
use super::program::Programs;
use super::seat::Seat;
use super::trial::Trial;
use crate::role::View;
use crate::task::GroupTask;

/// A simulated group, each of its nodes with a task, and with a program if there is one.
///
/// The nodes are `n1` to the number that was asked for. All of them start at the beginning.
pub struct World<T: GroupTask> {
    pub(super) scenario: Scenario,
    pub(super) inner: tanist_sim::World,
    /// One for each node in order; none while it is down.
    pub(super) seats: Vec<Option<(Listener, Seat<T>)>>,
    pub(super) make: Box<dyn FnMut(NodeId) -> T>,
    pub(super) work: Option<Work<T>>,
    pub(super) programs: Option<Programs>,
    /// What programs read the time from, in microseconds.
    pub(super) clock: Arc<AtomicU64>,
    pub(super) peers: Peers,
    /// What the machines of nodes add to every message.
    pub(super) slow: Vec<Duration>,
    /// How many entries of the trace were looked at.
    pub(super) seen: usize,
    pub(super) checks: Vec<LeaderCheck>,
    pub(super) links: Links,
    /// What the checks found.
    pub(super) found: Vec<Violated>,
    pub(super) save_to: PathBuf,
    pub(super) storms: u64,
    pub(super) trial: Option<Trial>,
}

/// What a world is made of.
pub(super) struct Setup<T> {
    pub(super) scenario: Scenario,
    pub(super) make: Box<dyn FnMut(NodeId) -> T>,
    pub(super) work: Option<Work<T>>,
    pub(super) programs: Option<Programs>,
    pub(super) checks: Vec<LeaderCheck>,
    pub(super) save_to: PathBuf,
    pub(super) trial: Option<Trial>,
}

/// What tasks do with their time.
pub(super) struct Work<T> {
    pub(super) every: Duration,
    pub(super) next_at: Time,
    pub(super) step: Step<T>,
}

/// What a task does in one step of its work.
pub(super) type Step<T> = Box<dyn FnMut(&mut T, &View)>;

impl<T> Work<T> {
    pub(super) fn new(every: Duration, step: Step<T>) -> Self {
        Self { every, next_at: Time::ZERO + every, step }
    }
}

impl<T: GroupTask> World<T> {
    /// A group of so many nodes, as [`WorldBuilder`] describes it without further words.
    ///
    /// The function makes the task of a node, once for each of its incarnations.
    ///
    /// # Panics
    /// If there are to be no nodes.
    #[must_use]
    pub fn new(seed: u64, nodes: u32, make: impl FnMut(NodeId) -> T + 'static) -> Self {
        assert!(nodes > 0, "a world needs at least one node, and was asked for none");
        let started = Self::builder(seed, nodes).start(make);
        started.expect("the defaults are a group that works")
    }

    /// Describes a group of so many nodes.
    pub fn builder(seed: u64, nodes: u32) -> WorldBuilder<T> {
        WorldBuilder::new(seed, nodes)
    }

    pub(super) fn from(setup: Setup<T>) -> Self {
        let Setup { scenario, make, work, programs, checks, save_to, trial } = setup;
        let mut world_setup = scenario.world_setup(scenario.seed, true);
        world_setup.application = Application::Outside;
        let inner = tanist_sim::World::new(world_setup, scenario.seed);
        let nodes = scenario.members.all().len();
        let count = u32::try_from(nodes).expect("a world has as many nodes as a u32 can count");
        let conditions = &scenario.conditions;
        let delay_max = conditions.delay.longest();
        let mut world = Self {
            peers: Peers::new(count, delay_max, conditions.has_refusals),
            links: Links::new(count, inner.config().timing().suspect_after()),
            scenario,
            inner,
            seats: (0..nodes).map(|_| None).collect(),
            make,
            work,
            programs,
            clock: Arc::default(),
            slow: vec![Duration::ZERO; nodes],
            seen: 0,
            checks,
            found: Vec::new(),
            save_to,
            storms: 0,
            trial,
        };
        world.attend();
        world
    }

    /// The seed that everything follows from.
    #[must_use]
    pub const fn seed(&self) -> u64 {
        self.scenario.seed
    }

    /// All nodes, up or down.
    pub fn nodes(&self) -> impl Iterator<Item = NodeId> + use<T> {
        (1..).map(NodeId).take(self.seats.len())
    }

    /// How much time has passed in the world.
    #[must_use]
    pub fn now(&self) -> Duration {
        self.inner.now().since(Time::ZERO)
    }

    /// Whether a node is up; one that is paused is.
    #[must_use]
    pub fn is_up(&self, node: impl Name) -> bool {
        self.inner.is_up(self.known(node))
    }

    /// Whether a node is up, not paused, and takes part: a node that has withdrawn does not.
    #[must_use]
    pub fn is_running(&self, node: impl Name) -> bool {
        let view = self.inner.observers.global.view(self.known(node));
        view.is_some_and(|view| view.is_up && !view.is_paused)
    }

    /// Whether a node has withdrawn and not rejoined, or is silent until its application has
    /// stopped.
    #[must_use]
    pub fn is_withdrawn(&self, node: impl Name) -> bool {
        let view = self.inner.observers.global.view(self.known(node));
        view.is_some_and(|view| view.is_withdrawn)
    }

    /// The task of a node; none while it is down.
    #[must_use]
    pub fn task(&self, node: impl Name) -> Option<&T> {
        self.seat(node).map(Seat::task)
    }

    /// The task of a node, to work in its place; none while it is down.
    pub fn task_mut(&mut self, node: impl Name) -> Option<&mut T> {
        let at = index(self.known(node));
        self.seats[at].as_mut().map(|(_, seat)| seat.task_mut())
    }

    /// The group that a node works in; none while it is down or between groups.
    #[must_use]
    pub fn view(&self, node: impl Name) -> Option<&View> {
        self.seat(node).and_then(Seat::view)
    }

    fn seat(&self, node: impl Name) -> Option<&Seat<T>> {
        let at = index(self.known(node));
        self.seats[at].as_ref().map(|(_, seat)| seat)
    }

    pub(super) fn known(&self, node: impl Name) -> NodeId {
        let node = node.node();
        let count = self.seats.len();
        let is_known = self.seats.get(index(node)).is_some();
        if !is_known {
            self.trial.iter().for_each(Trial::is_misnamed);
        }
        assert!(is_known, "there is no {node} in this world: its nodes are n1 to n{count}");
        node
    }
}

impl<T: GroupTask> fmt::Debug for World<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut world = f.debug_struct("World");
        world.field("seed", &self.seed()).field("now", &self.now());
        world.field("groups", &self.groups()).finish_non_exhaustive()
    }
}

/// Nodes are numbered from 1.
pub(super) const fn index(node: NodeId) -> usize {
    (node.0 as usize).wrapping_sub(1)
}

pub(super) fn node_at(index: usize) -> NodeId {
    let number = u32::try_from(index + 1);
    NodeId(number.expect("a world has as many nodes as a u32 can count"))
}
