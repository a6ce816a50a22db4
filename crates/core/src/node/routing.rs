//! Routing: which event goes to which layer, and which layer gets which notice.
//!
//! Notices of the detector, the policy and the recall layer are handled at once. The election and
//! the reorganization answer each other: what the reorganization answers is queued until the
//! election has finished its step. Leaves out: withdrawal and pauses, which have files of their
//! own.

use alloc::collections::VecDeque;

use super::{Command, Message, Node, Notice, Timer};
use crate::detector::{self, Detector};
use crate::election::{self, Election};
use crate::membership::NodeId;
use crate::policy;
use crate::protocol::compose::Upward;
use crate::protocol::{Context, Effects, Event};
use crate::recall::{self, Recall, RecallMode};
use crate::reorganization::{self, Reorganization};

impl Node {
    pub(super) fn on_event(
        &mut self,
        cx: &mut Context<'_>,
        event: Event<Self>,
        out: &mut Effects<Self>,
    ) {
        match event {
            Event::Message { from, message } => self.on_message(cx, from, message, out),
            Event::Timer(Timer::Detector(timer)) => {
                self.step_detector(cx, Event::Timer(timer), out);
            }
            Event::Timer(Timer::Election(timer)) => match self.postponed(cx, timer) {
                Some(period) => out.set_timer(Timer::Election(timer), period),
                None => self.tell_election(cx, Event::Timer(timer), out),
            },
            Event::Timer(Timer::Reorganization(timer)) => {
                self.tell_reorganization(cx, Event::Timer(timer), out);
            }
            Event::Timer(Timer::Recall(timer)) => self.tell_recall(cx, Event::Timer(timer), out),
            Event::Timer(Timer::Policy(timer)) => self.tell_policy(cx, Event::Timer(timer), out),
            Event::Command(command) => self.on_command(cx, command, out),
        }
    }

    fn on_message(
        &mut self,
        cx: &mut Context<'_>,
        from: NodeId,
        message: Message,
        out: &mut Effects<Self>,
    ) {
        if cx.config.recall() == RecallMode::On
            && let Some(group) = message.facts(cx.config.algorithm()).group
        {
            self.tell_recall(cx, Event::Command(recall::Command::Saw(group)), out);
        }
        if self.policy.is_paused() && !matches!(message, Message::Policy(_)) {
            self.tell_policy(cx, Event::Command(policy::Command::Received(from)), out);
        }
        match message {
            Message::Election(_) | Message::Reorganization(_) if self.takes_no_part(cx) => {
                self.tell_policy(cx, Event::Command(policy::Command::Asked(from)), out);
            }
            // A node that does not know its counter yet takes part in nothing.
            Message::Election(_) | Message::Reorganization(_) if self.election.is_none() => {}
            Message::Election(message) => {
                self.tell_detector(cx, detector::Command::Received(from), out);
                self.tell_election(cx, Event::Message { from, message }, out);
            }
            Message::Reorganization(message) => {
                self.tell_detector(cx, detector::Command::Received(from), out);
                self.tell_reorganization(cx, Event::Message { from, message }, out);
            }
            Message::Detector(message) => {
                self.step_detector(cx, Event::Message { from, message }, out);
            }
            Message::Recall(message) => {
                if let recall::Message::Recall { .. } = message {
                    self.tell_policy(cx, Event::Command(policy::Command::Greet(from)), out);
                }
                self.tell_detector(cx, detector::Command::Received(from), out);
                self.tell_recall(cx, Event::Message { from, message }, out);
            }
            Message::Policy(message) => self.tell_policy(cx, Event::Message { from, message }, out),
        }
    }

    fn on_command(&mut self, cx: &mut Context<'_>, command: Command, out: &mut Effects<Self>) {
        use reorganization::Command as Reorganize;
        match command {
            Command::Stopped(report) if self.policy.is_leaving() => {
                self.reorganization.keep(report);
            }
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
                self.tell_election(cx, Event::Command(election::Command::Suspect), out);
            }
            Command::Refused(peer) => {
                self.tell_detector(cx, detector::Command::Refused(peer), out);
            }
            Command::Withdraw { hold } => {
                let withdraw = policy::Command::Withdraw { hold };
                self.tell_policy(cx, Event::Command(withdraw), out);
            }
            Command::HandOver { to } => self.hand_over(cx, to, out),
            Command::Leave => self.leave(cx, out),
            Command::Acting(group) => {
                self.tell_policy(cx, Event::Command(policy::Command::Acting(group)), out);
            }
            Command::Rejoin => {
                self.tell_policy(cx, Event::Command(policy::Command::Rejoin), out);
            }
            Command::Object(objection) => {
                self.tell_policy(cx, Event::Command(policy::Command::Object(objection)), out);
            }
            Command::Lift(objection) => {
                self.tell_policy(cx, Event::Command(policy::Command::Lift(objection)), out);
            }
            Command::Pause => {
                let pause = policy::Command::Pause { is_on: true };
                self.tell_policy(cx, Event::Command(pause), out);
            }
            Command::Resume => {
                let resume = policy::Command::Pause { is_on: false };
                self.tell_policy(cx, Event::Command(resume), out);
            }
            Command::SetPriority(priority) => {
                self.tell_policy(cx, Event::Command(policy::Command::SetPriority(priority)), out);
            }
        }
    }

    pub(super) fn tell_detector(
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
        self.step_layer(cx, event, out, |node, cx, upward, out| match upward {
            Upward::Save(record) => match record {},
            Upward::Notify(detector::Notice::Silent(peer)) => {
                node.report(cx, election::Command::Silent(peer), peer, out);
            }
            Upward::Notify(detector::Notice::Failed(peer)) => {
                node.report(cx, election::Command::Failed(peer), peer, out);
                node.tell_recall(cx, Event::Command(recall::Command::Failed(peer)), out);
            }
        });
    }

    pub(super) fn tell_recall(
        &mut self,
        cx: &mut Context<'_>,
        event: Event<Recall>,
        out: &mut Effects<Self>,
    ) {
        self.step_layer(cx, event, out, Self::route_recall);
    }

    pub(super) fn route_recall(
        &mut self,
        cx: &mut Context<'_>,
        upward: Upward<Recall>,
        out: &mut Effects<Self>,
    ) {
        match upward {
            Upward::Save(counter) => self.save_counter(counter, out),
            Upward::Notify(recall::Notice::Known(saved)) if self.is_out() => {
                self.kept = Some(saved.unwrap_or_default());
            }
            Upward::Notify(recall::Notice::Known(saved)) => self.start_election(cx, saved, out),
            Upward::Notify(recall::Notice::Seen(counter)) => {
                self.kept = self.kept.map(|kept| kept.max(counter));
                let advance = election::Command::AdvanceTo(counter);
                self.tell_election(cx, Event::Command(advance), out);
            }
        }
    }

    pub(super) fn tell_election(
        &mut self,
        cx: &mut Context<'_>,
        event: Event<Election>,
        out: &mut Effects<Self>,
    ) {
        let mut answers = VecDeque::new();
        self.step_election(cx, event, &mut answers, out);
        self.answer(cx, answers, out);
    }

    fn step_election(
        &mut self,
        cx: &mut Context<'_>,
        event: Event<Election>,
        answers: &mut VecDeque<election::Command>,
        out: &mut Effects<Self>,
    ) {
        self.step_layer(cx, event, out, |node, cx, upward, out| {
            node.route_election_notice(cx, upward, answers, out);
        });
    }

    pub(super) fn tell_reorganization(
        &mut self,
        cx: &mut Context<'_>,
        event: Event<Reorganization>,
        out: &mut Effects<Self>,
    ) {
        let mut answers = VecDeque::new();
        self.step_reorganization(cx, event, &mut answers, out);
        self.answer(cx, answers, out);
    }

    pub(super) fn route_election(
        &mut self,
        cx: &mut Context<'_>,
        effects: Effects<Election>,
        out: &mut Effects<Self>,
    ) {
        let mut answers = VecDeque::new();
        self.carry(cx, effects, out, |node, cx, upward, out| {
            node.route_election_notice(cx, upward, &mut answers, out);
        });
        self.answer(cx, answers, out);
    }

    /// Hands the queued answers to the election, until there are no more.
    fn answer(
        &mut self,
        cx: &mut Context<'_>,
        mut answers: VecDeque<election::Command>,
        out: &mut Effects<Self>,
    ) {
        while let Some(command) = answers.pop_front() {
            self.step_election(cx, Event::Command(command), &mut answers, out);
        }
    }

    fn route_election_notice(
        &mut self,
        cx: &mut Context<'_>,
        upward: Upward<Election>,
        answers: &mut VecDeque<election::Command>,
        out: &mut Effects<Self>,
    ) {
        use reorganization::Command as Reorganize;
        let notice = match upward {
            Upward::Save(counter) => return self.save_counter(counter, out),
            Upward::Notify(notice) => notice,
        };
        let command = match notice {
            election::Notice::Stop => Reorganize::Stop,
            election::Notice::Yield => Reorganize::Yield,
            election::Notice::Formed(formation) => Reorganize::Form(formation),
            election::Notice::Joined { group, coordinator } => {
                Reorganize::Join { group, coordinator }
            }
            election::Notice::Followed { group, coordinator } => {
                Reorganize::Follow { group, coordinator }
            }
            election::Notice::Watch(peers) => {
                return self.tell_detector(cx, detector::Command::Watch(peers), out);
            }
            election::Notice::Called => return out.notify(Notice::Called),
            election::Notice::Ended(outcome) => return out.notify(Notice::Ended(outcome)),
        };
        self.step_reorganization(cx, Event::Command(command), answers, out);
    }

    fn step_reorganization(
        &mut self,
        cx: &mut Context<'_>,
        event: Event<Reorganization>,
        answers: &mut VecDeque<election::Command>,
        out: &mut Effects<Self>,
    ) {
        use reorganization::Notice as Told;
        self.step_layer(cx, event, out, |_, _, upward, out| match upward {
            Upward::Save(record) => match record {},
            Upward::Notify(Told::Stop) => out.notify(Notice::Stop),
            Upward::Notify(Told::Yield) => out.notify(Notice::Yield),
            Upward::Notify(Told::Plan { group, members, reports }) => {
                out.notify(Notice::Plan { group, members, reports });
            }
            Upward::Notify(Told::Begin { group, coordinator, members, definition }) => {
                out.notify(Notice::Begin { group, coordinator, members, definition });
            }
            Upward::Notify(Told::Stopped(report)) => {
                answers.push_back(election::Command::Stopped(report));
            }
            Upward::Notify(Told::Settled { missing, members }) => {
                answers.push_back(election::Command::Settled { missing, members });
            }
            Upward::Notify(Told::Unsettled { missing }) => {
                answers.push_back(election::Command::Unsettled { missing });
            }
        });
    }
}
