//! Random walks from states beyond a bound, until one reaches a good state.
//!
//! A state whose counter is too high is not expanded, or the exploration would not end. One walk
//! that reaches a good state proves that such a state is reachable. That no walk does proves
//! nothing, and is not reported as a violation.

use std::collections::BTreeSet;

use tanist_sim::explore::choices::{Choice, What};
use tanist_sim::world::dice::SeededDice;

use crate::enabled::EnabledStep;
use crate::model::{Model, Step};

/// Walks that were made, and the states from which a good state is known to be reachable.
pub(crate) struct RandomWalks {
    can_progress: BTreeSet<u128>,
}

impl RandomWalks {
    pub(crate) const fn new() -> Self {
        Self { can_progress: BTreeSet::new() }
    }

    /// Whether a walk from this state reaches a good state by steps that count as progress.
    pub(crate) fn succeed(&mut self, model: &mut Model, restore: &dyn Fn(&mut Model)) -> bool {
        (0..RUNS).any(|run| {
            restore(model);
            self.follow(model, &mut SeededDice::new(run), run > 0)
        })
    }

    fn follow(&mut self, model: &mut Model, dice: &mut SeededDice, is_varied: bool) -> bool {
        let mut passed = Vec::new();
        for _ in 0..STEPS {
            let here = model.fingerprint();
            if model.world.observers.is_settled() || self.can_progress.contains(&here) {
                self.can_progress.extend(passed);
                return true;
            }
            passed.push(here);
            let is_random = is_varied && dice.below(VARIED) == 0;
            let Some(enabled) = pick(model, is_random.then_some(&mut *dice)) else {
                return false;
            };
            model.left = model.left.after_timer(enabled.is_early);
            model.take(enabled.step);
            if model.world.observers.first_violated().is_some() {
                return false;
            }
        }
        false
    }
}

/// The most urgent step that counts as progress; with dice, any of them.
fn pick(model: &Model, dice: Option<&mut SeededDice>) -> Option<EnabledStep> {
    let mut steps = model.enabled_steps();
    steps.retain(|enabled| enabled.counts_as_progress);
    match dice {
        Some(dice) => dice.pick(&steps),
        None => {
            let choices = model.world.choices();
            steps.into_iter().min_by_key(|enabled| urgency(enabled.step, &choices))
        }
    }
}

/// Messages first, then waits, then time, then housekeeping timers; within a kind, the oldest
/// first.
fn urgency(step: Step, choices: &[Choice]) -> (u8, u64) {
    match step {
        Step::Take(number) => {
            let choice = choices.iter().find(|choice| choice.number == number);
            let kind = match choice.map(|choice| choice.what) {
                Some(What::Message { .. }) => 0,
                Some(What::Timer(timer)) if timer.name().info().is_wait => 1,
                Some(What::Timer(_)) | None => 3,
            };
            (kind, number)
        }
        Step::Tick => (2, 0),
        Step::TakeAndCrash(number, _) | Step::Lose(number) | Step::Duplicate(number) => (4, number),
        Step::Crash(_) | Step::Recover(_) => (4, 0),
    }
}

/// How many walks are made, the first without random steps.
const RUNS: u64 = 16;
/// Maximum number of steps of a walk, many times what the largest of these groups needs.
const STEPS: usize = 500;
/// In the other walks one of so many steps is random.
const VARIED: u64 = 4;
