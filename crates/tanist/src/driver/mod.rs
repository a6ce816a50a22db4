//! One node, driven: events in, effects carried out in order, each finished before the next begins.
//!
//! The driver has a thread and a runtime of its own, so that a program that blocks its own runtime
//! does not make its node look crashed. The disk has another one ([`saver`]), and is waited for
//! only where a number is about to be used that it does not hold yet. The driver decides nothing
//! about elections: those rules are [`tanist_core`]'s, and the simulator runs the same.

pub(crate) mod application;
pub(crate) mod desk;
mod dice;
mod effects;
mod inbox;
mod network;
mod receive;
mod requests;
mod saver;
mod timers;

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::Arc;
use std::time::Duration;

use tanist_core::counter_cap::CounterCap;
use tanist_core::group::Counter;
use tanist_core::node::{Command, Node};
use tanist_core::policy::Objection;
use tanist_core::trace::{Entry, Event as Trace, NodeState};
use tanist_core::{
    Context, Effects, Event, GroupConfig, Membership, NodeId, NodeRecord, NodeSet, Protocol, Time,
};
use tokio::sync::mpsc;

use self::desk::Desk;
use self::dice::SystemDice;
pub(crate) use self::inbox::{Inbox, Request};
pub(crate) use self::network::Network;
pub(crate) use self::saver::{Closing, Saver};
use crate::clock::{self, Alarm};
use crate::driver::timers::Timers;
use crate::error::Failure;
use crate::metrics::Metrics;
use crate::panics::Panics;
use crate::status::Shared;
use crate::store::SaveError;
use crate::trace_writer::{RecentTrace, TraceWriter};
use crate::transport::{Incoming, Throttle, Ticket};

/// What a driver is made of.
pub(crate) struct Parts {
    pub(crate) me: NodeId,
    pub(crate) config: GroupConfig,
    pub(crate) members: Membership,
    pub(crate) saver: Saver,
    pub(crate) is_restarted: bool,
    /// What stands against the node's taking part when it starts.
    pub(crate) objections: BTreeSet<Objection>,
    pub(crate) network: Network,
    pub(crate) incoming: mpsc::Receiver<Incoming>,
    pub(crate) inbox: Inbox,
    pub(crate) desk: Desk,
    pub(crate) shared: Arc<Shared>,
    pub(crate) trace: Option<TraceWriter>,
    pub(crate) recent: Arc<RecentTrace>,
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
    network: Network,
    incoming: mpsc::Receiver<Incoming>,
    inbox: Inbox,
    desk: Desk,
    shared: Arc<Shared>,
    trace: Option<TraceWriter>,
    recent: Arc<RecentTrace>,
    /// What was said about the node's state last.
    told: Option<NodeState>,
    /// Evidence about a message counts only if no later one was sent to that peer.
    last_sent: BTreeMap<NodeId, Ticket>,
    /// Names the next message in traces, uniquely over all nodes and incarnations.
    next_message: u64,
    metrics: Metrics,
    /// For frames that are no message.
    undecodable: Throttle,
    /// When the next numbers are put on disk beforehand.
    reserve_at: Time,
    /// Peers that have a link with another process of this node's id.
    twin_seen_by: NodeSet,
    /// Which counters of other nodes are believed.
    cap: CounterCap,
    warning: Throttle,
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
        let Parts { me, config, members, saver, is_restarted, objections, network, .. } = parts;
        let mut effects = Effects::new();
        let saved = Some(saver.record().clone());
        let saved = saved.filter(|held| *held != NodeRecord::default());
        let now = clock::now();
        let mut cx = Context { me, now, dice: &mut SystemDice, config: &config, members: &members };
        let node = Node::start_objected(&mut cx, saved, objections, &mut effects);
        let mut driver = Self {
            me,
            config,
            members,
            node,
            timers: Timers::default(),
            alarm: Alarm::new().map_err(Failure::Clock)?,
            cap: CounterCap::new(saver.held()),
            saver,
            network,
            incoming: parts.incoming,
            inbox: parts.inbox,
            desk: parts.desk,
            shared: parts.shared,
            trace: parts.trace,
            recent: parts.recent,
            told: None,
            last_sent: BTreeMap::new(),
            next_message: first_message(me),
            metrics: Metrics::default(),
            undecodable: Throttle::new(),
            reserve_at: clock::now() + RESERVE_AFTER,
            twin_seen_by: NodeSet::new(),
            warning: Throttle::default(),
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
            self.metrics.wakes += 1;
            tokio::select! {
                biased;
                Some(incoming) = self.incoming.recv() => {
                    self.on_incoming(incoming)?;
                    // Whatever has arrived meanwhile comes before any timer.
                    while let Ok(incoming) = self.incoming.try_recv() {
                        self.on_incoming(incoming)?;
                    }
                }
                request = self.inbox.next() => match request {
                    // None: every handle of the node is dropped, so it stops.
                    Some(Request::Shutdown) | None => return self.leave().await,
                    Some(request) => self.on_request(request)?,
                },
                reserved = self.saver.reservation() => self.note_reservation(reserved?),
                rung = self.alarm.ring() => {
                    rung.map_err(Failure::Clock)?;
                    self.ring()?;
                }
            }
        }
    }

    /// Withdraws and stops: the others elect as soon as the application has stopped here. Until
    /// then the node answers as before, for as long as an application may take to stop.
    async fn leave(&mut self) -> Result<(), Failure> {
        let mut written = self.network.counters().frames_out;
        self.step(Event::Command(Command::Leave))?;
        while !self.node.is_withdrawn() {
            if self.node.is_overdue() {
                return Err(self.desk.overdue().into());
            }
            written = self.network.counters().frames_out;
            self.alarm.set(self.timers.next()).map_err(Failure::Clock)?;
            tokio::select! {
                biased;
                Some(incoming) = self.incoming.recv() => self.on_incoming(incoming)?,
                request = self.inbox.requests.recv() => match request {
                    Some(request) => self.on_request(request)?,
                    // The application is gone, so there is nothing to wait for.
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
        let limit = self.config.timing().stop_within();
        match tokio::time::timeout(limit, self.finish_planning()).await {
            Ok(finished) => finished,
            Err(_) => Err(self.desk.overdue().into()),
        }
    }

    async fn finish_planning(&mut self) -> Result<(), Failure> {
        while self.desk.is_planning() {
            match self.inbox.requests.recv().await {
                Some(request) => self.on_request(request)?,
                None => break,
            }
        }
        Ok(())
    }

    /// Lets the farewells reach the kernel, for a little while: a peer that does not get one has
    /// the closed connection as evidence.
    async fn flush(&self, written: u64) {
        let links = self.network.peers().iter().filter(|peer| peer.is_connected).count();
        let all = written + u64::try_from(links).unwrap_or(0);
        let end = clock::now() + self.config.timing().answer();
        while self.network.counters().frames_out < all && clock::now() < end {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
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
                self.metrics.reservations_failed += 1;
                saver::warn_of(&error);
                // After any other error nothing more can be saved until the store is opened again.
                if matches!(error, SaveError::Unwritten(_)) {
                    self.reserve_at = clock::now() + RESERVE_AGAIN_AFTER;
                }
            }
        }
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
        self.desk.after_step(&self.node);
        self.tell_state();
        self.carry_out(effects)
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
        if let Some(trace) = &mut self.trace {
            trace.note(&entry);
        }
        self.recent.keep(entry);
    }
}

/// Shows the end of a node, however it ends: after a panic no reader may wait for a role.
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

/// Node and clock in one number: two incarnations of a node never send the same one, unless they
/// send more than a message each microsecond.
fn first_message(me: NodeId) -> u64 {
    (u64::from(me.0) << 48) | (clock::now().as_micros() & ((1 << 48) - 1))
}

/// Why a driver's thread could not be made.
pub(crate) fn runtime() -> io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()
}
