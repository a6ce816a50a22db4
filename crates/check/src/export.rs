//! A run that was found, as a scenario that anybody can read, keep and replay.

use std::time::Duration;

use tanist_core::Time;
use tanist_sim::scenario::script::ScriptStep;
use tanist_sim::{Report, Scenario, run};

use crate::assumption::Assumption;
use crate::model::{Bounds, KeepsTrace, Model, Step};

/// What a run is an example of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shows {
    /// It breaks an assertion with its last step.
    Break,
    /// What is said of the end of a run is not true when it comes to rest, or not in time.
    End,
    /// It leads to where nothing good can be reached any more: time goes on, and nothing comes true.
    Trap,
}

/// The scenario whose steps are this run, expecting what it then shows.
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
    made.stops_at_break = shows == Shows::Break;
    if shows == Shows::End {
        // It is judged then and there; what mends it later does not count.
        made.end = Duration::from_micros(end.as_micros());
    }
    let report = run(&made, made.seed);
    let breaks: Vec<String> = report.broken().map(|judged| judged.assertion.to_owned()).collect();
    let count = made.steps.len();
    let steps = if count == 1 { "a step".to_owned() } else { format!("{count} steps") };
    made.about = format!("{} after {steps} under {}.", breaks.join(", "), assumption.name());
    if !breaks.is_empty() {
        made.about = format!("Breaks {}", made.about);
    }
    made.expect.breaks = breaks;
    (made, report)
}

/// A run in words.
#[must_use]
pub fn words(
    scenario: &Scenario,
    assumption: Assumption,
    bounds: &Bounds,
    found: &[Step],
) -> Vec<ScriptStep> {
    told(scenario, assumption, bounds, found).0
}

/// A run in words, and when its last step is taken.
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

/// A step of this situation in words; none if the situation does not offer it.
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
