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
use super::parse::{Named, Reader, ScenarioError, Text, float_to_u32, share};
use super::radio::place;
use super::unknown::unknown;
use crate::world::faults::{Action, Condition, Fault, Moment, Trigger};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FaultLine {
    pub(super) at: Option<Text>,
    pub(super) when: Option<Spanned<WhenTable>>,
    pub(super) after: Option<Text>,
    #[serde(rename = "do")]
    pub(super) action: Text,
    pub(super) node: Option<u32>,
    pub(super) peer: Option<u32>,
    pub(super) effects: Option<u32>,
    pub(super) lost_writes: Option<u32>,
    pub(super) links: Option<Vec<[u32; 2]>>,
    pub(super) one_way: Option<Vec<[u32; 2]>>,
    pub(super) sides: Option<Vec<Vec<u32>>>,
    pub(super) by: Option<Text>,
    pub(super) hold: Option<Text>,
    pub(super) value: Option<u32>,
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
        let pairs = [&self.links, &self.one_way].into_iter().flatten().flatten().flatten();
        let sides = self.sides.iter().flatten().flatten();
        let when = self.when.as_ref().map(|when| when.as_ref().node);
        pairs.chain(sides).copied().chain(self.node).chain(self.peer).chain(when).collect()
    }
}

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
        Ok(Condition { node: NodeId(table.node), what, nth: table.nth.unwrap_or(1).max(1) })
    }

    fn action(&self, line: &FaultLine, span: &Range<usize>) -> Result<Action, ScenarioError> {
        let name = line.action.as_ref().as_str();
        let missing = |field: &str| self.error(span, format!("`{name}` needs `{field}`"));
        let node = || line.node.map(NodeId).ok_or_else(|| missing("node"));
        let peer = || line.peer.map(NodeId).ok_or_else(|| missing("peer"));
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
                let value = line.value.ok_or_else(|| missing("value"))?;
                Action::Priority { node: node()?, value }
            }
            "move" => {
                let to = line.to.as_ref().ok_or_else(|| missing("to"))?;
                let over = line.over.as_ref().map_or(Ok(Duration::ZERO), |t| self.duration(t))?;
                Action::Move { node: node()?, to: self.position(*to.as_ref(), &to.span())?, over }
            }
            other => {
                let what = unknown("fault", other, ACTIONS.iter().copied());
                return Err(self.error(&line.action.span(), what));
            }
        })
    }
}

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

impl Scenario {
    pub(super) fn write_faults(&self, to: &mut String) -> fmt::Result {
        for fault in &self.faults {
            writeln!(to, "\n[[fault]]")?;
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
            write_action(to, &fault.action)?;
        }
        Ok(())
    }
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
    "withdraw",
    "hand-over",
    "rejoin",
    "pause-elections",
    "resume-elections",
    "priority",
    "move",
];
