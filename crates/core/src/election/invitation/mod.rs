//! Garcia-Molina's invitation algorithm (listings 10.22 to 10.28).
//!
//! Every node belongs to one group. A coordinator looks for other coordinators and invites their
//! groups, and its own, into a new group with a new number; a node that loses its coordinator forms
//! a group of one, or invites the other members of its old group.
//!
//! ```text
//! coordinator  Idle --Check--> Checking --others--> Delaying --> Merging --> HandingOver --> Idle
//!              Normal                                            Election   Reorganization Normal
//!
//! participant  Idle --Invitation--> Stopping --Accept--> Accepting --Accept_answer, Ready--> Idle
//!              Normal               Election             Reorganization                    Normal
//!
//! any node     --coordinator failed, Accept refused, or restart--> Recovering (alone) --> Idle
//! ```
//!
//! Assumes only that the counter on disk survives (F-01): messages may be delayed, lost, duplicated
//! and reordered, and the network may be partitioned (F-14). Leaves out: Ready and its answer,
//! which are [`crate::reorganization`]'s. Processing halts in a group when the invitation reaches
//! it, not when the merge begins elsewhere (E-29).

mod failure;
mod invited;
mod merging;
mod message;
mod options;
mod precedence;
mod search;
mod succession;
#[cfg(test)]
mod tests;

use alloc::vec;
use alloc::vec::Vec;
use core::time::Duration;

pub use message::Message;
pub use options::{
    CounterRule, Joining, MergeWait, OPTIONS, Options, Policy, RecoveryRule, Reinvite, SilenceRule,
    Strangers, Waits,
};
pub use precedence::Standing;

use super::{Command, ElectionAlgorithm, EstablishedGroup, Notice, Reports, View, advance_to};
use crate::election::descriptor::{
    Adjustable, Descriptor, Groups, Handover, MessageInfo, Model, Network, TimerInfo, Topic, rows,
};
use crate::group::{Counter, GroupNumber, Status};
use crate::membership::{NodeId, NodeSet};
use crate::mutant::mutants;
use crate::policy::{Preempt, PreemptError, PriorityError};
use crate::protocol::{Context, Effects, Event, Protocol};
use crate::timing::Timing;
use crate::trace::{Contents, Kind, MessageFacts, TimerName};

/// A node that runs the invitation algorithm.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Invitation {
    status: Status,
    coordinator: NodeId,
    group: GroupNumber,
    up: NodeSet,
    counter: Counter,
    task: Task,
    /// Whether this node coordinates an established group, and keeps that when groups meet
    /// (`precedence.rs`).
    leads: bool,
}

/// The procedure that a node is executing; each has at most one wait.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Task {
    Idle,
    /// Check has asked every other node whether it coordinates a group.
    Checking {
        awaiting: NodeSet,
        others: NodeSet,
        heard: Heard,
    },
    /// Other coordinators were found; higher ones get the chance to merge first.
    Delaying {
        others: NodeSet,
    },
    /// Invitations are in flight.
    Merging(Merge),
    /// The definition is on its way to the members.
    HandingOver,
    /// Timeout has asked the coordinator AreYouThere.
    Probing,
    /// The coordinator is gone; higher members get the chance to re-invite first.
    Regrouping,
    /// An invitation was accepted; the application is stopping.
    Stopping {
        group: GroupNumber,
        forwarded: NodeSet,
    },
    /// Accept was sent; its answer is awaited.
    Accepting,
    /// A group of one is forming.
    Recovering {
        /// Literal E-22b: Status is set to Reorganization once more afterwards.
        is_stuck_after: bool,
    },
}

/// What the answers to a check say, apart from who coordinates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Heard {
    /// No node has answered yet.
    Nothing,
    /// A node has answered, and no coordinator takes precedence over this node.
    Answers,
    /// A coordinator takes precedence over this node.
    Superior,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Merge {
    /// Nodes that were invited, directly or through their old coordinator, and have not answered.
    awaiting: NodeSet,
    reports: Reports,
    /// This node's own application has stopped.
    has_stopped: bool,
    /// The wait for further accepts is over.
    is_over: bool,
}

/// Timers, named for what they end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Timer {
    /// The wait for answers of the current task.
    Answers,
    /// The time between two checks.
    Check,
    /// The time between two AreYouThere.
    Timeout,
    /// The pause before a merge or a re-invitation.
    Delay,
}

impl Protocol for Invitation {
    type Message = Message;
    type Timer = Timer;
    type Record = Counter;
    type Command = Command;
    type Notice = Notice;

    /// After restart or first installation: Recovery (I-31).
    fn start(cx: &mut Context<'_>, saved: Option<Counter>, out: &mut Effects<Self>) -> Self {
        let counter = saved.unwrap_or_default();
        let mut node = Self {
            status: Status::Down,
            coordinator: cx.me,
            group: counter.group(cx.me),
            up: NodeSet::new(),
            counter,
            task: Task::Idle,
            leads: false,
        };
        node.recover(cx, out);
        node
    }

    fn step(&mut self, cx: &mut Context<'_>, event: Event<Self>, out: &mut Effects<Self>) {
        match event {
            Event::Message { from, message } => self.on_message(cx, from, message, out),
            Event::Timer(Timer::Answers) => self.give_up_waiting(cx, out),
            Event::Timer(Timer::Check) => self.check_again(cx, out),
            Event::Timer(Timer::Timeout) => self.timeout_again(cx, out),
            Event::Timer(Timer::Delay) => self.end_delay(cx, out),
            Event::Command(command) => self.on_command(cx, command, out),
        }
    }
}

impl Invitation {
    /// Requests go to the monitor of listing 10.28 and the handler of 10.27, answers to the
    /// procedure that waits for them.
    fn on_message(
        &mut self,
        cx: &mut Context<'_>,
        from: NodeId,
        message: Message,
        out: &mut Effects<Self>,
    ) {
        match message {
            Message::AreYouCoordinator { standing } => {
                self.asked_for_coordinator(cx, from, standing.unwrap_or_default(), out);
            }
            Message::AycAnswer { is_coordinator, coordinator: _, standing } => {
                self.found(cx, from, is_coordinator, standing.unwrap_or_default(), out);
            }
            Message::AreYouThere { group } => {
                let ok = group == self.group && self.coordinator == cx.me && self.up.contains(from)
                    || self.pretends(cx);
                out.send(from, Message::AytAnswer { group, ok });
            }
            Message::AytAnswer { group, ok } => {
                self.on_coordinator_answer(cx, from, group, ok, out)
            }
            Message::Invitation { group, standing } => self.invited(cx, from, group, standing, out),
            Message::Accept { group, report, forwarded } => {
                self.count_accept(cx, from, group, report, &forwarded, out);
            }
            Message::AcceptAnswer { group, ok } => self.accepted(cx, from, group, ok, out),
        }
    }

    fn on_command(&mut self, cx: &mut Context<'_>, command: Command, out: &mut Effects<Self>) {
        match command {
            Command::Stopped(report) => self.stopped(cx, report, out),
            Command::Settled { missing, members } => self.settled(cx, &missing, members, out),
            // I-40: a member that took the definition learns by AreYouThere that the group is
            // dissolved.
            Command::Unsettled { missing: _ } => self.recover(cx, out),
            Command::Silent(peer) if peer == self.coordinator => self.timeout(cx, out),
            Command::Silent(peer) => self.member_silent(cx, peer, out),
            Command::Failed(peer) => self.failed(cx, peer, out),
            Command::Succeed(peer) => self.succeed(cx, peer, out),
            Command::Suspect => self.timeout(cx, out),
            Command::AdvanceTo(seen) => advance_to(&mut self.counter, seen, out),
            Command::Call | Command::Check => {
                if self.coordinator == cx.me {
                    self.check(cx, out);
                } else {
                    self.timeout(cx, out);
                }
            }
        }
    }

    fn give_up_waiting(&mut self, cx: &mut Context<'_>, out: &mut Effects<Self>) {
        match self.task {
            Task::Checking { .. } => self.conclude_check(cx, out),
            Task::Merging(_) => self.end_of_merge_wait(cx, out),
            Task::Probing => self.lose_coordinator(cx, out),
            // I-47: no Accept_answer in time counts as a refusal.
            Task::Accepting => self.refused(cx, out),
            Task::Idle
            | Task::Delaying { .. }
            | Task::HandingOver
            | Task::Regrouping
            | Task::Stopping { .. }
            | Task::Recovering { .. } => {}
        }
    }
}

impl ElectionAlgorithm for Invitation {
    fn established(
        cx: &mut Context<'_>,
        saved: Counter,
        established: &EstablishedGroup,
        out: &mut Effects<Self>,
    ) -> Self {
        let mut up = established.members.clone();
        up.remove(cx.me);
        let node = Self {
            status: Status::Normal,
            coordinator: established.coordinator,
            group: established.group,
            up,
            counter: saved,
            task: Task::Idle,
            leads: established.coordinator == cx.me && cx.config.preempt().is_sticky(),
        };
        node.watch(cx, out);
        if node.coordinator == cx.me {
            out.set_timer(Timer::Check, cx.config.timing().check_every());
        } else {
            out.set_timer(Timer::Timeout, cx.config.timing().timeout_every());
        }
        node
    }

    fn view(&self) -> View<'_> {
        View {
            status: self.status,
            coordinator: Some(self.coordinator),
            group: Some(self.group),
            up: &self.up,
        }
    }

    fn counter(&self) -> Counter {
        self.counter
    }

    fn timers(_: &Context<'_>) -> Vec<Timer> {
        vec![Timer::Answers, Timer::Check, Timer::Timeout, Timer::Delay]
    }

    fn period(timer: &Timer, timing: &Timing) -> Option<Duration> {
        match timer {
            Timer::Check => Some(timing.check_every()),
            Timer::Timeout => Some(timing.timeout_every()),
            Timer::Answers | Timer::Delay => None,
        }
    }

    fn highest_counter(message: &Message) -> Counter {
        match message {
            Message::AreYouCoordinator { .. } | Message::AycAnswer { .. } => Counter::default(),
            Message::AreYouThere { group }
            | Message::AytAnswer { group, .. }
            | Message::Invitation { group, .. }
            | Message::Accept { group, .. }
            | Message::AcceptAnswer { group, .. } => Counter(group.counter),
        }
    }

    fn facts(message: &Message) -> MessageFacts {
        let about = |kind, group, ok| MessageFacts::new(kind, Some(group), ok);
        match message {
            Message::AreYouCoordinator { .. } => {
                MessageFacts::new(Kind::AreYouCoordinator, None, None)
            }
            Message::AycAnswer { is_coordinator, .. } => {
                MessageFacts::new(Kind::AycAnswer, None, Some(*is_coordinator))
            }
            Message::AreYouThere { group } => about(Kind::AreYouThere, *group, None),
            Message::AytAnswer { group, ok } => about(Kind::AytAnswer, *group, Some(*ok)),
            Message::Invitation { group, .. } => about(Kind::Invitation, *group, None),
            Message::Accept { group, .. } => about(Kind::Accept, *group, None),
            Message::AcceptAnswer { group, ok } => about(Kind::AcceptAnswer, *group, Some(*ok)),
        }
    }

    fn contents(message: &Message) -> Contents {
        match message {
            Message::AycAnswer { coordinator, .. } => Contents::coordinator(*coordinator),
            Message::Invitation { group, .. } => Contents::coordinator(group.node),
            Message::Accept { group, forwarded, .. } => {
                let list = forwarded.iter().collect();
                Contents { list, ..Contents::coordinator(group.node) }
            }
            Message::AreYouCoordinator { .. }
            | Message::AreYouThere { .. }
            | Message::AytAnswer { .. }
            | Message::AcceptAnswer { .. } => Contents::default(),
        }
    }

    fn timer_name(timer: &Timer) -> TimerName {
        match timer {
            Timer::Answers => TimerName::Answers,
            Timer::Check => TimerName::Check,
            Timer::Timeout => TimerName::Timeout,
            Timer::Delay => TimerName::Delay,
        }
    }

    #[cfg(test)]
    fn examples() -> Vec<Message> {
        use crate::testing;
        let group = testing::number(7, 3);
        let (report, ok) = (crate::payload::Report::from("half done"), true);
        let standing = Some(Standing { leads: Some(300), priority: Some(7) });
        vec![
            Message::AreYouCoordinator { standing },
            Message::AreYouCoordinator { standing: None },
            Message::AycAnswer { is_coordinator: false, coordinator: group.node, standing },
            Message::AreYouThere { group },
            Message::AytAnswer { group, ok },
            Message::Invitation { group, standing },
            Message::Accept { group, report, forwarded: testing::nodes([4, 5]) },
            Message::AcceptAnswer { group, ok },
        ]
    }
}

/// The facts about the invitation algorithm.
pub const DESCRIPTOR: Descriptor = Descriptor {
    name: "invitation",
    source: "Garcia-Molina 1982, as in Chow and Johnson 1997, listings 10.22 to 10.28",
    guarantee: "assertions 3 and 4: one coordinator and one definition per group number, which is \
                never reused; nodes that can all reach each other end in one group. Several \
                groups may exist at once",
    summary: "one coordinator per group number; groups merge after a partition",
    network: Network::Partitions,
    model: Model::Asynchronous,
    groups: Groups::PerComponent,
    handover: Some(Handover::READY),
    adjustable: Some(Adjustable {
        priorities: Some(may_change_priorities),
        preempt: may_keep_leading,
    }),
    options: OPTIONS,
    messages: MESSAGES,
    timers: TIMERS,
    mutants: &[MUTANTS, precedence::MUTANTS],
};

/// With the policies `precedence` and `delay` a priority only decides how long a node waits before
/// it merges other groups. With the other policies two nodes that know different priorities may each leave the
/// merge to the other (fuzz seed `invitation` 325).
const fn may_change_priorities(options: &crate::options::Options) -> Result<(), PriorityError> {
    match options.invitation.policy {
        Policy::Precedence | Policy::Delay => Ok(()),
        Policy::IgnoreLower | Policy::Prompted | Policy::OnlyLower => {
            Err(PriorityError::NobodyMerges)
        }
    }
}

/// An established coordinator can keep leading only where a lower coordinator may merge the group
/// of a higher one.
const fn may_keep_leading(
    options: &crate::options::Options,
    preempt: Preempt,
) -> Result<(), PreemptError> {
    let options = options.invitation;
    match (options.policy, preempt, options.waits, options.reinvite) {
        (Policy::IgnoreLower | Policy::Prompted | Policy::OnlyLower, ..) => {
            Err(PreemptError::HigherMerges)
        }
        (Policy::Precedence | Policy::Delay, Preempt::Always | Preempt::Never, ..)
        | (Policy::Precedence | Policy::Delay, Preempt::After(_), Waits::Early, Reinvite::On) => {
            Ok(())
        }
        (Policy::Precedence | Policy::Delay, Preempt::After(_), ..) => {
            Err(PreemptError::NobodyTakesOver)
        }
    }
}

pub(crate) const MESSAGES: &[MessageInfo] = &[
    MessageInfo::request(Kind::AreYouCoordinator, Topic::Discovery),
    MessageInfo::answer(Kind::AycAnswer, Topic::Discovery, &[Kind::AreYouCoordinator]),
    MessageInfo::request(Kind::AreYouThere, Topic::Liveness),
    MessageInfo::answer(Kind::AytAnswer, Topic::Liveness, &[Kind::AreYouThere]),
    MessageInfo {
        forms_group: true,
        is_forwarded: true,
        ..MessageInfo::request(Kind::Invitation, Topic::Election)
    },
    MessageInfo {
        answers: &[Kind::Invitation],
        is_awaited: true,
        promises_stop: true,
        ..MessageInfo::request(Kind::Accept, Topic::Announcement)
    },
    MessageInfo::answer(Kind::AcceptAnswer, Topic::Announcement, &[Kind::Accept]),
];

pub(crate) const TIMERS: &[TimerInfo] = &[
    rows::ANSWERS,
    rows::CHECK,
    TimerInfo::drawn(TimerName::Timeout, "asks its coordinator, as it does every period"),
    TimerInfo::new(TimerName::Delay, "has waited for those of higher rank to begin"),
];

mutants! {
    /// Invitation: a node that accepts an invitation keeps the number of its old group.
    KEEP_OLD_GROUP = "keep-old-group",
    /// Invitation: Accept is confirmed for any group.
    ACCEPT_ANY_GROUP = "accept-any-group",
    /// Invitation: Ready answers are counted whatever group they name.
    FORGET_GROUP_IN_ANSWER = "forget-group-in-answer",
    /// Invitation: a participant never asks AreYouThere.
    NEVER_ASK_COORDINATOR = "never-ask-coordinator",
    /// Invitation: a coordinator that joins another group does not forward the invitation, and the
    /// members it leaves always get True from AreYouThere.
    ABANDON_MEMBERS = "abandon-members",
    /// Invitation: a coordinator never invites the others that it found.
    MERGE_NOBODY = "merge-nobody",
}
