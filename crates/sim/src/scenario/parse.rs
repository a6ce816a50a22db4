//! Reads a scenario file, reports errors with their line and what was expected, and writes one.
//!
//! This file has the whole document and its keys outside of tables; every table is read and written
//! in its own source file.

use std::collections::BTreeMap;
use std::fmt::{self, Write};
use std::ops::Range;
use std::time::Duration;

use serde::Deserialize;
use tanist_core::duration;
use tanist_core::election::Algorithm;
use tanist_core::mutant::Mutant;
use tanist_core::options::Options;
use tanist_core::policy::{Preempt, PreemptError};
use tanist_core::recall::RecallMode;
use tanist_core::trace::Kind;
use tanist_core::{GroupSettings, Membership, NodeId, Status, Timing};
use toml::Spanned;

use super::Scenario;
use super::expect::{AssertionsTable, ExpectTable};
use super::faults::FaultLine;
use super::messages::MessageLine;
use super::network::NetworkTable;
use super::nodes::{GroupLine, NodeLine};
use super::radio::{MobilityTable, RadioTable, write_topology};
use super::timing::{ApplicationTable, TimingTable};
use super::unknown::unknown;
use crate::monitors::Selection;
use crate::world::mutants;

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
    pub(super) labels: Option<Spanned<Vec<Text>>>,
    pub(super) ring: Option<Spanned<Vec<Spanned<u32>>>>,
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

pub(super) const fn one() -> u64 {
    1
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

impl Scenario {
    /// The text of a file that reads back as this scenario.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        // Writing to a String cannot fail.
        let _ = self.write(&mut text);
        text
    }

    fn write(&self, to: &mut String) -> fmt::Result {
        writeln!(to, "name = {:?}", self.name)?;
        writeln!(to, "about = {:?}", self.about)?;
        writeln!(to, "algorithm = {:?}", self.settings.algorithm.name())?;
        writeln!(to, "seed = {}", self.seed)?;
        writeln!(to, "end = {:?}", duration::print(self.end))?;
        if self.stops_at_break {
            writeln!(to, "stop_at_break = true")?;
        }
        if let Some(mutant) = self.settings.mutant {
            writeln!(to, "mutant = {:?}", mutant.name())?;
        }
        match self.settings.recall {
            RecallMode::Off => {}
            RecallMode::On => writeln!(to, "recall = true")?,
        }
        if self.settings.preempt != Preempt::Always {
            writeln!(to, "preempt = \"{}\"", self.settings.preempt)?;
        }
        if !self.down.is_empty() {
            let down: Vec<String> = self.down.iter().map(|node| node.0.to_string()).collect();
            writeln!(to, "down = [{}]", down.join(", "))?;
        }
        self.write_steps(to)?;
        self.write_arrangement(to)?;
        self.write_nodes(to)?;
        self.write_options(to)?;
        self.write_timing(to)?;
        self.write_network(to)?;
        write_topology(to, &self.topology)?;
        self.write_pace(to)?;
        self.write_assertions(to)?;
        self.write_groups(to)?;
        self.write_faults(to)?;
        self.write_rules(to)?;
        self.write_expect(to)
    }

    fn write_options(&self, to: &mut String) -> fmt::Result {
        let changed = self.settings.options.changed(self.settings.algorithm);
        if !changed.is_empty() {
            writeln!(to, "\n[options]")?;
            for (name, value) in changed {
                writeln!(to, "{name} = {value:?}")?;
            }
        }
        Ok(())
    }
}

/// The text of the file, to find the line of an error.
pub(super) struct Reader<'a> {
    pub(super) text: &'a str,
}

impl Reader<'_> {
    pub(super) fn scenario(&self, file: File) -> Result<Scenario, ScenarioError> {
        let algorithm = self.algorithm(&file.algorithm)?;
        let members = self.members(&file)?;
        let members = self.ringed(file.ring.as_ref(), algorithm, members)?;
        let timing = self.timing(file.timing.as_ref())?;
        let checked =
            Timing::new(timing).map_err(|error| self.timing_error(file.timing.as_ref(), error))?;
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
        self.check_down(&file, &members)?;
        let selection =
            file.assertions.as_ref().map_or(Selection::STANDARD, AssertionsTable::selection);
        let preempt = self.preempt(file.preempt.as_ref(), algorithm, &options)?;
        let recall = if file.recall { RecallMode::On } else { RecallMode::Off };
        let usual = GroupSettings::new(algorithm, checked);
        let settings = GroupSettings { options, recall, preempt, mutant, ..usual };
        let lines = (&file.options, file.group.as_slice());
        self.arranged(lines, settings, &members, &groups)?;
        let end = self.end(&file.end)?;
        self.check_looks(&file, &topology, &members, end)?;
        self.possible(&file, (settings, &members), &steps, end)?;
        let expect = self.expect(file.expect, &members)?;
        let scenario = Scenario {
            name: file.name,
            about: file.about,
            settings,
            members,
            timing,
            seed: file.seed,
            end,
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
        };
        self.check_selection(file.assertions.as_ref(), &scenario)?;
        Ok(scenario)
    }

    fn algorithm(&self, name: &Text) -> Result<Algorithm, ScenarioError> {
        Algorithm::from_name(name.as_ref()).ok_or_else(|| {
            let known = Algorithm::ALL.iter().map(|known| known.name());
            let what = unknown("algorithm", name.as_ref(), known);
            self.error(&name.span(), what)
        })
    }

    fn mutant(&self, name: &Text) -> Result<Mutant, ScenarioError> {
        if !Mutant::ARE_COMPILED {
            let what = "this program was built without the `mutants` feature".to_owned();
            return Err(self.error(&name.span(), what));
        }
        mutants::from_name(name.as_ref())
            .ok_or_else(|| self.error(&name.span(), format!("no mutant {:?}", name.as_ref())))
    }

    fn preempt(
        &self,
        text: Option<&Text>,
        algorithm: Algorithm,
        options: &Options,
    ) -> Result<Preempt, ScenarioError> {
        let Some(text) = text else { return Ok(Preempt::Always) };
        let preempt = match text.as_ref().as_str() {
            "always" => Preempt::Always,
            "never" => Preempt::Never,
            _ => Preempt::After(self.duration(text)?),
        };
        let refused = |error: PreemptError| self.error(&text.span(), error.to_string());
        preempt.checked(algorithm, options).map_err(refused)
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
            let what = unknown("message", name, Kind::ALL.iter().map(|kind| kind.name()));
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
                let known = ["Down", "Election", "Reorganization", "Normal"];
                Err(self.error(&text.span(), unknown("status", other, known)))
            }
        }
    }

    pub(super) fn millionths(&self, share: &Spanned<f64>) -> Result<u32, ScenarioError> {
        if !(0.0..=1.0).contains(share.as_ref()) {
            let what = "expected a share between 0 and 1".to_owned();
            return Err(self.error(&share.span(), what));
        }
        self.whole_millionths(*share.as_ref(), &share.span())
    }

    /// A share in the unit of the network, which draws millionths: less would never happen.
    pub(super) fn whole_millionths(
        &self,
        share: f64,
        span: &Range<usize>,
    ) -> Result<u32, ScenarioError> {
        let millionths = float_to_u32(share * 1e6);
        if millionths == 0 && share > 0.0 {
            let what = format!("{share} is less than a millionth; expected 0, or 0.000001 or more");
            return Err(self.error(span, what));
        }
        Ok(millionths)
    }

    pub(super) fn duration(&self, text: &Text) -> Result<Duration, ScenarioError> {
        duration::parse(text.as_ref()).ok_or_else(|| {
            let what = format!(
                "{:?} is not a duration; write a number with a unit, such as 250us or 2s",
                text.as_ref()
            );
            self.error(&text.span(), what)
        })
    }

    pub(super) fn error(&self, span: &Range<usize>, what: String) -> ScenarioError {
        ScenarioError { line: line_of(self.text, span), what }
    }
}

/// A table that names nodes.
pub(super) trait Named {
    fn nodes(&self) -> Vec<u32>;
}

pub(super) fn share(millionths: u32) -> String {
    format!("{}.{:06}", millionths / 1_000_000, millionths % 1_000_000)
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
