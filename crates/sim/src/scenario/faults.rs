//! The tables of a scenario file that describe faults and when they are due: `[[fault]]`.

use std::fmt::{self, Write};
use std::ops::Range;
use std::time::Duration;

use serde::Deserialize;
use tanist_core::duration;
use tanist_core::trace::Link;
use tanist_core::{NodeId, Time};
use toml::Spanned;

use super::Scenario;
use super::action_keys::{ACTIONS, number};
use super::messages::write_rule;
use super::parse::{Named, Reader, ScenarioError, Text, float_to_u32, share};
use super::radio::place;
use super::unknown::unknown;
use crate::world::faults::{Action, Condition, Fault, Moment, Trigger};
use crate::world::network::Rule;
use crate::world::pending::{Idle, Pending};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FaultLine {
    pub(super) at: Option<Text>,
    pub(super) when: Option<Spanned<WhenTable>>,
    pub(super) after: Option<Text>,
    #[serde(rename = "do")]
    pub(super) action: Text,
    pub(super) node: Option<Spanned<u32>>,
    pub(super) peer: Option<Spanned<u32>>,
    pub(super) effects: Option<Spanned<u32>>,
    pub(super) lost_writes: Option<Spanned<u32>>,
    pub(super) links: Option<Spanned<Vec<[u32; 2]>>>,
    pub(super) one_way: Option<Spanned<Vec<[u32; 2]>>>,
    pub(super) sides: Option<Spanned<Vec<Vec<u32>>>>,
    pub(super) by: Option<Text>,
    pub(super) hold: Option<Text>,
    pub(super) value: Option<Spanned<u32>>,
    pub(super) rate: Option<Spanned<f64>>,
    pub(super) to: Option<Spanned<[f64; 2]>>,
    pub(super) over: Option<Text>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WhenTable {
    pub(super) node: u32,
    pub(super) enters: Option<Text>,
    pub(super) sends: Option<Text>,
    pub(super) receives: Option<Text>,
    pub(super) nth: Option<u32>,
}

impl Named for FaultLine {
    fn nodes(&self) -> Vec<u32> {
        let pairs = self.pairs().flat_map(|(pair, _)| pair);
        let sides = self.sides.iter().flat_map(Spanned::as_ref).flatten().copied();
        let single = [&self.node, &self.peer].into_iter().filter_map(number);
        let when = self.when.as_ref().map(|when| when.as_ref().node);
        pairs.chain(sides).chain(single).chain(when).collect()
    }
}

impl FaultLine {
    /// The node that the action is done to, if it names one.
    pub(super) fn target(&self) -> Option<u32> {
        number(&self.node)
    }

    /// The links that it names one by one, and where.
    pub(super) fn pairs(&self) -> impl Iterator<Item = ([u32; 2], Range<usize>)> {
        let lists = [&self.links, &self.one_way].into_iter().flatten();
        lists.flat_map(|list| list.as_ref().iter().map(|pair| (*pair, list.span())))
    }
}

impl Reader<'_> {
    pub(super) fn fault(
        &self,
        line: &FaultLine,
        span: &Range<usize>,
    ) -> Result<Fault, ScenarioError> {
        if let (Some(_), Some(after)) = (&line.at, &line.after) {
            let what = "`after` needs `when`; add it to `at`, or leave it out".to_owned();
            return Err(self.error(&after.span(), what));
        }
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

    fn condition(&self, when: &Spanned<WhenTable>) -> Result<Condition, ScenarioError> {
        let table = when.as_ref();
        let what = match (&table.enters, &table.sends, &table.receives) {
            (Some(status), None, None) => Trigger::Enters(self.status(status)?),
            (None, Some(kind), None) => Trigger::Sends(self.kind(kind)?),
            (None, None, Some(kind)) => Trigger::Receives(self.kind(kind)?),
            (_, _, _) => {
                let what = "expected one of `enters`, `sends`, `receives`".to_owned();
                return Err(self.error(&when.span(), what));
            }
        };
        let nth = table.nth.unwrap_or(1);
        if nth == 0 {
            return Err(self.error(&when.span(), "`nth` counts from 1".to_owned()));
        }
        Ok(Condition { node: NodeId(table.node), what, nth })
    }

    fn action(&self, line: &FaultLine, span: &Range<usize>) -> Result<Action, ScenarioError> {
        let name = line.action.as_ref().as_str();
        self.check_keys(line)?;
        self.check_ends(line)?;
        let missing = |field: &str| self.error(span, format!("`{name}` needs `{field}`"));
        let node = || number(&line.node).map(NodeId).ok_or_else(|| missing("node"));
        let peer = || number(&line.peer).map(NodeId).ok_or_else(|| missing("peer"));
        let rate = || line.rate.as_ref().ok_or_else(|| missing("rate"));
        Ok(match name {
            "crash" => match number(&line.effects) {
                None => Action::Crash(node()?),
                Some(effects) => Action::CrashAfterEffects(node()?, effects),
            },
            "restart" => {
                let lost_writes = number(&line.lost_writes).unwrap_or(0);
                Action::Restart { node: node()?, lost_writes }
            }
            "forget" => {
                let lost_writes = number(&line.lost_writes);
                let lost_writes = lost_writes.ok_or_else(|| missing("lost_writes"))?;
                Action::Forget { node: node()?, lost_writes }
            }
            "pause" => Action::Pause(node()?),
            "resume" => Action::Resume(node()?),
            "hang" => Action::Hang(node()?),
            "unhang" => Action::Unhang(node()?),
            "cut" => match self.links(line)? {
                Some(links) => Action::Cut(links),
                None => return Err(missing("sides`, `links` or `one_way")),
            },
            "heal" => Action::Heal(self.links(line)?.unwrap_or_default()),
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
            "refuse" => Action::Refuse { node: node()?, peer: peer()? },
            "withdraw" => {
                let hold = line.hold.as_ref().map(|hold| self.duration(hold)).transpose()?;
                Action::Withdraw { node: node()?, hold }
            }
            "hand-over" => Action::HandOver { node: node()?, to: peer()? },
            "rejoin" => Action::Rejoin(node()?),
            "pause-elections" => Action::PauseElections(node()?),
            "resume-elections" => Action::ResumeElections(node()?),
            "priority" => {
                let value = number(&line.value).ok_or_else(|| missing("value"))?;
                Action::Priority { node: node()?, value }
            }
            "move" => {
                let to = line.to.as_ref().ok_or_else(|| missing("to"))?;
                let over = line.over.as_ref().map_or(Ok(Duration::ZERO), |t| self.duration(t))?;
                Action::Move { node: node()?, to: self.position(*to.as_ref(), &to.span())?, over }
            }
            other => {
                let what = unknown("fault", other, ACTIONS.iter().map(|(name, _)| *name));
                return Err(self.error(&line.action.span(), what));
            }
        })
    }
}

impl Scenario {
    pub(super) fn write_faults(&self, to: &mut String) -> fmt::Result {
        for fault in &self.faults {
            writeln!(to, "\n[[fault]]")?;
            write_fault(to, fault)?;
        }
        Ok(())
    }
}

/// A part of a scenario that has not happened, and what it waits for.
impl fmt::Display for Pending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        match self {
            Self::Due(fault) | Self::Armed { fault, .. } | Self::Idle(Idle { fault, .. }) => {
                write_fault(&mut text, fault)?;
            }
            Self::CrashAfterEffects { node, effects } => {
                write_action(&mut text, &Action::CrashAfterEffects(*node, *effects))?;
            }
            Self::Rule(rule) => write_rule(&mut text, rule)?,
        }
        let table = if let Self::Rule(_) = self { "message" } else { "fault" };
        let keys: Vec<&str> = text.lines().collect();
        write!(f, "[[{table}]] {}: ", keys.join(", "))?;
        match self {
            Self::Idle(idle) => write!(f, "it changed nothing, since {}", idle.why),
            Self::Due(_) => f.write_str("the run ended before it was due"),
            Self::Armed { seen: 0, .. } => f.write_str("its condition was never met"),
            Self::Armed { seen: 1, .. } => f.write_str("its condition was met only once"),
            Self::Armed { seen, .. } => write!(f, "its condition was met only {seen} times"),
            Self::CrashAfterEffects { .. } => {
                f.write_str("the node took no step with so many effects")
            }
            Self::Rule(Rule { seen: 0, .. }) => f.write_str("no such message was sent"),
            Self::Rule(Rule { seen, .. }) => write!(f, "only {seen} such messages were sent"),
        }
    }
}

fn write_fault(to: &mut String, fault: &Fault) -> fmt::Result {
    match fault.moment {
        Moment::At(at) => {
            let at = Duration::from_micros(at.as_micros());
            writeln!(to, "at = {:?}", duration::print(at))?;
        }
        Moment::When { condition, after } => {
            let (verb, name) = match condition.what {
                Trigger::Enters(status) => ("enters", status.to_string()),
                Trigger::Sends(kind) => ("sends", kind.to_string()),
                Trigger::Receives(kind) => ("receives", kind.to_string()),
            };
            let (node, nth) = (condition.node.0, condition.nth);
            writeln!(to, "when = {{ node = {node}, {verb} = {name:?}, nth = {nth} }}")?;
            writeln!(to, "after = {:?}", duration::print(after))?;
        }
    }
    write_action(to, &fault.action)
}

fn write_action(to: &mut String, action: &Action) -> fmt::Result {
    let named = |to: &mut String, name: &str, node: tanist_core::NodeId| {
        writeln!(to, "do = {name:?}\nnode = {}", node.0)
    };
    match action {
        Action::Crash(node) => named(to, "crash", *node),
        Action::CrashAfterEffects(node, effects) => {
            named(to, "crash", *node)?;
            writeln!(to, "effects = {effects}")
        }
        Action::Restart { node, lost_writes } => {
            named(to, "restart", *node)?;
            writeln!(to, "lost_writes = {lost_writes}")
        }
        Action::Forget { node, lost_writes } => {
            named(to, "forget", *node)?;
            writeln!(to, "lost_writes = {lost_writes}")
        }
        Action::Pause(node) => named(to, "pause", *node),
        Action::Resume(node) => named(to, "resume", *node),
        Action::Hang(node) => named(to, "hang", *node),
        Action::Unhang(node) => named(to, "unhang", *node),
        Action::Cut(links) => write_links(to, "cut", links),
        Action::Heal(links) => write_links(to, "heal", links),
        Action::Slow(node, by) => {
            named(to, "slow", *node)?;
            writeln!(to, "by = {:?}", duration::print(*by))
        }
        Action::ClockRate(node, rate) => {
            named(to, "clock", *node)?;
            writeln!(to, "rate = {}", share(*rate))
        }
        Action::Loss(ppm) => writeln!(to, "do = \"loss\"\nrate = {}", share(*ppm)),
        Action::Duplicate(ppm) => writeln!(to, "do = \"duplicate\"\nrate = {}", share(*ppm)),
        Action::Calm => writeln!(to, "do = \"calm\""),
        Action::Call(node) => named(to, "call", *node),
        Action::Check(node) => named(to, "check", *node),
        Action::Suspect(node) => named(to, "timeout", *node),
        Action::Refuse { node, peer } => {
            named(to, "refuse", *node)?;
            writeln!(to, "peer = {}", peer.0)
        }
        Action::Withdraw { node, hold } => {
            named(to, "withdraw", *node)?;
            hold.map_or(Ok(()), |hold| writeln!(to, "hold = {:?}", duration::print(hold)))
        }
        Action::HandOver { node, to: successor } => {
            named(to, "hand-over", *node)?;
            writeln!(to, "peer = {}", successor.0)
        }
        Action::Rejoin(node) => named(to, "rejoin", *node),
        Action::PauseElections(node) => named(to, "pause-elections", *node),
        Action::ResumeElections(node) => named(to, "resume-elections", *node),
        Action::Priority { node, value } => {
            named(to, "priority", *node)?;
            writeln!(to, "value = {value}")
        }
        Action::Move { node, to: goal, over } => {
            named(to, "move", *node)?;
            writeln!(to, "to = {}\nover = {:?}", place(*goal), duration::print(*over))
        }
    }
}

fn write_links(to: &mut String, name: &str, links: &[Link]) -> fmt::Result {
    writeln!(to, "do = {name:?}")?;
    if links.is_empty() {
        return Ok(());
    }
    let pairs = links.iter().map(|link| format!("[{}, {}]", link.from.0, link.to.0));
    writeln!(to, "one_way = [{}]", pairs.collect::<Vec<_>>().join(", "))
}
