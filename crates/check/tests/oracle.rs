//! Another explorer, stateright, visits the same model: it must count as many states, find
//! the same assertions violated, and find nothing where nothing was found.
//!
//! This compares the search: levels, visited states, where runs end. The model and the fingerprints
//! of states are ours in both.

use std::collections::BTreeSet;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex};

use stateright::{Checker, HasDiscoveries, Property};
use tanist_check::{Assumption, Beginning, Bounds, CheckSpec, KeepsTrace, Model, explore};
use tanist_core::election::Algorithm;
use tanist_sim::Scenario;

struct Oracle {
    scenario: Scenario,
    assumption: Assumption,
    bounds: Bounds,
    /// Every assertion that was found violated.
    violated: Arc<Mutex<BTreeSet<&'static str>>>,
}

#[derive(Clone)]
struct GlobalState(Arc<Model>);

impl PartialEq for GlobalState {
    fn eq(&self, other: &Self) -> bool {
        self.0.fingerprint() == other.0.fingerprint()
    }
}

impl Hash for GlobalState {
    fn hash<H: Hasher>(&self, to: &mut H) {
        self.0.fingerprint().hash(to);
    }
}

/// Equal states may number their choices differently, so an action is its index.
#[derive(Clone)]
struct Action {
    place: usize,
    leads_to: GlobalState,
}

impl PartialEq for Action {
    fn eq(&self, other: &Self) -> bool {
        self.place == other.place
    }
}

impl stateright::Model for Oracle {
    type State = GlobalState;
    type Action = Action;

    fn init_states(&self) -> Vec<GlobalState> {
        let first = Model::new(&self.scenario, self.assumption, &self.bounds, KeepsTrace::No);
        vec![GlobalState(Arc::new(first))]
    }

    fn actions(&self, at: &GlobalState, actions: &mut Vec<Action>) {
        let violated = at.0.violated(&self.bounds);
        if !violated.is_empty() {
            let mut all = self.violated.lock().expect("no thread panics while it holds the lock");
            return all.extend(violated.iter().map(|judged| judged.assertion));
        }
        if at.0.is_beyond(self.bounds.counter) {
            return;
        }
        let successors = at.0.successors().into_iter().enumerate();
        actions.extend(
            successors
                .map(|(place, (_, next))| Action { place, leads_to: GlobalState(Arc::new(next)) }),
        );
    }

    fn next_state(&self, _at: &GlobalState, action: Action) -> Option<GlobalState> {
        Some(action.leads_to)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("nothing is violated", |model: &Self, at: &GlobalState| {
                at.0.violated(&model.bounds).is_empty()
            }),
            // The search goes on as long as a discovery is missing, so everything is visited.
            Property::sometimes("never", |_: &Self, _: &GlobalState| false),
        ]
    }
}

/// Both explorers visit everything; returns the violated assertions.
fn compare(spec: &CheckSpec) -> BTreeSet<&'static str> {
    let scenario = spec.scenario().expect("the spec is valid");
    let (assumption, bounds) = (spec.assumption, spec.bounds);
    let ours = explore(&scenario, assumption, &bounds, &mut |_| {});
    assert!(ours.is_complete, "{spec:?}");
    let violated: BTreeSet<&str> =
        ours.found.iter().map(|found| found.violated.assertion).collect();
    let shortest = ours.found.first().map(|found| found.run.len());
    let oracle = || {
        let (scenario, seen) = (scenario.clone(), Arc::new(Mutex::new(BTreeSet::new())));
        let oracle = Oracle { scenario, assumption, bounds, violated: Arc::clone(&seen) };
        let checker = stateright::Model::checker(oracle).threads(2);
        // Everything is visited, whatever is found.
        (seen, checker.finish_when(HasDiscoveries::AllOf(BTreeSet::from(["never"]))))
    };
    let (seen, checker) = oracle();
    let theirs = checker.spawn_bfs().join();
    assert_eq!(theirs.unique_state_count(), ours.states, "{spec:?}");
    assert_eq!(
        *seen.lock().expect("no thread panics while it holds the lock"),
        violated,
        "{spec:?}"
    );
    assert_eq!(theirs.discovery("nothing is violated").is_some(), shortest.is_some(), "{spec:?}");
    if let Some(steps) = shortest {
        // The first state has depth 1, and states at the bound are not checked.
        let is_violated_at = |depth: usize| {
            let checker = oracle().1.target_max_depth(depth).spawn_bfs().join();
            checker.discovery("nothing is violated").is_some()
        };
        assert!(!is_violated_at(steps + 1), "{spec:?}: in fewer than {steps} steps");
        assert!(is_violated_at(steps + 2), "{spec:?}: not in {steps} steps");
    }
    violated
}

fn spec(algorithm: Algorithm, nodes: u32, assumption: Assumption) -> CheckSpec {
    CheckSpec { nodes, assumption, ..CheckSpec::new(algorithm) }
}

#[test]
fn bully_in_a_pair() {
    assert_eq!(compare(&spec(Algorithm::Bully, 2, Assumption::As0)), BTreeSet::new());
    assert_eq!(compare(&spec(Algorithm::Bully, 2, Assumption::As1)), BTreeSet::new());
    assert_eq!(compare(&spec(Algorithm::Bully, 2, Assumption::As1r)), BTreeSet::new());
    let mut early = spec(Algorithm::Bully, 2, Assumption::As2);
    early.bounds = Bounds { crashes: 0, counter: 2, ..Bounds::USUAL };
    assert_eq!(compare(&early), BTreeSet::from(["A-1.1", "A-1.2", "G-14"]));
}

#[test]
fn lecture_bully_in_a_group_of_three() {
    let mut three = spec(Algorithm::BullyLecture, 3, Assumption::As0);
    assert_eq!(compare(&three), BTreeSet::new());
    three.nodes = 2;
    three.assumption = Assumption::As2;
    assert_eq!(compare(&three), BTreeSet::from(["G-14"]));
}

#[test]
fn invitation_in_a_pair() {
    let mut pair = spec(Algorithm::Invitation, 2, Assumption::As1);
    pair.beginning = Beginning::Apart;
    pair.bounds.early_timers = 0;
    assert_eq!(compare(&pair), BTreeSet::new());
    pair.options = vec![("counter".to_owned(), "volatile".to_owned())];
    assert_eq!(compare(&pair), BTreeSet::from(["A-3.2", "I-07"]));
}

#[test]
fn rings() {
    let mut three = spec(Algorithm::RingChangRoberts, 3, Assumption::As0);
    three.bounds = Bounds { crashes: 0, early_timers: 0, counter: 2, ..Bounds::USUAL };
    assert_eq!(compare(&three), BTreeSet::new());
    let mut pair = spec(Algorithm::RingModified, 2, Assumption::As0);
    pair.bounds = Bounds { early_timers: 1, counter: 2, ..Bounds::USUAL };
    assert_eq!(compare(&pair), BTreeSet::new());
}
