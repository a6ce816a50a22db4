//! Reorganization: stop all members, collect reports, hand out the definition; shared by all
//! algorithms.
//!
//! The New_State and Ready rounds of the listings are the same. The election says when to stop and
//! which nodes this one coordinates or follows; the application stops, reports, plans and begins.
//!
//! ```text
//!   gate      Open --Stop--> Stopping --Stopped(report)--> Stopped --Begin--> Open
//!                                                            | Yield, if it leads  ^
//!                                                            +---> Yielding -------+ Stopped
//!   round     Idle --Formed--> Planning --Definition--> Handing --all ok--> Idle   (coordinator)
//!             Idle --Joined--> Following --New_State of that group--> Idle         (participant)
//! ```
//!
//! A node *leads* from the moment it begins as a coordinator. What a leader does for the group (its
//! job, not the group's shared task) goes on through every reorganization that this node coordinates
//! itself, so that a member that joins or fails does not interrupt it. It ends before this node
//! tells another coordinator that it has stopped, and before it withdraws: [`Notice::Yield`].
//!
//! Assumes that the election layer has saved a group's number before it is named here. Leaves out:
//! who is elected, and what a report or a definition means.

mod message;
mod ports;
#[cfg(test)]
mod tests;

use alloc::vec::Vec;

pub use self::message::Message;
pub use self::ports::{Command, Notice};

use crate::detector::timeout::NoRecord;
use crate::election::Formation;
use crate::election::descriptor::{MessageInfo, TimerInfo, Topic};
use crate::group::GroupNumber;
use crate::membership::{NodeId, NodeSet};
use crate::mutant::{Mutant, mutants};
use crate::payload::{Definition, Report};
use crate::protocol::{Context, Effects, Event, Protocol};
use crate::trace::{Kind, TimerName};

/// The layer's state.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Reorganization {
    gate: Gate,
    round: Round,
    definition: Option<Definition>,
    /// Whether this node has begun as a coordinator and has not yielded since.
    leads: bool,
    /// How many plans the application was asked for and has not made, those of abandoned groups
    /// included: it does one thing after the other.
    plans: u32,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Gate {
    /// The application works under the definition.
    Open,
    /// No operation is accepted; the application drains.
    Stopping(Then),
    /// The application has stopped and this is what it handed up.
    Stopped(Report),
    /// The same, and the leadership is ending.
    Yielding(Report),
}

/// What an application is ending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopping {
    /// Its part of the group's task, and the leadership if that ends with it.
    Task,
    /// The leadership, after the task.
    Leadership,
}

/// What an application was asked for and has not done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Owed {
    /// To end this.
    pub stop: Option<Stopping>,
    /// To make so many plans.
    pub plans: u32,
}

impl Owed {
    /// Whether it owes nothing.
    #[must_use]
    pub const fn is_nothing(self) -> bool {
        self.stop.is_none() && self.plans == 0
    }
}

/// What follows when the application has stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Then {
    /// Nothing: a leadership goes on, if there is one.
    Rest,
    /// The leadership ends with the application.
    HasYielded,
    /// The leadership, which was to go on when the application was told to stop, ends after it.
    Yield,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Round {
    Idle,
    /// The coordinator's application is making a plan.
    Planning(Formation),
    /// The definition is on its way to the members.
    Handing {
        formation: Formation,
        definition: Definition,
        awaiting: NodeSet,
        missing: NodeSet,
    },
    /// A participant waits for the definition of this group, from this coordinator only.
    Following {
        group: GroupNumber,
        coordinator: NodeId,
    },
    /// No definition will come (E-08); the gate opens as soon as the application has stopped.
    Entering {
        group: GroupNumber,
        coordinator: NodeId,
    },
}

/// Ends the coordinator's wait for answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Handover;

impl Protocol for Reorganization {
    type Message = Message;
    type Timer = Handover;
    type Record = NoRecord;
    type Command = Command;
    type Notice = Notice;

    fn start(_: &mut Context<'_>, _: Option<NoRecord>, _: &mut Effects<Self>) -> Self {
        // A node that has just started has nothing running and nothing to report.
        let gate = Gate::Stopped(Report::default());
        Self { gate, round: Round::Idle, definition: None, leads: false, plans: 0 }
    }

    fn step(&mut self, cx: &mut Context<'_>, event: Event<Self>, out: &mut Effects<Self>) {
        match event {
            Event::Message { from, message: Message::NewState { group, members, definition } } => {
                self.take(cx, from, group, members, definition, out);
            }
            Event::Message { from, message: Message::NewStateAnswer { group, ok } } => {
                self.count(cx, from, group, ok, out);
            }
            Event::Timer(Handover) => self.conclude(cx, out),
            Event::Command(Command::Stop) => self.stop(out),
            Event::Command(Command::Yield) => self.yield_leadership(cx, out),
            Event::Command(Command::Stopped(report)) => {
                self.stopped(report, out);
                self.enter(cx, out);
            }
            Event::Command(Command::Form(formation)) => self.plan(cx, formation, out),
            Event::Command(Command::Join { group, coordinator }) => {
                self.round = Round::Following { group, coordinator };
            }
            Event::Command(Command::Follow { group, coordinator }) => {
                self.round = Round::Entering { group, coordinator };
                self.enter(cx, out);
            }
            Event::Command(Command::Define { group, definition }) => {
                self.hand_out(cx, group, definition, out);
            }
        }
    }
}

impl Reorganization {
    /// A node whose application has been running under this definition, and whether it leads.
    #[must_use]
    pub const fn established(definition: Definition, leads: bool) -> Self {
        let definition = Some(definition);
        Self { gate: Gate::Open, round: Round::Idle, definition, leads, plans: 0 }
    }

    /// The definition that was last in force here.
    #[must_use]
    pub const fn definition(&self) -> Option<&Definition> {
        self.definition.as_ref()
    }

    /// Whether the application accepts operations (B-37, B-38).
    #[must_use]
    pub const fn is_accepting(&self) -> bool {
        match self.gate {
            Gate::Open => true,
            Gate::Stopping(_) | Gate::Stopped(_) | Gate::Yielding(_) => false,
        }
    }

    /// Whether the application is draining, or the leadership ending.
    #[must_use]
    pub const fn is_stopping(&self) -> bool {
        self.stopping().is_some()
    }

    /// What the application was told to end and has not ended yet, if anything.
    #[must_use]
    pub const fn stopping(&self) -> Option<Stopping> {
        match self.gate {
            Gate::Stopping(_) => Some(Stopping::Task),
            Gate::Yielding(_) => Some(Stopping::Leadership),
            Gate::Open | Gate::Stopped(_) => None,
        }
    }

    /// What the application was asked for and has not done.
    #[must_use]
    pub const fn owed(&self) -> Owed {
        Owed { stop: self.stopping(), plans: self.plans }
    }

    /// Whether the application has stopped and was not told to begin, and this node does not lead.
    #[must_use]
    pub const fn has_stopped(&self) -> bool {
        match self.gate {
            Gate::Stopped(_) => !self.leads,
            Gate::Open | Gate::Stopping(_) | Gate::Yielding(_) => false,
        }
    }

    /// The application has drained without an election that waits for it: the report is kept for
    /// the next one.
    pub(crate) fn keep(&mut self, report: Report) {
        let _ = self.drained(report);
        // A node that leaves is told to yield again if it still leads.
        if let Gate::Yielding(report) = &mut self.gate {
            self.gate = Gate::Stopped(core::mem::take(report));
        }
    }

    /// Abandons the group that was forming; the caller cancels the timer.
    pub(crate) fn give_up(&mut self) {
        self.round = Round::Idle;
    }

    fn stop(&mut self, out: &mut Effects<Self>) {
        self.round = Round::Idle;
        out.cancel_timer(Handover);
        match &self.gate {
            Gate::Open => {
                self.gate = Gate::Stopping(Then::Rest);
                out.notify(Notice::Stop);
            }
            Gate::Stopping(_) | Gate::Yielding(_) => {}
            // It has not run since it last stopped, so the report is still valid.
            Gate::Stopped(report) => out.notify(Notice::Stopped(report.clone())),
        }
    }

    /// Stops the application and ends the leadership, if there is one.
    fn yield_leadership(&mut self, cx: &Context<'_>, out: &mut Effects<Self>) {
        if !self.leads || cx.is_mutated(Mutant::KEEP_LEADING) {
            return self.stop(out);
        }
        self.round = Round::Idle;
        out.cancel_timer(Handover);
        match &mut self.gate {
            Gate::Open => {
                self.gate = Gate::Stopping(Then::HasYielded);
                out.notify(Notice::Yield);
            }
            Gate::Stopping(then) => {
                *then = match then {
                    Then::Rest | Then::Yield => Then::Yield,
                    Then::HasYielded => Then::HasYielded,
                }
            }
            Gate::Yielding(_) => {}
            Gate::Stopped(report) => {
                self.gate = Gate::Yielding(core::mem::take(report));
                out.notify(Notice::Yield);
            }
        }
    }

    /// The application has drained, or the leadership is over. What it handed up, if it has just
    /// stopped.
    fn drained(&mut self, report: Report) -> Option<Report> {
        match &mut self.gate {
            Gate::Stopping(then) => {
                self.leads &= *then != Then::HasYielded;
                self.gate = match then {
                    Then::Rest | Then::HasYielded => Gate::Stopped(report.clone()),
                    Then::Yield => Gate::Yielding(report.clone()),
                };
                Some(report)
            }
            Gate::Yielding(report) => {
                let report = core::mem::take(report);
                self.leads = false;
                self.gate = Gate::Stopped(report.clone());
                Some(report)
            }
            // An application that stops twice, or unasked, has nothing new to report.
            Gate::Open | Gate::Stopped(_) => None,
        }
    }

    fn stopped(&mut self, report: Report, out: &mut Effects<Self>) {
        let Some(report) = self.drained(report) else { return };
        match self.gate {
            Gate::Yielding(_) => out.notify(Notice::Yield),
            Gate::Open | Gate::Stopping(_) | Gate::Stopped(_) => {
                out.notify(Notice::Stopped(report));
            }
        }
    }

    fn enter(&mut self, cx: &Context<'_>, out: &mut Effects<Self>) {
        if let (Round::Entering { group, coordinator }, Gate::Stopped(_)) =
            (&self.round, &self.gate)
        {
            let members = [cx.me, *coordinator].into_iter().collect();
            self.open(cx, *group, *coordinator, members, Definition::default(), out);
        }
    }

    fn plan(&mut self, cx: &Context<'_>, formation: Formation, out: &mut Effects<Self>) {
        let mut members = formation.members.clone();
        members.insert(cx.me);
        let reports: Vec<_> = formation.reports.clone();
        out.notify(Notice::Plan { group: formation.group, members, reports });
        self.plans += 1;
        self.round = Round::Planning(formation);
    }

    fn hand_out(
        &mut self,
        cx: &Context<'_>,
        group: GroupNumber,
        definition: Definition,
        out: &mut Effects<Self>,
    ) {
        self.plans = self.plans.saturating_sub(1);
        // A plan for a group that was abandoned is ignored.
        let Round::Planning(formation) = &self.round else { return };
        if formation.group != group {
            return;
        }
        let formation = formation.clone();
        let mut all = formation.members.clone();
        all.insert(cx.me);
        for member in formation.members.iter() {
            out.send(
                member,
                Message::NewState { group, members: all.clone(), definition: definition.clone() },
            );
        }
        let awaiting = formation.members.clone();
        let is_alone = awaiting.is_empty();
        self.round = Round::Handing { formation, definition, awaiting, missing: NodeSet::new() };
        if is_alone {
            self.conclude(cx, out);
        } else {
            out.set_timer(Handover, cx.config.timing().answer());
        }
    }

    fn take(
        &mut self,
        cx: &Context<'_>,
        from: NodeId,
        group: GroupNumber,
        members: NodeSet,
        definition: Definition,
        out: &mut Effects<Self>,
    ) {
        let is_mine = match self.round {
            Round::Following { group: mine, coordinator } => {
                (group == mine || cx.is_mutated(Mutant::DEFINITION_OF_OTHER_GROUP))
                    && (from == coordinator || cx.is_mutated(Mutant::DEFINITION_FROM_STRANGER))
            }
            Round::Idle => {
                cx.is_mutated(Mutant::DEFINITION_FROM_STRANGER)
                    || (cx.is_mutated(Mutant::DEFINITION_IN_ELECTION) && !self.is_accepting())
            }
            Round::Planning(_) | Round::Handing { .. } | Round::Entering { .. } => false,
        };
        if is_mine {
            self.open(cx, group, from, members.clone(), definition, out);
            out.notify(Notice::Settled { missing: NodeSet::new(), members });
        }
        // Literal E-12: the answer leaves even though the request was ignored.
        let handover = cx.config.algorithm().descriptor().handover;
        let has_verdict =
            handover.is_none_or(|handover| (handover.has_verdict)(cx.config.options()));
        let ok = is_mine || !has_verdict;
        out.send(from, Message::NewStateAnswer { group, ok });
    }

    fn count(
        &mut self,
        cx: &Context<'_>,
        from: NodeId,
        group: GroupNumber,
        ok: bool,
        out: &mut Effects<Self>,
    ) {
        let Round::Handing { formation, awaiting, missing, .. } = &mut self.round else { return };
        if formation.group != group && !cx.is_mutated(Mutant::FORGET_GROUP_IN_ANSWER) {
            return;
        }
        if !awaiting.remove(from) {
            return;
        }
        if !ok {
            missing.insert(from);
        }
        if awaiting.is_empty() && !formation.waits_full {
            self.conclude(cx, out);
        }
    }

    fn conclude(&mut self, cx: &Context<'_>, out: &mut Effects<Self>) {
        let Round::Handing { formation, definition, awaiting, missing } = &self.round else {
            return;
        };
        let missing: NodeSet = missing.iter().chain(awaiting.iter()).collect();
        let (group, is_strict) = (formation.group, formation.is_strict);
        let mut members = formation.members.without(&missing);
        members.insert(cx.me);
        let definition = definition.clone();
        out.cancel_timer(Handover);
        self.round = Round::Idle;
        if is_strict && !missing.is_empty() {
            out.notify(Notice::Unsettled { missing });
        } else {
            self.open(cx, group, cx.me, members.clone(), definition, out);
            out.notify(Notice::Settled { missing, members });
        }
    }

    fn open(
        &mut self,
        cx: &Context<'_>,
        group: GroupNumber,
        coordinator: NodeId,
        members: NodeSet,
        definition: Definition,
        out: &mut Effects<Self>,
    ) {
        self.gate = Gate::Open;
        self.leads = coordinator == cx.me;
        self.round = Round::Idle;
        self.definition = Some(definition.clone());
        out.notify(Notice::Begin { group, coordinator, members, definition });
    }
}

pub(crate) const MESSAGES: &[MessageInfo] = &[
    MessageInfo::request(Kind::NewState, Topic::Handover),
    MessageInfo::answer(Kind::NsAnswer, Topic::Handover, &[Kind::NewState]),
    MessageInfo { is_awaited: true, ..MessageInfo::request(Kind::Ready, Topic::Handover) },
    MessageInfo::answer(Kind::ReadyAnswer, Topic::Handover, &[Kind::Ready]),
];

pub(crate) const TIMERS: &[TimerInfo] =
    &[TimerInfo::wait(TimerName::Handover, "gives up waiting for the hand-over")];

mutants! {
    /// EE_answer or Accept leaves before the application has stopped.
    ANSWER_BEFORE_STOPPING = "answer-before-stopping",
    /// A leader goes on leading although it follows another node.
    KEEP_LEADING = "keep-leading",
    /// A definition is taken from any node that sends one.
    DEFINITION_FROM_STRANGER = "definition-from-stranger",
    /// A definition is taken although the node is in Election again.
    DEFINITION_IN_ELECTION = "definition-in-election",
    /// A definition is taken for another group than the node's.
    DEFINITION_OF_OTHER_GROUP = "definition-of-other-group",
}
