//! What an exploration says about every property that was checked.

use tanist_sim::{Report, Scenario};

use crate::explore::Exploration;
use crate::export::{Shows, export};
use crate::model::Step;
use crate::spec::{Beginning, CheckSpec};

/// An exploration, with a verdict for every property.
#[derive(Clone, Debug)]
pub struct CheckReport {
    /// The scenario whose world is the first state.
    pub scenario: Scenario,
    /// What was visited.
    pub exploration: Exploration,
    /// Every property with its verdict.
    pub properties: Vec<Property>,
    /// The counterexample to keep, if there is one.
    pub counterexample: Option<Counterexample>,
}

/// A property and its verdict over all runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Property {
    /// Its name.
    pub id: &'static str,
    /// The verdict.
    pub verdict: Verdict,
    /// The length of a shortest run to a violation.
    pub trace_length: Option<usize>,
    /// What was observed there.
    pub why: String,
}

/// The verdict on a property.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It holds in every run within the bounds.
    Holds,
    /// A run violates it.
    Violated,
    /// No explored run violates it, but not all runs were explored; or from some states a good
    /// state was reached only beyond a bound.
    BoundReached,
    /// What should happen in some run does.
    Reached,
    /// It happens in no run, so a verdict `holds` says little.
    NotReached,
}

impl Verdict {
    /// The word in JSON and in tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Violated => "violated",
            Self::BoundReached => "bound reached",
            Self::Reached => "reached",
            Self::NotReached => "not reached",
        }
    }
}

/// A run that violates something, as a scenario.
#[derive(Clone, Debug)]
pub struct Counterexample {
    /// The steps.
    pub run: Vec<Step>,
    /// What it shows.
    pub shows: Shows,
    /// The scenario that replays it.
    pub scenario: Scenario,
    /// The result of that replay.
    pub report: Report,
}

/// In some run an election succeeds.
pub const ELECTION_SUCCEEDS: &str = "election-succeeds";
/// In some run a higher node replaces a lower coordinator.
pub const HIGHER_PREEMPTS: &str = "higher-preempts";

impl CheckReport {
    pub(crate) fn new(spec: &CheckSpec, scenario: Scenario, exploration: Exploration) -> Self {
        let counterexample = counterexample(spec, &scenario, &exploration);
        let mut properties = judge(&exploration, counterexample.as_ref());
        properties.extend(sometimes(spec, &exploration));
        Self { scenario, exploration, properties, counterexample }
    }

    /// Whether some property has this verdict.
    #[must_use]
    pub fn has(&self, verdict: Verdict) -> bool {
        self.properties.iter().any(|property| property.verdict == verdict)
    }

    /// The property of this name.
    #[must_use]
    pub fn property(&self, id: &str) -> Option<&Property> {
        self.properties.iter().find(|property| property.id == id)
    }
}

/// The first assertion that was violated, or else a state that can reach no good state.
fn counterexample(
    spec: &CheckSpec,
    scenario: &Scenario,
    exploration: &Exploration,
) -> Option<Counterexample> {
    let violated = exploration.found.first().map(|found| {
        let is_about_the_end = exploration.watched.contains(&(found.violated.assertion, true));
        (&found.run, if is_about_the_end { Shows::End } else { Shows::Violation })
    });
    let trap = exploration.stuck.as_ref().map(|run| (run, Shows::Trap));
    let (run, shows) = violated.or(trap)?;
    let (assumption, bounds) = (spec.assumption, &spec.bounds);
    let (scenario, report) = export(scenario, assumption, bounds, run, shows);
    Some(Counterexample { run: run.clone(), shows, scenario, report })
}

fn judge(exploration: &Exploration, counterexample: Option<&Counterexample>) -> Vec<Property> {
    let in_trap = |id: &str| {
        let trap = counterexample.filter(|example| example.shows == Shows::Trap);
        trap.is_none_or(|trap| trap.report.violated().any(|judged| judged.assertion == id))
    };
    let property = |(id, is_about_the_end): &(&'static str, bool)| {
        let found = exploration.found.iter().find(|found| found.violated.assertion == *id);
        let stuck = exploration.stuck.as_ref().filter(|_| *is_about_the_end && in_trap(id));
        let (verdict, trace_length, why) = match (found, stuck) {
            (Some(found), _) => {
                let why = found.violated.violation.why.clone();
                (Verdict::Violated, Some(found.run.len()), why)
            }
            (None, Some(run)) => {
                let why = "no good state can be reached from here".to_owned();
                (Verdict::Violated, Some(run.len()), why)
            }
            (None, None) if !exploration.is_complete => {
                (Verdict::BoundReached, None, String::new())
            }
            (None, None) if *is_about_the_end && exploration.unsure > 0 => {
                let why = format!("{} states lead to a bound first", exploration.unsure);
                (Verdict::BoundReached, None, why)
            }
            (None, None) => (Verdict::Holds, None, String::new()),
        };
        Property { id, verdict, trace_length, why }
    };
    exploration.watched.iter().map(property).collect()
}

/// What should happen in some run, so that what holds in all of them says something.
fn sometimes(spec: &CheckSpec, exploration: &Exploration) -> Vec<Property> {
    let bounds = &spec.bounds;
    let can_recover = spec.assumption.has_recovery() && bounds.crashes > 0 && bounds.recoveries > 0;
    let can_preempt = spec.nodes > 1
        && !spec.preempt.is_sticky()
        && (can_recover || spec.beginning == Beginning::Apart);
    let property = |id, is_reached: bool, why: &str| Property {
        id,
        verdict: if is_reached { Verdict::Reached } else { Verdict::NotReached },
        trace_length: None,
        why: if is_reached { String::new() } else { why.to_owned() },
    };
    let elected = property(
        ELECTION_SUCCEEDS,
        exploration.has_elections,
        "no run decides an election, so what holds says little",
    );
    let preempts = can_preempt.then(|| {
        property(HIGHER_PREEMPTS, exploration.has_preemption, "no higher node takes over")
    });
    std::iter::once(elected).chain(preempts).collect()
}
