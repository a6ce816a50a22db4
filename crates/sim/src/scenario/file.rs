//! Reads a scenario file, and says in which line it is wrong and what was expected there.

use std::collections::BTreeMap;
use std::ops::Range;
use std::time::Duration;

use serde::Deserialize;
use tanist_core::election::{Algorithm, Standing};
use tanist_core::group::Counter;
use tanist_core::mutant::Mutant;
use tanist_core::options::Options;
use tanist_core::timing::TimingConfig;
use tanist_core::trace::{Kind, Link};
use tanist_core::{
    GroupConfig, Member, Membership, NodeId, NodeSet, Priority, Status, Time, Timing,
};
use toml::Spanned;

use super::{Expect, ExpectNode, Scenario};
use crate::application::Pace;
use crate::faults::{Action, Condition, Fault, Happening, Moment};
use crate::monitors::{IDS, Selection};
use crate::network::{Conditions, Delay, Fate, Rule};

/// What is wrong with a scenario file, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct ScenarioError {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong, and what was expected.
    pub what: String,
}

type Text = Spanned<String>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    name: String,
    #[serde(default)]
    about: String,
    algorithm: Text,
    nodes: Option<Spanned<u32>>,
    #[serde(default)]
    node: Vec<NodeLine>,
    #[serde(default = "one")]
    seed: u64,
    end: Text,
    #[serde(default)]
    stop_at_break: bool,
    #[serde(default)]
    options: BTreeMap<Spanned<String>, Text>,
    timing: Option<TimingTable>,
    network: Option<NetworkTable>,
    application: Option<ApplicationTable>,
    #[serde(default)]
    group: Vec<Spanned<GroupLine>>,
    #[serde(default)]
    down: Vec<Spanned<u32>>,
    #[serde(default)]
    fault: Vec<Spanned<FaultLine>>,
    #[serde(default)]
    message: Vec<Spanned<MessageLine>>,
    assertions: Option<AssertionsTable>,
    expect: Option<ExpectTable>,
    mutant: Option<Text>,
}

const fn one() -> u64 {
    1
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NodeLine {
    id: u32,
    priority: Option<u32>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TimingTable {
    message: Option<Text>,
    processing: Option<Text>,
    answer: Option<Text>,
    announcement: Option<Text>,
    merge: Option<Text>,
    silence: Option<Text>,
    check: Option<Text>,
    timeout: Option<Text>,
    first_check: Option<Text>,
    delay_unit: Option<Text>,
    jitter: Option<Text>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NetworkTable {
    delay: Option<Text>,
    delay_min: Option<Text>,
    delay_max: Option<Text>,
    spike: Option<Text>,
    #[serde(default)]
    spikes: Option<Spanned<f64>>,
    #[serde(default = "yes")]
    fifo: bool,
    loss: Option<Spanned<f64>>,
    duplicate: Option<Spanned<f64>>,
    #[serde(default)]
    refusals: bool,
}

const fn yes() -> bool {
    true
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ApplicationTable {
    stop: Option<Text>,
    plan: Option<Text>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GroupLine {
    coordinator: u32,
    #[serde(default)]
    members: Vec<u32>,
    #[serde(default = "one")]
    counter: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FaultLine {
    at: Option<Text>,
    when: Option<Spanned<WhenTable>>,
    after: Option<Text>,
    #[serde(rename = "do")]
    action: Text,
    node: Option<u32>,
    peer: Option<u32>,
    effects: Option<u32>,
    lost_writes: Option<u32>,
    links: Option<Vec<[u32; 2]>>,
    one_way: Option<Vec<[u32; 2]>>,
    sides: Option<Vec<Vec<u32>>>,
    by: Option<Text>,
    rate: Option<Spanned<f64>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WhenTable {
    node: u32,
    enters: Option<Text>,
    sends: Option<Text>,
    receives: Option<Text>,
    nth: Option<u32>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MessageLine {
    from: Option<u32>,
    to: Option<u32>,
    kind: Option<Text>,
    nth: Option<u32>,
    delay: Option<Text>,
    #[serde(default)]
    drop: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AssertionsTable {
    #[serde(default)]
    cuts: bool,
    #[serde(default)]
    literal_a4: bool,
    #[serde(default)]
    beyond_model: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ExpectTable {
    #[serde(default)]
    breaks: Vec<Text>,
    coordinator: Option<Spanned<u32>>,
    #[serde(default)]
    node: Vec<ExpectLine>,
    messages: Option<u64>,
    #[serde(default)]
    by_kind: BTreeMap<Spanned<String>, u64>,
    elections: Option<u64>,
    settled: Option<Text>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ExpectLine {
    id: Spanned<u32>,
    status: Option<Text>,
    coordinator: Option<u32>,
    group: Option<String>,
    definition: Option<String>,
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
struct Reader<'a> {
    text: &'a str,
}

impl Reader<'_> {
    fn scenario(&self, file: File) -> Result<Scenario, ScenarioError> {
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
        for node in &file.down {
            self.known(*node.as_ref(), &members, &node.span())?;
        }
        let selection = file.assertions.as_ref().map_or(Selection::STANDARD, |table| Selection {
            has_cuts: table.cuts,
            is_literal_a4: table.literal_a4,
            is_beyond_model: table.beyond_model,
        });
        let expect = self.expect(file.expect, &members)?;
        Ok(Scenario {
            name: file.name,
            about: file.about,
            config: GroupConfig { members, timing: checked, algorithm, options, mutant },
            timing,
            seed: file.seed,
            end: self.duration(&file.end)?,
            stops_at_break: file.stop_at_break,
            conditions: self.conditions(file.network.as_ref(), timing.message_max)?,
            rules,
            pace: self.pace(file.application.as_ref())?,
            groups,
            down: file.down.iter().map(|node| NodeId(*node.as_ref())).collect(),
            faults,
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

    fn known(
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

    fn algorithm(&self, name: &Text) -> Result<Algorithm, ScenarioError> {
        Algorithm::from_name(name.as_ref()).ok_or_else(|| {
            let known: Vec<_> = Algorithm::ALL.iter().map(|known| known.name()).collect();
            let what = format!("no algorithm {:?}; there is {}", name.as_ref(), known.join(", "));
            self.error(&name.span(), what)
        })
    }

    fn mutant(&self, name: &Text) -> Result<Mutant, ScenarioError> {
        if !Mutant::ARE_COMPILED {
            let what = "this program was built without the `mutants` feature".to_owned();
            return Err(self.error(&name.span(), what));
        }
        Mutant::from_name(name.as_ref())
            .ok_or_else(|| self.error(&name.span(), format!("no mutant {:?}", name.as_ref())))
    }

    fn members(&self, file: &File) -> Result<Membership, ScenarioError> {
        if let Some(count) = &file.nodes
            && *count.as_ref() > NODES_MAX
        {
            let what = format!("a scenario has at most {NODES_MAX} nodes");
            return Err(self.error(&count.span(), what));
        }
        let made = match (&file.nodes, file.node.is_empty()) {
            (Some(count), true) => Membership::numbered(*count.as_ref()),
            (None, false) => Membership::new(file.node.iter().map(|line| Member {
                priority: Priority(line.priority.unwrap_or(line.id)),
                id: NodeId(line.id),
            })),
            (Some(_), false) | (None, true) => {
                let what = "expected either `nodes = N` or [[node]] tables".to_owned();
                return Err(self.error(&file.algorithm.span(), what));
            }
        };
        let span = file.nodes.as_ref().map_or(0..0, Spanned::span);
        made.map_err(|error| self.error(&span, error.to_string()))
    }

    fn timing(&self, table: Option<&TimingTable>) -> Result<TimingConfig, ScenarioError> {
        let base = TimingConfig::bounded_by(Duration::from_millis(1), Duration::ZERO);
        let Some(table) = table else { return Ok(base) };
        let given = |text: &Option<Text>| text.as_ref().map(|t| self.duration(t)).transpose();
        let message_max = given(&table.message)?.unwrap_or(base.message_max);
        let processing_max = given(&table.processing)?.unwrap_or(base.processing_max);
        let base = TimingConfig::bounded_by(message_max, processing_max);
        Ok(TimingConfig {
            answer: given(&table.answer)?,
            announcement: given(&table.announcement)?,
            merge: given(&table.merge)?,
            silence: given(&table.silence)?,
            check_every: given(&table.check)?.unwrap_or(base.check_every),
            timeout_every: given(&table.timeout)?.unwrap_or(base.timeout_every),
            first_check: given(&table.first_check)?.unwrap_or(base.first_check),
            delay_unit: given(&table.delay_unit)?,
            jitter: given(&table.jitter)?,
            ..base
        })
    }

    fn conditions(
        &self,
        table: Option<&NetworkTable>,
        message_max: Duration,
    ) -> Result<Conditions, ScenarioError> {
        let mut conditions = Conditions {
            delay: Delay::Fixed(message_max),
            is_fifo: true,
            loss_ppm: 0,
            duplicate_ppm: 0,
            has_refusals: false,
        };
        let Some(table) = table else { return Ok(conditions) };
        conditions.is_fifo = table.fifo;
        conditions.has_refusals = table.refusals;
        let share = |given: &Option<Spanned<f64>>| {
            given.as_ref().map_or(Ok(0), |given| self.millionths(given))
        };
        conditions.loss_ppm = share(&table.loss)?;
        conditions.duplicate_ppm = share(&table.duplicate)?;
        conditions.delay = match (&table.delay, &table.delay_min, &table.delay_max) {
            (Some(delay), None, None) => Delay::Fixed(self.duration(delay)?),
            (None, Some(min), Some(max)) => {
                let (least, most) = (self.duration(min)?, self.duration(max)?);
                if most < least {
                    let what = "delay_max is shorter than delay_min".to_owned();
                    return Err(self.error(&max.span(), what));
                }
                match &table.spike {
                    Some(spike) => Delay::Spiky {
                        min: least,
                        max: most,
                        spike: self.duration(spike)?,
                        spike_ppm: share(&table.spikes)?,
                    },
                    None => Delay::Uniform { min: least, max: most },
                }
            }
            (None, None, None) => conditions.delay,
            (Some(text), _, _) | (None, Some(text), None) | (None, None, Some(text)) => {
                let what = "expected either `delay`, or `delay_min` and `delay_max`".to_owned();
                return Err(self.error(&text.span(), what));
            }
        };
        Ok(conditions)
    }

    fn pace(&self, table: Option<&ApplicationTable>) -> Result<Pace, ScenarioError> {
        let given = |text: Option<&Text>| text.map_or(Ok(Duration::ZERO), |t| self.duration(t));
        Ok(Pace {
            stop: given(table.and_then(|table| table.stop.as_ref()))?,
            plan: given(table.and_then(|table| table.plan.as_ref()))?,
        })
    }

    fn groups(
        &self,
        lines: &[Spanned<GroupLine>],
        members: &Membership,
        algorithm: Algorithm,
    ) -> Result<Vec<Standing>, ScenarioError> {
        let mut seen = NodeSet::new();
        let mut groups = Vec::new();
        for line in lines {
            let group = line.as_ref();
            let mut all: NodeSet = group.members.iter().map(|node| NodeId(*node)).collect();
            let coordinator = NodeId(group.coordinator);
            all.insert(coordinator);
            for node in all.iter() {
                self.known(node.0, members, &line.span())?;
                if !seen.insert(node) {
                    let what = format!("{node} is in two groups; a node is in exactly one");
                    return Err(self.error(&line.span(), what));
                }
            }
            let is_bully = algorithm != Algorithm::Invitation;
            if is_bully
                && let Some(higher) = all.iter().find(|id| members.outranks(*id, coordinator))
            {
                let what = format!("{higher} outranks {coordinator}; a bully follows nobody lower");
                return Err(self.error(&line.span(), what));
            }
            let number = Counter(group.counter).group(coordinator);
            groups.push(Standing { group: number, coordinator, members: all });
        }
        Ok(groups)
    }

    fn fault(&self, line: &FaultLine, span: &Range<usize>) -> Result<Fault, ScenarioError> {
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

    fn action(&self, line: &FaultLine, span: &Range<usize>) -> Result<Action, ScenarioError> {
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
            other => {
                let what = format!("no fault {other:?}; there is {}", ACTIONS.join(", "));
                return Err(self.error(&line.action.span(), what));
            }
        })
    }

    fn rule(&self, line: &MessageLine, span: &Range<usize>) -> Result<Rule, ScenarioError> {
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

    fn expect(
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

    fn kind(&self, text: &Text) -> Result<Kind, ScenarioError> {
        let name = text.as_ref();
        Kind::ALL.iter().copied().find(|kind| kind.name() == name).ok_or_else(|| {
            let known: Vec<_> = Kind::ALL.iter().map(|kind| kind.name()).collect();
            let what = format!("no message {name:?}; there is {}", known.join(", "));
            self.error(&text.span(), what)
        })
    }

    fn status(&self, text: &Text) -> Result<Status, ScenarioError> {
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

    fn millionths(&self, share: &Spanned<f64>) -> Result<u32, ScenarioError> {
        if (0.0..=1.0).contains(share.as_ref()) {
            return Ok(float_to_u32(*share.as_ref() * 1e6));
        }
        Err(self.error(&share.span(), "expected a share between 0 and 1".to_owned()))
    }

    fn duration(&self, text: &Text) -> Result<Duration, ScenarioError> {
        parse_duration(text.as_ref()).ok_or_else(|| {
            let what =
                format!("{:?} is not a duration; expected such as 250us, 1.5ms, 2s", text.as_ref());
            self.error(&text.span(), what)
        })
    }

    fn error(&self, span: &Range<usize>, what: String) -> ScenarioError {
        ScenarioError { line: line_of(self.text, span), what }
    }
}

/// More would only exhaust memory: the network keeps something for every pair.
const NODES_MAX: u32 = 2000;

/// Every fault by its name in a file.
pub const ACTIONS: &[&str] = &[
    "crash",
    "restart",
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
];

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
fn float_to_u32(value: f64) -> u32 {
    value.round() as u32
}

fn line_of(text: &str, span: &Range<usize>) -> usize {
    let upto = span.start.min(text.len());
    text.as_bytes()[..upto].iter().filter(|byte| **byte == b'\n').count() + 1
}
