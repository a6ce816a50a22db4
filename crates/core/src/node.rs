//! The layers wired together: one node, one [`Protocol`].
//!
//! ```text
//!   user            application, CLI, HTTP, hooks
//!   (mandate)       its place is here, between the user and reorganization
//!   reorganization  stop, reports up, definition down
//!   election        who coordinates whom
//!   detector        whom do we suspect
//! ```
//!
//! A layer's notice to its neighbour is handed over where it stands in the order of effects, so
//! "stop, then answer" holds across layers as well. What a layer answers is taken up when the layer
//! that spoke has finished its step.

use alloc::collections::VecDeque;

use crate::detector::{self, Detector, Silence};
use crate::election::{self, Algorithm, Election, Reports, Standing};
use crate::group::{Counter, GroupNumber};
use crate::members::{NodeId, NodeSet};
use crate::payload::{Definition, Report};
use crate::protocol::{Context, Effect, Effects, Event, Protocol};
use crate::reorganization::{self, Handover, Reorganization};
use crate::trace::{MessageFacts, NodeState, Outcome, TimerName};

/// A whole node.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Node {
    detector: Detector,
    election: Election,
    reorganization: Reorganization,
}

/// What nodes say to each other.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Message {
    /// The election's.
    Election(election::Message),
    /// The hand-over's.
    Reorganization(reorganization::Message),
}

impl Message {
    /// What a trace says of it.
    #[must_use]
    pub fn facts(&self, algorithm: Algorithm) -> MessageFacts {
        match self {
            Self::Election(message) => message.facts(),
            Self::Reorganization(message) => message.facts(algorithm),
        }
    }
}

/// A node's timers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Timer {
    /// The detector's.
    Detector(Silence),
    /// The election's.
    Election(election::Timer),
    /// The hand-over's.
    Reorganization(Handover),
}

impl Timer {
    /// What a trace calls it.
    #[must_use]
    pub fn name(&self) -> TimerName {
        match self {
            Self::Detector(Silence(_)) => TimerName::Silence,
            Self::Election(timer) => timer.name(),
            Self::Reorganization(Handover) => TimerName::Handover,
        }
    }
}

/// What the user and the driver tell a node.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Command {
    /// The application has drained; the answer to [`Notice::Stop`].
    Stopped(Report),
    /// The application has planned; the answer to [`Notice::Plan`].
    Define {
        /// The group that the plan is for.
        group: GroupNumber,
        /// The plan.
        definition: Definition,
    },
    /// Call an election now.
    Call,
    /// Check the other nodes now.
    Check,
    /// Take the coordinator for suspiciously silent now.
    SuspectCoordinator,
    /// The transport has evidence that this peer is dead.
    Refused(NodeId),
}

/// What a node tells its user.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Notice {
    /// Accept no further operation, drain, and answer with [`Command::Stopped`].
    Stop,
    /// This node coordinates; answer with [`Command::Define`].
    Plan {
        /// The new group.
        group: GroupNumber,
        /// Everybody in it.
        members: NodeSet,
        /// What everybody handed up.
        reports: Reports,
    },
    /// Work on under this definition.
    Begin {
        /// The group.
        group: GroupNumber,
        /// Its coordinator.
        coordinator: NodeId,
        /// Everybody in it.
        members: NodeSet,
        /// The state of the task.
        definition: Definition,
    },
    /// An election of this node's own began.
    Called,
    /// That election ended.
    Ended(Outcome),
}

impl Protocol for Node {
    type Message = Message;
    type Timer = Timer;
    type Record = Counter;
    type Command = Command;
    type Notice = Notice;

    fn start(cx: &mut Context<'_>, saved: Option<Counter>, out: &mut Effects<Self>) -> Self {
        let detector = Detector::start(cx, None, &mut Effects::new());
        let reorganization = Reorganization::start(cx, None, &mut Effects::new());
        let mut effects = Effects::new();
        let election = Election::start(cx, saved, &mut effects);
        let mut node = Self { detector, election, reorganization };
        node.route_election(cx, effects, out);
        node
    }

    fn step(&mut self, cx: &mut Context<'_>, event: Event<Self>, out: &mut Effects<Self>) {
        match event {
            Event::Message { from, message } => {
                self.tell_detector(cx, detector::Command::Heard(from), out);
                match message {
                    Message::Election(message) => {
                        self.tell_election(cx, Event::Message { from, message }, out);
                    }
                    Message::Reorganization(message) => {
                        self.tell_reorganization(cx, Event::Message { from, message }, out);
                    }
                }
            }
            Event::Timer(Timer::Detector(timer)) => {
                self.step_detector(cx, Event::Timer(timer), out);
            }
            Event::Timer(Timer::Election(timer)) => {
                self.tell_election(cx, Event::Timer(timer), out);
            }
            Event::Timer(Timer::Reorganization(timer)) => {
                self.tell_reorganization(cx, Event::Timer(timer), out);
            }
            Event::Command(command) => self.obey(cx, command, out),
        }
    }
}

impl Node {
    /// A node that has been a Normal member of a group for a while.
    pub fn standing(
        cx: &mut Context<'_>,
        saved: Counter,
        standing: &Standing,
        definition: Definition,
        out: &mut Effects<Self>,
    ) -> Self {
        let mut effects = Effects::new();
        let election = Election::standing(cx, saved, standing, &mut effects);
        let mut node = Self {
            detector: Detector::default(),
            election,
            reorganization: Reorganization::standing(definition),
        };
        node.route_election(cx, effects, out);
        node
    }

    /// The node's defining state.
    #[must_use]
    pub fn state(&self) -> NodeState {
        let view = self.election.view();
        NodeState {
            status: view.status,
            coordinator: view.coordinator,
            group: view.group,
            up: view.up.clone(),
            definition: self.reorganization.definition().cloned(),
        }
    }

    /// Whether the node's state is the given one, without building it.
    #[must_use]
    pub fn is_in(&self, state: &NodeState) -> bool {
        let view = self.election.view();
        view.status == state.status
            && view.coordinator == state.coordinator
            && view.group == state.group
            && *view.up == state.up
            && self.reorganization.definition() == state.definition.as_ref()
    }

    /// Whether the application may accept operations.
    #[must_use]
    pub const fn is_accepting(&self) -> bool {
        self.reorganization.is_accepting()
    }

    fn obey(&mut self, cx: &mut Context<'_>, command: Command, out: &mut Effects<Self>) {
        use reorganization::Command as Reorganize;
        match command {
            Command::Stopped(report) => {
                self.tell_reorganization(cx, Event::Command(Reorganize::Stopped(report)), out);
            }
            Command::Define { group, definition } => {
                let define = Reorganize::Define { group, definition };
                self.tell_reorganization(cx, Event::Command(define), out);
            }
            Command::Call => {
                self.tell_election(cx, Event::Command(election::Command::Call), out);
            }
            Command::Check => {
                self.tell_election(cx, Event::Command(election::Command::Check), out);
            }
            Command::SuspectCoordinator => {
                if let Some(coordinator) = self.election.view().coordinator {
                    let silent = election::Command::Silent(coordinator);
                    self.tell_election(cx, Event::Command(silent), out);
                }
            }
            Command::Refused(peer) => {
                self.tell_detector(cx, detector::Command::Refused(peer), out);
            }
        }
    }

    fn tell_detector(
        &mut self,
        cx: &mut Context<'_>,
        command: detector::Command,
        out: &mut Effects<Self>,
    ) {
        self.step_detector(cx, Event::Command(command), out);
    }

    fn step_detector(
        &mut self,
        cx: &mut Context<'_>,
        event: Event<Detector>,
        out: &mut Effects<Self>,
    ) {
        let mut effects = Effects::new();
        self.detector.step(cx, event, &mut effects);
        for effect in effects.drain() {
            match effect {
                Effect::Send { message, .. } => match message {},
                Effect::Save(record) => match record {},
                Effect::SetTimer { timer, after } => out.set_timer(Timer::Detector(timer), after),
                Effect::CancelTimer(timer) => out.cancel_timer(Timer::Detector(timer)),
                Effect::Notify(notice) => {
                    let command = match notice {
                        detector::Notice::Silent(peer) => election::Command::Silent(peer),
                        detector::Notice::Failed(peer) => election::Command::Failed(peer),
                    };
                    self.tell_election(cx, Event::Command(command), out);
                }
            }
        }
    }

    fn tell_election(
        &mut self,
        cx: &mut Context<'_>,
        event: Event<Election>,
        out: &mut Effects<Self>,
    ) {
        let mut effects = Effects::new();
        self.election.step(cx, event, &mut effects);
        self.route_election(cx, effects, out);
    }

    fn tell_reorganization(
        &mut self,
        cx: &mut Context<'_>,
        event: Event<Reorganization>,
        out: &mut Effects<Self>,
    ) {
        let mut answers = VecDeque::new();
        self.step_reorganization(cx, event, &mut answers, out);
        self.answer(cx, answers, out);
    }

    fn route_election(
        &mut self,
        cx: &mut Context<'_>,
        effects: Effects<Election>,
        out: &mut Effects<Self>,
    ) {
        let mut answers = VecDeque::new();
        self.carry(cx, effects, &mut answers, out);
        self.answer(cx, answers, out);
    }

    /// Lets the election take up what the other layers said to it, until nobody has more to say.
    fn answer(
        &mut self,
        cx: &mut Context<'_>,
        mut answers: VecDeque<election::Command>,
        out: &mut Effects<Self>,
    ) {
        while let Some(command) = answers.pop_front() {
            let mut effects = Effects::new();
            self.election.step(cx, Event::Command(command), &mut effects);
            self.carry(cx, effects, &mut answers, out);
        }
    }

    fn carry(
        &mut self,
        cx: &mut Context<'_>,
        mut effects: Effects<Election>,
        answers: &mut VecDeque<election::Command>,
        out: &mut Effects<Self>,
    ) {
        use reorganization::Command as Reorganize;
        for effect in effects.drain() {
            let notice = match effect {
                Effect::Send { to, message } => {
                    out.send(to, Message::Election(message));
                    continue;
                }
                Effect::SetTimer { timer, after } => {
                    out.set_timer(Timer::Election(timer), after);
                    continue;
                }
                Effect::CancelTimer(timer) => {
                    out.cancel_timer(Timer::Election(timer));
                    continue;
                }
                Effect::Save(counter) => {
                    out.save(counter);
                    continue;
                }
                Effect::Notify(notice) => notice,
            };
            let command = match notice {
                election::Notice::Stop => Reorganize::Stop,
                election::Notice::Formed(formation) => Reorganize::Form(formation),
                election::Notice::Joined { group, coordinator } => {
                    Reorganize::Join { group, coordinator }
                }
                election::Notice::Followed { group, coordinator } => {
                    Reorganize::Follow { group, coordinator }
                }
                election::Notice::Watch(peers) => {
                    self.tell_detector(cx, detector::Command::Watch(peers), out);
                    continue;
                }
                election::Notice::Called => {
                    out.notify(Notice::Called);
                    continue;
                }
                election::Notice::Ended(outcome) => {
                    out.notify(Notice::Ended(outcome));
                    continue;
                }
            };
            self.step_reorganization(cx, Event::Command(command), answers, out);
        }
    }

    fn step_reorganization(
        &mut self,
        cx: &mut Context<'_>,
        event: Event<Reorganization>,
        answers: &mut VecDeque<election::Command>,
        out: &mut Effects<Self>,
    ) {
        use reorganization::Notice as Told;
        let mut effects = Effects::new();
        self.reorganization.step(cx, event, &mut effects);
        for effect in effects.drain() {
            match effect {
                Effect::Send { to, message } => out.send(to, Message::Reorganization(message)),
                Effect::Save(record) => match record {},
                Effect::SetTimer { timer, after } => {
                    out.set_timer(Timer::Reorganization(timer), after);
                }
                Effect::CancelTimer(timer) => out.cancel_timer(Timer::Reorganization(timer)),
                Effect::Notify(Told::Stop) => out.notify(Notice::Stop),
                Effect::Notify(Told::Plan { group, members, reports }) => {
                    out.notify(Notice::Plan { group, members, reports });
                }
                Effect::Notify(Told::Begin { group, coordinator, members, definition }) => {
                    out.notify(Notice::Begin { group, coordinator, members, definition });
                }
                Effect::Notify(Told::Stopped(report)) => {
                    answers.push_back(election::Command::Stopped(report));
                }
                Effect::Notify(Told::Settled { missing, members }) => {
                    answers.push_back(election::Command::Settled { missing, members });
                }
                Effect::Notify(Told::Unsettled { missing }) => {
                    answers.push_back(election::Command::Unsettled { missing });
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::{String, ToString};
    use alloc::vec::Vec;

    use super::*;
    use crate::election::{bully, bully_lecture, invitation};
    use crate::group::Status;
    use crate::testing::{Bench, NOTHING, group_of, nodes, number};

    /// A node that has long worked in group 1 of the highest of three.
    fn standing(algorithm: Algorithm, me: u32) -> Bench<Node> {
        let members = nodes([1, 2, 3]);
        let standing = Standing { group: number(1, 3), coordinator: NodeId(3), members };
        Bench::begun(group_of(algorithm, 3, &[]), me, |cx, out| {
            Node::standing(cx, Counter(1), &standing, Definition::from("old"), out)
        })
    }

    fn bully(message: bully::Message) -> Message {
        Message::Election(election::Message::Bully(message))
    }

    fn enter_election() -> Message {
        bully(bully::Message::EnterElection { group: number(2, 3), appoints: false })
    }

    fn define(group: GroupNumber) -> Command {
        Command::Define { group, definition: Definition::from("new") }
    }

    fn without_timers(lines: Vec<String>) -> Vec<String> {
        let is_timer = |line: &String| line.starts_with("set ") || line.starts_with("cancel ");
        lines.into_iter().filter(|line| !is_timer(line)).collect()
    }

    #[test]
    fn a_bully_member_is_led_through_all_four_states() {
        let mut bench = standing(Algorithm::Bully, 1);
        assert!(bench.machine.is_accepting());

        assert_eq!(without_timers(bench.hear(3, enter_election())), ["stop"]);
        assert!(!bench.machine.is_accepting());
        assert_eq!(bench.machine.state().status, Status::Election);

        let lines = bench.tell(Command::Stopped(Report::from("half")));
        assert_eq!(lines, ["send n3 EE_answer 2.n3 yes half"]);
        let set = bully(bully::Message::SetCoordinator { group: number(2, 3) });
        let lines = without_timers(bench.hear(3, set));
        assert_eq!(lines, ["send n3 SC_answer 2.n3 yes"]);
        assert_eq!(bench.machine.state().status, Status::Reorganization);
        assert!(!bench.machine.is_accepting());

        let new_state = reorganization::Message::NewState {
            group: number(2, 3),
            members: nodes([1, 3]),
            definition: Definition::from("new"),
        };
        let lines = without_timers(bench.hear(3, Message::Reorganization(new_state)));
        let begin = "begin 2.n3 under n3 of {n1 n3}: new";
        assert_eq!(lines, [begin, "send n3 NS_answer 2.n3 yes"]);
        let state = bench.machine.state();
        assert!(bench.machine.is_accepting());
        assert_eq!(state.status, Status::Normal);
        assert_eq!(state.coordinator, Some(NodeId(3)));
        assert_eq!(state.up, nodes([3]));
        assert_eq!(state.definition, Some(Definition::from("new")));
        assert!(bench.machine.is_in(&state));
    }

    #[test]
    fn no_operation_is_accepted_once_the_stop_was_acknowledged() {
        for (algorithm, request, answer) in [
            (Algorithm::Bully, enter_election(), "send n3 EE_answer 2.n3 yes"),
            (
                Algorithm::Invitation,
                Message::Election(election::Message::Invitation(
                    invitation::Message::Invitation { group: number(2, 3) },
                )),
                "send n3 Accept 2.n3",
            ),
        ] {
            let mut bench = standing(algorithm, 1);
            let lines = bench.hear(3, request);
            assert!(!lines.iter().any(|line| line == answer), "{lines:?}");
            assert!(!bench.machine.is_accepting());
            let lines = bench.tell(Command::Stopped(Report::default()));
            assert!(lines.iter().any(|line| line == answer), "{lines:?}");
            assert!(!bench.machine.is_accepting());
        }
    }

    #[test]
    fn a_node_that_comes_up_has_nothing_to_stop() {
        let bench = Bench::<Node>::coming_up(group_of(Algorithm::Bully, 1, &[]), 1, None);
        assert_eq!(bench.began, ["called", "save 1", "plan 1.n1 for {n1}"]);
        assert!(!bench.machine.is_accepting());
    }

    #[test]
    fn a_lone_node_begins_when_its_application_has_planned() {
        for algorithm in [Algorithm::Bully, Algorithm::Invitation] {
            let mut bench = Bench::<Node>::coming_up(group_of(algorithm, 1, &[]), 1, None);
            let lines = without_timers(bench.tell(define(number(1, 1))));
            assert_eq!(lines, ["begin 1.n1 under n1 of {n1}: new", "ended Won"]);
            assert_eq!(bench.machine.state().status, Status::Normal);
            assert!(bench.machine.is_accepting());
        }
    }

    #[test]
    fn a_lecture_node_works_without_a_definition() {
        let mut bench = standing(Algorithm::BullyLecture, 1);
        let number = number(2, 3);
        let coordinator = bully_lecture::Message::Coordinator { number, replaces: None };
        bench.hear(3, Message::Election(election::Message::BullyLecture(coordinator)));
        let state = bench.machine.state();
        assert_eq!((state.status, state.coordinator), (Status::Normal, Some(NodeId(3))));
        assert_eq!(state.definition, Some(Definition::default()));
        assert!(bench.machine.is_accepting());
    }

    #[test]
    fn every_message_of_the_coordinator_is_a_sign_of_life() {
        let mut bench = standing(Algorithm::Bully, 1);
        assert_eq!(bench.began, ["set silence 515ms"]);
        let ask = || bully(bully::Message::AreYouNormal);
        assert_eq!(bench.hear(3, ask())[0], "set silence 515ms");
        assert_eq!(bench.hear(2, ask()), ["send n2 AYN_answer 1.n3 yes"]);
    }

    #[test]
    fn a_coordinator_that_falls_silent_is_probed() {
        let mut bench = standing(Algorithm::Bully, 1);
        let lines = bench.ring(Timer::Detector(Silence(NodeId(3))));
        assert_eq!(lines[1..], ["send n3 AreYouUp", "set answers 25ms"]);
        let mut suspected = standing(Algorithm::Bully, 1);
        assert_eq!(suspected.tell(Command::SuspectCoordinator)[0], "send n3 AreYouUp");
    }

    #[test]
    fn a_refused_connection_is_evidence() {
        let mut bench = standing(Algorithm::Bully, 2);
        assert_eq!(bench.tell(Command::Refused(NodeId(3)))[0], "called");
        assert_eq!(standing(Algorithm::Bully, 2).tell(Command::Refused(NodeId(1))), NOTHING);
    }

    #[test]
    fn a_message_of_another_algorithm_is_not_understood() {
        let mut bench = standing(Algorithm::Bully, 1);
        let stray = bully_lecture::Message::Election;
        let stray = Message::Election(election::Message::BullyLecture(stray));
        assert_eq!(bench.hear(2, stray), NOTHING);
    }

    #[test]
    fn the_hand_over_is_called_as_its_source_calls_it() {
        let answer = reorganization::Message::NewStateAnswer { group: number(1, 1), ok: true };
        let kind = |algorithm| answer.facts(algorithm).kind.to_string();
        assert_eq!(kind(Algorithm::Bully), "NS_answer");
        assert_eq!(kind(Algorithm::Invitation), "Ready_answer");
    }
}
