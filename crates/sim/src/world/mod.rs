//! Nodes, disks, timers, a network and a clock, driven by a seed.
//!
//! The world does what a live driver does: it calls `step`, then carries out the effects in order,
//! each finished before the next begins. No rule of a protocol is here. Processing takes no time; a
//! slow machine is one whose messages take longer.

mod actions;
pub mod application;
pub mod dice;
mod effects;
pub mod faults;
pub mod host;
mod idle;
pub mod mutants;
pub mod network;
pub mod pending;
pub mod places;
pub mod schedule;
pub mod topology;
pub mod walking;

use std::cmp::Reverse;
use std::sync::Arc;
use std::time::Duration;

use tanist_core::election::EstablishedGroup;
use tanist_core::mutant::Mutant;
use tanist_core::node::{Command, Node};
use tanist_core::trace::Event;
use tanist_core::{Effects, GroupConfig, Membership, NodeId, Time};

use crate::observe::observers::Observers;
use crate::world::application::{Application, Listener, Told};
use crate::world::dice::SeededDice;
use crate::world::faults::{Fault, FaultNumber, Moment, Planned};
use crate::world::host::{Due, Host, Incarnation};
use crate::world::network::Network;
use crate::world::pending::{Idle, Withheld};
use crate::world::places::Position;
use crate::world::schedule::Schedule;
use crate::world::topology::Reach;

/// The simulated world.
#[derive(Clone)]
pub struct World {
    pub(crate) config: Arc<GroupConfig>,
    pub(crate) members: Arc<Membership>,
    pub(crate) now: Time,
    pub(crate) hosts: Vec<Host>,
    network: Network,
    pub(crate) schedule: Schedule<Scheduled>,
    /// Faults whose time is known beforehand, last first; they are not on the schedule, to keep it
    /// small.
    pub(crate) planned: Vec<(Time, Planned)>,
    dice: SeededDice,
    application: Application,
    /// Notices to applications that the caller plays, not taken yet.
    outbox: Vec<Told>,
    /// Faults that wait for their trigger.
    armed: Vec<Armed>,
    /// Faults that changed nothing when they were due.
    idle: Vec<(FaultNumber, Idle)>,
    /// Commands of the scenario to nodes that were paused, until they resume.
    withheld: Vec<Withheld>,
    /// What observes the run.
    pub observers: Observers,
    effects: Scratch,
    messages: u64,
    events: u64,
    /// How many bytes were sent, if they are counted.
    bytes: Option<u64>,
}

/// The buffer for effects, empty between steps.
#[derive(Default)]
struct Scratch(Effects<Node>);

impl Clone for Scratch {
    fn clone(&self) -> Self {
        Self::default()
    }
}

#[derive(Clone)]
pub(crate) enum Scheduled {
    At {
        host: usize,
        due: Due,
    },
    Fault(Planned),
    /// Sample where the moving nodes are.
    Look,
}

#[derive(Clone)]
struct Armed {
    number: FaultNumber,
    fault: Fault,
    seen: u32,
}

/// What a world begins with.
pub struct WorldSetup {
    /// The group's configuration.
    pub config: GroupConfig,
    /// The nodes that take part, in the groups that the configuration makes of them.
    pub members: Membership,
    /// The network.
    pub network: Network,
    /// Who plays the application.
    pub application: Application,
    /// Groups that are established when the world begins.
    pub groups: Vec<EstablishedGroup>,
    /// Nodes that are down when the world begins; all others outside an established group start.
    pub down: Vec<NodeId>,
    /// The faults of the run.
    pub faults: Vec<Fault>,
    /// What observes the run.
    pub observers: Observers,
}

impl World {
    /// Sets up the world; everything that happens in it follows from the seed.
    #[must_use]
    pub fn new(setup: WorldSetup, seed: u64) -> Self {
        let WorldSetup { config, members, network, application, groups, down, faults, observers } =
            setup;
        let mut ids: Vec<NodeId> = members.all().iter().map(|member| member.id).collect();
        ids.sort_unstable();
        let mut world = Self {
            config: Arc::new(config),
            members: Arc::new(members),
            now: Time::ZERO,
            hosts: ids.iter().map(|id| Host::new(*id)).collect(),
            network,
            schedule: Schedule::new(),
            planned: Vec::new(),
            dice: SeededDice::new(seed),
            application,
            outbox: Vec::new(),
            armed: Vec::new(),
            idle: Vec::new(),
            withheld: Vec::new(),
            observers,
            effects: Scratch::default(),
            messages: 0,
            events: 0,
            bytes: None,
        };
        for (number, fault) in faults.into_iter().enumerate() {
            let number = FaultNumber(number);
            match fault.moment {
                Moment::At(at) => {
                    world.planned.push((at, Planned { number, action: fault.action }));
                }
                Moment::When { .. } => world.armed.push(Armed { number, fault, seen: 0 }),
            }
        }
        world.planned.reverse();
        world.planned.sort_by_key(|(at, _)| Reverse(*at));
        world.lay_out();
        world.stand(&groups);
        for id in ids {
            let stands = groups.iter().any(|group| group.members.contains(id));
            if !stands && !down.contains(&id) {
                world.start(id, 0);
            }
        }
        world
    }

    /// The world's clock.
    #[must_use]
    pub const fn now(&self) -> Time {
        self.now
    }

    /// How many steps nodes have taken, restarts included.
    #[must_use]
    pub const fn events(&self) -> u64 {
        self.events
    }

    /// From here on messages are encoded as for the wire, to count their bytes.
    pub const fn weigh(&mut self) {
        self.bytes = Some(0);
    }

    /// The bytes of all messages except heartbeats that were sent since [`Self::weigh`] was called.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes.unwrap_or(0)
    }

    /// How many entries the schedule has; memory depends on it.
    #[must_use]
    pub fn scheduled(&self) -> usize {
        self.schedule.len()
    }

    /// When the next scheduled event is due.
    #[must_use]
    pub fn next_at(&self) -> Option<Time> {
        let planned = self.planned.last().map(|(at, _)| *at);
        match (planned, self.schedule.next_at()) {
            (Some(planned), Some(scheduled)) => Some(planned.min(scheduled)),
            (planned, scheduled) => planned.or(scheduled),
        }
    }

    /// Runs until this time.
    pub fn run_until(&mut self, end: Time) {
        while self.next_at().is_some_and(|at| at <= end) {
            self.step();
        }
        self.now = self.now.max(end);
    }

    /// Runs the next scheduled event; false if there is none.
    pub fn step(&mut self) -> bool {
        let scheduled = self.schedule.next_at();
        if let Some((at, planned)) =
            self.planned.pop_if(|(at, _)| scheduled.is_none_or(|scheduled| *at <= scheduled))
        {
            self.now = at;
            self.carry_out_fault(planned);
            return true;
        }
        let Some((at, number, scheduled)) = self.schedule.pop() else { return false };
        // An event that was due while a script drove the world happens at once.
        self.now = self.now.max(at);
        match scheduled {
            Scheduled::Fault(planned) => self.carry_out_fault(planned),
            Scheduled::Look => self.look_on(),
            Scheduled::At { host, due } => self.on_event(host, number, due),
        }
        true
    }

    /// The notices to applications that the caller plays, since the last call, in order. Notices of
    /// a node that has crashed since are left out: its application crashed with it.
    pub fn take_notices(&mut self) -> Vec<Told> {
        let mut told = std::mem::take(&mut self.outbox);
        told.retain(|told| self.is_alive(told.listener));
        told
    }

    /// The application that the caller plays answers its node after a while; the answer is dropped
    /// if the node has crashed by then.
    pub fn answer(&mut self, listener: Listener, command: Command, after: Duration) {
        if let Some(at) = self.position(listener.node) {
            let due = Due::Command { command, incarnation: listener.incarnation };
            self.deliver(at, self.now + after, due);
        }
    }

    /// The running incarnation of a node, for commands to it.
    #[must_use]
    pub fn listener(&self, node: NodeId) -> Option<Listener> {
        let host = &self.hosts[self.position(node)?];
        host.node.as_ref().map(|_| Listener { node, incarnation: host.incarnation })
    }

    fn is_alive(&self, listener: Listener) -> bool {
        let Some(host) = self.position(listener.node) else { return false };
        self.is_running(Incarnation { host, number: listener.incarnation })
    }

    /// The positions of the nodes, in order of id; empty in a world without positions.
    #[must_use]
    pub fn positions(&self) -> &[Position] {
        self.network.reach.as_ref().and_then(Reach::positions).unwrap_or_default()
    }

    /// The nodes that a broadcast of this node reaches now, as indexes in the order of ids.
    #[must_use]
    pub fn hearers(&self, of: usize) -> Vec<usize> {
        self.network.hearers(of)
    }

    /// Moves the clock without running anything; what is due by then happens late.
    pub fn pass_until(&mut self, to: Time) {
        self.now = self.now.max(to);
    }

    /// The node of a machine that is up.
    #[must_use]
    pub fn node(&self, id: NodeId) -> Option<&Node> {
        self.position(id).and_then(|at| self.hosts[at].node.as_ref())
    }

    /// The group's configuration.
    #[must_use]
    pub fn config(&self) -> &GroupConfig {
        &self.config
    }

    /// The nodes that take part.
    #[must_use]
    pub fn members(&self) -> &Membership {
        &self.members
    }

    /// Whether a node is up.
    #[must_use]
    pub fn is_up(&self, node: NodeId) -> bool {
        self.position(node).is_some_and(|at| self.hosts[at].node.is_some())
    }

    pub(crate) fn on_event(&mut self, at: usize, number: u64, due: Due) {
        let host = &mut self.hosts[at];
        host.mark = None;
        let event = match due {
            Due::Timer { timer, incarnation } => {
                if incarnation != host.incarnation || !host.take_timer(timer, number) {
                    return;
                }
                if let Some(held) = &mut host.held {
                    return held.push(Due::Timer { timer, incarnation });
                }
                let (node, of) = (host.id, host.current(at));
                if !self.record(of, Event::Timer { node, timer: timer.name() }) {
                    return;
                }
                tanist_core::Event::Timer(timer)
            }
            Due::Command { command, incarnation } => {
                if incarnation != host.incarnation || host.node.is_none() {
                    return;
                }
                if let Some(held) = &mut host.held {
                    return held.push(Due::Command { command, incarnation });
                }
                let (node, of) = (host.id, host.current(at));
                if let Command::Stopped(_) = command
                    && !self.record(of, Event::Stopped { node })
                {
                    return;
                }
                tanist_core::Event::Command(command)
            }
            Due::Refusal { peer, id, incarnation } => {
                if incarnation != host.incarnation
                    || host.node.is_none()
                    || !host.is_last_sent(peer, id)
                {
                    return;
                }
                if let Some(held) = &mut host.held {
                    return held.push(Due::Refusal { peer, id, incarnation });
                }
                tanist_core::Event::Command(Command::Refused(peer))
            }
            Due::Deliver { from, id, message } => {
                let Some(message) = self.receive(at, from, id, message) else { return };
                tanist_core::Event::Message { from, message }
            }
        };
        self.step_node(at, event);
    }

    /// Empties the schedule, and sets the counters and the clock back to zero.
    pub(crate) fn reset(&mut self) {
        self.schedule.clear();
        self.now = Time::ZERO;
        (self.messages, self.events) = (0, 0);
    }

    /// Sets the dice back: what is drawn without a clock is the same in every global state.
    pub(crate) fn reset_dice(&mut self) {
        self.dice = SeededDice::new(0);
    }

    /// Records an event of a node, and says whether that incarnation of it still runs: the event
    /// may be the trigger of its crash. What a step does after an event, it does only then.
    #[must_use]
    pub(super) fn record(&mut self, of: Incarnation, event: Event) -> bool {
        self.emit(event);
        self.is_running(of)
    }

    /// Whether this incarnation of a node is up.
    pub(super) fn is_running(&self, of: Incarnation) -> bool {
        let host = &self.hosts[of.host];
        let is_up = host.node.is_some() && host.incarnation == of.number;
        is_up || self.is_mutated(mutants::ACTS_AFTER_CRASH)
    }

    pub(super) fn is_mutated(&self, mutant: Mutant) -> bool {
        Mutant::ARE_COMPILED && self.config.mutant() == Some(mutant)
    }

    pub(super) fn emit(&mut self, event: Event) {
        if self.armed.is_empty() {
            self.observers.see(self.now, event);
        } else {
            self.observers.see(self.now, event.clone());
            self.fire(&event);
        }
    }

    pub(crate) fn position(&self, id: NodeId) -> Option<usize> {
        let guess = (id.0 as usize).wrapping_sub(1);
        if self.hosts.get(guess).is_some_and(|host| host.id == id) {
            return Some(guess);
        }
        self.hosts.binary_search_by_key(&id, |host| host.id).ok()
    }
}
