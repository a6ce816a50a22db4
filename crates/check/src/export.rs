//! A run that was found, as a scenario file that can be read, kept and replayed.

use std::time::Duration;

use tanist_core::Time;
use tanist_sim::scenario::script::ScriptStep;
use tanist_sim::{Report, Scenario, run};

use crate::assumption::Assumption;
use crate::model::{Bounds, KeepsTrace, Model, Step};

/// What a run is an example of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shows {
    /// Its last step violates an assertion.
    Violation,
    /// An assertion about the end of a run is not true when the run is at rest, or not in time.
    End,
    /// It ends in a state from which no good state can be reached, however long the run continues.
    Trap,
}

/// The scenario whose steps are this run, and which expects what the run shows.
#[must_use]
pub fn export(
    scenario: &Scenario,
    assumption: Assumption,
    bounds: &Bounds,
    found: &[Step],
    shows: Shows,
) -> (Scenario, Report) {
    let mut made = scenario.clone();
    let (steps, end) = told(scenario, assumption, bounds, found);
    made.steps = steps;
    made.stops_at_break = shows == Shows::Violation;
    if shows == Shows::End {
        // It is judged at its last step; a later correction does not count.
        made.end = Duration::from_micros(end.as_micros());
    }
    let report = run(&made, made.seed);
    let breaks: Vec<String> = report.violated().map(|judged| judged.assertion.to_owned()).collect();
    let count = made.steps.len();
    let steps = if count == 1 { "a step".to_owned() } else { format!("{count} steps") };
    made.about = format!("{} after {steps} under {}.", breaks.join(", "), assumption.name());
    if !breaks.is_empty() {
        made.about = format!("Violates {}", made.about);
    }
    made.expect.breaks = breaks;
    (made, report)
}

/// The steps of a run in words.
#[must_use]
pub fn words(
    scenario: &Scenario,
    assumption: Assumption,
    bounds: &Bounds,
    found: &[Step],
) -> Vec<ScriptStep> {
    told(scenario, assumption, bounds, found).0
}

/// The steps of a run in words, and the time of the last one.
fn told(
    scenario: &Scenario,
    assumption: Assumption,
    bounds: &Bounds,
    found: &[Step],
) -> (Vec<ScriptStep>, Time) {
    let mut model = Model::new(scenario, assumption, bounds, KeepsTrace::No);
    let tell = |step: &Step| {
        let told = script_step(&model, *step);
        model.take(*step);
        told
    };
    let steps = found.iter().filter_map(tell).collect();
    (steps, model.world.now())
}

/// A step of this state in words; none if the state does not enable it.
fn script_step(model: &Model, step: Step) -> Option<ScriptStep> {
    let world = &model.world;
    match step {
        Step::Take(number) => world.as_step(number),
        Step::TakeAndCrash(number, effects) => {
            world.as_step(number).map(|step| step.with_crash_after(effects))
        }
        Step::Lose(number) => world.message_ref(number).map(ScriptStep::Lose),
        Step::Duplicate(number) => world.message_ref(number).map(ScriptStep::Duplicate),
        Step::Crash(node) => Some(ScriptStep::Crash(node)),
        Step::Recover(node) => Some(ScriptStep::Recover(node)),
        Step::Tick => Some(ScriptStep::Tick),
    }
}
