//! The part of a scenario file that says who takes part, and under what conditions.

use std::collections::BTreeMap;
use std::time::Duration;

use tanist_core::election::{Algorithm, Standing};
use tanist_core::group::Counter;
use tanist_core::membership::{Label, LabelError, Labels};
use tanist_core::mutant::Mutant;
use tanist_core::options::Options;
use tanist_core::policy::{Preempt, PreemptError};
use tanist_core::timing::TimingConfig;
use tanist_core::{GroupConfig, GroupSettings, Member, Membership, NodeId, NodeSet, Priority};
use toml::Spanned;

use super::parse::{
    ApplicationTable, File, GroupLine, NetworkTable, Reader, ScenarioError, Text, TimingTable,
};
use crate::algorithms;
use crate::world::application::Pace;
use crate::world::network::{Conditions, Delay};

impl Reader<'_> {
    pub(super) fn preempt(
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

    pub(super) fn algorithm(&self, name: &Text) -> Result<Algorithm, ScenarioError> {
        Algorithm::from_name(name.as_ref()).ok_or_else(|| {
            let known: Vec<_> = Algorithm::ALL.iter().map(|known| known.name()).collect();
            let what = format!("no algorithm {:?}; there is {}", name.as_ref(), known.join(", "));
            self.error(&name.span(), what)
        })
    }

    pub(super) fn mutant(&self, name: &Text) -> Result<Mutant, ScenarioError> {
        if !Mutant::ARE_COMPILED {
            let what = "this program was built without the `mutants` feature".to_owned();
            return Err(self.error(&name.span(), what));
        }
        Mutant::from_name(name.as_ref())
            .ok_or_else(|| self.error(&name.span(), format!("no mutant {:?}", name.as_ref())))
    }

    pub(super) fn members(&self, file: &File) -> Result<Membership, ScenarioError> {
        if let Some(count) = &file.nodes
            && *count.as_ref() > NODES_MAX
        {
            let what = format!("a scenario has at most {NODES_MAX} nodes");
            return Err(self.error(&count.span(), what));
        }
        let mut labels = Vec::new();
        for line in &file.node {
            let given = Labels { zone: self.label(&line.zone)?, rack: self.label(&line.rack)? };
            labels.push((NodeId(line.id), given));
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
        let made = made.map_err(|error| self.error(&span, error.to_string()))?;
        Ok(made.with_labels(labels))
    }

    fn label(&self, text: &Option<Text>) -> Result<Option<Label>, ScenarioError> {
        let Some(text) = text else { return Ok(None) };
        let label = text.as_ref().parse();
        label.map(Some).map_err(|error: LabelError| self.error(&text.span(), error.to_string()))
    }

    /// Refuses options that make no groups, and standing groups that are not in one of them.
    pub(super) fn arranged(
        &self,
        (options, lines): (&BTreeMap<Spanned<String>, Text>, &[Spanned<GroupLine>]),
        settings: GroupSettings,
        members: &Membership,
        groups: &[Standing],
    ) -> Result<(), ScenarioError> {
        let span = options.values().next().map_or(0..0, Spanned::span);
        let config = GroupConfig::new(settings);
        let config = config.map_err(|error| self.error(&span, error.to_string()))?;
        let arranged = members.clone().arranged(&config);
        let arranged = arranged.map_err(|error| self.error(&span, error.to_string()))?;
        let Some(hierarchy) = arranged.hierarchy() else { return Ok(()) };
        for (line, group) in lines.iter().zip(groups) {
            let home = hierarchy.place(group.coordinator, 0);
            let stranger = group.members.iter().find(|node| hierarchy.place(*node, 0) != home);
            if let Some(stranger) = stranger {
                let coordinator = group.coordinator;
                let what = format!(
                    "{stranger} is of another peer group than {coordinator}; a group that stands \
                     is one of those that the labels and options make"
                );
                return Err(self.error(&line.span(), what));
            }
        }
        Ok(())
    }

    pub(super) fn timing(
        &self,
        table: Option<&TimingTable>,
    ) -> Result<TimingConfig, ScenarioError> {
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
            heartbeat: given(&table.heartbeat)?,
            check_every: given(&table.check)?.unwrap_or(base.check_every),
            timeout_every: given(&table.timeout)?.unwrap_or(base.timeout_every),
            first_check: given(&table.first_check)?.unwrap_or(base.first_check),
            delay_unit: given(&table.delay_unit)?,
            jitter: given(&table.jitter)?,
            ..base
        })
    }

    pub(super) fn conditions(
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

    pub(super) fn pace(&self, table: Option<&ApplicationTable>) -> Result<Pace, ScenarioError> {
        let given = |text: Option<&Text>| text.map_or(Ok(Duration::ZERO), |t| self.duration(t));
        Ok(Pace {
            stop: given(table.and_then(|table| table.stop.as_ref()))?,
            plan: given(table.and_then(|table| table.plan.as_ref()))?,
        })
    }

    pub(super) fn groups(
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
            if !algorithms::study(algorithm).follows_lower
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
}

/// More would only exhaust memory: the network keeps something for every pair.
const NODES_MAX: u32 = 2000;
