//! The keys of a scenario file for the nodes and the groups established at the beginning: `nodes`,
//! `[[node]]` and `[[group]]`.

use std::collections::BTreeMap;
use std::fmt::{self, Write};

use serde::Deserialize;
use tanist_core::election::{Algorithm, EstablishedGroup};
use tanist_core::group::Counter;
use tanist_core::membership::{
    Label, LabelError, Labels, MembershipError, NodeName, NodeNameError, NodeNames,
};
use tanist_core::{GroupConfig, GroupSettings, Member, Membership, NodeId, NodeSet, Priority};
use toml::Spanned;

use super::Scenario;
use super::parse::{File, Reader, ScenarioError, Text, one};
use crate::algorithms;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NodeLine {
    pub(super) id: Spanned<u32>,
    pub(super) name: Option<Text>,
    pub(super) priority: Option<u32>,
    pub(super) zone: Option<Text>,
    pub(super) rack: Option<Text>,
    pub(super) at: Option<Spanned<[f64; 2]>>,
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

impl NodeLine {
    pub(super) fn id(&self) -> NodeId {
        NodeId(*self.id.as_ref())
    }
}

impl Reader<'_> {
    pub(super) fn members(&self, file: &File) -> Result<Membership, ScenarioError> {
        let many = file.nodes.as_ref().filter(|count| *count.as_ref() > NODES_MAX);
        if many.is_some() || file.node.len() > NODES_MAX as usize {
            let what = format!("a scenario has at most {NODES_MAX} nodes");
            let excess = file.node.get(NODES_MAX as usize).map(|line| line.id.span());
            let span = many.map(Spanned::span).or(excess);
            return Err(self.error(&span.unwrap_or(0..0), what));
        }
        let mut labels = Vec::new();
        for line in &file.node {
            let given = Labels { zone: self.label(&line.zone)?, rack: self.label(&line.rack)? };
            labels.push((line.id(), given));
        }
        let made = match (&file.nodes, file.node.is_empty()) {
            (Some(count), true) => Membership::numbered(*count.as_ref()),
            (None, false) => Membership::new(file.node.iter().map(|line| Member {
                priority: Priority(line.priority.unwrap_or(line.id().0)),
                id: line.id(),
            })),
            (Some(_), false) | (None, true) => {
                let what = "expected either `nodes = N` or [[node]] tables".to_owned();
                return Err(self.error(&file.algorithm.span(), what));
            }
        };
        let made = made.map_err(|error| {
            let span = match error {
                MembershipError::Duplicate(id) => file.node.iter().rfind(|line| line.id() == id),
                MembershipError::Empty => None,
            };
            let span = span.map(|line| line.id.span()).or(file.nodes.as_ref().map(Spanned::span));
            self.error(&span.unwrap_or(0..0), error.to_string())
        })?;
        let made = made.with_labels(labels).with_names(self.names(&file.node)?);
        self.labelled(file.labels.as_ref(), &file.node, made)
    }

    fn names(&self, lines: &[NodeLine]) -> Result<NodeNames, ScenarioError> {
        let mut names = Vec::new();
        for line in lines {
            let Some(text) = &line.name else { continue };
            let name: NodeName = text.as_ref().parse().map_err(|error: NodeNameError| {
                let what = format!("{:?} is not the name of a node: {error}", text.as_ref());
                self.error(&text.span(), what)
            })?;
            names.push((line.id(), name));
        }
        NodeNames::new(names).map_err(|twice| {
            let mut given = lines.iter().rev().filter_map(|line| line.name.as_ref());
            let last = given.find(|text| text.as_ref() == twice.name.as_str());
            self.error(&last.map_or(0..0, Spanned::span), twice.to_string())
        })
    }

    fn label(&self, text: &Option<Text>) -> Result<Option<Label>, ScenarioError> {
        let Some(text) = text else { return Ok(None) };
        let label = text.as_ref().parse();
        label.map(Some).map_err(|error: LabelError| self.error(&text.span(), error.to_string()))
    }

    pub(super) fn groups(
        &self,
        lines: &[Spanned<GroupLine>],
        members: &Membership,
        algorithm: Algorithm,
    ) -> Result<Vec<EstablishedGroup>, ScenarioError> {
        let mut seen = NodeSet::new();
        let mut groups = Vec::new();
        for line in lines {
            let group = line.as_ref();
            let mut all: NodeSet = group.members.iter().map(|node| NodeId(*node)).collect();
            let coordinator = NodeId(group.coordinator);
            if all.contains(coordinator) {
                let what = format!("write `members` without the coordinator {coordinator}");
                return Err(self.error(&line.span(), what));
            }
            if all.len() < group.members.len() {
                let what = "a node is in `members` twice; write it once".to_owned();
                return Err(self.error(&line.span(), what));
            }
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
                let what =
                    format!("{higher} outranks {coordinator}; a bully node follows no lower node");
                return Err(self.error(&line.span(), what));
            }
            let number = Counter(group.counter).group(coordinator);
            groups.push(EstablishedGroup { group: number, coordinator, members: all });
        }
        Ok(groups)
    }

    /// Refuses options that make no groups, and established groups that span several of them.
    pub(super) fn arranged(
        &self,
        (options, lines): (&BTreeMap<Spanned<String>, Text>, &[Spanned<GroupLine>]),
        settings: GroupSettings,
        members: &Membership,
        groups: &[EstablishedGroup],
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
}

impl Scenario {
    pub(super) fn write_nodes(&self, to: &mut String) -> fmt::Result {
        let all = self.members.all();
        let is_numbered = (1..).zip(all).all(|(i, node)| node.id.0 == i && node.priority.0 == i);
        let names: BTreeMap<NodeId, &NodeName> =
            if self.has_labels() { BTreeMap::new() } else { self.members.names().iter().collect() };
        if is_numbered && self.members.labelled().is_empty() && names.is_empty() {
            return writeln!(to, "nodes = {}", all.len());
        }
        for node in all {
            writeln!(to, "\n[[node]]\nid = {}", node.id.0)?;
            if let Some(name) = names.get(&node.id) {
                writeln!(to, "name = {name:?}")?;
            }
            writeln!(to, "priority = {}", node.priority.0)?;
            let labels = self.members.labels(node.id);
            if let Some(zone) = labels.zone {
                writeln!(to, "zone = {zone:?}")?;
            }
            if let Some(rack) = labels.rack {
                writeln!(to, "rack = {rack:?}")?;
            }
        }
        Ok(())
    }

    pub(super) fn write_groups(&self, to: &mut String) -> fmt::Result {
        for group in &self.groups {
            let members: Vec<String> = group
                .members
                .iter()
                .filter(|node| *node != group.coordinator)
                .map(|node| node.0.to_string())
                .collect();
            writeln!(to, "\n[[group]]\ncoordinator = {}", group.coordinator.0)?;
            writeln!(to, "members = [{}]", members.join(", "))?;
            writeln!(to, "counter = {}", group.group.counter)?;
        }
        Ok(())
    }
}

/// The most nodes of a scenario: the network keeps state for every pair of them.
pub const NODES_MAX: u32 = 2000;
