//! Shrinks a failing scenario: fewer faults, fewer nodes, simpler conditions, the same violated
//! assertion.

use std::collections::BTreeSet;
use std::time::Duration;

use tanist_core::membership::NodeNames;
use tanist_core::options::Options;
use tanist_core::{Membership, NodeId};

use crate::scenario::Scenario;
use crate::studies::fuzz::judge;
use crate::world::application::Pace;
use crate::world::faults::{Action, Moment};
use crate::world::host::RATE;
use crate::world::network::Delay;
use crate::world::places::Layout;
use crate::world::topology::{Fading, Topology};

/// How many runs shrinking may take.
const RUNS_MAX: u32 = 4000;

/// The smallest scenario found that violates the same assertion, with that expectation.
/// | A scenario that violates nothing is returned unchanged.
#[must_use]
pub fn shrink(scenario: &Scenario) -> Scenario {
    let Some(violated) = judge(scenario).failure else { return scenario.clone() };
    let mut shrinking =
        Shrinking { assertion: violated.assertion, runs: 0, best: scenario.clone() };
    shrinking.keep(without_idle(scenario));
    loop {
        let before = shrinking.best.clone();
        shrinking.drop_faults();
        shrinking.drop_nodes();
        shrinking.simplify();
        if shrinking.best == before || shrinking.runs >= RUNS_MAX {
            break;
        }
    }
    let mut best = shrinking.best;
    best.about = format!("shrunk from {}: breaks {}", scenario.name, violated.assertion);
    best.stops_at_break = true;
    best.expect.breaks = vec![violated.assertion.to_owned()];
    best
}

struct Shrinking {
    assertion: &'static str,
    runs: u32,
    best: Scenario,
}

impl Shrinking {
    /// Keeps a smaller scenario if it violates the same assertion.
    fn keep(&mut self, smaller: Scenario) -> bool {
        if self.runs >= RUNS_MAX || smaller == self.best {
            return false;
        }
        // What must hold in the end would be violated by a fault that lasts.
        if is_repaired(&self.best) && !is_repaired(&smaller) {
            return false;
        }
        // What is kept must be readable as a file.
        if Scenario::parse(&smaller.to_text()).is_err() {
            return false;
        }
        self.runs += 1;
        let still =
            judge(&smaller).failure.is_some_and(|violated| violated.assertion == self.assertion);
        if still {
            self.best = smaller;
        }
        still
    }

    /// In halves first, then one by one.
    fn drop_faults(&mut self) {
        let mut size = self.best.faults.len() / 2;
        while size > 0 {
            let mut at = 0;
            while at < self.best.faults.len() {
                let mut smaller = self.best.clone();
                let end = (at + size).min(smaller.faults.len());
                smaller.faults.drain(at..end);
                if !self.keep(smaller) {
                    at += size;
                }
            }
            size /= 2;
        }
    }

    fn drop_nodes(&mut self) {
        let ids: Vec<NodeId> = self.best.members.all().iter().map(|node| node.id).collect();
        for gone in ids {
            if let Some(smaller) = without_node(&self.best, gone) {
                self.keep(smaller);
            }
        }
    }

    fn simplify(&mut self) {
        let max = self.best.timing.message_max;
        let changes: [fn(&mut Scenario, Duration); 11] = [
            |scenario, _| scenario.settings.options = Options::default(),
            |scenario, _| scenario.pace = Pace::default(),
            |scenario, _| scenario.conditions.duplicate_ppm = 0,
            |scenario, _| scenario.conditions.loss_ppm = 0,
            |scenario, _| scenario.conditions.is_fifo = true,
            |scenario, max| scenario.conditions.delay = Delay::Fixed(max),
            |scenario, _| scenario.rules.clear(),
            |scenario, _| scenario.conditions.has_refusals = false,
            |scenario, _| {
                scenario.topology = Topology::Whole;
                // Nodes have no positions there.
                let is_move = |action: &Action| matches!(action, Action::Move { .. });
                scenario.faults.retain(|fault| !is_move(&fault.action));
            },
            |scenario, _| still(&mut scenario.topology),
            |scenario, _| clear(&mut scenario.topology),
        ];
        for change in changes {
            let mut smaller = self.best.clone();
            change(&mut smaller, max);
            self.keep(smaller);
        }
    }
}

/// No node moves by itself.
fn still(topology: &mut Topology) {
    match topology {
        Topology::Whole | Topology::Links(_) => {}
        Topology::Radio(radio) => radio.mobility = None,
    }
}

/// Nothing is lost by distance.
fn clear(topology: &mut Topology) {
    match topology {
        Topology::Whole | Topology::Links(_) => {}
        Topology::Radio(radio) => radio.fading = Fading::Flat(0),
    }
}

fn without_place(topology: &mut Topology, gone: NodeId) {
    match topology {
        Topology::Whole => {}
        Topology::Links(links) => links.retain(|(a, b)| *a != gone && *b != gone),
        Topology::Radio(radio) => match &mut radio.layout {
            Layout::At(places) => {
                places.remove(&gone);
            }
            Layout::Line(_) | Layout::Grid(_) | Layout::Circle(_) | Layout::Random(_) => {}
        },
    }
}

fn without_node(scenario: &Scenario, gone: NodeId) -> Option<Scenario> {
    let mut smaller = scenario.clone();
    let left = scenario.members.all().iter().filter(|member| member.id != gone);
    let labels = scenario.members.labelled().iter().copied();
    let names = scenario.members.names().iter().filter(|(id, _)| *id != gone);
    let names = NodeNames::new(names.map(|(id, name)| (id, name.clone()))).ok()?;
    let left = Membership::new(left.copied()).ok()?.with_labels(labels).with_names(names);
    smaller.members = match scenario.members.ring() {
        Some(order) => left.with_ring(order.iter().copied().filter(|id| *id != gone)).ok()?,
        None => left,
    };
    smaller.down.retain(|node| *node != gone);
    without_place(&mut smaller.topology, gone);
    for group in &mut smaller.groups {
        group.members.remove(gone);
    }
    smaller.groups.retain(|group| group.coordinator != gone && !group.members.is_empty());
    for fault in &mut smaller.faults {
        if let Action::Cut(links) | Action::Heal(links) = &mut fault.action {
            links.retain(|link| link.from != gone && link.to != gone);
        }
    }
    smaller.faults.retain(|fault| {
        let waits_for_it = match fault.moment {
            Moment::At(_) => false,
            Moment::When { condition, .. } => condition.node == gone,
        };
        let is_empty_cut = matches!(&fault.action, Action::Cut(links) if links.is_empty());
        !fault.action.nodes().contains(gone) && !waits_for_it && !is_empty_cut
    });
    Some(smaller)
}

/// Without the restarts and the like that end nothing; a file with them is refused.
#[must_use]
pub fn without_idle(scenario: &Scenario) -> Scenario {
    let mut smaller = scenario.clone();
    let has = |is_cause: &dyn Fn(&Action) -> bool| {
        scenario.faults.iter().any(|fault| is_cause(&fault.action))
    };
    smaller.faults.retain(|fault| {
        if let Action::Restart { node, .. } = fault.action {
            let crashes = |action: &Action| {
                matches!(action, Action::Crash(id) | Action::CrashAfterEffects(id, _) if *id == node)
            };
            let is_scripted = scenario.steps.iter().any(|step| step.crashed() == Some(node));
            has(&crashes) || is_scripted || scenario.down.contains(&node)
        } else if let Action::Resume(node) = fault.action {
            has(&|action| *action == Action::Pause(node))
        } else if let Action::Unhang(node) = fault.action {
            has(&|action| *action == Action::Hang(node))
        } else {
            true
        }
    });
    smaller
}

/// Whether no disturbance lasts until the end of a run. Nodes that have crashed may stay so.
fn is_repaired(scenario: &Scenario) -> bool {
    let conditions = &scenario.conditions;
    let mut is_calm = match conditions.delay {
        Delay::Spiky { spike_ppm, .. } => spike_ppm == 0,
        Delay::Fixed(_) | Delay::Uniform { .. } => true,
    } && conditions.loss_ppm == 0
        && conditions.duplicate_ppm == 0;
    let mut is_cut = false;
    let mut disturbed: BTreeSet<(NodeId, &str)> = BTreeSet::new();
    for fault in &scenario.faults {
        let mut note = |node: NodeId, what, is_disturbed| {
            if is_disturbed {
                disturbed.insert((node, what));
            } else {
                disturbed.remove(&(node, what));
            }
        };
        if let Action::Calm = fault.action {
            is_calm = true;
        } else if let Action::Loss(share) | Action::Duplicate(share) = fault.action {
            is_calm &= share == 0;
        } else if let Action::Cut(_) = fault.action {
            is_cut = true;
        } else if let Action::Heal(links) = &fault.action {
            is_cut &= !links.is_empty();
        } else if let Action::Pause(node) = fault.action {
            note(node, "pause", true);
        } else if let Action::Resume(node) = fault.action {
            note(node, "pause", false);
        } else if let Action::Slow(node, by) = fault.action {
            note(node, "slow", by > Duration::ZERO);
        } else if let Action::ClockRate(node, rate) = fault.action {
            note(node, "clock", rate != RATE);
        }
    }
    is_calm && !is_cut && disturbed.is_empty()
}

#[cfg(test)]
mod tests {
    use tanist_core::Time;
    use tanist_core::election::Algorithm;
    use tanist_core::mutant::Mutant;

    use super::*;
    use crate::studies::fuzz;
    use crate::world::faults::Fault;

    #[test]
    fn a_node_that_is_left_out_takes_its_name_along() {
        let text = crate::scenario::library::find("named-nodes-replace-a-leader");
        let scenario = Scenario::parse(text.expect("it is shipped")).unwrap();
        let smaller = without_node(&scenario, NodeId(1)).unwrap();
        assert_eq!(smaller.members.names().list([1, 2, 3].map(NodeId)), "n1 db-east-2 db-west-1");
        assert_eq!(Scenario::parse(&smaller.to_text()).unwrap().members, smaller.members);
    }

    #[test]
    fn a_node_that_is_left_out_is_out_of_the_ring_and_of_the_labels() {
        let text = "name = \"ring\"\nalgorithm = \"ring-list\"\nend = \"1s\"\nnodes = 4\n\
                    labels = [\"17\", \"24\", \"33\", \"a\"]\nring = [4, 2, 1, 3]\n";
        let smaller = without_node(&Scenario::parse(text).unwrap(), NodeId(2)).unwrap();
        assert_eq!(smaller.members.ring(), Some(&[4, 1, 3].map(NodeId)[..]));
        assert_eq!(smaller.members.names().list([1, 3, 4].map(NodeId)), "17 33 a");
        assert_eq!(Scenario::parse(&smaller.to_text()).unwrap(), smaller);
    }

    #[test]
    fn a_scenario_whose_file_would_be_refused_is_not_kept() {
        let mutant = Some(Mutant::ANSWER_BEFORE_STOPPING);
        let mut drawn = (1..100).map(|seed| fuzz::scenario(Algorithm::Bully, seed, mutant));
        let failing = drawn.find(|scenario| judge(scenario).failure.is_some()).expect("one fails");
        let best = without_idle(&failing);
        let assertion = judge(&best).failure.expect("idle faults change nothing").assertion;
        let mut late = best.clone();
        let moment = Moment::At(Time::ZERO + best.end * 2);
        late.faults.push(Fault { moment, action: Action::Calm });
        assert_eq!(judge(&late).failure.map(|violated| violated.assertion), Some(assertion));
        let mut shrinking = Shrinking { assertion, runs: 0, best };
        assert!(!shrinking.keep(late));
    }
}
