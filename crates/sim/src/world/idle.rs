//! Why an action of a scenario would change nothing.
//!
//! A command to a node is tried out on a copy of the node: it changes nothing if the copy stays as
//! it is and has no effects. Assumes nothing that only the future can tell; where the reason is not
//! certain there is none. Leaves out: commands to paused nodes, which have to wait.

use tanist_core::node::{Command, Node, Notice};
use tanist_core::policy::{HandOverError, PriorityError};
use tanist_core::recall::RecallMode;
use tanist_core::trace::{Kind, Link};
use tanist_core::{Context, Effect, Effects, NodeId, Protocol, Status};

use super::{Scheduled, World};
use crate::world::faults::Action;
use crate::world::host::{Due, Host};

const ALREADY_PAUSED: &str = "elections were paused already";

impl World {
    /// Why an action would change nothing, if that is so.
    pub(super) fn why_idle(&self, action: &Action) -> Option<&'static str> {
        let host = |node: &NodeId| self.position(*node).map(|at| &self.hosts[at]);
        let is = |node: &NodeId, what: fn(&Host) -> bool| host(node).is_some_and(what);
        let is_down = |node: &NodeId| is(node, |host| host.node.is_none());
        let when = |is_so: bool, why| is_so.then_some(why);
        match action {
            Action::Restart { node, .. } => when(!is_down(node), "the node was up"),
            Action::Forget { node, .. } if !is_down(node) => Some("the node was up"),
            Action::Forget { node, .. } => {
                when(!self.can_forget(*node), "no running node had seen its last number")
            }
            Action::Resume(node) => {
                when(is(node, |host| host.held.is_none()), "the node was not paused")
            }
            Action::Unhang(node) => {
                when(is(node, |host| host.unanswered.is_none()), "the application did not hang")
            }
            Action::Cut(links) => {
                when(links.iter().all(|link| self.is_cut(*link)), "the links were cut already")
            }
            Action::Heal(links) if links.is_empty() => {
                when(self.cut_links().is_empty(), "no link was cut")
            }
            Action::Heal(links) => {
                when(!links.iter().any(|link| self.is_cut(*link)), "none of the links was cut")
            }
            Action::Slow(node, by) => when(
                host(node).is_some_and(|host| host.slow == *by),
                "its messages were delayed by as much already",
            ),
            Action::Loss(ppm) => when(
                self.network.conditions.loss_ppm == *ppm,
                "the network lost this share already",
            ),
            Action::Duplicate(ppm) => when(
                self.network.conditions.duplicate_ppm == *ppm,
                "the network duplicated this share already",
            ),
            Action::Crash(node)
            | Action::CrashAfterEffects(node, _)
            | Action::Pause(node)
            | Action::Hang(node)
                if is_down(node) =>
            {
                Some("the node was down")
            }
            Action::Pause(node) => {
                when(is(node, |host| host.held.is_some()), "the node was paused already")
            }
            Action::Hang(node) => {
                when(is(node, |host| host.unanswered.is_some()), "the application hung already")
            }
            Action::Call(_)
            | Action::Check(_)
            | Action::Suspect(_)
            | Action::Refuse { .. }
            | Action::Withdraw { .. }
            | Action::HandOver { .. }
            | Action::Rejoin(_)
            | Action::PauseElections(_)
            | Action::ResumeElections(_)
            | Action::Priority { .. } => self.why_idle_command(action),
            Action::ClockRate(node, rate) => when(
                host(node).is_some_and(|host| host.rate == *rate),
                "its clock ran at this rate already",
            ),
            Action::Calm => {
                let is_calm = self.network.reach.is_none()
                    && self.network.conditions == self.calm_conditions();
                when(is_calm, "the network was calm already")
            }
            Action::Crash(_) | Action::CrashAfterEffects(..) | Action::Move { .. } => None,
        }
    }

    fn is_cut(&self, link: Link) -> bool {
        match (self.position(link.from), self.position(link.to)) {
            (Some(from), Some(to)) => self.network.is_cut(from, to),
            (None, _) | (_, None) => false,
        }
    }

    fn why_idle_command(&self, action: &Action) -> Option<&'static str> {
        let (id, command) = action.command()?;
        let host = &self.hosts[self.position(id)?];
        let Some(node) = &host.node else { return Some("the node was down") };
        if host.held.is_some() {
            return None;
        }
        // These are told to all others anyway, so a copy of the node would not show it.
        let is_pause = command == Command::Pause;
        if is_pause || command == Command::Resume {
            let why = if is_pause { ALREADY_PAUSED } else { "elections were not paused" };
            return self.all_know(is_pause).then_some(why);
        }
        if self.would_change(host, node, command.clone()) {
            return None;
        }
        self.why_unmoved(id, node, &command)
    }

    /// Whether elections are paused at every running node, or at none, and nothing that would
    /// change that is on its way.
    fn all_know(&self, is_paused: bool) -> bool {
        let algorithm = self.config.algorithm();
        let is_about_it = |due: &Due| match due {
            Due::Deliver { message, .. } => message.facts(algorithm).kind == Kind::Pause,
            Due::Command { command, .. } => matches!(command, Command::Pause | Command::Resume),
            Due::Timer { .. } | Due::Refusal { .. } => false,
        };
        let mut scheduled = self.schedule.entries().map(|(_, item)| item);
        let is_on_its_way = scheduled.any(|item| match item {
            Scheduled::At { due, .. } => is_about_it(due),
            Scheduled::Fault(_) | Scheduled::Look => false,
        });
        let is_settled = |host: &Host| {
            let mut nodes = host.node.iter();
            nodes.all(|node| node.is_paused() == is_paused)
                && !host.held.iter().flatten().any(is_about_it)
        };
        !is_on_its_way && self.hosts.iter().all(is_settled)
    }

    /// Whether the node would take a step that changes its state or has effects.
    fn would_change(&self, host: &Host, node: &Node, command: Command) -> bool {
        let (mut after, mut dice) = (node.clone(), self.dice.clone());
        let mut cx = Context {
            me: host.id,
            now: host.clock(self.now),
            dice: &mut dice,
            config: &self.config,
            members: &self.members,
        };
        let mut effects = Effects::new();
        after.step(&mut cx, tanist_core::Event::Command(command), &mut effects);
        let running = host.running();
        after != *node
            || effects.drain().any(|effect| match effect {
                Effect::Send { .. }
                | Effect::Broadcast(_)
                | Effect::SetTimer { .. }
                | Effect::Save(_) => true,
                Effect::CancelTimer(timer) => running.contains(&timer),
                // A node that has withdrawn says so again.
                Effect::Notify(notice) => notice != Notice::Withdrawn,
            })
    }

    /// Why a command that changes nothing does not, as far as that is certain.
    fn why_unmoved(&self, id: NodeId, node: &Node, command: &Command) -> Option<&'static str> {
        match command {
            Command::SetPriority(_) => {
                let refused = PriorityError::check(&self.config).err();
                refused.map(|_| "priorities cannot change in this group")
            }
            Command::HandOver { to } => {
                node.successor(id, &self.config, &self.members, Some(*to)).err().map(refusal)
            }
            Command::Rejoin if node.takes_part() => Some("the node took part"),
            Command::Rejoin => Some("the node was about to rejoin"),
            Command::Withdraw { .. } | Command::Leave => absence(node),
            Command::Call | Command::Check | Command::SuspectCoordinator => {
                absence(node).or_else(|| self.why_uncalled(id, node, command))
            }
            Command::Refused(_) => Some("the node did not deal with that peer"),
            Command::Stopped(_)
            | Command::Define { .. }
            | Command::Acting(_)
            | Command::Object(_)
            | Command::Lift(_)
            | Command::Pause
            | Command::Resume => None,
        }
    }

    /// Why a node that takes part calls no election and asks no other node.
    fn why_uncalled(&self, id: NodeId, node: &Node, command: &Command) -> Option<&'static str> {
        let state = node.state();
        let leads = state.coordinator == Some(id);
        let is_new = state.status == Status::Down && self.config.recall() == RecallMode::On;
        if *command == Command::Check && !leads {
            Some("the node was not a coordinator")
        } else if *command == Command::SuspectCoordinator && leads {
            Some("the node led its group itself")
        } else if is_new {
            Some("the node was asking for its number")
        } else if self.members.count() > 1 {
            Some("the node was busy with an election or a check")
        } else {
            None
        }
    }
}

/// Why a node takes no part, if it does not.
fn absence(node: &Node) -> Option<&'static str> {
    if node.is_withdrawn() {
        Some("the node had withdrawn")
    } else if node.is_overdue() {
        Some("the node waited for its application")
    } else if !node.takes_part() {
        Some("the node was withdrawing")
    } else {
        None
    }
}

fn refusal(error: HandOverError) -> &'static str {
    match error {
        HandOverError::KeepsNoLeader(_) => "no leader of this algorithm can name its successor",
        HandOverError::Unknown(_) => "there is no such node",
        HandOverError::NotLeader { .. } => "the node did not lead",
        HandOverError::Already(_) => "that node led already",
        HandOverError::Paused => "elections were paused",
        HandOverError::NotInGroup(_) => "that node was not in the group",
        HandOverError::Alone => "the node was alone",
        HandOverError::WouldNotLast { .. } => {
            "the node outranked the other one and would have led again"
        }
    }
}
