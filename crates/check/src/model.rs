//! A world with budgets for faults, and the steps that it may take.

use tanist_core::NodeId;
use tanist_sim::choices::{Choice, What};
use tanist_sim::faults::Action;
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
    crashes: u32,
    recoveries: u32,
    losses: u32,
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
            Self::TakeAndCrash(..) | Self::Lose(_) | Self::Crash(_) => true,
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
        Self {
            world,
            assumption,
            crashes: bounds.crashes,
            recoveries: if assumption.has_recovery() { bounds.recoveries } else { 0 },
            losses: if assumption.has_loss() { bounds.losses } else { 0 },
        }
    }

    /// What tells this situation from others.
    #[must_use]
    pub fn fingerprint(&self) -> u64 {
        let budgets = (u64::from(self.crashes) << 16)
            | (u64::from(self.recoveries) << 8)
            | u64::from(self.losses);
        self.world.fingerprint() ^ budgets.wrapping_mul(0x9e37_79b9_7f4a_7c15)
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
    pub fn successors(&self) -> Vec<(Step, Self)> {
        let choices = self.world.choices();
        let mut found = Vec::new();
        for choice in &choices {
            if self.may_happen(choice, &choices) {
                self.take(choice, &mut found);
            }
        }
        for member in self.world.watch.board.members.all() {
            let (id, is_up) = (member.id, self.world.is_up(member.id));
            if is_up && self.crashes > 0 {
                let mut next = self.clone();
                next.crashes -= 1;
                next.world.impose(Action::Crash(id));
                found.push((Step::Crash(id), next));
            }
            if !is_up && self.recoveries > 0 {
                let mut next = self.clone();
                next.recoveries -= 1;
                next.world.impose(Action::Restart { node: id, lost_writes: 0 });
                found.push((Step::Recover(id), next));
            }
        }
        found
    }

    fn may_happen(&self, choice: &Choice, under_way: &[Choice]) -> bool {
        match choice.what {
            What::Message { .. } => true,
            What::Timer(timer) => {
                self.assumption.lets_run_out(timer.name(), choice.node, under_way)
            }
        }
    }

    fn take(&self, choice: &Choice, found: &mut Vec<(Step, Self)>) {
        let number = choice.number;
        let mut next = self.clone();
        next.world.choose(number);
        found.push((Step::Take(number), next));
        if self.crashes > 0 && self.world.is_up(choice.node) {
            self.take_and_crash(choice, found);
        }
        if let (What::Message { .. }, 1..) = (choice.what, self.losses) {
            let mut next = self.clone();
            next.losses -= 1;
            next.world.lose_message(number);
            found.push((Step::Lose(number), next));
        }
    }

    /// A crash between any two effects: after the first, after the second, and so on.
    fn take_and_crash(&self, choice: &Choice, found: &mut Vec<(Step, Self)>) {
        for effects in 1.. {
            let mut next = self.clone();
            next.crashes -= 1;
            next.world.act(Action::CrashAfterEffects(choice.node, effects));
            next.world.choose(choice.number);
            if next.world.is_up(choice.node) {
                // The step had no more effects than that.
                break;
            }
            found.push((Step::TakeAndCrash(choice.number, effects), next));
        }
    }

    /// Takes a step that this situation offers.
    pub fn replay(&mut self, step: Step) {
        match step {
            Step::Take(number) => self.world.choose(number),
            Step::TakeAndCrash(number, effects) => {
                let node = self
                    .world
                    .choices()
                    .iter()
                    .find(|choice| choice.number == number)
                    .map(|choice| choice.node);
                if let Some(node) = node {
                    self.world.act(Action::CrashAfterEffects(node, effects));
                }
                self.world.choose(number);
            }
            Step::Lose(number) => self.world.lose_message(number),
            Step::Crash(node) => self.world.impose(Action::Crash(node)),
            Step::Recover(node) => {
                self.world.impose(Action::Restart { node, lost_writes: 0 });
            }
        }
    }
}
