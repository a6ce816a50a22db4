//! Reads a scenario file, and says in which line it is wrong and what was expected there.

use std::collections::BTreeMap;
use std::ops::Range;
use std::time::Duration;

use serde::Deserialize;
use tanist_core::options::Options;
use tanist_core::recall::Recall;
use tanist_core::trace::Kind;
use tanist_core::{GroupSettings, Membership, NodeId, Status, Timing};
use toml::Spanned;

use super::Scenario;
use super::radio::{MobilityTable, RadioTable};
use crate::monitors::Selection;

/// What is wrong with a scenario file, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct ScenarioError {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong, and what was expected.
    pub what: String,
}

pub(super) type Text = Spanned<String>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    pub(super) name: String,
    #[serde(default)]
    pub(super) about: String,
    pub(super) algorithm: Text,
    pub(super) nodes: Option<Spanned<u32>>,
    #[serde(default)]
    pub(super) node: Vec<NodeLine>,
    #[serde(default = "one")]
    pub(super) seed: u64,
    pub(super) end: Text,
    #[serde(default)]
    pub(super) stop_at_break: bool,
    #[serde(default)]
    pub(super) options: BTreeMap<Spanned<String>, Text>,
    pub(super) timing: Option<TimingTable>,
    pub(super) network: Option<NetworkTable>,
    pub(super) radio: Option<Spanned<RadioTable>>,
    pub(super) mobility: Option<Spanned<MobilityTable>>,
    pub(super) application: Option<ApplicationTable>,
    #[serde(default)]
    pub(super) group: Vec<Spanned<GroupLine>>,
    #[serde(default)]
    pub(super) down: Vec<Spanned<u32>>,
    #[serde(default)]
    pub(super) fault: Vec<Spanned<FaultLine>>,
    #[serde(default)]
    pub(super) message: Vec<Spanned<MessageLine>>,
    #[serde(default)]
    pub(super) steps: Vec<Text>,
    pub(super) assertions: Option<AssertionsTable>,
    pub(super) expect: Option<ExpectTable>,
    pub(super) mutant: Option<Text>,
    #[serde(default)]
    pub(super) recall: bool,
    pub(super) preempt: Option<Text>,
}

const fn one() -> u64 {
    1
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NodeLine {
    pub(super) id: u32,
    pub(super) priority: Option<u32>,
    pub(super) zone: Option<Text>,
    pub(super) rack: Option<Text>,
    pub(super) at: Option<Spanned<[f64; 2]>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TimingTable {
    pub(super) message: Option<Text>,
    pub(super) processing: Option<Text>,
    pub(super) answer: Option<Text>,
    pub(super) announcement: Option<Text>,
    pub(super) merge: Option<Text>,
    pub(super) silence: Option<Text>,
    pub(super) heartbeat: Option<Text>,
    pub(super) check: Option<Text>,
    pub(super) timeout: Option<Text>,
    pub(super) first_check: Option<Text>,
    pub(super) delay_unit: Option<Text>,
    pub(super) jitter: Option<Text>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NetworkTable {
    pub(super) delay: Option<Text>,
    pub(super) delay_min: Option<Text>,
    pub(super) delay_max: Option<Text>,
    pub(super) spike: Option<Text>,
    #[serde(default)]
    pub(super) spikes: Option<Spanned<f64>>,
    #[serde(default = "yes")]
    pub(super) fifo: bool,
    pub(super) loss: Option<Spanned<f64>>,
    pub(super) duplicate: Option<Spanned<f64>>,
    #[serde(default)]
    pub(super) refusals: bool,
}

const fn yes() -> bool {
    true
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ApplicationTable {
    pub(super) stop: Option<Text>,
    pub(super) plan: Option<Text>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GroupLine {
    pub(super) coordinator: u32,
    #[serde(default)]
    pub(super) members: Vec<u32>,
    #[serde(default = "one")]
    pub(super) counter: u64,
}

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

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MessageLine {
    pub(super) from: Option<u32>,
    pub(super) to: Option<u32>,
    pub(super) kind: Option<Text>,
    pub(super) nth: Option<u32>,
    pub(super) delay: Option<Text>,
    #[serde(default)]
    pub(super) drop: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AssertionsTable {
    #[serde(default)]
    pub(super) cuts: bool,
    #[serde(default)]
    literal_a4: bool,
    #[serde(default)]
    pub(super) beyond_model: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ExpectTable {
    #[serde(default)]
    pub(super) breaks: Vec<Text>,
    pub(super) coordinator: Option<Spanned<u32>>,
    #[serde(default)]
    pub(super) node: Vec<ExpectLine>,
    pub(super) messages: Option<u64>,
    #[serde(default)]
    pub(super) by_kind: BTreeMap<Spanned<String>, u64>,
    pub(super) elections: Option<u64>,
    pub(super) settled: Option<Text>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ExpectLine {
    pub(super) id: Spanned<u32>,
    pub(super) status: Option<Text>,
    pub(super) coordinator: Option<u32>,
    pub(super) group: Option<String>,
    pub(super) definition: Option<String>,
}

impl Scenario {
    /// Reads a scenario from the text of its file.
    pub fn parse(text: &str) -> Result<Self, ScenarioError> {
        let file: File = toml::from_str(text).map_err(|error| ScenarioError {
            line: error.span().map_or(1, |span| line_of(text, &span)),
            what: error.message().to_owned(),
        })?;
        Reader { text }.scenario(file)
    }
}

/// Knows the text, so that it can tell lines.
pub(super) struct Reader<'a> {
    pub(super) text: &'a str,
}

impl Reader<'_> {
    pub(super) fn scenario(&self, file: File) -> Result<Scenario, ScenarioError> {
        let algorithm = self.algorithm(&file.algorithm)?;
        let members = self.members(&file)?;
        let timing = self.timing(file.timing.as_ref())?;
        let checked = Timing::new(timing)
            .map_err(|error| self.error(&(0..0), format!("[timing]: {error}")))?;
        let mut options = Options::default();
        for (name, value) in &file.options {
            options
                .set(algorithm, name.as_ref(), value.as_ref())
                .map_err(|error| self.error(&value.span(), error.to_string()))?;
        }
        let mutant = file.mutant.as_ref().map(|name| self.mutant(name)).transpose()?;
        let groups = self.groups(&file.group, &members, algorithm)?;
        let faults = self.all(&file.fault, &members, |line, span| self.fault(line, span))?;
        let rules = self.all(&file.message, &members, |line, span| self.rule(line, span))?;
        let topology = self.topology(&file, &members)?;
        self.check_moves(&file, &topology)?;
        let steps = self.steps(&file.steps, &members)?;
        for node in &file.down {
            self.known(*node.as_ref(), &members, &node.span())?;
        }
        let selection = file.assertions.as_ref().map_or(Selection::STANDARD, |table| Selection {
            has_cuts: table.cuts,
            is_literal_a4: table.literal_a4,
            is_beyond_model: table.beyond_model,
        });
        let expect = self.expect(file.expect, &members)?;
        let preempt = self.preempt(file.preempt.as_ref(), algorithm, &options)?;
        let settings = GroupSettings {
            timing: checked,
            algorithm,
            options,
            recall: if file.recall { Recall::On } else { Recall::Off },
            preempt,
            mutant,
        };
        let lines = (&file.options, file.group.as_slice());
        self.arranged(lines, settings, &members, &groups)?;
        Ok(Scenario {
            name: file.name,
            about: file.about,
            settings,
            members,
            timing,
            seed: file.seed,
            end: self.duration(&file.end)?,
            stops_at_break: file.stop_at_break,
            conditions: self.conditions(file.network.as_ref(), timing.message_max)?,
            topology,
            rules,
            pace: self.pace(file.application.as_ref())?,
            groups,
            down: file.down.iter().map(|node| NodeId(*node.as_ref())).collect(),
            faults,
            steps,
            selection,
            expect,
        })
    }

    fn all<L, T>(
        &self,
        lines: &[Spanned<L>],
        members: &Membership,
        read: impl Fn(&L, &Range<usize>) -> Result<T, ScenarioError>,
    ) -> Result<Vec<T>, ScenarioError>
    where
        L: Named,
    {
        lines
            .iter()
            .map(|line| {
                for node in line.as_ref().nodes() {
                    self.known(node, members, &line.span())?;
                }
                read(line.as_ref(), &line.span())
            })
            .collect()
    }

    pub(super) fn known(
        &self,
        node: u32,
        members: &Membership,
        span: &Range<usize>,
    ) -> Result<(), ScenarioError> {
        if members.contains(NodeId(node)) {
            return Ok(());
        }
        let known: Vec<String> =
            members.all().iter().map(|member| member.id.0.to_string()).collect();
        let what = format!("there is no node {node}; the nodes are {}", known.join(" "));
        Err(self.error(span, what))
    }

    pub(super) fn kind(&self, text: &Text) -> Result<Kind, ScenarioError> {
        let name = text.as_ref();
        Kind::ALL.iter().copied().find(|kind| kind.name() == name).ok_or_else(|| {
            let known: Vec<_> = Kind::ALL.iter().map(|kind| kind.name()).collect();
            let what = format!("no message {name:?}; there is {}", known.join(", "));
            self.error(&text.span(), what)
        })
    }

    pub(super) fn status(&self, text: &Text) -> Result<Status, ScenarioError> {
        match text.as_ref().as_str() {
            "Down" => Ok(Status::Down),
            "Election" => Ok(Status::Election),
            "Reorganization" => Ok(Status::Reorganization),
            "Normal" => Ok(Status::Normal),
            other => {
                let known = "Down, Election, Reorganization, Normal";
                Err(self.error(&text.span(), format!("no status {other:?}; there is {known}")))
            }
        }
    }

    pub(super) fn millionths(&self, share: &Spanned<f64>) -> Result<u32, ScenarioError> {
        if (0.0..=1.0).contains(share.as_ref()) {
            return Ok(float_to_u32(*share.as_ref() * 1e6));
        }
        Err(self.error(&share.span(), "expected a share between 0 and 1".to_owned()))
    }

    pub(super) fn duration(&self, text: &Text) -> Result<Duration, ScenarioError> {
        parse_duration(text.as_ref()).ok_or_else(|| {
            let what =
                format!("{:?} is not a duration; expected such as 250us, 1.5ms, 2s", text.as_ref());
            self.error(&text.span(), what)
        })
    }

    pub(super) fn error(&self, span: &Range<usize>, what: String) -> ScenarioError {
        ScenarioError { line: line_of(self.text, span), what }
    }
}

/// A line of a file that names nodes.
trait Named {
    fn nodes(&self) -> Vec<u32>;
}

impl Named for FaultLine {
    fn nodes(&self) -> Vec<u32> {
        let pairs = [&self.links, &self.one_way].into_iter().flatten().flatten().flatten();
        let sides = self.sides.iter().flatten().flatten();
        let when = self.when.as_ref().map(|when| when.as_ref().node);
        pairs.chain(sides).copied().chain(self.node).chain(self.peer).chain(when).collect()
    }
}

impl Named for MessageLine {
    fn nodes(&self) -> Vec<u32> {
        self.from.into_iter().chain(self.to).collect()
    }
}

/// Reads `250us`, `1.5ms`, `2s`, `3m`.
#[must_use]
pub fn parse_duration(text: &str) -> Option<Duration> {
    let split = text.find(|c: char| c.is_ascii_alphabetic())?;
    let (number, unit) = text.split_at(split);
    let number: f64 = number.trim().parse().ok()?;
    let in_micros = match unit {
        "us" => 1.0,
        "ms" => 1e3,
        "s" => 1e6,
        "m" => 60e6,
        "h" => 3600e6,
        _ => return None,
    };
    let micros = number * in_micros;
    if !(0.0..=1e15).contains(&micros) {
        return None;
    }
    Some(Duration::from_micros(float_to_u64(micros)))
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "checked by the callers"
)]
fn float_to_u64(value: f64) -> u64 {
    value.round() as u64
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "checked by the callers"
)]
pub(super) fn float_to_u32(value: f64) -> u32 {
    value.round() as u32
}

fn line_of(text: &str, span: &Range<usize>) -> usize {
    let upto = span.start.min(text.len());
    text.as_bytes()[..upto].iter().filter(|byte| **byte == b'\n').count() + 1
}
