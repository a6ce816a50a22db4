//! A world with budgets for faults, and the steps that it may take.

use tanist_core::time::micros;
use tanist_core::{NodeId, Status};
use tanist_sim::explore::choices::Order;
use tanist_sim::explore::digest::digest;
use tanist_sim::explore::snapshot::{Clock, Store};
use tanist_sim::monitors::Violation;
use tanist_sim::observe::observers::Violated;
use tanist_sim::world::faults::Action;
use tanist_sim::{Scenario, World};

use crate::assumption::Assumption;
use crate::enabled::{EnabledStep, is_clocked};

/// The bounds of an exploration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Maximum number of crashes in a run.
    pub crashes: u32,
    /// Maximum number of recoveries.
    pub recoveries: u32,
    /// Maximum number of lost messages.
    pub losses: u32,
    /// Maximum number of duplicated messages.
    pub duplicates: u32,
    /// In which order the messages of one link are delivered.
    pub order: Order,
    /// Maximum number of times that a housekeeping timer fires while a message is in flight or a
    /// wait is in progress; otherwise it may always fire.
    pub early_timers: u32,
    /// The highest group counter; a run that needs a higher one is not expanded further.
    pub counter: u64,
    /// Whether that counter must be enough: a run that needs a higher one then violates every
    /// assertion about the end that is not yet true. A node that can be reached is then never
    /// suspected because it is silent; otherwise every group could be dissolved again and again.
    pub require_within_counter: bool,
    /// Maximum number of steps of a run.
    pub depth: u32,
    /// Maximum number of states that are kept.
    pub states: usize,
    /// Maximum number of bytes that the process may occupy, if there is a limit. An exploration
    /// that would need more ends there.
    pub memory: Option<u64>,
}

impl Bounds {
    /// One crash, one recovery, nothing lost.
    pub const USUAL: Self = Self {
        crashes: 1,
        recoveries: 1,
        losses: 0,
        duplicates: 0,
        order: Order::Any,
        early_timers: u32::MAX,
        counter: 4,
        require_within_counter: false,
        depth: 1000,
        states: 30_000_000,
        memory: None,
    };
}

/// Whether the trace of a run is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeepsTrace {
    /// It is kept.
    Yes,
    /// The run is only judged.
    No,
}

/// A global state: the world, and what is left of the budgets.
#[derive(Clone)]
pub struct Model {
    /// The simulator's world.
    pub world: World,
    pub(crate) assumption: Assumption,
    pub(crate) order: Order,
    pub(crate) has_false_alarms: bool,
    pub(crate) left: Budgets,
}

/// How many faults of each kind may still happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Budgets {
    pub(crate) crashes: u32,
    pub(crate) recoveries: u32,
    pub(crate) losses: u32,
    pub(crate) duplicates: u32,
    /// [`UNBOUNDED`] is any number.
    pub(crate) early_timers: u32,
}

/// No bound.
const UNBOUNDED: u32 = 255;

/// A step of a run. Numbers are those of the world that the step is taken in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// A message is delivered or a timer fires.
    Take(u64),
    /// The same, and the node crashes after this many effects of it.
    TakeAndCrash(u64, u32),
    /// A message is lost.
    Lose(u64),
    /// A message is delivered, and a copy of it stays in flight.
    Duplicate(u64),
    /// A node crashes.
    Crash(NodeId),
    /// A node recovers.
    Recover(NodeId),
    /// Time passes, where there is a clock.
    Tick,
}

impl Step {
    /// The step to try after this one: a crash between the next two effects.
    pub(crate) const fn next(self) -> Option<Self> {
        match self {
            Self::TakeAndCrash(number, effects) => Some(Self::TakeAndCrash(number, effects + 1)),
            Self::Take(_) | Self::Lose(_) | Self::Duplicate(_) => None,
            Self::Crash(_) | Self::Recover(_) | Self::Tick => None,
        }
    }
}

impl Model {
    /// The first state of a scenario.
    #[must_use]
    pub fn new(
        scenario: &Scenario,
        assumption: Assumption,
        bounds: &Bounds,
        keeps_trace: KeepsTrace,
    ) -> Self {
        let mut world = scenario.world(1, keeps_trace == KeepsTrace::Yes);
        world.begin_script();
        let allowed = |is_allowed: bool, budget: u32| if is_allowed { budget.min(255) } else { 0 };
        let has_loss = assumption.has_loss();
        Self {
            world,
            assumption,
            order: bounds.order,
            has_false_alarms: !bounds.require_within_counter,
            left: Budgets {
                crashes: bounds.crashes.min(255),
                recoveries: allowed(assumption.has_recovery(), bounds.recoveries),
                losses: allowed(has_loss, bounds.losses),
                duplicates: allowed(has_loss, bounds.duplicates),
                early_timers: bounds.early_timers.min(UNBOUNDED),
            },
        }
    }

    /// A number that is equal for equal states and differs for different ones.
    #[must_use]
    pub fn fingerprint(&self) -> u128 {
        let world = self.world.fingerprint(self.order);
        if self.assumption.has_clock() {
            // States differ in the time that is left, not in the time of day.
            let choices = self.world.choices();
            let clocked = choices.iter().filter(|choice| is_clocked(choice));
            let clock = self.world.clock_fingerprint(clocked.map(|choice| choice.number));
            return digest(&(world, self.left, clock));
        }
        digest(&(world, self.left))
    }

    /// How much of the time is part of a state.
    pub(crate) fn clock(&self) -> Clock {
        match self.assumption.has_clock() {
            true => Clock::Ticks(micros(self.world.tick_length()).max(1)),
            false => Clock::Ignored,
        }
    }

    /// Whether some node's counter is above the bound: that of its group, or one that it has used
    /// or received since, as in a ring whose elections fail.
    #[must_use]
    pub fn is_beyond(&self, counter: u64) -> bool {
        let mut groups = self.world.observers.global.live().filter_map(|view| view.state.group);
        self.world.highest_counter() > counter || groups.any(|group| group.counter > counter)
    }

    /// Whether no message to a live node is in flight, and no node waits for an answer: only
    /// housekeeping timers run.
    #[must_use]
    pub fn is_at_rest(&self) -> bool {
        let choices = self.world.choices();
        !choices.iter().any(|choice| is_clocked(choice) && self.world.is_up(choice.node))
    }

    /// Every assertion that is violated in this state.
    #[must_use]
    pub fn violated(&self, bounds: &Bounds) -> Vec<Violated> {
        let mut violated = self.violated_by_step(bounds);
        if self.is_at_rest() {
            violated.extend(self.world.observers.violated_at_rest(self.world.now()));
        }
        violated
    }

    /// The assertions that are violated whatever else is in flight.
    pub(crate) fn violated_by_step(&self, bounds: &Bounds) -> Vec<Violated> {
        let observers = &self.world.observers;
        if observers.first_violated().is_some() {
            return observers
                .judgements()
                .into_iter()
                .filter_map(|judged| judged.violated)
                .collect();
        }
        if !bounds.require_within_counter || !self.is_beyond(bounds.counter) {
            return Vec::new();
        }
        let at = self.world.now();
        let late = observers.unsettled().map(|assertion| {
            let why =
                format!("a counter above {} is needed before it becomes true", bounds.counter);
            Violated { assertion, at, violation: Violation { nodes: Vec::new(), why } }
        });
        late.collect()
    }

    /// Every state that one step leads to, with the step.
    #[must_use]
    pub fn successors(&self) -> Vec<(Step, Self)> {
        let mut found = Vec::new();
        let mut at = self.clone();
        at.expand(&mut |model| model.clone_from(self), &mut |enabled, model| {
            found.push((enabled.step, model.clone()));
        });
        found
    }

    /// Takes every enabled step, and shows the state that it leads to. Between two steps the caller
    /// restores the state; at the end it is any of those shown.
    pub(crate) fn expand(
        &mut self,
        restore: &mut dyn FnMut(&mut Self),
        show: &mut dyn FnMut(&EnabledStep, &Self),
    ) {
        let mut is_fresh = true;
        for enabled in self.enabled_steps() {
            let mut step = Some(enabled.step);
            while let Some(current) = step {
                if !is_fresh {
                    restore(self);
                }
                is_fresh = false;
                self.left = self.left.after_timer(enabled.is_early);
                let is_taken = self.take(current);
                if is_taken {
                    show(&EnabledStep { step: current, ..enabled }, self);
                }
                step = current.next().filter(|_| is_taken);
            }
        }
    }

    /// Whether a node is in status Normal and its own coordinator.
    pub(crate) fn leads(&self, node: NodeId) -> bool {
        self.world.observers.global.view(node).is_some_and(|view| {
            let is_own = view.state.coordinator == Some(node);
            view.is_up && view.state.status == Status::Normal && is_own
        })
    }

    /// Takes a step that this state enables; false if it has fewer effects than a crash needs.
    pub fn take(&mut self, step: Step) -> bool {
        self.left = self.left.after(step);
        let mut is_taken = true;
        match step {
            Step::Take(number) => self.world.choose(number),
            Step::TakeAndCrash(number, effects) => {
                let choices = self.world.choices();
                let choice = choices.iter().find(|choice| choice.number == number);
                if let Some(node) = choice.map(|choice| choice.node) {
                    self.world.act(Action::CrashAfterEffects(node, effects));
                    self.world.choose(number);
                    is_taken = !self.world.is_up(node);
                }
            }
            Step::Lose(number) => self.world.lose_message(number),
            Step::Duplicate(number) => self.world.repeat_message(number),
            Step::Crash(node) => self.world.impose(Action::Crash(node)),
            Step::Recover(node) => {
                self.world.impose(Action::Restart { node, lost_writes: 0 });
            }
            Step::Tick => self.world.tick(),
        }
        if self.left.is_final() {
            self.world.drop_messages_to_crashed_nodes();
        }
        is_taken
    }

    pub(crate) fn save(&self, store: &Store, to: &mut Vec<u8>) {
        self.left.write(to);
        store.save(&self.world, to);
    }

    pub(crate) fn restore(&mut self, store: &Store, from: &[u8]) {
        let (left, world) = Budgets::read(from);
        self.left = left;
        store.restore(world, &mut self.world);
    }
}

impl Budgets {
    /// What is left after a step.
    pub(crate) const fn after(self, step: Step) -> Self {
        let Self { crashes, recoveries, losses, duplicates, early_timers: _ } = self;
        match step {
            Step::Take(_) | Step::Tick => self,
            Step::TakeAndCrash(..) | Step::Crash(_) => Self { crashes: crashes - 1, ..self },
            Step::Lose(_) => Self { losses: losses - 1, ..self },
            Step::Duplicate(_) => Self { duplicates: duplicates - 1, ..self },
            Step::Recover(_) => Self { recoveries: recoveries - 1, ..self },
        }
    }

    /// What is left after a timer that may have been early.
    pub(crate) const fn after_timer(self, is_early: bool) -> Self {
        if is_early && self.early_timers != UNBOUNDED {
            return Self { early_timers: self.early_timers.saturating_sub(1), ..self };
        }
        self
    }

    /// Whether a node that is down stays down: messages to it are lost, whenever they are
    /// delivered.
    pub(crate) const fn is_final(self) -> bool {
        self.recoveries == 0
    }

    pub(crate) fn write(self, to: &mut Vec<u8>) {
        let Self { crashes, recoveries, losses, duplicates, early_timers } = self;
        to.extend([crashes, recoveries, losses, duplicates, early_timers].map(narrow));
    }

    /// Takes the budgets off a snapshot.
    pub(crate) fn read(from: &[u8]) -> (Self, &[u8]) {
        let (left, world) = from.split_at(5);
        let left = |at: usize| u32::from(left[at]);
        let (crashes, recoveries, losses) = (left(0), left(1), left(2));
        (Self { crashes, recoveries, losses, duplicates: left(3), early_timers: left(4) }, world)
    }
}

/// More than 255 faults of a kind are never explored.
fn narrow(budget: u32) -> u8 {
    u8::try_from(budget).unwrap_or(u8::MAX)
}
