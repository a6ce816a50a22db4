//! The steps that are enabled in a global state, and what is known of each before it is taken.

use tanist_core::node::Timer;
use tanist_core::{NodeId, detector};
use tanist_sim::explore::choices::{Choice, Order, What};

use crate::assumption::{Reachability, is_timely};
use crate::model::{Budgets, Model, Step};

/// What decides which steps are enabled, read from a world or from the outline of one.
pub(crate) struct Scene<'a> {
    pub(crate) choices: &'a [Choice],
    pub(crate) is_up: &'a dyn Fn(NodeId) -> bool,
    /// Whether a node is in status Normal and its own coordinator.
    pub(crate) leads: &'a dyn Fn(NodeId) -> bool,
    pub(crate) left: Budgets,
}

/// A step that may be taken, and what is known of it before it is taken.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EnabledStep {
    pub(crate) step: Step,
    /// Whether a path to a good state may use this step. A recovery never counts: a crashed node
    /// may stay down.
    pub(crate) counts_as_progress: bool,
    /// Whether it uses the budget of early timers.
    pub(crate) is_early: bool,
    /// The coordinator that receives a message by this step which a higher node sent, or which
    /// speaks of the group of a higher node, if any.
    pub(crate) unseats: Option<NodeId>,
}

impl EnabledStep {
    const fn of(step: Step) -> Self {
        Self { step, counts_as_progress: false, is_early: false, unseats: None }
    }
}

impl Model {
    /// The steps that are enabled in this state.
    pub(crate) fn enabled_steps(&self) -> Vec<EnabledStep> {
        self.enabled_steps_in(&Scene {
            choices: &self.world.choices(),
            is_up: &|node| self.world.is_up(node),
            leads: &|node| self.leads(node),
            left: self.left,
        })
    }

    /// The steps that are enabled in a state of this model; of a crash within a step, only the
    /// earliest.
    pub(crate) fn enabled_steps_in(&self, scene: &Scene<'_>) -> Vec<EnabledStep> {
        let (choices, left) = (scene.choices, scene.left);
        let mut steps = Vec::new();
        for choice in choices.iter().filter(|choice| self.may_happen(choice, scene)) {
            let number = choice.number;
            let is_up = (scene.is_up)(choice.node);
            let is_early = is_early(choice, scene);
            let counts_as_progress = self.counts_as_progress(choice, choices);
            let unseats = self.is_from_higher_node(choice, scene).then_some(choice.node);
            steps.push(EnabledStep {
                step: Step::Take(number),
                counts_as_progress,
                is_early,
                unseats,
            });
            if left.crashes > 0 && is_up {
                steps.push(EnabledStep {
                    is_early,
                    ..EnabledStep::of(Step::TakeAndCrash(number, 1))
                });
            }
            if let What::Message { .. } = choice.what {
                steps.extend((left.losses > 0).then_some(EnabledStep::of(Step::Lose(number))));
                let may_duplicate = left.duplicates > 0 && is_up;
                steps.extend(may_duplicate.then_some(EnabledStep::of(Step::Duplicate(number))));
            }
        }
        if self.may_tick(choices) {
            steps.push(EnabledStep { counts_as_progress: true, ..EnabledStep::of(Step::Tick) });
        }
        for member in self.world.observers.global.members.all() {
            let (id, is_up) = (member.id, (scene.is_up)(member.id));
            steps.extend((is_up && left.crashes > 0).then_some(EnabledStep::of(Step::Crash(id))));
            steps.extend(
                (!is_up && left.recoveries > 0).then_some(EnabledStep::of(Step::Recover(id))),
            );
        }
        steps
    }

    /// Whether a node waits for an answer.
    pub(crate) fn has_waits(&self) -> bool {
        self.world.choices().iter().any(|choice| match choice.what {
            What::Message { .. } => false,
            What::Timer(timer) => timer.name().info().is_wait,
        })
    }

    fn may_happen(&self, choice: &Choice, scene: &Scene<'_>) -> bool {
        match choice.what {
            What::Message { from, .. } => match self.order {
                Order::Any => true,
                Order::Fifo => !scene.choices.iter().any(|other| is_ahead(other, choice, from)),
            },
            What::Timer(timer) if self.assumption.has_clock() && timer.name().info().is_wait => {
                // At equal times deliveries precede timers.
                let mut messages = scene.choices.iter().filter(|other| other.node == choice.node);
                let is_due = self.world.ticks_left(choice.number) == 0;
                is_due && !messages.any(|other| self.is_last_moment(other))
            }
            What::Timer(timer) => {
                let is_bounded = scene.left.early_timers == 0 && is_early(choice, scene);
                let is_alarm = !self.has_false_alarms && self.is_false_alarm(timer, choice, scene);
                let name = timer.name();
                !is_bounded
                    && !is_alarm
                    && self.assumption.lets_run_out(name, choice.node, scene.choices)
            }
        }
    }

    /// Whether a node would suspect a peer that it can reach.
    fn is_false_alarm(&self, timer: Timer, choice: &Choice, scene: &Scene<'_>) -> bool {
        let Timer::Detector(detector::Timer::Silence(peer)) = timer else { return false };
        (scene.is_up)(peer) && self.world.observers.global.hears(peer, choice.node)
    }

    /// Whether a message must be delivered before time passes.
    fn is_last_moment(&self, choice: &Choice) -> bool {
        match choice.what {
            What::Message { .. } => self.world.ticks_left(choice.number) == 0,
            What::Timer(_) => false,
        }
    }

    /// Time passes only when nothing is due, and only if a message or a wait needs it.
    fn may_tick(&self, choices: &[Choice]) -> bool {
        let is_due = |choice: &Choice| self.world.ticks_left(choice.number) == 0;
        self.assumption.has_clock()
            && choices.iter().any(is_clocked)
            && !choices.iter().any(|choice| is_clocked(choice) && is_due(choice))
    }

    fn counts_as_progress(&self, choice: &Choice, in_flight: &[Choice]) -> bool {
        match (choice.what, self.assumption.reachability()) {
            (What::Message { .. }, _) | (What::Timer(_), Reachability::AnyStep) => true,
            (What::Timer(timer), Reachability::TimelySteps) => {
                is_timely(timer.name(), choice.node, in_flight)
            }
        }
    }

    /// Whether a coordinator receives a message from a higher node, or one that was passed on to it
    /// in the election of a higher node: in a ring its predecessor may be a lower one.
    fn is_from_higher_node(&self, choice: &Choice, scene: &Scene<'_>) -> bool {
        match choice.what {
            What::Message { from, facts } => {
                let members = &self.world.observers.global.members;
                let is_higher = |node: NodeId| members.outranks(node, choice.node);
                let is_passed_on = || facts.group.is_some_and(|group| is_higher(group.node));
                (is_higher(from) || is_passed_on()) && (scene.leads)(choice.node)
            }
            What::Timer(_) => false,
        }
    }
}

/// Whether real time bounds this choice: it is a message, or a wait.
pub(crate) fn is_clocked(choice: &Choice) -> bool {
    match choice.what {
        What::Message { .. } => true,
        What::Timer(timer) => timer.name().info().is_wait,
    }
}

/// Whether a housekeeping timer fires while a message to a live node is in flight or a wait is in
/// progress.
fn is_early(choice: &Choice, scene: &Scene<'_>) -> bool {
    let is_busy = |other: &Choice| is_clocked(other) && (scene.is_up)(other.node);
    !is_clocked(choice) && scene.choices.iter().any(is_busy)
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
