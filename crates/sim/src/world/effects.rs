//! Carries out the effects of a step in order: each is finished before the next begins.

use std::time::Duration;

use tanist_core::node::{Command, Message, Node, Notice, Timer};
use tanist_core::recall::RecallMode;
use tanist_core::trace::{Contents, Event, Kind, Loss};
use tanist_core::{Context, Effect, Effects, NodeId, Protocol, Time, wire};

use crate::world::application::{self, Application, Listener, Pace, Told};
use crate::world::host::{Due, Incarnation};
use crate::world::mutants;
use crate::world::network::{Arrivals, Parcel};
use crate::world::schedule::Class;

use super::{Scheduled, World};

impl World {
    pub(super) fn receive(
        &mut self,
        at: usize,
        from: NodeId,
        id: u64,
        message: Message,
    ) -> Option<Message> {
        let facts = message.facts(self.config.algorithm());
        let (node, of) = (self.hosts[at].id, self.hosts[at].current(at));
        let is_down = self.hosts[at].node.is_none();
        let why = if is_down && !self.is_mutated(mutants::DELIVERS_TO_CRASHED) {
            Some(Loss::Down)
        } else if self.position(from).is_some_and(|from| !self.network.is_open(from, at)) {
            Some(Loss::Cut)
        } else {
            None
        };
        if let Some(why) = why {
            let contents = self.contents(&message);
            self.emit(Event::Lose { node: from, to: node, id, message: facts, contents, why });
            if why == Loss::Down && self.network.conditions.has_refusals {
                self.refuse(at, from, id);
            }
            return None;
        }
        if let Some(held) = &mut self.hosts[at].held {
            held.push(Due::Deliver { from, id, message });
            return None;
        }
        let contents = self.contents(&message);
        if !self.record(of, Event::Receive { node, from, id, message: facts, contents }) {
            return None;
        }
        if self.config.recall() == RecallMode::On
            && let Some(group) = facts.group
        {
            self.hosts[at].note_heard(group);
        }
        Some(message)
    }

    /// Tells the sender's transport that this machine refused the connection.
    pub(super) fn refuse(&mut self, at: usize, sender: NodeId, id: u64) {
        let Some(sender) = self.position(sender) else { return };
        if self.network.is_open(at, sender) {
            let when = self.now + self.network.refusal_delay(&mut self.dice);
            let due = Due::Refusal {
                peer: self.hosts[at].id,
                id,
                incarnation: self.hosts[sender].incarnation,
            };
            self.deliver(sender, when, due);
        }
    }

    pub(super) fn step_node(&mut self, at: usize, event: tanist_core::Event<Node>) {
        let host = &mut self.hosts[at];
        let (now, of) = (host.clock(self.now), host.current(at));
        let Some(node) = &mut host.node else { return };
        let mut cx = Context {
            me: host.id,
            now,
            dice: &mut self.dice,
            config: &self.config,
            members: &self.members,
        };
        let mut effects = std::mem::take(&mut self.effects.0);
        node.step(&mut cx, event, &mut effects);
        self.events += 1;
        self.tell_state(of);
        self.carry_out(of, effects);
    }

    /// Carries out the effects of a step in order. A crash may come between any two, and before the
    /// first: then the rest does not happen.
    pub(super) fn carry_out(&mut self, of: Incarnation, mut effects: Effects<Node>) {
        let at = of.host;
        for (done, effect) in (1_u32..).zip(effects.drain()) {
            if !self.is_running(of) {
                break;
            }
            match effect {
                Effect::Send { to, message } => self.send(at, to, message),
                Effect::Broadcast(message) => self.broadcast(at, &message),
                Effect::SetTimer { timer, after } => self.set_timer(at, timer, after),
                Effect::CancelTimer(timer) => self.hosts[at].cancel_timer(timer),
                Effect::Save(record) => {
                    let (node, counter) = (self.hosts[at].id, record.counter.0);
                    self.hosts[at].save(record);
                    self.emit(Event::Save { node, counter });
                }
                Effect::Notify(notice) => self.notify(of, notice),
            }
            if self.hosts[at].crash_after.is_some_and(|crash| crash.effects == done) {
                self.hosts[at].crash_after = None;
                self.crash(self.hosts[at].id);
            }
        }
        self.effects.0 = effects;
    }

    pub(super) fn send(&mut self, at: usize, to: NodeId, message: Message) {
        let Some(target) = self.position(to) else { return };
        let facts = message.facts(self.config.algorithm());
        let from = self.hosts[at].id;
        self.messages += 1;
        let id = self.messages;
        self.hosts[at].note_sent(to, id);
        self.put_on_scales(facts.kind, &message);
        // The message has left: a crash at this very event does not take it back.
        let contents = self.contents(&message);
        self.emit(Event::Send { node: from, to, id, message: facts, contents });
        self.carry((at, from), (target, to), id, facts.kind, message);
    }

    /// What a message says, where a trace is kept: nothing else reads it.
    pub(crate) fn contents(&self, message: &Message) -> Option<Box<Contents>> {
        if self.observers.is_recording() { message.contents() } else { None }
    }

    fn put_on_scales(&mut self, kind: Kind, message: &Message) {
        if let Some(bytes) = &mut self.bytes
            && kind != Kind::Heartbeat
        {
            *bytes += wire::encode(message).len() as u64;
        }
    }

    /// One transmission: it reaches, or fails to reach, each other machine by itself.
    fn broadcast(&mut self, at: usize, message: &Message) {
        let facts = message.facts(self.config.algorithm());
        let from = self.hosts[at].id;
        self.messages += 1;
        let id = self.messages;
        self.put_on_scales(facts.kind, message);
        let contents = self.contents(message);
        self.emit(Event::Broadcast { node: from, id, message: facts, contents });
        // A node out of reach loses no message: a broadcast has no particular addressee.
        for target in self.network.hearers(at) {
            let to = self.hosts[target].id;
            self.carry((at, from), (target, to), id, facts.kind, message.clone());
        }
    }

    fn carry(
        &mut self,
        from: (usize, NodeId),
        to: (usize, NodeId),
        id: u64,
        kind: Kind,
        message: Message,
    ) {
        let extra = self.hosts[from.0].slow + self.hosts[to.0].slow;
        let parcel = Parcel { from, to, kind, extra };
        let (target, to) = to;
        let from = from.1;
        match self.network.carry(self.now, &parcel, &mut self.dice) {
            Arrivals::Lost(why) => self.lose(from, to, id, &message, why),
            Arrivals::Once(when) => self.deliver(target, when, Due::Deliver { from, id, message }),
            Arrivals::Twice(first, second) => {
                let copy = Due::Deliver { from, id, message: message.clone() };
                self.deliver(target, first, copy);
                self.deliver(target, second, Due::Deliver { from, id, message });
            }
        }
    }

    pub(crate) fn lose(&mut self, node: NodeId, to: NodeId, id: u64, message: &Message, why: Loss) {
        let (facts, contents) = (message.facts(self.config.algorithm()), self.contents(message));
        self.emit(Event::Lose { node, to, id, message: facts, contents, why });
    }

    pub(crate) fn deliver(&mut self, host: usize, when: Time, due: Due) {
        self.schedule.add(when, Class::Delivery, Scheduled::At { host, due });
    }

    pub(super) fn set_timer(&mut self, at: usize, timer: Timer, after: Duration) {
        let when = self.now + self.hosts[at].real(after);
        self.set_timer_at(at, timer, when);
    }

    pub(crate) fn set_timer_at(&mut self, at: usize, timer: Timer, when: Time) {
        let host = &mut self.hosts[at];
        let due = Due::Timer { timer, incarnation: host.incarnation };
        let number = self.schedule.add(when, Class::Timer, Scheduled::At { host: at, due });
        host.set_timer(timer, number);
    }

    fn notify(&mut self, of: Incarnation, notice: Notice) {
        let Incarnation { host: at, number: incarnation } = of;
        let node = self.hosts[at].id;
        let listener = Listener { node, incarnation };
        if let Some(event) = notice.event(node)
            && !self.record(of, event)
        {
            return;
        }
        match self.application {
            Application::BuiltIn(pace) => self.play(at, pace, notice),
            Application::Outside => self.outbox.push(Told { listener, notice }),
        }
    }

    /// The application as the world plays it.
    fn play(&mut self, at: usize, pace: Pace, notice: Notice) {
        if let Notice::Stop | Notice::Yield = notice {
            let stopped = Command::Stopped(application::report(self.hosts[at].id));
            self.answer_notice(at, pace.stop, stopped);
        } else if let Notice::Plan { group, members, reports } = notice {
            let definition =
                application::plan(self.hosts[at].incarnation, group, &members, &reports);
            self.answer_notice(at, pace.plan, Command::Define { group, definition });
        }
    }

    /// The application answers after a while, unless it hangs.
    fn answer_notice(&mut self, at: usize, after: Duration, answer: Command) {
        match &mut self.hosts[at].unanswered {
            Some(unanswered) => unanswered.push(answer),
            None => self.come_back(at, after, answer),
        }
    }

    pub(super) fn come_back(&mut self, at: usize, after: Duration, command: Command) {
        let due = Due::Command { command, incarnation: self.hosts[at].incarnation };
        self.deliver(at, self.now + after, due);
    }

    /// Records the node's state where it has changed; whether the node still runs.
    pub(super) fn tell_state(&mut self, of: Incarnation) -> bool {
        let host = &mut self.hosts[of.host];
        let Some(node) = &host.node else { return false };
        if host.told.as_ref().is_some_and(|told| node.is_in(told)) {
            return true;
        }
        let state = node.state();
        host.told = Some(state.clone());
        let node = host.id;
        self.record(of, Event::State { node, state })
    }
}
