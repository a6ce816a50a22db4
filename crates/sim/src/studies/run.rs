//! Runs one scenario with one seed, and judges it.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Serialize;
use tanist_core::{GroupNumber, NodeId, Status, Time};

use crate::monitors::Verdict;
use crate::observe::counts::Counts;
use crate::observe::global_state::{GlobalState, NodeView};
use crate::observe::observers::Judgement;
use crate::observe::recording::Recording;
use crate::scenario::Scenario;
use crate::world::World;

/// The outcome of a run.
#[derive(Clone, Debug)]
pub struct Report {
    /// Which scenario.
    pub scenario: String,
    /// Which seed.
    pub seed: u64,
    /// When it ended.
    pub end: Time,
    /// When a node's state last changed.
    pub settled: Time,
    /// The counters.
    pub counts: Counts,
    /// How many steps nodes took.
    pub events: u64,
    /// The nodes at the end.
    pub nodes: Vec<NodeAtEnd>,
    /// The results of the assertions.
    pub assertions: Vec<Judgement>,
    /// Where the run differs from what the scenario expects.
    pub surprises: Vec<String>,
    /// The faults and rules of the scenario that did not happen, and why.
    pub not_happened: Vec<String>,
    /// The trace.
    pub recording: Recording,
}

/// A node at the end of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NodeAtEnd {
    /// Which.
    pub id: u32,
    /// Its status, or `Crashed` or `Withdrawn`.
    pub status: String,
    /// Its coordinator.
    pub coordinator: Option<u32>,
    /// Its group.
    pub group: Option<GroupNumber>,
    /// The other members that it knows of.
    pub up: Vec<u32>,
    /// The state of its task.
    pub definition: Option<String>,
}

/// Runs a scenario with a seed, keeping the trace.
#[must_use]
pub fn run(scenario: &Scenario, seed: u64) -> Report {
    run_within(scenario, seed, EVENTS_MAX)
}

/// The same with another limit of events.
#[must_use]
pub fn run_within(scenario: &Scenario, seed: u64, events_max: u64) -> Report {
    let mut world = scenario.world(seed, true);
    let astray = follow(&mut world, scenario).err();
    let unfinished = drive(&mut world, scenario, events_max).err();
    let not_happened = world.not_happened();
    let (now, events) = (world.now(), world.events());
    let observers = world.observers;
    let assertions = observers.judgements();
    let counts = observers.counts.clone();
    let nodes = nodes_at_end(&observers.global);
    let recording = observers
        .into_recording()
        .unwrap_or_else(|| Recording { header: scenario.header(seed), entries: Vec::new() });
    let settled = recording
        .entries
        .iter()
        .rev()
        .find(|entry| matches!(entry.event, tanist_core::trace::Event::State { .. }))
        .map_or(Time::ZERO, |entry| entry.at);
    let mut report = Report {
        scenario: scenario.name.clone(),
        seed,
        end: now,
        settled,
        counts,
        events,
        nodes,
        assertions,
        surprises: Vec::new(),
        not_happened,
        recording,
    };
    report.surprises = astray.into_iter().chain(unfinished).collect();
    report.surprises.extend(surprises(scenario, &report));
    report
}

/// Runs the scenario's script, up to the first step that is not enabled.
fn follow(world: &mut World, scenario: &Scenario) -> Result<(), String> {
    if scenario.steps.is_empty() {
        return Ok(());
    }
    world.begin_script();
    for (number, step) in (1..).zip(&scenario.steps) {
        if scenario.stops_at_break && world.observers.first_violated().is_some() {
            let count = scenario.steps.len();
            return Err(format!("the run breaks before step {number} of {count}"));
        }
        world.run_step(*step).map_err(|error| format!("step {number}: {error}"))?;
    }
    Ok(())
}

/// Runs the world to the end of the scenario, or to the first violation if the scenario ends there.
fn drive(world: &mut World, scenario: &Scenario, events_max: u64) -> Result<(), String> {
    let end = Time::ZERO + scenario.end;
    let is_cut_short =
        |world: &World| scenario.stops_at_break && world.observers.first_violated().is_some();
    let mut events = 0;
    while world.next_at().is_some_and(|at| at <= end) && !is_cut_short(world) {
        if events == events_max {
            let at = Duration::from_micros(world.now().as_micros());
            return Err(format!(
                "the run was ended at {at:?} of {:?}, after {events_max} events; what comes later \
                 was not judged. Choose an earlier `end`, longer periods or fewer nodes",
                scenario.end
            ));
        }
        world.step();
        events += 1;
    }
    if !is_cut_short(world) {
        world.run_until(end);
        world.observers.finish(end);
    }
    Ok(())
}

/// How many events a run may have: its trace is kept in memory.
const EVENTS_MAX: u64 = 5_000_000;

impl Report {
    /// The violated assertions.
    pub fn violated(&self) -> impl Iterator<Item = &Judgement> + '_ {
        self.assertions.iter().filter(|judged| judged.verdict == Verdict::Violated)
    }

    /// The report as JSON, with stable names.
    #[must_use]
    pub fn to_json(&self, scenario: &Scenario) -> serde_json::Value {
        let algorithm = scenario.settings.algorithm;
        let options: BTreeMap<_, _> = scenario.settings.options.of(algorithm).into_iter().collect();
        let assertions: Vec<_> = self
            .assertions
            .iter()
            .map(|judged| {
                let violated = judged.violated.as_ref();
                serde_json::json!({
                    "id": judged.assertion,
                    "verdict": judged.verdict.name(),
                    "at_us": violated.map(|violated| violated.at.as_micros()),
                    "nodes": violated.map(|violated| violated.violation.nodes.clone()),
                    "why": violated.map(|violated| violated.violation.why.clone()),
                })
            })
            .collect();
        let mut json = serde_json::json!({
            "scenario": self.scenario,
            "algorithm": algorithm.name(),
            "options": options,
            "nodes": scenario.members.count(),
            "seed": self.seed,
            "messages": {
                "sent": self.counts.sent,
                "delivered": self.counts.delivered,
                "dropped": self.counts.dropped,
                "by_kind": self.counts.by_kind(),
            },
            "elections": { "called": self.counts.elections_called, "won": self.counts.elections_won },
            "time": { "end_us": self.end.as_micros(), "settled_us": self.settled.as_micros() },
            "nodes_at_end": self.nodes,
            "assertions": assertions,
            "surprises": self.surprises,
            "not_happened": self.not_happened,
            "trace_hash": self.recording.hash(),
        });
        if scenario.topology.is_radio() {
            json["radio"] = serde_json::json!({
                "transmissions": self.counts.transmissions(),
                "receptions": self.counts.receptions(),
            });
        }
        json
    }
}

fn nodes_at_end(global: &GlobalState) -> Vec<NodeAtEnd> {
    global
        .views()
        .iter()
        .map(|view| NodeAtEnd {
            id: view.id.0,
            status: status_at_end(view),
            coordinator: view.state.coordinator.map(|node| node.0),
            group: view.state.group,
            up: view.state.up.iter().map(|node| node.0).collect(),
            definition: view.state.definition.as_ref().map(ToString::to_string),
        })
        .collect()
}

/// The status variable, or why it does not count.
fn status_at_end(view: &NodeView) -> String {
    match (view.is_up, view.is_withdrawn) {
        (true, _) => view.state.status.to_string(),
        (false, true) if view.is_overdue => "Overdue".to_owned(),
        (false, true) => "Withdrawn".to_owned(),
        (false, false) => "Crashed".to_owned(),
    }
}

/// Where a report differs from what its scenario expects.
fn surprises(scenario: &Scenario, report: &Report) -> Vec<String> {
    let expect = &scenario.expect;
    let called = |id: NodeId| scenario.members.names().of(id);
    let under = |node: &NodeAtEnd| {
        node.coordinator.map_or_else(|| "-".to_owned(), |id| called(NodeId(id)).to_string())
    };
    let mut found = Vec::new();
    let mut compare = |what: &str, expected: String, got: String| {
        if expected != got {
            found.push(format!("{what}: expected {expected}, got {got}"));
        }
    };
    let mut violated: Vec<&str> = report.violated().map(|judged| judged.assertion).collect();
    let mut breaks: Vec<&str> = expect.breaks.iter().map(String::as_str).collect();
    violated.sort_unstable();
    breaks.sort_unstable();
    compare("violated assertions", format!("{breaks:?}"), format!("{violated:?}"));
    if let Some(messages) = expect.messages {
        compare("messages", messages.to_string(), report.counts.sent.to_string());
    }
    if let Some(elections) = expect.elections {
        compare("elections won", elections.to_string(), report.counts.elections_won.to_string());
    }
    if let Some(settled) = expect.settled {
        let got = Duration::from_micros(report.settled.as_micros());
        compare("last change of state", format!("{settled:?}"), format!("{got:?}"));
    }
    let by_kind = report.counts.by_kind();
    for (kind, count) in &expect.by_kind {
        let got = by_kind.get(kind.as_str()).copied().unwrap_or(0);
        compare(&format!("messages of kind {kind}"), count.to_string(), got.to_string());
    }
    if expect.all_faults {
        let none = "none that did not happen".to_owned();
        report.not_happened.iter().for_each(|what| compare("faults", none.clone(), what.clone()));
    }
    for node in &report.nodes {
        if let Some(coordinator) = expect.coordinator
            && !["Crashed", "Withdrawn", "Overdue"].contains(&node.status.as_str())
        {
            let expected = format!("{} under {}", Status::Normal, called(coordinator));
            let got = format!("{} under {}", node.status, under(node));
            compare(&called(NodeId(node.id)).to_string(), expected, got);
        }
    }
    for wanted in &expect.nodes {
        let Some(node) = report.nodes.iter().find(|node| node.id == wanted.id.0) else { continue };
        let name = called(wanted.id);
        if let Some(status) = wanted.status {
            compare(&format!("{name} status"), status.to_string(), node.status.clone());
        }
        if let Some(coordinator) = wanted.coordinator {
            let expected = called(coordinator).to_string();
            compare(&format!("{name} coordinator"), expected, under(node));
        }
        if let Some(group) = &wanted.group {
            let got = node.group.map_or_else(|| "-".to_owned(), |group| group.to_string());
            compare(&format!("{name} group"), group.clone(), got);
        }
        if let Some(part) = &wanted.definition {
            let whole = node.definition.clone().unwrap_or_default();
            if !whole.contains(part) {
                compare(&format!("{name} definition"), format!("…{part}…"), whole);
            }
        }
    }
    found
}
