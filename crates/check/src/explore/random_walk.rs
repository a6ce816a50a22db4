//! Beyond the bound: single runs that are followed there until something good comes of them.
//!
//! A situation whose counter is too high is not expanded, or there would be no end. Whether something
//! good can still be reached from it is asked by trying: one run that gets there is proof. That no
//! run does proves nothing, and is not taken for anything.

use std::collections::BTreeSet;

use tanist_sim::explore::choices::{Choice, What};
use tanist_sim::world::dice::SeededDice;

use crate::enabled::EnabledStep;
use crate::model::{Model, Step};

/// Runs that were tried, and where something good came of them.
pub(crate) struct RandomWalks {
    can_progress: BTreeSet<u128>,
}

impl RandomWalks {
    pub(crate) const fn new() -> Self {
        Self { can_progress: BTreeSet::new() }
    }

    /// Whether a run from here leads to something good by steps that may be hoped for.
    pub(crate) fn succeed(&mut self, model: &mut Model, put_back: &dyn Fn(&mut Model)) -> bool {
        (0..RUNS).any(|run| {
            put_back(model);
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

/// The most urgent step that may be counts as progress; or any.
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

/// Messages arrive, then waits run out, then time passes, then somebody looks after something; of a
/// sort, what has waited longest.
fn urgency(step: Step, choices: &[Choice]) -> (u8, u64) {
    match step {
        Step::Take(number) => {
            let choice = choices.iter().find(|choice| choice.number == number);
            let sort = match choice.map(|choice| choice.what) {
                Some(What::Message { .. }) => 0,
                Some(What::Timer(timer)) if timer.name().info().is_wait => 1,
                Some(What::Timer(_)) | None => 3,
            };
            (sort, number)
        }
        Step::Tick => (2, 0),
        Step::TakeAndCrash(number, _) | Step::Lose(number) | Step::Duplicate(number) => (4, number),
        Step::Crash(_) | Step::Recover(_) => (4, 0),
    }
}

/// How many runs are tried, the first without chance.
const RUNS: u64 = 16;
/// How many steps a run has, many times what the largest of the groups here needs.
const STEPS: usize = 500;
/// In the other runs one step of so many is any.
const VARIED: u64 = 4;
