//! Actions on the world from outside: crashes, restarts, cut links, commands to nodes.

use std::time::Duration;

use tanist_core::election::EstablishedGroup;
use tanist_core::group::Counter;
use tanist_core::node::{Command, Node};
use tanist_core::trace::{Event, Link};
use tanist_core::{Context, NodeId, NodeRecord, Protocol, Status};

use crate::world::application::{self};
use crate::world::faults::{Action, Moment, Planned};
use crate::world::host::{CrashAfter, Due};
use crate::world::network::{Conditions, Delay, Network};
use crate::world::places::Position;
use crate::world::schedule::Class;

use super::{Scheduled, World};

impl World {
    /// Applies an action now.
    pub fn act(&mut self, action: Action) {
        match action {
            Action::Crash(node) => self.crash(node),
            Action::CrashAfterEffects(node, effects) => self.crash_after(node, effects),
            Action::Restart { node, lost_writes } => self.start(node, lost_writes),
            Action::Forget { node, lost_writes } => self.forget(node, lost_writes),
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
                    let rate_ppm = rate.max(1);
                    self.hosts[at].rate = rate_ppm;
                    self.emit(Event::Clock { node, rate_ppm });
                }
            }
            Action::Loss(ppm) => self.network.conditions.loss_ppm = ppm,
            Action::Duplicate(ppm) => self.network.conditions.duplicate_ppm = ppm,
            Action::Calm => {
                self.network.conditions = self.calm_conditions();
                if let Some(reach) = &mut self.network.reach {
                    reach.calm();
                }
            }
            Action::Hang(node) => self.hang(node),
            Action::Unhang(node) => self.unhang(node),
            Action::Call(_)
            | Action::Check(_)
            | Action::Suspect(_)
            | Action::Refuse { .. }
            | Action::Withdraw { .. }
            | Action::HandOver { .. }
            | Action::Rejoin(_)
            | Action::PauseElections(_)
            | Action::ResumeElections(_)
            | Action::Priority { .. } => {
                if let Some((node, command)) = action.command() {
                    self.command(node, command);
                }
            }
            Action::Move { node, to, over } => self.send_off(node, to, over),
        }
    }

    /// What the network does to messages when it keeps its bounds.
    pub(super) fn calm_conditions(&self) -> Conditions {
        let max = self.config.timing().message_max();
        let delay = Delay::Uniform { min: max / 4, max };
        Conditions { delay, loss_ppm: 0, duplicate_ppm: 0, ..self.network.conditions.clone() }
    }

    pub(super) fn stand(&mut self, groups: &[EstablishedGroup]) {
        for group in groups {
            let definition = application::plan(0, group.group, &group.members, &Vec::new());
            for id in group.members.iter() {
                let Some(at) = self.position(id) else { continue };
                self.emit(Event::Start { node: id, restarted: false });
                let of = self.hosts[at].current(at);
                let record = NodeRecord::from(Counter(group.group.counter));
                self.hosts[at].save(record.clone());
                let mut cx = Context {
                    me: id,
                    now: self.now,
                    dice: &mut self.dice,
                    config: &self.config,
                    members: &self.members,
                };
                let mut effects = std::mem::take(&mut self.effects.0);
                let definition = definition.clone();
                let node = Node::established(&mut cx, record, group, definition, &mut effects);
                self.hosts[at].node = Some(node);
                if self.tell_state(of) {
                    self.emit(Event::Begin { node: id, group: group.group });
                }
                self.carry_out(of, effects);
            }
        }
    }

    pub(super) fn start(&mut self, id: NodeId, lost_writes: u32) {
        let Some(at) = self.position(id) else { return };
        if self.hosts[at].node.is_some() {
            return;
        }
        self.hosts[at].mark = None;
        let restarted = self.hosts[at].incarnation > 0;
        self.hosts[at].lose_writes(lost_writes);
        self.emit(Event::Start { node: id, restarted });
        let of = self.hosts[at].current(at);
        let saved = self.hosts[at].saved().cloned();
        let now = self.hosts[at].clock(self.now);
        let mut cx = Context {
            me: id,
            now,
            dice: &mut self.dice,
            config: &self.config,
            members: &self.members,
        };
        let mut effects = std::mem::take(&mut self.effects.0);
        let node = Node::start(&mut cx, saved, &mut effects);
        self.hosts[at].node = Some(node);
        self.events += 1;
        self.tell_state(of);
        self.carry_out(of, effects);
    }

    /// A node that is down takes no step that the crash could end.
    fn crash_after(&mut self, id: NodeId, effects: u32) {
        let Some(at) = self.position(id) else { return };
        if self.hosts[at].node.is_some() {
            self.drop_crash(at, "a later `effects` took its place");
            let crash = CrashAfter { effects, at: self.now, fault: None };
            self.hosts[at].crash_after = Some(crash);
        }
    }

    pub(super) fn crash(&mut self, id: NodeId) {
        let Some(at) = self.position(id) else { return };
        if self.hosts[at].node.is_some() {
            self.drop_crash(at, "the node crashed before it took a step with so many effects");
            self.hosts[at].mark = None;
            self.hosts[at].crash();
            self.emit(Event::Crash { node: id });
        }
    }

    pub(super) fn forget(&mut self, id: NodeId, lost_writes: u32) {
        let Some(at) = self.position(id) else { return };
        if self.hosts[at].node.is_none() && self.can_forget(id) {
            self.hosts[at].lose_writes(lost_writes);
        }
    }

    /// Whether a running node has seen the last number that this one saved.
    pub(super) fn can_forget(&self, id: NodeId) -> bool {
        let Some(at) = self.position(id) else { return false };
        let Some(last) = self.hosts[at].saved() else { return false };
        self.hosts.iter().any(|host| host.has_heard_of(last.counter.group(id)))
    }

    pub(super) fn pause(&mut self, id: NodeId) {
        let Some(at) = self.position(id) else { return };
        if self.hosts[at].node.is_some() && self.hosts[at].held.is_none() {
            self.hosts[at].held = Some(Vec::new());
            self.emit(Event::Pause { node: id });
        }
    }

    pub(super) fn resume(&mut self, id: NodeId) {
        let Some(at) = self.position(id) else { return };
        let Some(held) = self.hosts[at].held.take() else { return };
        self.give_out(self.hosts[at].current(at));
        self.emit(Event::Resume { node: id });
        // A node that resumes gets the messages and timers of its pause all at once, messages
        // first.
        for due in held {
            let class = match due {
                Due::Deliver { .. } | Due::Command { .. } | Due::Refusal { .. } => Class::Delivery,
                Due::Timer { .. } => Class::Timer,
            };
            let timer = match &due {
                Due::Timer { timer, .. } => Some(*timer),
                Due::Deliver { .. } | Due::Command { .. } | Due::Refusal { .. } => None,
            };
            let number = self.schedule.add(self.now, class, Scheduled::At { host: at, due });
            if let Some(timer) = timer {
                self.hosts[at].set_timer(timer, number);
            }
        }
    }

    fn hang(&mut self, id: NodeId) {
        let Some(at) = self.position(id) else { return };
        if self.hosts[at].node.is_some() {
            self.hosts[at].unanswered.get_or_insert_default();
        }
    }

    fn unhang(&mut self, id: NodeId) {
        let Some(at) = self.position(id) else { return };
        for answer in self.hosts[at].unanswered.take().into_iter().flatten() {
            self.come_back(at, Duration::ZERO, answer);
        }
    }

    pub(super) fn set_cut(&mut self, links: Vec<Link>, is_cut: bool) {
        for link in &links {
            if let (Some(from), Some(to)) = (self.position(link.from), self.position(link.to)) {
                self.network.set_cut(from, to, is_cut);
            }
        }
        // Links to nodes out of reach are already recorded as cut, and stay so.
        let links = if is_cut { links } else { self.filtered(links, Network::is_in_reach) };
        self.emit(if is_cut { Event::Cut { links } } else { Event::Heal { links } });
    }

    fn filtered(
        &self,
        mut links: Vec<Link>,
        keeps: fn(&Network, usize, usize) -> bool,
    ) -> Vec<Link> {
        links.retain(|link| match (self.position(link.from), self.position(link.to)) {
            (Some(from), Some(to)) => keeps(&self.network, from, to),
            (None, _) | (_, None) => true,
        });
        links
    }

    /// Records which links are out of reach; if a node moves, starts to sample positions.
    pub(super) fn lay_out(&mut self) {
        let Some(reach) = &self.network.reach else { return };
        let links = reach.missing();
        if !links.is_empty() {
            self.emit(Event::Cut { links });
        }
        self.plan_look();
    }

    fn send_off(&mut self, node: NodeId, to: Position, over: Duration) {
        let (Some(at), now) = (self.position(node), self.now) else { return };
        let Some(reach) = &mut self.network.reach else { return };
        let was_still = reach.next_look(now).is_none();
        reach.go(now, at, to, over);
        if over.is_zero() {
            self.look();
        } else if was_still {
            self.plan_look();
        }
    }

    fn plan_look(&mut self) {
        let next = self.network.reach.as_ref().and_then(|reach| reach.next_look(self.now));
        if let Some(step) = next {
            self.schedule.add(self.now + step, Class::Fault, Scheduled::Look);
        }
    }

    /// Samples the positions of all nodes, and schedules the next sample.
    pub(super) fn look_on(&mut self) {
        self.look();
        self.plan_look();
    }

    fn look(&mut self) {
        let Some(reach) = &mut self.network.reach else { return };
        let shift = reach.look(self.now);
        if !shift.went.is_empty() {
            self.emit(Event::Cut { links: shift.went });
        }
        let links = self.filtered(shift.came, Network::is_open);
        if !links.is_empty() {
            self.emit(Event::Heal { links });
        }
    }

    pub(super) fn cut_links(&self) -> Vec<Link> {
        let count = self.hosts.len();
        let all = (0..count).flat_map(|from| (0..count).map(move |to| (from, to)));
        all.filter(|(from, to)| self.network.is_cut(*from, *to))
            .map(|(from, to)| Link { from: self.hosts[from].id, to: self.hosts[to].id })
            .collect()
    }

    pub(super) fn command(&mut self, id: NodeId, command: Command) {
        if let Some(at) = self.position(id) {
            let incarnation = self.hosts[at].incarnation;
            self.on_event(at, 0, Due::Command { command, incarnation });
        }
    }

    /// Applies the faults whose trigger is this event.
    pub(super) fn fire(&mut self, event: &Event) {
        let mut due = Vec::new();
        let global = &self.observers.global;
        self.armed.retain_mut(|armed| {
            let Moment::When { condition, after } = armed.fault.moment else { return true };
            let was = global.view(condition.node).map_or(Status::Down, |view| view.was());
            if !condition.what.is(condition.node, event, was) {
                return true;
            }
            armed.seen += 1;
            if armed.seen < condition.nth {
                return true;
            }
            let action = armed.fault.action.clone();
            due.push((after, Planned { number: armed.number, action }));
            false
        });
        for (after, planned) in due {
            match planned.action {
                // At once: between this effect and the next.
                Action::Crash(_) if after.is_zero() => self.carry_out_fault(planned),
                Action::Crash(_)
                | Action::CrashAfterEffects(..)
                | Action::Restart { .. }
                | Action::Forget { .. }
                | Action::Pause(_)
                | Action::Resume(_)
                | Action::Hang(_)
                | Action::Unhang(_)
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
                | Action::Refuse { .. }
                | Action::Withdraw { .. }
                | Action::HandOver { .. }
                | Action::Rejoin(_)
                | Action::PauseElections(_)
                | Action::ResumeElections(_)
                | Action::Priority { .. }
                | Action::Move { .. } => {
                    self.schedule.add(self.now + after, Class::Fault, Scheduled::Fault(planned));
                }
            }
        }
    }
}
