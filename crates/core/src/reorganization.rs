//! Stop everybody, collect reports, hand out the definition: once for all algorithms.
//!
//! The listings' New_State and Ready rounds are the same thing. The election says when to stop and
//! whom this node coordinates or follows; the application stops, reports, plans and begins.
//!
//! ```text
//!   gate      Open --Stop--> Stopping --Stopped(report)--> Stopped --Begin--> Open
//!   round     Idle --Formed--> Planning --Definition--> Handing --all ok--> Idle   (coordinator)
//!             Idle --Joined--> Following --New_State of that group--> Idle         (participant)
//! ```
//!
//! Assumes that the election layer has saved a group's number before it is named here. Leaves out:
//! who is elected, and what a report or a definition means.

use alloc::vec::Vec;

use crate::detector::timeout::NoRecord;
use crate::election::{Algorithm, Formation, Reports, bully};
use crate::group::GroupNumber;
use crate::members::{NodeId, NodeSet};
use crate::mutant::Mutant;
use crate::payload::{Definition, Report};
use crate::protocol::{Context, Effects, Event, Protocol};
use crate::trace::{Kind, MessageFacts};

/// The layer's state.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Reorganization {
    gate: Gate,
    round: Round,
    definition: Option<Definition>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Gate {
    /// The application works under the definition.
    Open,
    /// No operation is accepted; the application drains.
    Stopping,
    /// The application has stopped and this is what it handed up.
    Stopped(Report),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Round {
    Idle,
    /// The coordinator's application is thinking.
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

/// Messages of the hand-over: New_State and NS_answer, or Ready and Ready_answer.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Message {
    /// Here is the definition of the group, and who is in it.
    NewState {
        /// Which group.
        group: GroupNumber,
        /// Everybody in it, the coordinator included.
        members: NodeSet,
        /// The state of the task.
        definition: Definition,
    },
    /// The definition was taken, or refused.
    NewStateAnswer {
        /// Echoed, so that an answer is matched with its question (E-13, E-25).
        group: GroupNumber,
        /// Whether it was taken (E-12, E-23).
        ok: bool,
    },
}

impl Message {
    /// What a trace says of it, in the words of the algorithm's source.
    #[must_use]
    pub fn facts(&self, algorithm: Algorithm) -> MessageFacts {
        let (question, answer) = match algorithm {
            Algorithm::Bully | Algorithm::BullyLecture => (Kind::NewState, Kind::NsAnswer),
            Algorithm::Invitation => (Kind::Ready, Kind::ReadyAnswer),
        };
        match self {
            Self::NewState { group, .. } => {
                MessageFacts { kind: question, group: Some(*group), ok: None }
            }
            Self::NewStateAnswer { group, ok } => {
                MessageFacts { kind: answer, group: Some(*group), ok: Some(*ok) }
            }
        }
    }
}

/// Ends the coordinator's wait for answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Handover;

/// What this layer is told, by the election below and the application above.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Command {
    /// The election wants the computation stopped.
    Stop,
    /// The election made this node a coordinator.
    Form(Formation),
    /// The election made this node a participant.
    Join {
        /// In which group.
        group: GroupNumber,
        /// Under whom.
        coordinator: NodeId,
    },
    /// The election settled on a coordinator that hands out no definition (E-08).
    Follow {
        /// In which group.
        group: GroupNumber,
        /// Under whom.
        coordinator: NodeId,
    },
    /// The application has drained.
    Stopped(Report),
    /// The application has planned for this group.
    Define {
        /// Which group the plan is for.
        group: GroupNumber,
        /// The plan.
        definition: Definition,
    },
}

/// What this layer tells.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Notice {
    /// To the application: close the gate and drain.
    Stop,
    /// To the application: plan from these reports.
    Plan {
        /// For this group.
        group: GroupNumber,
        /// Everybody in it, the coordinator included.
        members: NodeSet,
        /// What everybody handed up.
        reports: Reports,
    },
    /// To the application: the gate is open.
    Begin {
        /// In which group.
        group: GroupNumber,
        /// Under whom.
        coordinator: NodeId,
        /// Everybody in it.
        members: NodeSet,
        /// The state of the task.
        definition: Definition,
    },
    /// To the election: the application has stopped.
    Stopped(Report),
    /// To the election: the group has its definition; these are left out.
    Settled {
        /// Members that did not take it.
        missing: NodeSet,
        /// Everybody in the group, as the coordinator told it.
        members: NodeSet,
    },
    /// To the election: these members did not take the definition.
    Unsettled {
        /// Who they are.
        missing: NodeSet,
    },
}

impl Protocol for Reorganization {
    type Message = Message;
    type Timer = Handover;
    type Record = NoRecord;
    type Command = Command;
    type Notice = Notice;

    fn start(_: &mut Context<'_>, _: Option<NoRecord>, _: &mut Effects<Self>) -> Self {
        // A node that has just come up has nothing running and nothing to report.
        Self { gate: Gate::Stopped(Report::default()), round: Round::Idle, definition: None }
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
    /// A node whose application has been running under this definition.
    #[must_use]
    pub const fn standing(definition: Definition) -> Self {
        Self { gate: Gate::Open, round: Round::Idle, definition: Some(definition) }
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
            Gate::Stopping | Gate::Stopped(_) => false,
        }
    }

    fn stop(&mut self, out: &mut Effects<Self>) {
        self.round = Round::Idle;
        out.cancel_timer(Handover);
        match &self.gate {
            Gate::Open => {
                self.gate = Gate::Stopping;
                out.notify(Notice::Stop);
            }
            Gate::Stopping => {}
            // It has not run since it last stopped, so the report still stands.
            Gate::Stopped(report) => out.notify(Notice::Stopped(report.clone())),
        }
    }

    fn stopped(&mut self, report: Report, out: &mut Effects<Self>) {
        match self.gate {
            Gate::Stopping => {
                self.gate = Gate::Stopped(report.clone());
                out.notify(Notice::Stopped(report));
            }
            // An application that stops twice, or unasked, has nothing new to say.
            Gate::Open | Gate::Stopped(_) => {}
        }
    }

    fn enter(&mut self, cx: &Context<'_>, out: &mut Effects<Self>) {
        if let (Round::Entering { group, coordinator }, Gate::Stopped(_)) = (&self.round, &self.gate)
        {
            let members = [cx.me, *coordinator].into_iter().collect();
            self.open(*group, *coordinator, members, Definition::default(), out);
        }
    }

    fn plan(&mut self, cx: &Context<'_>, formation: Formation, out: &mut Effects<Self>) {
        let mut members = formation.members.clone();
        members.insert(cx.me);
        let reports: Vec<_> = formation.reports.clone();
        out.notify(Notice::Plan { group: formation.group, members, reports });
        self.round = Round::Planning(formation);
    }

    fn hand_out(
        &mut self,
        cx: &Context<'_>,
        group: GroupNumber,
        definition: Definition,
        out: &mut Effects<Self>,
    ) {
        // A plan that comes after its group was given up is for nobody.
        let Round::Planning(formation) = &self.round else { return };
        if formation.group != group {
            return;
        }
        let formation = formation.clone();
        let mut everybody = formation.members.clone();
        everybody.insert(cx.me);
        for member in formation.members.iter() {
            out.send(
                member,
                Message::NewState {
                    group,
                    members: everybody.clone(),
                    definition: definition.clone(),
                },
            );
        }
        let awaiting = formation.members.clone();
        let nobody = awaiting.is_empty();
        self.round = Round::Handing { formation, definition, awaiting, missing: NodeSet::new() };
        if nobody {
            self.conclude(cx, out);
        } else {
            out.set_timer(Handover, cx.config.timing.answer());
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
                (group == mine || cx.is_mutated(Mutant::DefinitionOfOtherGroup))
                    && (from == coordinator || cx.is_mutated(Mutant::DefinitionFromStranger))
            }
            Round::Idle => {
                cx.is_mutated(Mutant::DefinitionFromStranger)
                    || (cx.is_mutated(Mutant::DefinitionInElection) && !self.is_accepting())
            }
            Round::Planning(_) | Round::Handing { .. } | Round::Entering { .. } => false,
        };
        if is_mine {
            self.open(group, from, members.clone(), definition, out);
            out.notify(Notice::Settled { missing: NodeSet::new(), members });
        }
        // Literal E-12: the answer leaves even though the request was ignored.
        let ok = is_mine
            || (cx.config.algorithm == Algorithm::Bully
                && cx.config.options.bully.answers == bully::Answers::Literal);
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
        if formation.group != group && !cx.is_mutated(Mutant::ForgetGroupInAnswer) {
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
            self.open(group, cx.me, members.clone(), definition, out);
            out.notify(Notice::Settled { missing, members });
        }
    }

    fn open(
        &mut self,
        group: GroupNumber,
        coordinator: NodeId,
        members: NodeSet,
        definition: Definition,
        out: &mut Effects<Self>,
    ) {
        self.gate = Gate::Open;
        self.round = Round::Idle;
        self.definition = Some(definition.clone());
        out.notify(Notice::Begin { group, coordinator, members, definition });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Bench, NOTHING, group_of, nodes, number};

    fn working() -> Bench<Reorganization> {
        working_with(&[])
    }

    fn working_with(options: &[(&str, &str)]) -> Bench<Reorganization> {
        let config = group_of(Algorithm::Bully, 3, options);
        Bench::begun(config, 1, |_, _| Reorganization::standing(Definition::from("old")))
    }

    fn stopped(bench: &mut Bench<Reorganization>) {
        bench.tell(Command::Stop);
        bench.tell(Command::Stopped(Report::from("half")));
    }

    /// Stopped, and told to wait for the definition of 2.n3.
    fn following(bench: &mut Bench<Reorganization>) {
        stopped(bench);
        let join = Command::Join { group: number(2, 3), coordinator: NodeId(3) };
        assert_eq!(bench.tell(join), NOTHING);
    }

    fn new_state(counter: u64, node: u32) -> Message {
        Message::NewState {
            group: number(counter, node),
            members: nodes([1, 2, 3]),
            definition: Definition::from("new"),
        }
    }

    fn answer(counter: u64, ok: bool) -> Message {
        Message::NewStateAnswer { group: number(counter, 1), ok }
    }

    fn formation() -> Formation {
        Formation {
            group: number(2, 1),
            members: nodes([2, 3]),
            reports: alloc::vec![(NodeId(2), Report::from("two"))],
            is_strict: true,
            waits_full: false,
        }
    }

    fn define(counter: u64) -> Command {
        Command::Define { group: number(counter, 1), definition: Definition::from("new") }
    }

    /// A coordinator whose definition is on its way to n2 and n3.
    fn handing(formation: Formation) -> Bench<Reorganization> {
        let mut bench = working();
        stopped(&mut bench);
        bench.tell(Command::Form(formation));
        bench.tell(define(2));
        bench
    }

    #[test]
    fn stop_closes_the_gate_before_the_application_has_drained() {
        let mut bench = working();
        assert!(bench.machine.is_accepting());
        assert_eq!(bench.tell(Command::Stop), ["stop"]);
        assert!(!bench.machine.is_accepting());
        assert_eq!(bench.tell(Command::Stop), NOTHING);
        let drained = Command::Stopped(Report::from("half"));
        assert_eq!(bench.tell(drained), ["stopped half"]);
        assert!(!bench.machine.is_accepting());
    }

    #[test]
    fn an_application_that_has_not_run_since_is_not_stopped_again() {
        let mut bench = working();
        stopped(&mut bench);
        assert_eq!(bench.tell(Command::Stop), ["stopped half"]);
        let mut fresh = Bench::<Reorganization>::coming_up(
            group_of(Algorithm::Bully, 3, &[]),
            1,
            None,
        );
        assert_eq!(fresh.tell(Command::Stop), ["stopped"]);
    }

    #[test]
    fn an_application_that_stops_unasked_is_not_heard() {
        let mut bench = working();
        assert_eq!(bench.tell(Command::Stopped(Report::from("why"))), NOTHING);
        assert!(bench.machine.is_accepting());
    }

    #[test]
    fn the_coordinators_definition_is_taken_and_answered() {
        let mut bench = working();
        following(&mut bench);
        let lines = bench.hear(3, new_state(2, 3));
        assert_eq!(
            lines,
            [
                "begin 2.n3 under n3 of {n1 n2 n3}: new",
                "settled {n1 n2 n3}",
                "send n3 NS_answer 2.n3 yes",
            ]
        );
        assert!(bench.machine.is_accepting());
        assert_eq!(bench.machine.definition(), Some(&Definition::from("new")));
    }

    #[test]
    fn a_definition_from_somebody_else_or_for_another_group_is_refused() {
        let mut bench = working();
        following(&mut bench);
        assert_eq!(bench.hear(2, new_state(2, 3)), ["send n2 NS_answer 2.n3 no"]);
        assert_eq!(bench.hear(3, new_state(1, 3)), ["send n3 NS_answer 1.n3 no"]);
        assert_eq!(bench.machine.definition(), Some(&Definition::from("old")));
        assert!(!bench.machine.is_accepting());
    }

    #[test]
    fn a_definition_outside_reorganization_is_refused() {
        let mut normal = working();
        assert_eq!(normal.hear(3, new_state(2, 3)), ["send n3 NS_answer 2.n3 no"]);
        let mut halted_again = working();
        following(&mut halted_again);
        halted_again.tell(Command::Stop);
        assert_eq!(halted_again.hear(3, new_state(2, 3)), ["send n3 NS_answer 2.n3 no"]);
        assert_eq!(halted_again.machine.definition(), Some(&Definition::from("old")));
    }

    #[test]
    fn a_doubled_definition_is_taken_once() {
        let mut bench = working();
        following(&mut bench);
        bench.hear(3, new_state(2, 3));
        assert_eq!(bench.hear(3, new_state(2, 3)), ["send n3 NS_answer 2.n3 no"]);
    }

    #[test]
    fn literal_answers_do_not_tell_obeyed_from_ignored() {
        let mut bench = working_with(&[("answers", "literal")]);
        assert_eq!(bench.hear(3, new_state(2, 3)), ["send n3 NS_answer 2.n3 yes"]);
        assert_eq!(bench.machine.definition(), Some(&Definition::from("old")));
    }

    #[test]
    fn a_coordinator_plans_from_the_reports_and_hands_the_definition_out() {
        let mut bench = working();
        stopped(&mut bench);
        let lines = bench.tell(Command::Form(formation()));
        assert_eq!(lines, ["plan 2.n1 for {n1 n2 n3} n2:two"]);
        assert_eq!(
            bench.tell(define(2)),
            [
                "send n2 New_State 2.n1 of {n1 n2 n3}: new",
                "send n3 New_State 2.n1 of {n1 n2 n3}: new",
                "set handover 25ms",
            ]
        );
    }

    #[test]
    fn a_group_has_its_definition_when_all_have_answered() {
        let mut bench = handing(formation());
        assert_eq!(bench.hear(2, answer(2, true)), NOTHING);
        assert_eq!(
            bench.hear(3, answer(2, true)),
            [
                "cancel handover",
                "begin 2.n1 under n1 of {n1 n2 n3}: new",
                "settled {n1 n2 n3}"
            ]
        );
    }

    #[test]
    fn an_answer_counts_once_per_sender_and_only_for_the_current_group() {
        let mut bench = handing(formation());
        bench.hear(2, answer(2, true));
        assert_eq!(bench.hear(2, answer(2, true)), NOTHING);
        assert_eq!(bench.hear(3, answer(1, true)), NOTHING);
        assert_eq!(bench.ring(Handover), ["unsettled, missing {n3}"]);
        assert!(!bench.machine.is_accepting());
    }

    #[test]
    fn a_refusal_counts_as_missing() {
        let mut bench = handing(formation());
        bench.hear(2, answer(2, false));
        let lines = bench.hear(3, answer(2, true));
        assert_eq!(lines, ["cancel handover", "unsettled, missing {n2}"]);
    }

    #[test]
    fn a_lenient_formation_goes_on_without_the_missing() {
        let mut bench = handing(Formation { is_strict: false, ..formation() });
        bench.hear(2, answer(2, true));
        assert_eq!(
            bench.ring(Handover),
            ["begin 2.n1 under n1 of {n1 n2}: new", "settled {n1 n2} without {n3}"]
        );
    }

    #[test]
    fn a_full_wait_lasts_although_all_have_answered() {
        let mut bench = handing(Formation { waits_full: true, ..formation() });
        bench.hear(2, answer(2, true));
        assert_eq!(bench.hear(3, answer(2, true)), NOTHING);
        assert_eq!(bench.ring(Handover).last().unwrap(), "settled {n1 n2 n3}");
    }

    #[test]
    fn a_plan_for_a_group_that_was_given_up_is_for_nobody() {
        let mut bench = working();
        stopped(&mut bench);
        bench.tell(Command::Form(formation()));
        assert_eq!(bench.tell(define(1)), NOTHING);
        bench.tell(Command::Stop);
        assert_eq!(bench.tell(define(2)), NOTHING);
    }

    #[test]
    fn a_group_of_one_needs_no_round() {
        let mut bench = working();
        stopped(&mut bench);
        bench.tell(Command::Form(Formation { members: NodeSet::new(), ..formation() }));
        let lines = bench.tell(define(2));
        assert_eq!(lines, ["begin 2.n1 under n1 of {n1}: new", "settled {n1}"]);
    }

    #[test]
    fn a_coordinator_without_state_opens_the_gate_with_an_empty_definition() {
        let mut bench = working();
        stopped(&mut bench);
        let follow = Command::Follow { group: number(4, 3), coordinator: NodeId(3) };
        assert_eq!(bench.tell(follow), ["begin 4.n3 under n3 of {n1 n3}: "]);
        assert!(bench.machine.is_accepting());
    }
}
