//! How time passes in a world: from one thing that is due to the next.
//!
//! ```text
//!   programs (whole milliseconds) > something in the world > answers of tasks > probes > work
//! ```
//!
//! After each of them the world is attended to: tasks and programs hear what their nodes told them,
//! and the checks look.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tanist_core::trace::{Event, Link};
use tanist_core::{NodeId, Time};
use tanist_sim::world::application::Told;
use tanist_sim::world::faults::Action;

use super::evidence::{NeverError, Violated};
use super::seat::{Asked, Seat, SeatError, Starting};
use super::world::{World, index, node_at};
use crate::clock::Clock;
use crate::driver::desk::Behind;
use crate::metrics::Metrics;
use crate::task::GroupTask;

impl<T: GroupTask> World<T> {
    /// Lets this much time pass.
    pub fn run_for(&mut self, span: Duration) {
        let end = self.inner.now() + span;
        while self.advance(end) {}
    }

    /// Lets time pass until the condition is true. It is asked after everything that happens.
    ///
    /// # Errors
    /// If it does not come true within [`WorldBuilder::limit`](super::WorldBuilder::limit). The
    /// error names the seed and the files with the story and the picture of the run.
    pub fn run_until(
        &mut self,
        mut condition: impl FnMut(&Self) -> bool,
    ) -> Result<(), NeverError> {
        let end = self.inner.now() + self.scenario.end;
        while !condition(self) {
            if !self.advance(end) {
                return Err(self.never());
            }
        }
        Ok(())
    }

    /// Does something to the world now.
    pub(super) fn act(&mut self, action: Action) {
        self.inner.act(action);
        self.attend();
    }

    /// Lets the next thing happen that is due by the end; false if there is none any more, and
    /// then it is that time.
    fn advance(&mut self, end: Time) -> bool {
        let in_world = self.inner.next_at().unwrap_or(Time::NEVER);
        let answers = self.seats.iter().flatten().filter_map(|(_, seat)| seat.next_at());
        let answer = answers.min().unwrap_or(Time::NEVER);
        let probe = self.peers.next_at().unwrap_or(Time::NEVER);
        let work = self.work.as_ref().map_or(Time::NEVER, |work| work.next_at);
        let next = in_world.min(answer).min(probe).min(work);
        if self.run_programs(next.min(end)) {
            return true;
        }
        if next > end {
            self.inner.run_until(end);
            self.set_clock();
            return false;
        }
        if in_world == next {
            self.inner.step();
            self.attend();
            return true;
        }
        // Nothing is due in the world by then: only its clock moves.
        self.inner.run_until(next);
        self.set_clock();
        if answer == next {
            self.hand_in_answers();
        } else if probe == next {
            self.peers.conclude(next, &self.inner.observers.global);
        } else {
            self.do_work();
        }
        true
    }

    /// Lets programs run to the next moment at which one of them has something to do, but not
    /// beyond this time; false if their clock did not move and none had.
    fn run_programs(&mut self, until: Time) -> bool {
        let Some(programs) = &mut self.programs else { return false };
        let runtime = &mut programs.runtime;
        let stirred = programs.stirred_at.map(|at| whole(at).max(runtime.now()));
        match stirred.filter(|at| *at <= until) {
            Some(at) => {
                runtime.step_to(at);
                programs.stirred_at = None;
            }
            // They run when it is their time, not before.
            None if stirred.is_some() => return false,
            None => {
                let before = runtime.now();
                runtime.advance(until);
                if runtime.now() == before {
                    return false;
                }
            }
        }
        let now = runtime.now();
        self.inner.pass_until(now);
        self.set_clock();
        self.follow_programs();
        true
    }

    /// Does what programs ask, ends those that have left, and passes on their panics.
    fn follow_programs(&mut self) {
        for at in 0..self.seats.len() {
            let node = node_at(at);
            let program = self.seats[at].as_ref().and_then(|(_, seat)| seat.program.as_ref());
            let Some(program) = program else { continue };
            if let Some(payload) = program.process.take_panic() {
                std::panic::resume_unwind(payload);
            }
            if program.has_left {
                self.act(Action::Crash(node));
                continue;
            }
            while let Some(asked) = self.take_request(node) {
                self.carry_out(node, asked);
                self.stir();
            }
        }
        self.judge();
    }

    fn take_request(&mut self, node: NodeId) -> Option<Asked> {
        let behind = behind(&self.inner, node)?;
        let (_, seat) = self.seats[index(node)].as_mut()?;
        match seat.take_request(behind) {
            Ok(asked) => asked,
            Err(error) => self.give_up(node, &error),
        }
    }

    fn carry_out(&mut self, node: NodeId, asked: Asked) {
        let others = self.nodes().filter(|other| *other != node);
        let both = |other| [Link { from: node, to: other }, Link { from: other, to: node }];
        match asked {
            Asked::Command(command) => {
                if let Some(listener) = self.inner.listener(node) {
                    self.inner.answer(listener, command, Duration::ZERO);
                }
            }
            Asked::Inspect { probe, reply } => {
                let slow = |node| self.slow[index(node)];
                self.peers.probe(node, &probe, self.inner.now(), slow);
                // The requester may be gone.
                let _ = reply.send(Metrics { peers: self.peers.views(node), ..Metrics::default() });
            }
            Asked::Block(peers) => {
                let cut = others.filter(|other| peers.contains(other)).flat_map(both).collect();
                self.act(Action::Cut(cut));
            }
            Asked::Answered => {}
            Asked::Unblock => {
                let healed = others.flat_map(both).collect();
                self.act(Action::Heal(healed));
            }
        }
    }

    /// Follows what happened to the nodes: tasks die and are made, and hear what nodes told them.
    pub(super) fn attend(&mut self) {
        self.set_clock();
        let runtime = self.programs.as_ref().map(|programs| programs.runtime.handle().clone());
        let _context = runtime.as_ref().map(tokio::runtime::Handle::enter);
        self.read_trace();
        self.follow_incarnations();
        let (now, pace) = (self.inner.now(), self.scenario.pace);
        for Told { listener, notice } in self.inner.take_notices() {
            let node = listener.node();
            let signs = runtime.is_some().then(|| self.peers.signs(node));
            let Some((_, seat)) = &mut self.seats[index(node)] else { continue };
            if let Some(signs) = signs {
                seat.note_signs(signs);
            }
            match seat.receive(listener, notice, now, pace) {
                Ok(Some(command)) => self.inner.answer(listener, command, Duration::ZERO),
                Ok(None) => {}
                Err(error) => self.give_up(node, &error),
            }
            self.stir();
        }
        if runtime.is_some() {
            self.show_steps();
        }
        self.judge();
    }

    /// What messages say about the peers of their receivers; only programs ask for that.
    fn read_trace(&mut self) {
        if self.programs.is_none() {
            return;
        }
        let Some(recording) = self.inner.observers.recording() else { return };
        for entry in &recording.entries[self.seen..] {
            self.peers.note(entry.at, &entry.event);
            if let Event::Receive { node, from, .. } = &entry.event
                && let Some((_, seat)) = &self.seats[index(*node)]
            {
                seat.heard(*from);
            }
        }
        self.seen = recording.entries.len();
    }

    fn follow_incarnations(&mut self) {
        for at in 0..self.seats.len() {
            let node = node_at(at);
            let Some(seen) = self.inner.observers.global.view(node) else { continue };
            let is_paused = seen.is_paused;
            // A node that withdraws and rejoins is in the same process all the while.
            let incarnation = self.inner.listener(node);
            if self.seats[at].as_ref().map(|(known, _)| *known) != incarnation {
                // The old one is gone before the new one begins.
                self.seats[at] = None;
                self.checks.iter().for_each(|check| check.crashed(node));
                self.seats[at] = incarnation.map(|incarnation| {
                    let starting = Starting {
                        me: node,
                        name: &self.scenario.name,
                        config: self.inner.config(),
                        members: self.inner.members(),
                        clock: Clock::Simulated(Arc::clone(&self.clock)),
                    };
                    (incarnation, Seat::new((self.make)(node), starting, self.programs.as_mut()))
                });
                self.stir();
            }
            let program = self.seats[at].as_ref().and_then(|(_, seat)| seat.program.as_ref());
            if let Some(program) = program
                && program.process.set_paused(is_paused)
            {
                self.stir();
            }
        }
    }

    /// Shows programs what steps of their nodes have changed.
    fn show_steps(&mut self) {
        for at in 0..self.seats.len() {
            let node = node_at(at);
            if let Some(behind) = behind(&self.inner, node)
                && let Some((_, seat)) = &mut self.seats[at]
                && seat.after_step(behind)
            {
                self.stir();
            }
        }
    }

    /// Lets the checks look at who acts.
    fn judge(&mut self) {
        if self.checks.is_empty() {
            return;
        }
        let (now, global) = (self.inner.now(), &self.inner.observers.global);
        self.links.note(now, global, |node| !self.slow[index(node)].is_zero());
        let group = |node| self.seats[index(node)].as_ref()?.1.view().map(|view| view.group);
        let judged = self.checks.iter().flat_map(|check| check.judge(now, &self.links, &group));
        for violated in judged.collect::<Vec<_>>() {
            self.found.push(Violated::of(violated.clone()));
            self.inner.observers.report(violated);
        }
    }

    /// Programs have something to look at.
    fn stir(&mut self) {
        let now = self.inner.now();
        if let Some(programs) = &mut self.programs {
            programs.stirred_at.get_or_insert(now);
        }
    }

    fn set_clock(&self) {
        self.clock.store(self.inner.now().as_micros(), Ordering::Relaxed);
    }

    fn hand_in_answers(&mut self) {
        let runtime = self.programs.as_ref().map(|programs| programs.runtime.handle().clone());
        let _context = runtime.as_ref().map(tokio::runtime::Handle::enter);
        let now = self.inner.now();
        for at in 0..self.seats.len() {
            let Some(behind) = behind(&self.inner, node_at(at)) else { continue };
            let Some((_, seat)) = &mut self.seats[at] else { continue };
            match seat.answers(now, behind) {
                Ok(commands) => {
                    for (listener, command) in commands {
                        self.inner.answer(listener, command, Duration::ZERO);
                    }
                }
                Err(error) => self.give_up(node_at(at), &error),
            }
        }
    }

    fn do_work(&mut self) {
        let Some(mut work) = self.work.take() else { return };
        work.next_at = work.next_at + work.every;
        for at in 0..self.seats.len() {
            if self.is_running(node_at(at))
                && let Some((_, seat)) = &mut self.seats[at]
                && let Some((task, view)) = seat.at_work()
            {
                (work.step)(task, view);
            }
        }
        self.work = Some(work);
    }

    /// A task that cannot go on ends a live node; here it ends the test, which is what it is for.
    fn give_up(&self, node: NodeId, error: &SeatError) -> ! {
        let (seed, now) = (self.seed(), self.now());
        panic!("the task of {node} cannot go on at {now:?} of seed {seed}: {error}")
    }
}

/// The node that a seat stands above; none while it is down.
fn behind(world: &tanist_sim::World, node: NodeId) -> Option<Behind<'_>> {
    let (config, members) = (world.config(), world.members());
    world.node(node).map(|node| Behind { node, config, members })
}

/// The first whole millisecond at or after a time.
fn whole(time: Time) -> Time {
    Time::from_micros(time.as_micros().div_ceil(1000) * 1000)
}
