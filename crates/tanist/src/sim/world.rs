//! A simulated group and what a test does to it.
//!
//! The driver is [`tanist_sim::World`]; this puts users' tasks above its nodes. Time moves from one
//! thing that is due to the next: something in the world, then answers of tasks, then work. Assumes
//! nothing about the tasks but that they follow from what they are told.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use tanist_core::trace::Link;
use tanist_core::{NodeId, Time};
use tanist_sim::scenario::Scenario;
use tanist_sim::world::application::{Application, Told};
use tanist_sim::world::faults::Action;

use super::builder::WorldBuilder;
use super::evidence::NeverError;
use super::name::Name;
use super::seat::{Seat, SeatError};
use crate::role::View;
use crate::task::GroupTask;

/// A simulated group, each of its nodes with a task.
///
/// The nodes are `n1` to the number that was asked for. All of them start at the beginning.
pub struct World<T: GroupTask> {
    pub(super) scenario: Scenario,
    pub(super) inner: tanist_sim::World,
    /// One for each node in order; none while it is down.
    seats: Vec<Option<(u32, Seat<T>)>>,
    make: Box<dyn FnMut(NodeId) -> T>,
    work: Option<Work<T>>,
    pub(super) save_to: PathBuf,
    pub(super) storms: u64,
}

/// What a world is made of.
pub(super) struct Setup<T> {
    pub(super) scenario: Scenario,
    pub(super) make: Box<dyn FnMut(NodeId) -> T>,
    pub(super) work: Option<Work<T>>,
    pub(super) save_to: PathBuf,
}

/// What tasks do with their time.
pub(super) struct Work<T> {
    every: Duration,
    next_at: Time,
    step: Step<T>,
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
        let Setup { scenario, make, work, save_to } = setup;
        let mut world_setup = scenario.world_setup(scenario.seed, true);
        world_setup.application = Application::Outside;
        let inner = tanist_sim::World::new(world_setup, scenario.seed);
        let seats = scenario.members.all().iter().map(|_| None).collect();
        let mut world = Self { scenario, inner, seats, make, work, save_to, storms: 0 };
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

    /// Lets this much time pass.
    pub fn run_for(&mut self, span: Duration) {
        let end = self.inner.now() + span;
        while self.advance(end) {}
    }

    /// Lets time pass until the condition is true. It is asked after everything that happens.
    ///
    /// # Errors
    /// If it does not come true within [`WorldBuilder::limit`]. The error names the seed and the
    /// files with the story and the picture of the run.
    pub fn run_until(
        &mut self,
        mut condition: impl FnMut(&Self) -> bool,
    ) -> Result<(), NeverError> {
        let end = self.inner.now() + self.scenario.end;
        while !condition(self) {
            if !self.advance(end) {
                return Err(self.never());
            }
        }
        Ok(())
    }

    /// Kills a node: its task is dropped where it stands. Nothing if it is down already.
    ///
    /// # Panics
    /// Like everything that names a node, if there is no such node.
    pub fn crash(&mut self, node: impl Name) {
        let node = self.known(node);
        self.act(Action::Crash(node));
    }

    /// Kills a node in the middle of its next step that wants at least so many things done, after
    /// that many of them: between saving a number and telling it, for example.
    pub fn crash_after_effects(&mut self, node: impl Name, effects: u32) {
        let node = self.known(node);
        self.act(Action::CrashAfterEffects(node, effects));
    }

    /// Starts a node that is down, with a new task. Nothing if it is up.
    pub fn restart(&mut self, node: impl Name) {
        let node = self.known(node);
        self.act(Action::Restart { node, lost_writes: 0 });
    }

    /// Stops a node as if its machine hung. Its mail and its clock go on.
    pub fn pause(&mut self, node: impl Name) {
        let node = self.known(node);
        self.act(Action::Pause(node));
    }

    /// Lets a node that hung go on: it finds its mail, and all its timers run out.
    pub fn resume(&mut self, node: impl Name) {
        let node = self.known(node);
        self.act(Action::Resume(node));
    }

    /// Cuts every link between these nodes and all others, on top of what is cut already.
    pub fn cut(&mut self, side: impl IntoIterator<Item = impl Name>) {
        let side: Vec<NodeId> = side.into_iter().map(|node| self.known(node)).collect();
        let mut links = Vec::new();
        for inside in &side {
            for outside in self.nodes().filter(|node| !side.contains(node)) {
                links.push(Link { from: *inside, to: outside });
                links.push(Link { from: outside, to: *inside });
            }
        }
        // To heal no links means to heal all; to cut none is just nothing.
        if !links.is_empty() {
            self.act(Action::Cut(links));
        }
    }

    /// Cuts one link in one direction.
    pub fn cut_link(&mut self, from: impl Name, to: impl Name) {
        let (from, to) = (self.known(from), self.known(to));
        self.act(Action::Cut(vec![Link { from, to }]));
    }

    /// Mends every link that was cut.
    pub fn heal(&mut self) {
        self.act(Action::Heal(Vec::new()));
    }

    /// Makes every message from or to a node take longer by this much; no time makes it as before.
    pub fn slow(&mut self, node: impl Name, by: Duration) {
        let node = self.known(node);
        self.act(Action::Slow(node, by));
    }

    /// Lets a node hold an election, as [`Group::call_election`](crate::Group::call_election) does.
    pub fn call_election(&mut self, node: impl Name) {
        let node = self.known(node);
        self.act(Action::Call(node));
    }

    /// Whether a node is up; one that is paused is.
    #[must_use]
    pub fn is_up(&self, node: impl Name) -> bool {
        self.inner.is_up(self.known(node))
    }

    /// Whether a node is up and not paused.
    #[must_use]
    pub fn is_running(&self, node: impl Name) -> bool {
        let view = self.inner.observers.global.view(self.known(node));
        view.is_some_and(|view| view.is_up && !view.is_paused)
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

    /// Does something to the world now.
    pub(super) fn act(&mut self, action: Action) {
        self.inner.act(action);
        self.attend();
    }

    fn seat(&self, node: impl Name) -> Option<&Seat<T>> {
        let at = index(self.known(node));
        self.seats[at].as_ref().map(|(_, seat)| seat)
    }

    fn known(&self, node: impl Name) -> NodeId {
        let node = node.node();
        let count = self.seats.len();
        let is_known = self.seats.get(index(node)).is_some();
        assert!(is_known, "there is no {node} in this world: its nodes are n1 to n{count}");
        node
    }

    /// Lets the next thing happen that is due by the end; false if there is none any more, and
    /// then it is that time.
    fn advance(&mut self, end: Time) -> bool {
        let first = |times: &mut dyn Iterator<Item = Time>| times.min().unwrap_or(Time::NEVER);
        let in_world = self.inner.next_at().unwrap_or(Time::NEVER);
        let answer = first(&mut self.seats.iter().flatten().filter_map(|(_, seat)| seat.next_at()));
        let work = self.work.as_ref().map_or(Time::NEVER, |work| work.next_at);
        let next = in_world.min(answer).min(work);
        if next > end {
            self.inner.run_until(end);
            return false;
        }
        if in_world == next {
            self.inner.step();
            self.attend();
            return true;
        }
        // Nothing is due in the world by then: only its clock moves.
        self.inner.run_until(next);
        if answer == next {
            self.hand_in_answers();
        } else {
            self.do_work();
        }
        true
    }

    /// Follows what happened to the nodes: tasks die and are made, and hear what nodes told them.
    fn attend(&mut self) {
        for at in 0..self.seats.len() {
            let node = node_at(at);
            let Some(seen) = self.inner.observers.global.view(node) else { continue };
            let incarnation = seen.is_up.then_some(seen.incarnations);
            if self.seats[at].as_ref().map(|(known, _)| *known) != incarnation {
                self.seats[at] = incarnation.map(|number| (number, Seat::new((self.make)(node))));
            }
        }
        let (now, pace) = (self.inner.now(), self.scenario.pace);
        for Told { listener, notice } in self.inner.take_notices() {
            let node = listener.node();
            let Some((_, seat)) = &mut self.seats[index(node)] else { continue };
            match seat.receive(listener, notice, now, pace) {
                Ok(Some(command)) => self.inner.answer(listener, command, Duration::ZERO),
                Ok(None) => {}
                Err(error) => self.give_up(node, &error),
            }
        }
    }

    fn hand_in_answers(&mut self) {
        let now = self.inner.now();
        for at in 0..self.seats.len() {
            let Some((_, seat)) = &mut self.seats[at] else { continue };
            match seat.answers(now) {
                Ok(commands) => {
                    for (listener, command) in commands {
                        self.inner.answer(listener, command, Duration::ZERO);
                    }
                }
                Err(error) => self.give_up(node_at(at), &error),
            }
        }
    }

    fn do_work(&mut self) {
        let Some(mut work) = self.work.take() else { return };
        work.next_at = work.next_at + work.every;
        for at in 0..self.seats.len() {
            if self.is_running(node_at(at))
                && let Some((_, seat)) = &mut self.seats[at]
                && let Some((task, view)) = seat.at_work()
            {
                (work.step)(task, view);
            }
        }
        self.work = Some(work);
    }

    /// A task that cannot go on ends a live node; here it ends the test, which is what it is for.
    fn give_up(&self, node: NodeId, error: &SeatError) -> ! {
        let (seed, now) = (self.seed(), self.now());
        panic!("the task of {node} cannot go on at {now:?} of seed {seed}: {error}")
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
const fn index(node: NodeId) -> usize {
    (node.0 as usize).wrapping_sub(1)
}

fn node_at(index: usize) -> NodeId {
    let number = u32::try_from(index + 1);
    NodeId(number.expect("a world has as many nodes as a u32 can count"))
}
