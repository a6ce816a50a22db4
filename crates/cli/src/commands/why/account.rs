//! An election as one node lived through it, from its own trace.
//!
//! An election begins with what moved the node to leave its group (a timer, a message, evidence
//! that a node is gone) and ends when it is Normal again. Assumes entries of one node in order of
//! time; tells nothing that is not in them.

use std::time::Duration;

use serde_json::{Value, json};
use tanist::{GroupNumber, NodeId, NodeNames, NodeSet, Phase};
use tanist_core::Time;
use tanist_core::membership::Member;
use tanist_core::trace::{Entry, Event, Header, Kind, NodeState, Outcome, TimerName};

use super::round::Round;
use crate::agent::change::RoleChange;
use crate::agent::loss::{Evidence, LostNode};
use crate::terminal::moment;

/// One election of one node.
#[derive(Clone, Debug)]
pub(super) struct Account {
    pub(super) began: Time,
    /// When it left its group.
    left: Time,
    /// None: it is still on.
    ended: Option<Time>,
    pub(super) steps: Vec<Step>,
    /// Who won, and why.
    outcome: String,
    before: Option<GroupNumber>,
    after: Option<GroupNumber>,
    pub(super) coordinator: Option<NodeId>,
    /// Who was asked and did not answer.
    pub(super) silent: Vec<NodeId>,
    /// Who was in the group before and is not in this one, with the evidence.
    pub(super) lost: Vec<LostNode<String>>,
}

/// One thing that happened in it.
#[derive(Clone, Debug)]
pub(super) struct Step {
    pub(super) at: Time,
    pub(super) text: String,
}

impl Account {
    /// Adds what the agent's history knows of the nodes that were lost: connections and silence
    /// are no messages, so the trace does not have them.
    pub(super) fn explain(&mut self, history: &[RoleChange<String>], me: &str, names: &NodeNames) {
        let is_this = |line: &&RoleChange<String>| {
            line.is_in_group() && line.group_number.is_some() && line.group_number == self.after
        };
        let Some(line) = history.iter().find(is_this) else { return };
        self.lost.clone_from(&line.lost);
        if self.lost.is_empty() {
            return;
        }
        let is_vague = |step: &Step| step.text.ends_with(LEARNS);
        self.steps.retain(|step| !is_vague(step));
        if self.lost.iter().any(|lost| is_at_once(lost.evidence)) {
            // The evidence was the cause, and not what the node happened to ask before.
            let left = self.left;
            self.steps.retain(|step| left.since(step.at.min(left)) < AT_ONCE);
            self.began = left;
        }
        let step =
            |lost: &LostNode<String>| Step { at: self.began, text: format!("{me} finds: {lost}") };
        self.steps.splice(0..0, self.lost.iter().map(step));
        let is_dead = |node: &NodeId| {
            let refused = Evidence::ConnectionRefused;
            self.lost
                .iter()
                .any(|lost| names.find(&lost.node) == Some(*node) && lost.evidence == refused)
        };
        self.silent.retain(|node| !is_dead(node));
    }

    /// Who won and why, and how long it took.
    pub(super) fn result(&self) -> String {
        match self.ended {
            Some(ended) => {
                let took = moment::span(ended.since(self.began));
                format!("{}. It took {took}.", self.outcome)
            }
            None => self.outcome.clone(),
        }
    }

    /// The whole for programs; it began at a moment of the wall clock.
    pub(super) fn json(&self, names: &NodeNames, when_ms: u64) -> Value {
        let called = |node: NodeId| names.of(node).to_string();
        let millis = |at: Time| at.since(self.began).as_secs_f64() * 1000.0;
        let steps: Vec<Value> = self
            .steps
            .iter()
            .map(|step| json!({ "after_ms": millis(step.at), "text": step.text }))
            .collect();
        json!({
            "when_ms": when_ms,
            "took_ms": self.ended.map(millis),
            "before": self.before.map(|group| group.to_string()),
            "group_number": self.after.map(|group| group.to_string()),
            "coordinator": self.coordinator.map(called),
            "lost": self.lost,
            "silent": self.silent.iter().copied().map(called).collect::<Vec<_>>(),
            "steps": steps,
            "result": self.result(),
        })
    }
}

/// All elections that the entries tell of, oldest first.
pub(super) fn accounts(header: &Header, me: NodeId, entries: &[Entry]) -> Vec<Account> {
    let mine: Vec<&Entry> = entries
        .iter()
        .filter(|entry| entry.event.actor() == Some(me) && !entry.event.is_of_heartbeat())
        .collect();
    let mut found = Vec::new();
    let mut group: Option<&NodeState> = None;
    let mut last_end = 0;
    let mut left: Option<usize> = None;
    for (index, entry) in mine.iter().enumerate() {
        let Event::State { state, .. } = &entry.event else { continue };
        let is_normal = state.status == Phase::Normal;
        if !is_normal {
            left.get_or_insert(index);
            continue;
        }
        let is_new = group.is_none_or(|group| group.group != state.group);
        if let Some(left) = left.take()
            && is_new
        {
            let start = cause(&mine, last_end, left);
            found.push(account(header, me, &mine[start..=index], group, Some(state)));
        }
        group = Some(state);
        last_end = index + 1;
    }
    if let Some(left) = left {
        let start = cause(&mine, last_end, left);
        found.push(account(header, me, &mine[start..], group, None));
    }
    found
}

/// Where what led to leaving the group begins: at the message that came at that moment, else at
/// the latest timer that makes a node look around.
fn cause(mine: &[&Entry], from: usize, left: usize) -> usize {
    let at = mine[left].at;
    let before = mine[from..left].iter().enumerate().rev();
    let mut at_once = before.clone().take_while(|(_, entry)| at.since(entry.at) < AT_ONCE);
    let message = at_once.find(|(_, entry)| matches!(entry.event, Event::Receive { .. }));
    let is_trigger = |entry: &Entry| {
        matches!(
            entry.event,
            Event::Start { .. }
                | Event::Timer {
                    timer: TimerName::Check | TimerName::Timeout | TimerName::Silence,
                    ..
                }
        )
    };
    let trigger = || before.clone().find(|(_, entry)| is_trigger(entry));
    message.or_else(trigger).map_or(left, |(index, _)| from + index)
}

fn account(
    header: &Header,
    me: NodeId,
    entries: &[&Entry],
    before: Option<&NodeState>,
    after: Option<&NodeState>,
) -> Account {
    let (names, lines) = (&header.names, Vec::new());
    let mut teller = Teller { me: names.of(me).to_string(), names, lines, stopping: None };
    let began = entries.first().map_or(Time::ZERO, |entry| entry.at);
    if let Some(Event::State { .. }) = entries.first().map(|entry| &entry.event) {
        teller.say(began, LEARNS.to_owned());
    }
    entries.iter().for_each(|entry| teller.take(entry));
    let silent = teller.silent(after.map(|state| &state.up));
    let ended = after.and_then(|_| entries.last()).map(|entry| entry.at);
    let is_out = |entry: &&&Entry| matches!(&entry.event, Event::State { state, .. } if state.status != Phase::Normal);
    let left = entries.iter().find(is_out).map_or(began, |entry| entry.at);
    Account {
        began,
        left,
        ended,
        steps: teller.steps(),
        outcome: outcome(header, me, after),
        before: before.and_then(|state| state.group),
        after: after.and_then(|state| state.group),
        coordinator: after.and_then(|state| state.coordinator),
        silent,
        lost: Vec::new(),
    }
}

/// Who won, and why as far as rank decides.
fn outcome(header: &Header, me: NodeId, after: Option<&NodeState>) -> String {
    let Some(state) = after else { return "the election is still on".to_owned() };
    let (Some(winner), Some(group)) = (state.coordinator, state.group) else {
        return "it ended without a coordinator".to_owned();
    };
    let mut members: Vec<NodeId> = state.up.iter().chain([me]).collect();
    members.sort_unstable();
    members.dedup();
    let rank = |node: NodeId| header.nodes.iter().find(|member| member.id == node);
    let highest: Option<&Member> = members.iter().filter_map(|node| rank(*node)).max();
    let why = match (highest, members.len()) {
        (_, 1) => "no other node takes part".to_owned(),
        (Some(highest), _) if highest.id == winner => {
            format!("of its members it has the highest rank, priority {}", highest.priority.0)
        }
        (Some(highest), _) => format!(
            "it came first and rank did not decide: {} has the higher rank, priority {}",
            header.names.of(highest.id),
            highest.priority.0
        ),
        (None, _) => "its rank is not known here".to_owned(),
    };
    let all = header.names.list(members.iter().copied());
    let winner = header.names.of(winner);
    format!("{winner} leads group {group} of {all}: {why}")
}

/// What is told so far.
struct Teller<'a> {
    me: String,
    names: &'a NodeNames,
    lines: Vec<Line>,
    /// Since when the application is asked to stop.
    stopping: Option<Time>,
}

enum Line {
    Said(Step),
    Asked(Round),
}

impl Teller<'_> {
    fn say(&mut self, at: Time, what: String) {
        self.lines.push(Line::Said(Step { at, text: format!("{} {what}", self.me) }));
    }

    fn rounds(&mut self) -> impl Iterator<Item = &mut Round> {
        self.lines.iter_mut().rev().filter_map(|line| match line {
            Line::Asked(round) => Some(round),
            Line::Said(_) => None,
        })
    }

    /// Tells one entry, if it is one that an election is told by.
    fn take(&mut self, entry: &Entry) {
        let at = entry.at;
        if let Event::Send { to, message, .. } = &entry.event {
            if !message.kind.info().answers.is_empty() && !is_step(message.kind) {
                return;
            }
            if let Some(round) = self.rounds().find(|round| round.takes(at, message.kind, *to)) {
                round.to.push(*to);
                return;
            }
            self.lines.push(Line::Asked(Round::new(at, message.kind, *to)));
        } else if let Event::Receive { from, message, .. } = &entry.event {
            let is_answer = self.rounds().any(|round| round.hear(at, *from, *message));
            if !is_answer && message.kind.info().answers.is_empty() {
                let group = message.group.map(|group| format!(" (group {group})"));
                let from = self.names.of(*from);
                let what =
                    format!("hears {} from {from}{}", message.kind, group.unwrap_or_default());
                self.say(at, what);
            }
        } else if let Event::Timer { timer, .. } = &entry.event {
            if timer.info().gives_up {
                self.rounds().for_each(|round| round.give_up(at));
            }
            self.say(at, format!("{} ({} timer)", timer.info().text, timer.name()));
        } else {
            self.turn(entry);
        }
    }

    fn turn(&mut self, entry: &Entry) {
        let at = entry.at;
        if let Event::Start { restarted, .. } = &entry.event {
            self.say(at, if *restarted { "restarts" } else { "starts" }.to_owned());
        } else if let Event::Call { .. } = &entry.event {
            self.say(at, "calls an election".to_owned());
        } else if let Event::End { outcome, .. } = &entry.event {
            self.say(at, outcome_words(*outcome).to_owned());
        } else if let Event::Stop { .. } = &entry.event {
            self.stopping = Some(at);
        } else if let (Event::Stopped { .. }, Some(since)) = (&entry.event, self.stopping) {
            self.stopping = None;
            let took = moment::span(at.since(since));
            self.say(at, format!("has stopped its application, which took {took}"));
        } else if let Event::Begin { group, .. } = &entry.event {
            self.say(at, format!("begins to work in group {group}"));
        }
    }

    /// Who was asked and never answered, and is not in the group either.
    fn silent(&mut self, up: Option<&NodeSet>) -> Vec<NodeId> {
        let is_in = |node: &NodeId| up.is_some_and(|up| up.contains(*node));
        let mut silent: Vec<NodeId> = self.rounds().flat_map(|round| round.silent()).collect();
        silent.retain(|node| !is_in(node));
        silent.sort_unstable();
        silent.dedup();
        silent
    }

    fn steps(self) -> Vec<Step> {
        let (me, names) = (self.me, self.names);
        let step = |line| match line {
            Line::Said(step) => step,
            Line::Asked(round) => {
                Step { at: round.at, text: format!("{me} {}", round.text(names)) }
            }
        };
        self.lines.into_iter().map(step).collect()
    }
}

/// What begins an election without a message or a timer, as far as a trace tells.
const LEARNS: &str = "learns from its connections that a node is gone, or is told to elect";

/// What comes so shortly before a step is what caused it.
const AT_ONCE: Duration = Duration::from_millis(2);

/// Whether evidence is known at once, and not only after a wait.
const fn is_at_once(evidence: Evidence) -> bool {
    match evidence {
        Evidence::Farewell | Evidence::ConnectionRefused => true,
        Evidence::Silence | Evidence::None => false,
    }
}

/// Whether an answer moves the election on, and is told like a question.
const fn is_step(kind: Kind) -> bool {
    matches!(kind, Kind::Accept | Kind::EeAnswer | Kind::Answer)
}

const fn outcome_words(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Won => "wins its election: no node of higher rank stood against it",
        Outcome::Yielded => "yields: a node of higher rank answered, or another was first",
        Outcome::Failed => "fails: a member was lost on the way, and it begins again",
    }
}

#[cfg(test)]
mod tests;
