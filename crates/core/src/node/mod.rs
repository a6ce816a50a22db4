//! The layers wired together: one node, one [`Protocol`].
//!
//! ```text
//!   user            application, CLI, HTTP, hooks
//!   (mandate)       its place is here, between the user and reorganization
//!   reorganization  stop, reports up, definition down
//!   election        who coordinates whom
//!   detector        whom do we suspect
//!   policy          does this node take part; tells the others when it does not
//!   memory          which numbers were seen; holds the election back until the counter is known
//! ```
//!
//! A layer's notice to its neighbour is handed over where it stands in the order of effects, so
//! "stop, then answer" holds across layers as well. What a layer answers is taken up when the layer
//! that spoke has finished its step.

mod layers;
mod pause;
mod ports;
mod priorities;
#[cfg(test)]
mod tests;
mod withdrawal;

use alloc::boxed::Box;
use alloc::collections::VecDeque;

pub use ports::{Command, Message, Notice, Timer};

use crate::detector::{self, Detector};
use crate::election::{self, Election, Standing, View};
use crate::group::{Counter, Status};
use crate::membership::{NodeId, NodeSet};
use crate::payload::Definition;
use crate::policy::{self, Policy, Preempt};
use crate::protocol::compose::Upward;
use crate::protocol::{Context, Effects, Event, Protocol};
use crate::recall::{self, Memory, Recall};
use crate::reorganization::{self, Reorganization};
use crate::trace::NodeState;

/// A whole node.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Node {
    memory: Memory,
    detector: Detector,
    /// None until the counter is known, and while the node is aside.
    election: Option<Election>,
    reorganization: Reorganization,
    policy: Policy,
    /// The counter while the node is aside, as far as it is known.
    kept: Option<Counter>,
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
        let memory = Memory::start(cx, saved, &mut effects);
        let policy = Policy::start(cx, None, &mut Effects::new());
        let mut node =
            Self { memory, detector, election: None, reorganization, policy, kept: None };
        node.carry(cx, effects, out, Self::route_memory);
        node.look_back(cx, out);
        node
    }

    fn step(&mut self, cx: &mut Context<'_>, event: Event<Self>, out: &mut Effects<Self>) {
        self.in_order(cx, |node, cx| node.take_up(cx, event, out));
        self.in_order(cx, |node, cx| {
            node.go_on_leaving(cx, out);
            node.look_back(cx, out);
        });
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
            memory: Memory::standing(),
            detector: Detector::default(),
            election: Some(election),
            reorganization: Reorganization::standing(definition),
            policy: Policy::default(),
            kept: None,
        };
        node.route_election(cx, effects, out);
        node.look_back(cx, out);
        node
    }

    /// The node's defining state.
    #[must_use]
    pub fn state(&self) -> NodeState {
        let view = self.view();
        NodeState {
            status: view.status,
            coordinator: view.coordinator,
            group: view.group,
            up: view.up.clone(),
            definition: self.reorganization.definition().cloned(),
            peerage: self.election.as_ref().and_then(Election::peerage).map(Box::new),
        }
    }

    /// Whether the node's state is the given one, without building it.
    #[must_use]
    pub fn is_in(&self, state: &NodeState) -> bool {
        let view = self.view();
        view.status == state.status
            && view.coordinator == state.coordinator
            && view.group == state.group
            && *view.up == state.up
            && self.reorganization.definition() == state.definition.as_ref()
            && match &self.election {
                Some(election) => election.is_peerage(state.peerage.as_deref()),
                None => state.peerage.is_none(),
            }
    }

    /// Whether the application may accept operations.
    #[must_use]
    pub const fn is_accepting(&self) -> bool {
        self.reorganization.is_accepting()
    }

    fn view(&self) -> View<'_> {
        static NOBODY: NodeSet = NodeSet::new();
        let down = View { status: Status::Down, coordinator: None, group: None, up: &NOBODY };
        self.election.as_ref().map_or(down, Election::view)
    }

    fn take_up(&mut self, cx: &mut Context<'_>, event: Event<Self>, out: &mut Effects<Self>) {
        match event {
            Event::Message { from, message } => self.hear(cx, from, message, out),
            Event::Timer(Timer::Detector(timer)) => {
                self.step_detector(cx, Event::Timer(timer), out);
            }
            Event::Timer(Timer::Election(timer)) => match self.put_off(cx, timer) {
                Some(period) => out.set_timer(Timer::Election(timer), period),
                None => self.tell_election(cx, Event::Timer(timer), out),
            },
            Event::Timer(Timer::Reorganization(timer)) => {
                self.tell_reorganization(cx, Event::Timer(timer), out);
            }
            Event::Timer(Timer::Recall(timer)) => self.tell_memory(cx, Event::Timer(timer), out),
            Event::Timer(Timer::Policy(timer)) => self.tell_policy(cx, Event::Timer(timer), out),
            Event::Command(command) => self.obey(cx, command, out),
        }
    }

    fn hear(
        &mut self,
        cx: &mut Context<'_>,
        from: NodeId,
        message: Message,
        out: &mut Effects<Self>,
    ) {
        if cx.config.recall == Recall::On
            && let Some(group) = message.facts(cx.config.algorithm).group
        {
            self.tell_memory(cx, Event::Command(recall::Command::Saw(group)), out);
        }
        if self.policy.is_paused() && !matches!(message, Message::Policy(_)) {
            self.tell_policy(cx, Event::Command(policy::Command::Heard(from)), out);
        }
        match message {
            Message::Election(_) | Message::Reorganization(_) if self.takes_no_part(cx) => {
                self.tell_policy(cx, Event::Command(policy::Command::Asked(from)), out);
            }
            // A node that does not know its counter yet takes part in nothing.
            Message::Election(_) | Message::Reorganization(_) if self.election.is_none() => {}
            Message::Election(message) => {
                self.tell_detector(cx, detector::Command::Heard(from), out);
                self.tell_election(cx, Event::Message { from, message }, out);
            }
            Message::Reorganization(message) => {
                self.tell_detector(cx, detector::Command::Heard(from), out);
                self.tell_reorganization(cx, Event::Message { from, message }, out);
            }
            Message::Detector(message) => {
                self.step_detector(cx, Event::Message { from, message }, out);
            }
            Message::Recall(message) => {
                if let recall::Message::Recall { .. } = message {
                    self.tell_policy(cx, Event::Command(policy::Command::Greet(from)), out);
                }
                self.tell_detector(cx, detector::Command::Heard(from), out);
                self.tell_memory(cx, Event::Message { from, message }, out);
            }
            Message::Policy(message) => self.tell_policy(cx, Event::Message { from, message }, out),
        }
    }

    /// After each step the lower layers learn where the election stands, if they need to know: the
    /// detector whom it is tied to, the memory in which group it is.
    fn look_back(&mut self, cx: &mut Context<'_>, out: &mut Effects<Self>) {
        let Some(election) = &self.election else { return };
        if cx.config.timing.heartbeat().is_some() {
            let ties = election.ties(cx);
            self.tell_detector(cx, detector::Command::Tie(ties), out);
        }
        if let Preempt::After(_) = cx.config.preempt {
            self.look_for_claims(cx, out);
        }
        if cx.config.recall == Recall::On
            && let Some(group) = self.view().group
            && group.node != cx.me
        {
            self.tell_memory(cx, Event::Command(recall::Command::Saw(group)), out);
        }
    }

    fn obey(&mut self, cx: &mut Context<'_>, command: Command, out: &mut Effects<Self>) {
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
            Command::StepAside { hold } => {
                let step_aside = policy::Command::StepAside { hold };
                self.tell_policy(cx, Event::Command(step_aside), out);
            }
            Command::Return => {
                self.tell_policy(cx, Event::Command(policy::Command::Return), out);
            }
            Command::Pause => {
                let pause = policy::Command::Pause { is_on: true };
                self.tell_policy(cx, Event::Command(pause), out);
            }
            Command::Resume => {
                let resume = policy::Command::Pause { is_on: false };
                self.tell_policy(cx, Event::Command(resume), out);
            }
            Command::Priority(priority) => {
                self.tell_policy(cx, Event::Command(policy::Command::Rank(priority)), out);
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
        self.step_layer(cx, event, out, |node, cx, upward, out| match upward {
            Upward::Save(record) => match record {},
            Upward::Notify(detector::Notice::Silent(peer)) => {
                node.report(cx, election::Command::Silent(peer), peer, out);
            }
            Upward::Notify(detector::Notice::Failed(peer)) => {
                node.report(cx, election::Command::Failed(peer), peer, out);
                node.tell_memory(cx, Event::Command(recall::Command::Failed(peer)), out);
            }
        });
    }

    fn tell_memory(&mut self, cx: &mut Context<'_>, event: Event<Memory>, out: &mut Effects<Self>) {
        self.step_layer(cx, event, out, Self::route_memory);
    }

    fn route_memory(
        &mut self,
        cx: &mut Context<'_>,
        upward: Upward<Memory>,
        out: &mut Effects<Self>,
    ) {
        match upward {
            Upward::Save(counter) => out.save(counter),
            Upward::Notify(recall::Notice::Known(saved)) if self.policy.is_aside() => {
                self.kept = Some(saved.unwrap_or_default());
            }
            Upward::Notify(recall::Notice::Known(saved)) => self.start_election(cx, saved, out),
            Upward::Notify(recall::Notice::Seen(counter)) => {
                self.kept = self.kept.map(|kept| kept.max(counter));
                let raise = election::Command::Raise(counter);
                self.tell_election(cx, Event::Command(raise), out);
            }
        }
    }

    fn tell_election(
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
            node.hear_election(cx, upward, answers, out);
        });
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
        self.carry(cx, effects, out, |node, cx, upward, out| {
            node.hear_election(cx, upward, &mut answers, out);
        });
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
            self.step_election(cx, Event::Command(command), &mut answers, out);
        }
    }

    fn hear_election(
        &mut self,
        cx: &mut Context<'_>,
        upward: Upward<Election>,
        answers: &mut VecDeque<election::Command>,
        out: &mut Effects<Self>,
    ) {
        use reorganization::Command as Reorganize;
        let notice = match upward {
            Upward::Save(counter) => return out.save(counter),
            Upward::Notify(notice) => notice,
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
