//! Refuses the parts of a scenario file that cannot happen in any run: a message that the algorithm
//! does not have, a fault after the end, a restart of a node that never crashes.
//!
//! Leaves out what only a run can tell: a fault whose trigger did not come is in its report.

use std::collections::BTreeSet;
use std::time::Duration;

use tanist_core::election::Algorithm;
use tanist_core::node::LAYERS;
use tanist_core::policy::{HandOverError, PriorityError};
use tanist_core::recall::RecallMode;
use tanist_core::trace::Kind;
use tanist_core::{GroupConfig, GroupSettings, Membership, NodeId, duration};

use super::action_keys::number;
use super::faults::FaultLine;
use super::parse::{File, Reader, ScenarioError, Text};
use super::script::ScriptStep;
use crate::world::topology::Topology;

impl Reader<'_> {
    /// How long the run lasts.
    pub(super) fn end(&self, text: &Text) -> Result<Duration, ScenarioError> {
        let end = self.duration(text)?;
        if end > END_MAX {
            let what = format!("{:?} is too long: a run lasts at most 24h", text.as_ref());
            return Err(self.error(&text.span(), what));
        }
        Ok(end)
    }

    /// Refuses what cannot happen in a run of this length.
    pub(super) fn possible(
        &self,
        file: &File,
        (settings, members): (GroupSettings, &Membership),
        steps: &[ScriptStep],
        end: Duration,
    ) -> Result<(), ScenarioError> {
        let config = GroupConfig::new(settings).expect("`arranged` has checked the settings");
        self.check_kinds(file, &settings, steps)?;
        self.check_requests(file, &config, members)?;
        self.check_waits(file, settings.algorithm)?;
        self.check_times(file, end)?;
        self.check_causes(file, steps)
    }

    fn check_kinds(
        &self,
        file: &File,
        settings: &GroupSettings,
        steps: &[ScriptStep],
    ) -> Result<(), ScenarioError> {
        let conditions = file.fault.iter().filter_map(|line| line.as_ref().when.as_ref());
        let conditions =
            conditions.flat_map(|when| [&when.as_ref().sends, &when.as_ref().receives]);
        let rules = file.message.iter().map(|line| &line.as_ref().kind);
        let expected = file.expect.iter().flat_map(|table| table.by_kind.keys());
        for text in conditions.chain(rules).flatten().chain(expected) {
            if let Some(what) = absence(self.kind(text)?, settings) {
                return Err(self.error(&text.span(), what));
            }
        }
        for (text, step) in file.steps.iter().zip(steps) {
            if let Some(what) = step.kind().and_then(|kind| absence(kind, settings)) {
                return Err(self.error(&text.span(), what));
            }
        }
        Ok(())
    }

    fn check_times(&self, file: &File, end: Duration) -> Result<(), ScenarioError> {
        let faults = file.fault.iter().map(|line| line.as_ref());
        let faults = faults.flat_map(|line| [&line.at, &line.after]);
        let settled = file.expect.iter().map(|table| &table.settled);
        let until = file.mobility.iter().map(|table| &table.as_ref().until);
        for text in faults.chain(settled).chain(until).flatten() {
            if self.duration(text)? > end {
                let end = duration::print(end);
                let what =
                    format!("{:?} is after the end of the run, which is {end:?}", text.as_ref());
                return Err(self.error(&text.span(), what));
            }
        }
        Ok(())
    }

    /// Refuses nodes that roam for so long, and are looked at so often, that the run would not end.
    pub(super) fn check_looks(
        &self,
        file: &File,
        topology: &Topology,
        members: &Membership,
        end: Duration,
    ) -> Result<(), ScenarioError> {
        let (Topology::Radio(radio), Some(mobility)) = (topology, &file.mobility) else {
            return Ok(());
        };
        let nodes = members.count() as u128;
        let until = radio.mobility.and_then(|mobility| mobility.until).unwrap_or(end);
        let looks = until.as_nanos() / radio.step.as_nanos().max(1) * nodes;
        if looks <= LOOKS_MAX {
            return Ok(());
        }
        let what = format!(
            "{nodes} nodes would be looked at {looks} times; expected at most {LOOKS_MAX}: give a \
             longer `step` in [radio], an earlier `end` or `until`, or fewer nodes"
        );
        Err(self.error(&mobility.span(), what))
    }

    /// Refuses requests that the algorithm never grants, whatever the state of the nodes.
    fn check_requests(
        &self,
        file: &File,
        config: &GroupConfig,
        members: &Membership,
    ) -> Result<(), ScenarioError> {
        for line in &file.fault {
            let line = line.as_ref();
            let name = line.action.as_ref().as_str();
            let refusal = match (name, line.target(), number(&line.peer)) {
                ("hand-over", Some(node), Some(peer)) => {
                    keeps_no_leader(config, members, NodeId(node), NodeId(peer))
                }
                ("priority", _, _) => has_one_order(config),
                (_, _, _) => None,
            };
            if let Some(why) = refusal {
                let what = format!("`{name}` changes nothing: {why}");
                return Err(self.error(&line.action.span(), what));
            }
        }
        Ok(())
    }

    /// Refuses waits that no node of the algorithm has.
    fn check_waits(&self, file: &File, algorithm: Algorithm) -> Result<(), ScenarioError> {
        let Some(timing) = &file.timing else { return Ok(()) };
        let is_adjustable = algorithm.descriptor().adjustable.is_some();
        // Inside a peer group any other algorithm may elect.
        if [Algorithm::Invitation, Algorithm::SuperPeer].contains(&algorithm) {
            return Ok(());
        }
        // A group that keeps its leader counts with the delays of a merge, whatever elects in it.
        let delay_unit = timing.delay_unit.as_ref().filter(|_| !is_adjustable);
        for (key, given) in [("merge", timing.merge.as_ref()), ("delay_unit", delay_unit)] {
            if let Some(text) = given {
                let name = algorithm.name();
                let what = format!("{name} has no wait `{key}`; leave it out");
                return Err(self.error(&text.span(), what));
            }
        }
        Ok(())
    }

    /// An action that ends something needs what it ends.
    fn check_causes(&self, file: &File, steps: &[ScriptStep]) -> Result<(), ScenarioError> {
        let lines = || file.fault.iter().map(|line| line.as_ref());
        for line in lines() {
            let Some((name, cause, node)) = ended(line) else { continue };
            let is_down = file.down.iter().any(|down| *down.as_ref() == node)
                || steps.iter().any(|step| step.crashed().is_some_and(|id| id.0 == node));
            let is_caused = (cause == "crash" && is_down)
                || lines()
                    .any(|other| other.action.as_ref() == cause && other.target() == Some(node));
            if !is_caused {
                let what = format!(
                    "`{name}` of node {node} changes nothing: there is no `{cause}` of that node"
                );
                return Err(self.error(&line.action.span(), what));
            }
        }
        let forgets = lines().find(|line| line.action.as_ref() == "forget");
        match forgets {
            Some(line) if !file.recall => {
                let what = "`forget` changes nothing without `recall = true`".to_owned();
                Err(self.error(&line.action.span(), what))
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Nodes that are down exist, are named once, and are in no group.
    pub(super) fn check_down(
        &self,
        file: &File,
        members: &Membership,
    ) -> Result<(), ScenarioError> {
        let mut seen = BTreeSet::new();
        for node in &file.down {
            let id = *node.as_ref();
            self.known(id, members, &node.span())?;
            if !seen.insert(id) {
                let what = format!("node {id} is in `down` twice; write it once");
                return Err(self.error(&node.span(), what));
            }
        }
        for line in &file.group {
            let group = line.as_ref();
            let mut all = group.members.iter().chain([&group.coordinator]);
            let is_down = |node: &&u32| file.down.iter().any(|down| down.as_ref() == *node);
            if let Some(node) = all.find(is_down) {
                let what = format!("node {node} is in `down`, so it is in no group at the start");
                return Err(self.error(&line.span(), what));
            }
        }
        Ok(())
    }
}

/// Why the algorithm has no leader that could hand over. Whether a hand-over would last is left to
/// the run: priorities may change in it, and all nodes may be told though only one leads.
fn keeps_no_leader(
    config: &GroupConfig,
    members: &Membership,
    from: NodeId,
    to: NodeId,
) -> Option<String> {
    let refused = HandOverError::check(config, members, from, to).err()?;
    let is_certain = matches!(refused, HandOverError::KeepsNoLeader(_));
    is_certain.then(|| refused.to_string())
}

/// Why the algorithm has one order of nodes forever. That an option keeps it is left to the run,
/// since drawn scenarios change priorities whatever the option.
fn has_one_order(config: &GroupConfig) -> Option<String> {
    let refused = PriorityError::check(config).err()?;
    matches!(refused, PriorityError::OneOrder(_)).then(|| refused.to_string())
}

/// The action, the one that it ends, and the node.
fn ended(line: &FaultLine) -> Option<(&'static str, &'static str, u32)> {
    let found = ENDED.iter().find(|(name, _)| *name == line.action.as_ref().as_str());
    let (name, cause) = found?;
    Some((name, cause, line.target()?))
}

/// Why no node sends messages of this kind, if none does.
fn absence(kind: Kind, settings: &GroupSettings) -> Option<String> {
    let sent = kinds(settings);
    if sent.contains(&kind) {
        return None;
    }
    let name = kind.name();
    let layer = LAYERS.iter().find(|layer| layer.messages.iter().any(|info| info.kind == kind));
    Some(match layer.map(|layer| layer.name) {
        Some("recall") => format!("no node sends {name:?} without `recall = true`"),
        Some("detector") => format!("no node sends {name:?} without `heartbeat` in [timing]"),
        Some(_) | None => {
            let sent: Vec<&str> = sent.iter().map(|kind| kind.name()).collect();
            let algorithm = settings.algorithm.name();
            format!("{algorithm} has no message {name:?}; expected one of: {}", sent.join(", "))
        }
    })
}

/// The kinds of messages that nodes with these settings send.
fn kinds(settings: &GroupSettings) -> Vec<Kind> {
    let is_nested = settings.algorithm == Algorithm::SuperPeer;
    let inner = is_nested.then(|| settings.options.super_peer.inner.algorithm());
    let mut all = Vec::new();
    for algorithm in [settings.algorithm].into_iter().chain(inner) {
        let descriptor = algorithm.descriptor();
        all.extend(descriptor.messages.iter().map(|info| info.kind));
        let pair = descriptor.handover.iter().flat_map(|pair| [pair.request, pair.answer]);
        all.extend(pair.filter(|kind| !all.contains(kind)).collect::<Vec<_>>());
    }
    for layer in LAYERS {
        let is_on = match layer.name {
            // An algorithm names the pair of these that it uses.
            "reorganization" => false,
            "detector" => settings.timing.heartbeat().is_some(),
            "recall" => settings.recall == RecallMode::On,
            _ => true,
        };
        if is_on {
            all.extend(layer.messages.iter().map(|info| info.kind));
        }
    }
    all
}

/// The longest run, in simulated time.
const END_MAX: Duration = Duration::from_secs(24 * 3600);

/// The most looks at places of all nodes: two thousand nodes for a day, ten times a second.
const LOOKS_MAX: u128 = 2_000_000_000;

/// Actions that end another one.
const ENDED: &[(&str, &str)] = &[("restart", "crash"), ("resume", "pause"), ("unhang", "hang")];
