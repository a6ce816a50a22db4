//! One node, driven: events in, effects carried out in order, each finished before the next begins.
//!
//! The driver has a thread and a runtime of its own, so that a program that blocks its own runtime
//! does not make its node look dead. The disk has another one ([`saver`]), and is waited for only
//! where a number is about to be used that it does not hold yet. The driver decides nothing about
//! elections: those rules are [`tanist_core`]'s, and the simulator runs the same.

pub(crate) mod application;
mod dice;
mod inbox;
mod network;
mod saver;
mod timers;

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use tanist_core::counter_cap::CounterCap;
use tanist_core::group::Counter;
use tanist_core::node::{Command, Message, Node, Notice};
use tanist_core::policy::RankError;
use tanist_core::trace::{Entry, Event as Trace, NodeState};
use tanist_core::{
    Context, Effect, Effects, Event, GroupConfig, GroupNumber, Membership, NodeId, NodeSet,
    Protocol, Time, wire,
};
use tokio::sync::{mpsc, oneshot};

use self::dice::SystemDice;
pub(crate) use self::inbox::{Inbox, Request};
pub(crate) use self::network::Carrier;
pub(crate) use self::saver::{Closing, Saver};
use crate::clock::{self, Alarm};
use crate::driver::application::Application;
use crate::driver::timers::Timers;
use crate::error::Failure;
use crate::metrics::Meter;
use crate::panics::Panics;
use crate::role::{Role, Suspension, View, Why};
use crate::status::Shared;
use crate::store::SaveError;
use crate::trace_writer::{Journal, Memory};
use crate::transport::{Incoming, Throttle, Ticket};

/// What a driver is made of.
pub(crate) struct Parts {
    pub(crate) me: NodeId,
    pub(crate) config: GroupConfig,
    pub(crate) members: Membership,
    pub(crate) saver: Saver,
    pub(crate) is_restarted: bool,
    pub(crate) carrier: Carrier,
    pub(crate) incoming: mpsc::Receiver<Incoming>,
    pub(crate) inbox: Inbox,
    pub(crate) application: Application,
    pub(crate) shared: Arc<Shared>,
    pub(crate) journal: Option<Journal>,
    pub(crate) memory: Arc<Memory>,
}

/// A driver at work.
pub(crate) struct Driver {
    me: NodeId,
    config: GroupConfig,
    members: Membership,
    node: Node,
    timers: Timers,
    alarm: Alarm,
    saver: Saver,
    carrier: Carrier,
    incoming: mpsc::Receiver<Incoming>,
    inbox: Inbox,
    application: Application,
    shared: Arc<Shared>,
    journal: Option<Journal>,
    memory: Arc<Memory>,
    /// What was said about the node's state last.
    told: Option<NodeState>,
    /// Evidence about a message counts only if no later one was sent to that peer.
    last_sent: BTreeMap<NodeId, Ticket>,
    /// Names the next message in traces, uniquely over all nodes and lives.
    next_message: u64,
    meter: Meter,
    /// For frames that are no message.
    undecodable: Throttle,
    /// When the next numbers are put on disk beforehand.
    reserve_at: Time,
    /// Peers that have a link with another process of this node's id.
    twin_seen_by: NodeSet,
    /// Which counters of other nodes are believed.
    cap: CounterCap,
    warning: Throttle,
    /// Who waits for the node to be aside, or to take part again.
    leaving: Vec<oneshot::Sender<()>>,
    returning: Vec<oneshot::Sender<()>>,
}

impl Driver {
    /// Starts the node and drives it until it is told to leave, or cannot go on.
    pub(crate) async fn run(parts: Parts) -> Result<(), Failure> {
        let _ending = Ending(Arc::clone(&parts.shared));
        let panics = Panics::watch();
        let mut driver = Self::start(parts)?;
        tokio::select! {
            ended = driver.drive() => ended,
            () = panics.happened() => Err(Failure::Panicked),
        }
    }

    fn start(parts: Parts) -> Result<Self, Failure> {
        let Parts { me, config, members, saver, is_restarted, carrier, .. } = parts;
        let mut effects = Effects::new();
        let saved = Some(saver.held()).filter(|held| *held != Counter::default());
        let now = clock::now();
        let mut cx = Context { me, now, dice: &mut SystemDice, config: &config, members: &members };
        let node = Node::start(&mut cx, saved, &mut effects);
        let mut driver = Self {
            me,
            config,
            members,
            node,
            timers: Timers::default(),
            alarm: Alarm::new().map_err(Failure::Clock)?,
            cap: CounterCap::new(saver.held()),
            saver,
            carrier,
            incoming: parts.incoming,
            inbox: parts.inbox,
            application: parts.application,
            shared: parts.shared,
            journal: parts.journal,
            memory: parts.memory,
            told: None,
            last_sent: BTreeMap::new(),
            next_message: first_message(me),
            meter: Meter::default(),
            undecodable: Throttle::new(),
            reserve_at: clock::now() + RESERVE_AFTER,
            twin_seen_by: NodeSet::new(),
            warning: Throttle::default(),
            leaving: Vec::new(),
            returning: Vec::new(),
        };
        driver.note(|node| Trace::Start { node, restarted: is_restarted });
        driver.tell_state();
        driver.carry_out(effects)?;
        Ok(driver)
    }

    async fn drive(&mut self) -> Result<(), Failure> {
        loop {
            let next = self.timers.next().min(self.reserve_at);
            self.alarm.set(next).map_err(Failure::Clock)?;
            self.meter.wakes += 1;
            tokio::select! {
                biased;
                Some(incoming) = self.incoming.recv() => {
                    self.hear(incoming)?;
                    // Whatever has arrived meanwhile comes before any timer.
                    while let Ok(incoming) = self.incoming.try_recv() {
                        self.hear(incoming)?;
                    }
                }
                request = self.inbox.next() => match request {
                    // None: everybody who could shut it down is gone, so it goes.
                    Some(Request::Shutdown) | None => return self.leave().await,
                    Some(request) => self.obey(request)?,
                },
                reserved = self.saver.reservation() => self.note_reservation(reserved?),
                rung = self.alarm.ring() => {
                    rung.map_err(Failure::Clock)?;
                    self.ring()?;
                }
            }
        }
    }

    /// Steps aside and goes: the others elect as soon as the application has stopped here. Until
    /// then the node answers as ever.
    async fn leave(&mut self) -> Result<(), Failure> {
        let mut written = self.carrier.counters().frames_out;
        self.step(Event::Command(Command::StepAside { hold: None }))?;
        while !self.node.is_aside() {
            written = self.carrier.counters().frames_out;
            self.alarm.set(self.timers.next()).map_err(Failure::Clock)?;
            tokio::select! {
                biased;
                Some(incoming) = self.incoming.recv() => self.hear(incoming)?,
                request = self.inbox.requests.recv() => match request {
                    Some(request) => self.obey(request)?,
                    // The application is gone, and nobody is left to wait for.
                    None => break,
                },
                rung = self.alarm.ring() => {
                    rung.map_err(Failure::Clock)?;
                    self.ring()?;
                }
            }
        }
        self.flush(written).await;
        // A task that was planning when it was told to go is not left in the middle of it.
        while self.application.is_planning() {
            match self.inbox.requests.recv().await {
                Some(request) => self.obey(request)?,
                None => break,
            }
        }
        Ok(())
    }

    /// Lets the farewells reach the kernel, for a little while: a peer that does not get one has
    /// the closed connection as evidence.
    async fn flush(&self, written: u64) {
        let links = self.carrier.peers().iter().filter(|peer| peer.is_connected).count();
        let all = written + u64::try_from(links).unwrap_or(0);
        let end = clock::now() + self.config.timing().answer();
        while self.carrier.counters().frames_out < all && clock::now() < end {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }

    fn hear(&mut self, incoming: Incoming) -> Result<(), Failure> {
        match incoming {
            Incoming::Frame { from, id, payload } => match wire::decode(&payload) {
                Ok(message) => {
                    if !self.admits(from, &message) {
                        return Ok(());
                    }
                    let facts = message.facts(self.config.algorithm());
                    self.meter.received(facts.kind);
                    self.note(|node| Trace::Receive { node, from, id, message: facts });
                    self.inbox.control.heard(from);
                    self.step(Event::Message { from, message })
                }
                Err(error) => {
                    self.meter.undecodable += 1;
                    if let Some(held_back) = self.undecodable.pass() {
                        tracing::warn!(
                            %from, %error, held_back, "a frame that is no message was dropped"
                        );
                    }
                    Ok(())
                }
            },
            Incoming::Datagram { from, payload } => match wire::decode(&payload) {
                Ok(message @ Message::Detector(_)) => {
                    self.inbox.control.heard(from);
                    self.meter.received(message.facts(self.config.algorithm()).kind);
                    self.step(Event::Message { from, message })
                }
                // Only heartbeats travel unacknowledged.
                Ok(_) | Err(_) => {
                    self.meter.undecodable += 1;
                    Ok(())
                }
            },
            Incoming::Gone { peer, ticket } => {
                if self.last_sent.get(&peer).is_none_or(|last| *last <= ticket) {
                    self.meter.refusals += 1;
                    return self.step(Event::Command(Command::Refused(peer)));
                }
                Ok(())
            }
            Incoming::Met { peer, incarnation } => {
                tracing::debug!(%peer, incarnation, "met");
                self.twin_seen_by.remove(peer);
                Ok(())
            }
            Incoming::Twin { peer, detail } => self.suspect_twin(peer, detail),
        }
    }

    /// A peer has a link with another process of this node's id. The process that fewer peers know
    /// is the newcomer and ends, as does one that knows no better: never do both go on.
    fn suspect_twin(&mut self, peer: NodeId, at: String) -> Result<(), Failure> {
        self.twin_seen_by.insert(peer);
        let peers = self.carrier.peers();
        let linked = peers.iter().filter(|peer| peer.is_connected).count();
        if self.twin_seen_by.len() >= linked {
            return Err(Failure::Twin { node: self.me, peer, at });
        }
        tracing::error!(
            %peer, at,
            "another process with this node's id runs; this one goes on, since more peers know it: \
             stop the other one"
        );
        Ok(())
    }

    /// Whether a message may reach the node: its counters must not wear out those of this node.
    fn admits(&mut self, from: NodeId, message: &Message) -> bool {
        let Err(error) = self.cap.admit(message) else { return true };
        self.meter.refused_counters += 1;
        if let Some(held_back) = self.warning.pass() {
            tracing::warn!(peer = %from, %error, held_back, "refused a message");
        }
        false
    }

    fn obey(&mut self, request: Request) -> Result<(), Failure> {
        let command = match request {
            Request::GuardsDropped { drain } => self.application.guards_dropped(drain),
            Request::Answered(answer) => self.application.answered(answer)?,
            Request::Call => Some(Command::Call),
            Request::StepAside { hold, reply } => {
                self.leaving.push(reply);
                Some(Command::StepAside { hold })
            }
            Request::TakePart(reply) => {
                if self.node.takes_part() {
                    // Whoever asked may have gone away.
                    let _ = reply.send(());
                    return Ok(());
                }
                self.returning.push(reply);
                Some(Command::Return)
            }
            Request::Priority { priority, reply } => return self.rank(priority, reply),
            Request::Pause { is_on: true } => Some(Command::Pause),
            Request::Pause { is_on: false } => Some(Command::Resume),
            Request::Block(peers) => {
                self.carrier.block(&peers);
                None
            }
            Request::Unblock => {
                self.carrier.unblock_all();
                None
            }
            Request::SetSecrets(secrets) => {
                self.carrier.set_secrets(*secrets);
                None
            }
            Request::Inspect { probe, reply } => {
                for peer in probe.iter() {
                    let ticket = self.carrier.probe(peer);
                    self.last_sent.insert(peer, ticket);
                }
                // Whoever asked may have gone away.
                let reserved = self.saver.reserved();
                let _ = reply.send(self.meter.read(&self.carrier, reserved));
                None
            }
            Request::HoldPort(reply) => {
                let _ = reply.send(self.carrier.hold_port());
                None
            }
            #[cfg(test)]
            Request::Say { to, payload } => {
                self.carrier.send(to, 0, payload);
                None
            }
            Request::Shutdown => None,
        };
        command.map_or(Ok(()), |command| self.answer(command))
    }

    fn rank(
        &mut self,
        priority: u32,
        reply: oneshot::Sender<Result<(), RankError>>,
    ) -> Result<(), Failure> {
        let checked = RankError::check(&self.config);
        if checked.is_ok() {
            self.step(Event::Command(Command::Priority(priority)))?;
            self.inbox.control.set_priority(self.node.rank(self.me));
        }
        // Whoever asked may have gone away.
        let _ = reply.send(checked);
        Ok(())
    }

    /// The application has come back.
    fn answer(&mut self, command: Command) -> Result<(), Failure> {
        if matches!(command, Command::Stopped(_)) {
            self.note(|node| Trace::Stopped { node });
        }
        self.step(Event::Command(command))
    }

    /// Fires what has run out by now.
    fn ring(&mut self) -> Result<(), Failure> {
        let now = clock::now();
        while let Some(timer) = self.timers.take_due(now) {
            self.note(|node| Trace::Timer { node, timer: timer.name() });
            self.step(Event::Timer(timer))?;
        }
        if self.reserve_at <= now {
            self.reserve_at = Time::NEVER;
            self.saver.reserve();
        }
        Ok(())
    }

    /// The disk holds numbers for the next elections, or could not take them. That is no reason to
    /// end: the number in use is saved.
    fn note_reservation(&mut self, reserved: Result<Counter, SaveError>) {
        match reserved {
            Ok(counter) => self.note(|node| Trace::Save { node, counter: counter.0 }),
            Err(error) => {
                self.meter.reservations_failed += 1;
                saver::warn_of(&error);
                // After any other error nothing more can be saved until the store is opened again.
                if matches!(error, SaveError::Unwritten(_)) {
                    self.reserve_at = clock::now() + RESERVE_AGAIN_AFTER;
                }
            }
        }
    }

    /// Keeps a number before it is used, and waits for the disk if it does not hold it yet. A write
    /// that failed or took too long is a crash.
    fn save(&mut self, counter: Counter) -> Result<(), Failure> {
        self.saver.save(counter)?;
        self.cap.note(counter);
        self.reserve_at = clock::now() + RESERVE_AFTER;
        self.note(|node| Trace::Save { node, counter: counter.0 });
        Ok(())
    }

    fn step(&mut self, event: Event<Node>) -> Result<(), Failure> {
        let mut effects = Effects::new();
        let mut cx = Context {
            me: self.me,
            now: clock::now(),
            dice: &mut SystemDice,
            config: &self.config,
            members: &self.members,
        };
        self.node.step(&mut cx, event, &mut effects);
        self.tell_state();
        self.carry_out(effects)
    }

    /// Carries out effects in order, and what the application answers at once after them.
    fn carry_out(&mut self, mut effects: Effects<Node>) -> Result<(), Failure> {
        let mut answers = Vec::new();
        for effect in effects.drain() {
            match effect {
                Effect::Send { to, message } => self.send(to, &message),
                Effect::Broadcast(message) => self.broadcast(&message),
                Effect::SetTimer { timer, after } => self.timers.set(timer, clock::now() + after),
                Effect::CancelTimer(timer) => self.timers.cancel(timer),
                Effect::Save(counter) => self.save(counter)?,
                Effect::Notify(notice) => answers.extend(self.notify(notice)?),
            }
        }
        answers.into_iter().try_for_each(|command| self.answer(command))
    }

    fn send(&mut self, to: NodeId, message: &Message) {
        let facts = message.facts(self.config.algorithm());
        self.meter.sent(facts.kind);
        let payload = wire::encode(message);
        if matches!(message, Message::Detector(_)) {
            return self.carrier.send_datagram(to, &payload);
        }
        let id = self.name_message();
        self.note(|node| Trace::Send { node, to, id, message: facts });
        let ticket = self.carrier.send(to, id, payload);
        self.last_sent.insert(to, ticket);
    }

    /// One transmission, as far as the trace and the counts go.
    fn broadcast(&mut self, message: &Message) {
        let facts = message.facts(self.config.algorithm());
        self.meter.sent(facts.kind);
        let id = self.name_message();
        self.note(|node| Trace::Broadcast { node, id, message: facts });
        let tickets = self.carrier.broadcast(id, &wire::encode(message));
        self.last_sent.extend(tickets);
    }

    fn name_message(&mut self) -> u64 {
        self.next_message += 1;
        self.next_message - 1
    }

    fn notify(&mut self, notice: Notice) -> Result<Option<Command>, Failure> {
        match notice {
            Notice::Called => {
                self.meter.elections += 1;
                self.note(|node| Trace::Call { node });
                Ok(None)
            }
            Notice::Ended(outcome) => {
                self.note(|node| Trace::End { node, outcome });
                Ok(None)
            }
            Notice::Aside => {
                self.note(|node| Trace::Aside { node });
                self.show_aside(true);
                Ok(None)
            }
            Notice::Returned => {
                self.note(|node| Trace::Return { node });
                self.show_aside(false);
                Ok(None)
            }
            Notice::Paused => {
                self.inbox.control.set_paused(true);
                Ok(None)
            }
            Notice::Resumed => {
                self.inbox.control.set_paused(false);
                Ok(None)
            }
            Notice::Farewell(peer) => {
                self.inbox.control.miss(peer);
                Ok(None)
            }
            Notice::Stop => {
                self.note(|node| Trace::Stop { node });
                Ok(self.application.stop(&self.shared)?)
            }
            Notice::Plan { group, members, reports } => {
                self.note(|node| Trace::Plan { node, group });
                let view = self.view(group, self.me, members);
                Ok(self.application.plan(view, reports)?)
            }
            Notice::Begin { group, coordinator, members, definition } => {
                self.note(|node| Trace::Begin { node, group });
                let view = self.view(group, coordinator, members);
                self.application.begin(view, definition, &self.shared)?;
                Ok(None)
            }
        }
    }

    /// Shows that the node is aside, or is between groups again, and tells who waits for that.
    fn show_aside(&mut self, is_aside: bool) {
        if self.inbox.control.is_aside() != is_aside {
            self.inbox.control.set_aside(is_aside);
            let left = self.shared.role().view().cloned();
            let why = if is_aside { Why::Aside } else { Why::Election };
            self.shared.publish(Role::Suspended(Suspension { why, left }));
        }
        let waiting = if is_aside { &mut self.leaving } else { &mut self.returning };
        for reply in waiting.drain(..) {
            // Whoever asked may have gone away.
            let _ = reply.send(());
        }
    }

    fn view(&self, group: GroupNumber, coordinator: NodeId, members: NodeSet) -> View {
        View { me: self.me, group, coordinator, members }
    }

    fn tell_state(&mut self) {
        if self.told.as_ref().is_some_and(|told| self.node.is_in(told)) {
            return;
        }
        let state = self.node.state();
        self.shared.show_state(&state);
        self.told = Some(state.clone());
        self.note(|node| Trace::State { node, state });
    }

    fn note(&mut self, event: impl FnOnce(NodeId) -> Trace) {
        let entry = Entry { at: clock::now(), event: event(self.me) };
        if let Some(journal) = &mut self.journal {
            journal.note(&entry);
        }
        self.memory.keep(entry);
    }
}

/// Shows the end of a node, however it ends: a panic must not leave anybody waiting for a role.
struct Ending(Arc<Shared>);

impl Drop for Ending {
    fn drop(&mut self) {
        self.0.end();
    }
}

/// Long after an election is over and long before the next is likely.
const RESERVE_AFTER: Duration = Duration::from_secs(1);
/// How often a disk that took nothing is tried again.
const RESERVE_AGAIN_AFTER: Duration = Duration::from_secs(10);

/// Node and clock in one number: two lives of a node never send the same one, unless they send
/// more than a message each microsecond.
fn first_message(me: NodeId) -> u64 {
    (u64::from(me.0) << 48) | (clock::now().as_micros() & ((1 << 48) - 1))
}

/// Why a driver's thread could not be made.
pub(crate) fn runtime() -> io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()
}
