//! The part of a scenario file that says what happens, and what must come of it.

use std::collections::BTreeMap;
use std::ops::Range;
use std::time::Duration;

use tanist_core::trace::Link;
use tanist_core::{Membership, NodeId, Time};
use toml::Spanned;

use super::parse::{
    ExpectTable, FaultLine, MessageLine, Reader, ScenarioError, Text, WhenTable, float_to_u32,
};
use super::{Expect, ExpectNode};
use crate::monitors::IDS;
use crate::scenario::script::{Deed, DeedError};
use crate::world::faults::{Action, Condition, Fault, Happening, Moment};
use crate::world::network::{Fate, Rule};

impl Reader<'_> {
    pub(super) fn fault(
        &self,
        line: &FaultLine,
        span: &Range<usize>,
    ) -> Result<Fault, ScenarioError> {
        let moment = match (&line.at, &line.when) {
            (Some(at), None) => Moment::At(Time::ZERO + self.duration(at)?),
            (None, Some(when)) => Moment::When {
                condition: self.condition(when)?,
                after: line.after.as_ref().map_or(Ok(Duration::ZERO), |t| self.duration(t))?,
            },
            (Some(_), Some(_)) | (None, None) => {
                let what = "a fault needs either `at` or `when`".to_owned();
                return Err(self.error(span, what));
            }
        };
        Ok(Fault { moment, action: self.action(line, span)? })
    }

    pub(super) fn condition(&self, when: &Spanned<WhenTable>) -> Result<Condition, ScenarioError> {
        let table = when.as_ref();
        let what = match (&table.enters, &table.sends, &table.receives) {
            (Some(status), None, None) => Happening::Enters(self.status(status)?),
            (None, Some(kind), None) => Happening::Sends(self.kind(kind)?),
            (None, None, Some(kind)) => Happening::Receives(self.kind(kind)?),
            (_, _, _) => {
                let what = "expected one of `enters`, `sends`, `receives`".to_owned();
                return Err(self.error(&when.span(), what));
            }
        };
        Ok(Condition { node: NodeId(table.node), what, nth: table.nth.unwrap_or(1).max(1) })
    }

    pub(super) fn action(
        &self,
        line: &FaultLine,
        span: &Range<usize>,
    ) -> Result<Action, ScenarioError> {
        let name = line.action.as_ref().as_str();
        let missing = |field: &str| self.error(span, format!("`{name}` needs `{field}`"));
        let node = || line.node.map(NodeId).ok_or_else(|| missing("node"));
        let rate = || line.rate.as_ref().ok_or_else(|| missing("rate"));
        Ok(match name {
            "crash" => match line.effects {
                None => Action::Crash(node()?),
                Some(effects) => Action::CrashAfterEffects(node()?, effects.max(1)),
            },
            "restart" => {
                Action::Restart { node: node()?, lost_writes: line.lost_writes.unwrap_or(0) }
            }
            "forget" => {
                let lost_writes = line.lost_writes.ok_or_else(|| missing("lost_writes"))?;
                Action::Forget { node: node()?, lost_writes }
            }
            "pause" => Action::Pause(node()?),
            "resume" => Action::Resume(node()?),
            "cut" => {
                let links = links(line);
                if links.is_empty() {
                    return Err(missing("sides`, `links` or `one_way"));
                }
                Action::Cut(links)
            }
            "heal" => Action::Heal(links(line)),
            "slow" => {
                let by = line.by.as_ref().ok_or_else(|| missing("by"))?;
                Action::Slow(node()?, self.duration(by)?)
            }
            "clock" => {
                let rate = rate()?;
                let factor = *rate.as_ref();
                if !(0.01..=100.0).contains(&factor) {
                    let what = "a clock's rate must be between 0.01 and 100".to_owned();
                    return Err(self.error(&rate.span(), what));
                }
                Action::ClockRate(node()?, float_to_u32(factor * 1e6))
            }
            "loss" => Action::Loss(self.millionths(rate()?)?),
            "duplicate" => Action::Duplicate(self.millionths(rate()?)?),
            "calm" => Action::Calm,
            "call" => Action::Call(node()?),
            "check" => Action::Check(node()?),
            "timeout" => Action::Suspect(node()?),
            "refuse" => Action::Refuse {
                node: node()?,
                peer: line.peer.map(NodeId).ok_or_else(|| missing("peer"))?,
            },
            "step-aside" => {
                let hold = line.hold.as_ref().map(|hold| self.duration(hold)).transpose()?;
                Action::StepAside { node: node()?, hold }
            }
            "return" => Action::Return(node()?),
            "pause-elections" => Action::PauseElections(node()?),
            "resume-elections" => Action::ResumeElections(node()?),
            "priority" => {
                let value = line.value.ok_or_else(|| missing("value"))?;
                Action::Priority { node: node()?, value }
            }
            "move" => {
                let to = line.to.as_ref().ok_or_else(|| missing("to"))?;
                let over = line.over.as_ref().map_or(Ok(Duration::ZERO), |t| self.duration(t))?;
                Action::Move { node: node()?, to: self.position(*to.as_ref(), &to.span())?, over }
            }
            other => {
                let what = format!("no fault {other:?}; there is {}", ACTIONS.join(", "));
                return Err(self.error(&line.action.span(), what));
            }
        })
    }

    pub(super) fn steps(
        &self,
        lines: &[Text],
        members: &Membership,
    ) -> Result<Vec<Deed>, ScenarioError> {
        let read = |line: &Text| {
            let deed: Deed = line
                .as_ref()
                .parse()
                .map_err(|error: DeedError| self.error(&line.span(), error.to_string()))?;
            for node in deed.nodes() {
                self.known(node.0, members, &line.span())?;
            }
            Ok(deed)
        };
        lines.iter().map(read).collect()
    }

    pub(super) fn rule(
        &self,
        line: &MessageLine,
        span: &Range<usize>,
    ) -> Result<Rule, ScenarioError> {
        let fate = match (&line.delay, line.drop) {
            (Some(delay), false) => Fate::Delay(self.duration(delay)?),
            (None, true) => Fate::Drop,
            (Some(_), true) | (None, false) => {
                let what = "expected either `delay` or `drop = true`".to_owned();
                return Err(self.error(span, what));
            }
        };
        Ok(Rule {
            from: line.from.map(NodeId),
            to: line.to.map(NodeId),
            kind: line.kind.as_ref().map(|kind| self.kind(kind)).transpose()?,
            nth: line.nth,
            fate,
            seen: 0,
        })
    }

    pub(super) fn expect(
        &self,
        table: Option<ExpectTable>,
        members: &Membership,
    ) -> Result<Expect, ScenarioError> {
        let Some(table) = table else { return Ok(Expect::default()) };
        let named = table.node.iter().map(|line| &line.id).chain(&table.coordinator);
        for node in named {
            self.known(*node.as_ref(), members, &node.span())?;
        }
        for id in &table.breaks {
            if !IDS.contains(&id.as_ref().as_str()) {
                let what = format!("no assertion {:?}; there is {}", id.as_ref(), IDS.join(" "));
                return Err(self.error(&id.span(), what));
            }
        }
        let mut by_kind = BTreeMap::new();
        for (kind, count) in table.by_kind {
            by_kind.insert(self.kind(&kind)?.name().to_owned(), count);
        }
        let nodes = table.node.into_iter().map(|line| {
            Ok(ExpectNode {
                id: NodeId(line.id.into_inner()),
                status: line.status.as_ref().map(|status| self.status(status)).transpose()?,
                coordinator: line.coordinator.map(NodeId),
                group: line.group,
                definition: line.definition,
            })
        });
        Ok(Expect {
            breaks: table.breaks.into_iter().map(Spanned::into_inner).collect(),
            coordinator: table.coordinator.map(|node| NodeId(node.into_inner())),
            nodes: nodes.collect::<Result<_, _>>()?,
            messages: table.messages,
            by_kind,
            elections: table.elections,
            settled: table.settled.as_ref().map(|text| self.duration(text)).transpose()?,
        })
    }
}

/// Every fault by its name in a file.
const ACTIONS: &[&str] = &[
    "crash",
    "restart",
    "forget",
    "pause",
    "resume",
    "cut",
    "heal",
    "slow",
    "clock",
    "loss",
    "duplicate",
    "calm",
    "call",
    "check",
    "timeout",
    "refuse",
    "step-aside",
    "return",
    "pause-elections",
    "resume-elections",
    "priority",
    "move",
];

fn links(line: &FaultLine) -> Vec<Link> {
    let link = |from: u32, to: u32| Link { from: NodeId(from), to: NodeId(to) };
    let mut all = Vec::new();
    for [a, b] in line.links.iter().flatten() {
        all.push(link(*a, *b));
        all.push(link(*b, *a));
    }
    for [from, to] in line.one_way.iter().flatten() {
        all.push(link(*from, *to));
    }
    let sides = line.sides.as_deref().unwrap_or_default();
    for (at, side) in sides.iter().enumerate() {
        for (other_at, other) in sides.iter().enumerate() {
            if at != other_at {
                all.extend(side.iter().flat_map(|a| other.iter().map(|b| link(*a, *b))));
            }
        }
    }
    all
}
