//! A world with budgets for faults, and the steps that it may take.

use tanist_core::NodeId;
use tanist_sim::choices::{Choice, Order, What};
use tanist_sim::digest::digest;
use tanist_sim::faults::Action;
use tanist_sim::frozen::Store;
use tanist_sim::{Scenario, World};

use crate::assumption::Assumption;

/// How far the exploration goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// How many crashes a run may have.
    pub crashes: u32,
    /// How many recoveries.
    pub recoveries: u32,
    /// How many lost messages.
    pub losses: u32,
    /// How many messages that arrive twice.
    pub duplicates: u32,
    /// In which order the messages of one link arrive.
    pub order: Order,
    /// The highest group counter; a run that needs a higher one is not followed further.
    pub counter: u64,
    /// How many steps a run may have.
    pub depth: u32,
    /// How many situations are kept.
    pub states: usize,
}

/// Whether a run is kept to be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeepsTrace {
    /// It is.
    Yes,
    /// It is only judged.
    No,
}

/// A situation: the world, and what is left of the budgets.
#[derive(Clone)]
pub struct Model {
    /// The simulator's world.
    pub world: World,
    assumption: Assumption,
    order: Order,
    left: Budgets,
}

/// What may still go wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Budgets {
    pub(crate) crashes: u32,
    pub(crate) recoveries: u32,
    pub(crate) losses: u32,
    pub(crate) duplicates: u32,
}

/// A step of a run. Numbers are those of the world that the step is taken in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// A message arrives or a timer runs out.
    Take(u64),
    /// The same, and the node dies after this many effects of it.
    TakeAndCrash(u64, u32),
    /// A message is lost.
    Lose(u64),
    /// A message arrives, and a copy of it is still under way.
    Duplicate(u64),
    /// A node dies.
    Crash(NodeId),
    /// A node comes back.
    Recover(NodeId),
}

impl Step {
    /// Whether the step is a fault, which "without further failures" excludes.
    #[must_use]
    pub const fn is_fault(self) -> bool {
        match self {
            Self::Take(_) | Self::Recover(_) => false,
            Self::TakeAndCrash(..) | Self::Lose(_) | Self::Duplicate(_) | Self::Crash(_) => true,
        }
    }

    /// The step to try after this one: a crash between the next two effects.
    pub(crate) const fn next(self) -> Option<Self> {
        match self {
            Self::TakeAndCrash(number, effects) => Some(Self::TakeAndCrash(number, effects + 1)),
            Self::Take(_) | Self::Lose(_) | Self::Duplicate(_) => None,
            Self::Crash(_) | Self::Recover(_) => None,
        }
    }
}

impl Model {
    /// The situation that a scenario begins in.
    #[must_use]
    pub fn new(
        scenario: &Scenario,
        assumption: Assumption,
        bounds: &Bounds,
        keeps_trace: KeepsTrace,
    ) -> Self {
        let mut world = scenario.world(1, keeps_trace == KeepsTrace::Yes);
        world.settle();
        let allowed = |is_allowed: bool, budget: u32| if is_allowed { budget.min(255) } else { 0 };
        let has_loss = assumption.has_loss();
        Self {
            world,
            assumption,
            order: bounds.order,
            left: Budgets {
                crashes: bounds.crashes.min(255),
                recoveries: allowed(assumption.has_recovery(), bounds.recoveries),
                losses: allowed(has_loss, bounds.losses),
                duplicates: allowed(has_loss, bounds.duplicates),
            },
        }
    }

    /// What tells this situation from others.
    #[must_use]
    pub fn fingerprint(&self) -> u128 {
        digest(&(self.world.fingerprint(self.order), self.left))
    }

    /// Whether some node's counter is above the bound.
    #[must_use]
    pub fn is_beyond(&self, counter: u64) -> bool {
        self.world
            .watch
            .board
            .live()
            .any(|seat| seat.state.group.is_some_and(|group| group.counter > counter))
    }

    /// Every situation that one step leads to, with the step.
    #[must_use]
    pub fn successors(&self) -> Vec<(Step, Self)> {
        let mut found = Vec::new();
        let mut at = self.clone();
        at.expand(&mut |model| model.clone_from(self), &mut |step, model| {
            found.push((step, model.clone()));
        });
        found
    }

    /// Takes every step that this situation offers, and shows what it leads to. In between, the
    /// situation is put back by the caller; at the end it is any of those shown.
    pub(crate) fn expand(
        &mut self,
        put_back: &mut dyn FnMut(&mut Self),
        show: &mut dyn FnMut(Step, &Self),
    ) {
        let mut is_fresh = true;
        for step in self.steps() {
            let mut step = Some(step);
            while let Some(current) = step {
                if !is_fresh {
                    put_back(self);
                }
                is_fresh = false;
                let happens = self.take(current);
                if happens {
                    show(current, self);
                }
                step = current.next().filter(|_| happens);
            }
        }
    }

    fn steps(&self) -> Vec<Step> {
        let is_up = |node| self.world.is_up(node);
        self.steps_among(&self.world.choices(), &is_up, self.left)
    }

    /// The steps that may be taken where all this is under way; of a crash within a step, only the
    /// earliest.
    pub(crate) fn steps_among(
        &self,
        choices: &[Choice],
        is_up: &dyn Fn(NodeId) -> bool,
        left: Budgets,
    ) -> Vec<Step> {
        let mut steps = Vec::new();
        for choice in choices.iter().filter(|choice| self.may_happen(choice, choices)) {
            let number = choice.number;
            let is_up = is_up(choice.node);
            steps.push(Step::Take(number));
            steps.extend((left.crashes > 0 && is_up).then_some(Step::TakeAndCrash(number, 1)));
            if let What::Message { .. } = choice.what {
                steps.extend((left.losses > 0).then_some(Step::Lose(number)));
                steps.extend((left.duplicates > 0 && is_up).then_some(Step::Duplicate(number)));
            }
        }
        for member in self.world.watch.board.members.all() {
            let (id, is_up) = (member.id, is_up(member.id));
            steps.extend((is_up && left.crashes > 0).then_some(Step::Crash(id)));
            steps.extend((!is_up && left.recoveries > 0).then_some(Step::Recover(id)));
        }
        steps
    }

    fn may_happen(&self, choice: &Choice, under_way: &[Choice]) -> bool {
        match choice.what {
            What::Message { from, .. } => match self.order {
                Order::Any => true,
                Order::Fifo => !under_way.iter().any(|other| is_ahead(other, choice, from)),
            },
            What::Timer(timer) => {
                self.assumption.lets_run_out(timer.name(), choice.node, under_way)
            }
        }
    }

    /// Takes a step that this situation offers; false if it has fewer effects than a crash needs.
    pub fn take(&mut self, step: Step) -> bool {
        self.left = self.left.after(step);
        let mut happens = true;
        match step {
            Step::Take(number) => self.world.choose(number),
            Step::TakeAndCrash(number, effects) => {
                let choices = self.world.choices();
                let choice = choices.iter().find(|choice| choice.number == number);
                if let Some(node) = choice.map(|choice| choice.node) {
                    self.world.act(Action::CrashAfterEffects(node, effects));
                    self.world.choose(number);
                    happens = !self.world.is_up(node);
                }
            }
            Step::Lose(number) => self.world.lose_message(number),
            Step::Duplicate(number) => self.world.repeat_message(number),
            Step::Crash(node) => self.world.impose(Action::Crash(node)),
            Step::Recover(node) => {
                self.world.impose(Action::Restart { node, lost_writes: 0 });
            }
        }
        if self.left.is_final() {
            self.world.forget_mail_to_the_dead();
        }
        happens
    }

    pub(crate) const fn order(&self) -> Order {
        self.order
    }

    pub(crate) fn freeze(&self, store: &Store, to: &mut Vec<u8>) {
        self.left.write(to);
        store.freeze(&self.world, to);
    }
}

impl Budgets {
    /// What is left after a step.
    pub(crate) const fn after(self, step: Step) -> Self {
        let Self { crashes, recoveries, losses, duplicates } = self;
        match step {
            Step::Take(_) => self,
            Step::TakeAndCrash(..) | Step::Crash(_) => Self { crashes: crashes - 1, ..self },
            Step::Lose(_) => Self { losses: losses - 1, ..self },
            Step::Duplicate(_) => Self { duplicates: duplicates - 1, ..self },
            Step::Recover(_) => Self { recoveries: recoveries - 1, ..self },
        }
    }

    /// Whether whoever is down stays down: its mail is lost, whenever it arrives.
    pub(crate) const fn is_final(self) -> bool {
        self.recoveries == 0
    }

    pub(crate) fn write(self, to: &mut Vec<u8>) {
        let Self { crashes, recoveries, losses, duplicates } = self;
        to.extend([crashes, recoveries, losses, duplicates].map(narrow));
    }

    /// Takes the budgets off what was frozen.
    pub(crate) fn read(from: &[u8]) -> (Self, &[u8]) {
        let (left, world) = from.split_at(4);
        let left = |at: usize| u32::from(left[at]);
        (
            Self { crashes: left(0), recoveries: left(1), losses: left(2), duplicates: left(3) },
            world,
        )
    }
}

/// Whether another message of the same link was sent before.
fn is_ahead(other: &Choice, choice: &Choice, from: NodeId) -> bool {
    match other.what {
        What::Message { from: sender, .. } => {
            sender == from && other.node == choice.node && other.number < choice.number
        }
        What::Timer(_) => false,
    }
}

/// Nobody explores more than 255 faults of a sort.
fn narrow(budget: u32) -> u8 {
    u8::try_from(budget).unwrap_or(u8::MAX)
}
