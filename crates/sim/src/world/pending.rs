//! What a scenario asked of the world and has not happened.

use tanist_core::NodeId;

use super::{Scheduled, World};
use crate::world::faults::{Action, Fault, FaultNumber, Moment, Planned};
use crate::world::host::Incarnation;
use crate::world::network::{Rule, Tally};

/// A part of a scenario that has not happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pending {
    /// A fault whose time has not come.
    Due(Fault),
    /// A fault whose trigger has not come as often as it must.
    Armed {
        /// The fault.
        fault: Fault,
        /// How often the trigger came.
        seen: u32,
    },
    /// A crash of a node that has taken no step with so many effects since.
    CrashAfterEffects {
        /// The node.
        node: NodeId,
        /// How many effects.
        effects: u32,
    },
    /// A rule for messages that has decided about none.
    Rule(Rule),
    /// A fault that changed nothing when it was due.
    Idle(Idle),
}

/// A fault that changed nothing: a crash of a node that was down.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Idle {
    /// The fault, with the time when it was due.
    pub fault: Fault,
    /// What was so already.
    pub why: &'static str,
}

/// A command of the scenario to a paused node, which is carried out when the node resumes.
#[derive(Clone)]
pub(super) struct Withheld {
    number: FaultNumber,
    idle: Idle,
    of: Incarnation,
}

impl World {
    /// The faults and rules that have not happened yet and why, in the order of the file.
    #[must_use]
    pub fn not_happened(&self) -> Vec<String> {
        let mut faults: Vec<(FaultNumber, Pending)> = self.idle_faults().collect();
        faults.extend(self.due_faults());
        faults.extend(self.armed.iter().map(|armed| {
            (armed.number, Pending::Armed { fault: armed.fault.clone(), seen: armed.seen })
        }));
        faults.extend(self.crashes().filter_map(|(fault, pending)| Some((fault?, pending))));
        faults.sort_by_key(|(number, _)| *number);
        let faults = faults.into_iter().map(|(_, pending)| pending);
        // A step can ask for a crash, too.
        let of_steps = self.crashes().filter(|(fault, _)| fault.is_none());
        let faults = faults.chain(of_steps.map(|(_, pending)| pending));
        let rules = self.network.undecided().map(|(rule, tally)| undecided(rule, tally));
        faults.map(|pending| pending.to_string()).chain(rules).collect()
    }

    fn idle_faults(&self) -> impl Iterator<Item = (FaultNumber, Pending)> {
        let withheld = self.withheld.iter().map(|held| (held.number, held.idle.clone()));
        let idle = self.idle.iter().cloned().chain(withheld);
        idle.map(|(number, idle)| (number, Pending::Idle(idle)))
    }

    fn due_faults(&self) -> impl Iterator<Item = (FaultNumber, Pending)> {
        let planned = self.planned.iter().map(|(at, planned)| (*at, planned));
        let scheduled = self.schedule.all().filter_map(|(_, at, item)| match item {
            Scheduled::Fault(planned) => Some((at, planned)),
            Scheduled::At { .. } | Scheduled::Look => None,
        });
        planned.chain(scheduled).map(|(at, planned)| {
            let fault = Fault { moment: Moment::At(at), action: planned.action.clone() };
            (planned.number, Pending::Due(fault))
        })
    }

    fn crashes(&self) -> impl Iterator<Item = (Option<FaultNumber>, Pending)> {
        self.hosts.iter().filter_map(|host| {
            let crash = host.crash_after?;
            let pending = Pending::CrashAfterEffects { node: host.id, effects: crash.effects };
            Some((crash.fault, pending))
        })
    }

    /// Applies a fault of the scenario, and notes it if it changes nothing.
    pub(crate) fn carry_out_fault(&mut self, planned: Planned) {
        let Planned { number, action } = planned;
        let fault = Fault { moment: Moment::At(self.now), action: action.clone() };
        if let Some(why) = self.why_idle(&action) {
            self.idle.push((number, Idle { fault, why }));
        } else if let Some(of) = self.paused_addressee(&action) {
            let idle = Idle { fault, why: "the node was paused and did not resume" };
            self.withheld.push(Withheld { number, idle, of });
        }
        let armed = if let Action::CrashAfterEffects(node, _) = action {
            self.position(node)
        } else {
            None
        };
        self.act(action);
        if let Some(crash) = armed.and_then(|at| self.hosts[at].crash_after.as_mut()) {
            crash.fault = Some(number);
        }
    }

    /// The node that a command is for, if it is paused.
    fn paused_addressee(&self, action: &Action) -> Option<Incarnation> {
        let (node, _) = action.command()?;
        let at = self.position(node)?;
        self.hosts[at].held.as_ref().map(|_| self.hosts[at].current(at))
    }

    /// A node resumes, and carries out the commands that it got meanwhile.
    pub(super) fn give_out(&mut self, of: Incarnation) {
        self.withheld.retain(|held| held.of != of);
    }

    /// Drops the crash that a node was to end a step with, and notes it if a fault asked for it.
    pub(super) fn drop_crash(&mut self, at: usize, why: &'static str) {
        let Some(crash) = self.hosts[at].crash_after.take() else { return };
        if let Some(number) = crash.fault {
            let action = Action::CrashAfterEffects(self.hosts[at].id, crash.effects);
            let fault = Fault { moment: Moment::At(crash.at), action };
            self.idle.push((number, Idle { fault, why }));
        }
    }
}

/// A rule that decided about no message, and what became of those that fit it.
fn undecided(rule: &Rule, tally: Tally) -> String {
    let sent = Rule { seen: rule.seen + tally.missed, ..rule.clone() };
    let is_early = rule.nth.is_some_and(|nth| rule.seen < nth);
    let became = match (rule.seen, tally.missed) {
        (0, 0) => "",
        (0, _) => ", and none of them reached the rule, since their link was down",
        (_, 0) if is_early => "",
        (_, _) if is_early => {
            ", and some of them did not reach the rule, since their link was down"
        }
        (_, _) => ", and an earlier rule decided instead",
    };
    format!("{}{became}", Pending::Rule(sent))
}
