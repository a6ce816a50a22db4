//! Nodes, disks, timers, a network and a clock, driven by a seed.
//!
//! The world does what a live driver does: it calls `step`, then carries out the effects in order,
//! each finished before the next begins. No rule of a protocol is here. Processing takes no time; a
//! slow machine is one whose messages take longer.

use std::cmp::Reverse;
use std::sync::Arc;
use std::time::Duration;

use tanist_core::election::Standing;
use tanist_core::node::{Command, Message, Node, Notice, Timer};
use tanist_core::trace::{Event, Link, Loss, MessageFacts};
use tanist_core::{Context, Effect, Effects, GroupConfig, NodeId, Protocol, Status, Time};

use crate::application::{self, Pace};
use crate::chance::Chance;
use crate::faults::{Action, Fault, Moment};
use crate::host::{Due, Host};
use crate::network::{Arrivals, Delay, Network, Parcel};
use crate::schedule::{Class, Schedule};
use crate::watch::Watch;

/// The simulated world.
#[derive(Clone)]
pub struct World {
    pub(crate) config: Arc<GroupConfig>,
    pub(crate) now: Time,
    pub(crate) hosts: Vec<Host>,
    network: Network,
    pub(crate) schedule: Schedule<Thing>,
    /// Faults whose time is known beforehand, last first, so that they do not deepen the schedule.
    planned: Vec<(Time, Action)>,
    chance: Chance,
    pace: Pace,
    /// Faults that wait for something to happen.
    armed: Vec<Armed>,
    /// Everybody who looks.
    pub watch: Watch,
    effects: Scratch,
    messages: u64,
    events: u64,
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
pub(crate) enum Thing {
    At { host: usize, due: Due },
    Fault(Action),
}

#[derive(Clone)]
struct Armed {
    fault: Fault,
    seen: u32,
}

/// What a world is made of.
pub struct Ingredients {
    /// The group's configuration.
    pub config: GroupConfig,
    /// The network.
    pub network: Network,
    /// The application's pace.
    pub pace: Pace,
    /// Groups that stand when the world begins.
    pub groups: Vec<Standing>,
    /// Nodes that are down when the world begins; all others that stand in no group come up.
    pub down: Vec<NodeId>,
    /// What happens to the world.
    pub faults: Vec<Fault>,
    /// Who looks.
    pub watch: Watch,
}

impl World {
    /// Sets up the world; everything that happens in it follows from the seed.
    #[must_use]
    pub fn new(made_of: Ingredients, seed: u64) -> Self {
        let Ingredients { config, network, pace, groups, down, faults, watch } = made_of;
        let mut ids: Vec<NodeId> = config.members.all().iter().map(|member| member.id).collect();
        ids.sort_unstable();
        let mut world = Self {
            config: Arc::new(config),
            now: Time::ZERO,
            hosts: ids.iter().map(|id| Host::new(*id)).collect(),
            network,
            schedule: Schedule::new(),
            planned: Vec::new(),
            chance: Chance::new(seed),
            pace,
            armed: Vec::new(),
            watch,
            effects: Scratch::default(),
            messages: 0,
            events: 0,
        };
        for fault in faults {
            match fault.moment {
                Moment::At(at) => world.planned.push((at, fault.action)),
                Moment::When { .. } => world.armed.push(Armed { fault, seen: 0 }),
            }
        }
        world.planned.reverse();
        world.planned.sort_by_key(|(at, _)| Reverse(*at));
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

    /// How many things are on the schedule: what memory depends on.
    #[must_use]
    pub fn scheduled(&self) -> usize {
        self.schedule.len()
    }

    /// When the next thing happens.
    #[must_use]
    pub fn next_at(&self) -> Option<Time> {
        let planned = self.planned.last().map(|(at, _)| *at);
        match (planned, self.schedule.next_at()) {
            (Some(planned), Some(scheduled)) => Some(planned.min(scheduled)),
            (planned, scheduled) => planned.or(scheduled),
        }
    }

    /// Runs to this moment.
    pub fn run_until(&mut self, end: Time) {
        while self.next_at().is_some_and(|at| at <= end) {
            self.step();
        }
        self.now = self.now.max(end);
    }

    /// Lets the next thing happen; false if nothing ever will.
    pub fn step(&mut self) -> bool {
        let scheduled = self.schedule.next_at();
        if let Some((at, action)) =
            self.planned.pop_if(|(at, _)| scheduled.is_none_or(|scheduled| *at <= scheduled))
        {
            self.now = at;
            self.act(action);
            return true;
        }
        let Some((at, number, thing)) = self.schedule.pop() else { return false };
        self.now = at;
        match thing {
            Thing::Fault(action) => self.act(action),
            Thing::At { host, due } => self.take_up(host, number, due),
        }
        true
    }

    /// Does something to the world now.
    pub fn act(&mut self, action: Action) {
        match action {
            Action::Crash(node) => self.crash(node),
            Action::CrashAfterEffects(node, effects) => {
                if let Some(at) = self.position(node) {
                    self.hosts[at].crash_after = Some(effects);
                }
            }
            Action::Restart { node, lost_writes } => self.start(node, lost_writes),
            Action::Pause(node) => self.pause(node),
            Action::Resume(node) => self.resume(node),
            Action::Cut(links) => self.set_cut(links, true),
            Action::Heal(links) => {
                let links = if links.is_empty() { self.cut_links() } else { links };
                self.set_cut(links, false);
            }
            Action::Slow(node, extra) => {
                if let Some(at) = self.position(node) {
                    self.hosts[at].slow = extra;
                }
            }
            Action::ClockRate(node, rate) => {
                if let Some(at) = self.position(node) {
                    self.hosts[at].rate = rate.max(1);
                }
            }
            Action::Loss(ppm) => self.network.conditions.loss_ppm = ppm,
            Action::Duplicate(ppm) => self.network.conditions.duplicate_ppm = ppm,
            Action::Calm => {
                let max = self.config.timing.message_max();
                let conditions = &mut self.network.conditions;
                conditions.delay = Delay::Uniform { min: max / 4, max };
                (conditions.loss_ppm, conditions.duplicate_ppm) = (0, 0);
            }
            Action::Call(node) => self.command(node, Command::Call),
            Action::Check(node) => self.command(node, Command::Check),
            Action::Suspect(node) => self.command(node, Command::SuspectCoordinator),
            Action::Refuse { node, peer } => self.command(node, Command::Refused(peer)),
        }
    }

    /// Whether a node is up.
    #[must_use]
    pub fn is_up(&self, node: NodeId) -> bool {
        self.position(node).is_some_and(|at| self.hosts[at].node.is_some())
    }

    fn stand(&mut self, groups: &[Standing]) {
        let config = Arc::clone(&self.config);
        for group in groups {
            let definition = application::plan(0, group.group, &group.members, &Vec::new());
            for id in group.members.iter() {
                let Some(at) = self.position(id) else { continue };
                self.emit(Event::Start { node: id, restarted: false });
                let counter = tanist_core::group::Counter(group.group.counter);
                self.hosts[at].save(counter);
                let mut cx =
                    Context { me: id, now: self.now, dice: &mut self.chance, config: &config };
                let mut effects = std::mem::take(&mut self.effects.0);
                let definition = definition.clone();
                let node = Node::standing(&mut cx, counter, group, definition, &mut effects);
                self.hosts[at].node = Some(node);
                self.tell_state(at);
                self.emit(Event::Begin { node: id, group: group.group });
                self.carry_out(at, effects);
            }
        }
    }

    fn start(&mut self, id: NodeId, lost_writes: u32) {
        let Some(at) = self.position(id) else { return };
        if self.hosts[at].node.is_some() {
            return;
        }
        let restarted = self.hosts[at].life > 0;
        self.hosts[at].lose_writes(lost_writes);
        self.emit(Event::Start { node: id, restarted });
        let config = Arc::clone(&self.config);
        let saved = self.hosts[at].saved();
        let now = self.hosts[at].clock(self.now);
        let mut cx = Context { me: id, now, dice: &mut self.chance, config: &config };
        let mut effects = std::mem::take(&mut self.effects.0);
        let node = Node::start(&mut cx, saved, &mut effects);
        self.hosts[at].node = Some(node);
        self.events += 1;
        self.tell_state(at);
        self.carry_out(at, effects);
    }

    fn crash(&mut self, id: NodeId) {
        let Some(at) = self.position(id) else { return };
        if self.hosts[at].node.is_some() {
            self.hosts[at].crash();
            self.emit(Event::Crash { node: id });
        }
    }

    fn pause(&mut self, id: NodeId) {
        let Some(at) = self.position(id) else { return };
        if self.hosts[at].node.is_some() && self.hosts[at].held.is_none() {
            self.hosts[at].held = Some(Vec::new());
            self.emit(Event::Pause { node: id });
        }
    }

    fn resume(&mut self, id: NodeId) {
        let Some(at) = self.position(id) else { return };
        let Some(held) = self.hosts[at].held.take() else { return };
        self.emit(Event::Resume { node: id });
        // A machine that wakes up finds its mail and its timers all at once, mail first.
        for due in held {
            let class = match due {
                Due::Deliver { .. } | Due::Command { .. } => Class::Delivery,
                Due::Timer { .. } => Class::Timer,
            };
            let timer = match &due {
                Due::Timer { timer, .. } => Some(*timer),
                Due::Deliver { .. } | Due::Command { .. } => None,
            };
            let number = self.schedule.add(self.now, class, Thing::At { host: at, due });
            if let Some(timer) = timer {
                self.hosts[at].set_timer(timer, number);
            }
        }
    }

    fn set_cut(&mut self, links: Vec<Link>, is_cut: bool) {
        for link in &links {
            if let (Some(from), Some(to)) = (self.position(link.from), self.position(link.to)) {
                self.network.set_cut(from, to, is_cut);
            }
        }
        self.emit(if is_cut { Event::Cut { links } } else { Event::Heal { links } });
    }

    fn cut_links(&self) -> Vec<Link> {
        let count = self.hosts.len();
        let all = (0..count).flat_map(|from| (0..count).map(move |to| (from, to)));
        all.filter(|(from, to)| self.network.is_cut(*from, *to))
            .map(|(from, to)| Link { from: self.hosts[from].id, to: self.hosts[to].id })
            .collect()
    }

    fn command(&mut self, id: NodeId, command: Command) {
        if let Some(at) = self.position(id) {
            let life = self.hosts[at].life;
            self.take_up(at, 0, Due::Command { command, life });
        }
    }

    pub(crate) fn take_up(&mut self, at: usize, number: u64, due: Due) {
        let host = &mut self.hosts[at];
        let event = match due {
            Due::Timer { timer, life } => {
                if life != host.life || !host.take_timer(timer, number) {
                    return;
                }
                if let Some(held) = &mut host.held {
                    return held.push(Due::Timer { timer, life });
                }
                let node = host.id;
                self.emit(Event::Timer { node, timer: timer.name() });
                tanist_core::Event::Timer(timer)
            }
            Due::Command { command, life } => {
                if life != host.life || host.node.is_none() {
                    return;
                }
                if let Some(held) = &mut host.held {
                    return held.push(Due::Command { command, life });
                }
                let node = host.id;
                if let Command::Stopped(_) = command {
                    self.emit(Event::Stopped { node });
                }
                tanist_core::Event::Command(command)
            }
            Due::Deliver { from, id, message } => {
                let Some(message) = self.receive(at, from, id, message) else { return };
                tanist_core::Event::Message { from, message }
            }
        };
        self.step_node(at, event);
    }

    fn receive(&mut self, at: usize, from: NodeId, id: u64, message: Message) -> Option<Message> {
        let facts = message.facts(self.config.algorithm);
        let host = &mut self.hosts[at];
        let node = host.id;
        let why = if host.node.is_none() {
            Some(Loss::Down)
        } else if self.position(from).is_some_and(|from| self.network.is_cut(from, at)) {
            Some(Loss::Cut)
        } else {
            None
        };
        if let Some(why) = why {
            self.emit(Event::Lose { node: from, to: node, id, message: facts, why });
            if why == Loss::Down && self.network.conditions.has_refusals {
                self.refuse(at, from);
            }
            return None;
        }
        if let Some(held) = &mut self.hosts[at].held {
            held.push(Due::Deliver { from, id, message });
            return None;
        }
        self.emit(Event::Receive { node, from, id, message: facts });
        Some(message)
    }

    /// The sender's transport learns that nobody listens at this machine.
    fn refuse(&mut self, at: usize, sender: NodeId) {
        let Some(sender) = self.position(sender) else { return };
        if !self.network.is_cut(at, sender) {
            let after = self.network.refusal_delay(&mut self.chance);
            self.come_back(sender, after, Command::Refused(self.hosts[at].id));
        }
    }

    fn step_node(&mut self, at: usize, event: tanist_core::Event<Node>) {
        let config = Arc::clone(&self.config);
        let host = &mut self.hosts[at];
        let now = host.clock(self.now);
        let Some(node) = &mut host.node else { return };
        let mut cx = Context { me: host.id, now, dice: &mut self.chance, config: &config };
        let mut effects = std::mem::take(&mut self.effects.0);
        node.step(&mut cx, event, &mut effects);
        self.events += 1;
        self.tell_state(at);
        self.carry_out(at, effects);
    }

    /// Carries out effects in order; a crash may come between any two.
    fn carry_out(&mut self, at: usize, mut effects: Effects<Node>) {
        let life = self.hosts[at].life;
        let mut done = 0;
        for effect in effects.drain() {
            if self.hosts[at].life != life {
                break;
            }
            match effect {
                Effect::Send { to, message } => self.send(at, to, message),
                Effect::SetTimer { timer, after } => self.set_timer(at, timer, after),
                Effect::CancelTimer(timer) => self.hosts[at].cancel_timer(timer),
                Effect::Save(counter) => {
                    self.hosts[at].save(counter);
                    self.emit(Event::Save { node: self.hosts[at].id, counter: counter.0 });
                }
                Effect::Notify(notice) => self.notify(at, notice),
            }
            done += 1;
            if self.hosts[at].crash_after == Some(done) {
                self.crash(self.hosts[at].id);
            }
        }
        self.effects.0 = effects;
    }

    fn send(&mut self, at: usize, to: NodeId, message: Message) {
        let Some(target) = self.position(to) else { return };
        let facts = message.facts(self.config.algorithm);
        let from = self.hosts[at].id;
        self.messages += 1;
        let id = self.messages;
        self.emit(Event::Send { node: from, to, id, message: facts });
        let parcel = Parcel {
            from: (at, from),
            to: (target, to),
            kind: facts.kind,
            extra: self.hosts[at].slow + self.hosts[target].slow,
        };
        match self.network.carry(self.now, &parcel, &mut self.chance) {
            Arrivals::Lost(why) => self.lose(from, to, id, facts, why),
            Arrivals::Once(when) => self.deliver(target, when, Due::Deliver { from, id, message }),
            Arrivals::Twice(first, second) => {
                let copy = Due::Deliver { from, id, message: message.clone() };
                self.deliver(target, first, copy);
                self.deliver(target, second, Due::Deliver { from, id, message });
            }
        }
    }

    pub(crate) fn lose(
        &mut self,
        node: NodeId,
        to: NodeId,
        id: u64,
        message: MessageFacts,
        why: Loss,
    ) {
        self.emit(Event::Lose { node, to, id, message, why });
    }

    fn deliver(&mut self, host: usize, when: Time, due: Due) {
        self.schedule.add(when, Class::Delivery, Thing::At { host, due });
    }

    fn set_timer(&mut self, at: usize, timer: Timer, after: Duration) {
        let host = &mut self.hosts[at];
        let when = self.now + host.real(after);
        let due = Due::Timer { timer, life: host.life };
        let number = self.schedule.add(when, Class::Timer, Thing::At { host: at, due });
        host.set_timer(timer, number);
    }

    fn notify(&mut self, at: usize, notice: Notice) {
        let node = self.hosts[at].id;
        match notice {
            Notice::Called => self.emit(Event::Call { node }),
            Notice::Ended(outcome) => self.emit(Event::End { node, outcome }),
            Notice::Stop => {
                self.emit(Event::Stop { node });
                let stopped = Command::Stopped(application::report(node));
                self.come_back(at, self.pace.stop, stopped);
            }
            Notice::Plan { group, members, reports } => {
                self.emit(Event::Plan { node, group });
                let definition = application::plan(self.hosts[at].life, group, &members, &reports);
                self.come_back(at, self.pace.plan, Command::Define { group, definition });
            }
            Notice::Begin { group, .. } => {
                self.emit(Event::Begin { node, group });
            }
        }
    }

    fn come_back(&mut self, at: usize, after: Duration, command: Command) {
        let due = Due::Command { command, life: self.hosts[at].life };
        self.deliver(at, self.now + after, due);
    }

    fn tell_state(&mut self, at: usize) {
        let host = &mut self.hosts[at];
        let Some(node) = &host.node else { return };
        if host.told.as_ref().is_some_and(|told| node.is_in(told)) {
            return;
        }
        let state = node.state();
        host.told = Some(state.clone());
        let node = host.id;
        self.emit(Event::State { node, state });
    }

    fn emit(&mut self, event: Event) {
        if self.armed.is_empty() {
            self.watch.see(self.now, event);
        } else {
            self.watch.see(self.now, event.clone());
            self.fire(&event);
        }
    }

    /// Sets off the faults that waited for this event.
    fn fire(&mut self, event: &Event) {
        let mut due = Vec::new();
        let board = &self.watch.board;
        self.armed.retain_mut(|armed| {
            let Moment::When { condition, after } = armed.fault.moment else { return true };
            let was = board.seat(condition.node).map_or(Status::Down, |seat| seat.was);
            if !condition.what.is(condition.node, event, was) {
                return true;
            }
            armed.seen += 1;
            if armed.seen < condition.nth {
                return true;
            }
            due.push((after, armed.fault.action.clone()));
            false
        });
        for (after, action) in due {
            match action {
                // Right then: between this effect and the next.
                Action::Crash(node) if after.is_zero() => self.crash(node),
                Action::Crash(_)
                | Action::CrashAfterEffects(..)
                | Action::Restart { .. }
                | Action::Pause(_)
                | Action::Resume(_)
                | Action::Cut(_)
                | Action::Heal(_)
                | Action::Slow(..)
                | Action::ClockRate(..)
                | Action::Loss(_)
                | Action::Duplicate(_)
                | Action::Calm
                | Action::Call(_)
                | Action::Check(_)
                | Action::Suspect(_)
                | Action::Refuse { .. } => {
                    self.schedule.add(self.now + after, Class::Fault, Thing::Fault(action));
                }
            }
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
