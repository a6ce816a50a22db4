//! The keys of a scenario file about all nodes together: `labels`, what pictures call them, and
//! `ring`, their order in a ring.

use std::fmt::{self, Write};

use tanist_core::election::Algorithm;
use tanist_core::election::descriptor::Network;
use tanist_core::membership::{NodeName, NodeNames, RingError};
use tanist_core::{Membership, NodeId};
use toml::Spanned;

use super::Scenario;
use super::nodes::NodeLine;
use super::parse::{Reader, ScenarioError, Text};

impl Reader<'_> {
    /// The members with their labels, one for each in order of id.
    pub(super) fn labelled(
        &self,
        labels: Option<&Spanned<Vec<Text>>>,
        lines: &[NodeLine],
        members: Membership,
    ) -> Result<Membership, ScenarioError> {
        let Some(labels) = labels else { return Ok(members) };
        if let Some(name) = lines.iter().find_map(|line| line.name.as_ref()) {
            let what = format!(
                "a node has the name {} as well as a label; give either `labels` or names",
                name.as_ref()
            );
            return Err(self.error(&name.span(), what));
        }
        let texts = labels.as_ref();
        if texts.len() != members.count() {
            let (given, count) = (texts.len(), members.count());
            let what = format!("{given} labels for {count} nodes; give one each, in order of id");
            return Err(self.error(&labels.span(), what));
        }
        let mut ids: Vec<NodeId> = members.all().iter().map(|member| member.id).collect();
        ids.sort_unstable();
        let mut names = Vec::new();
        for (id, text) in ids.into_iter().zip(texts) {
            let name = NodeName::label(text.as_ref()).map_err(|error| {
                let what = format!("{:?} is not the label of a node: {error}", text.as_ref());
                self.error(&text.span(), what)
            })?;
            names.push((id, name));
        }
        let names = NodeNames::new(names).map_err(|twice| {
            let mut given = texts.iter().rev();
            let last = given.find(|text| text.as_ref() == twice.name.as_str());
            let span = last.map_or_else(|| labels.span(), Spanned::span);
            self.error(&span, twice.to_string())
        })?;
        Ok(members.with_names(names))
    }

    /// The members in the order of the ring.
    pub(super) fn ringed(
        &self,
        ring: Option<&Spanned<Vec<Spanned<u32>>>>,
        algorithm: Algorithm,
        members: Membership,
    ) -> Result<Membership, ScenarioError> {
        let Some(ring) = ring else { return Ok(members) };
        if !is_ring(algorithm) {
            let rings: Vec<&str> = Algorithm::ALL
                .iter()
                .filter(|ring| is_ring(**ring))
                .map(|ring| ring.name())
                .collect();
            let what = format!(
                "`ring` is the order of a ring, and {} has none; leave it out, or choose one of {}",
                algorithm.name(),
                rings.join(", ")
            );
            return Err(self.error(&ring.span(), what));
        }
        let order = ring.as_ref().iter().map(|node| NodeId(*node.as_ref()));
        members.with_ring(order).map_err(|error| {
            let span = match error {
                RingError::Stranger { at, .. } | RingError::Twice { at, .. } => {
                    ring.as_ref().get(at).map_or_else(|| ring.span(), Spanned::span)
                }
                RingError::Missing(_) => ring.span(),
            };
            self.error(&span, error.to_string())
        })
    }
}

fn is_ring(algorithm: Algorithm) -> bool {
    algorithm.descriptor().network == Network::Ring
}

impl Scenario {
    /// Whether its nodes have labels, which the rules for names do not allow.
    pub(super) fn has_labels(&self) -> bool {
        let names = self.members.names();
        let mut given = names.iter();
        given.any(|(_, name)| name.is_label_only()) && names.iter().count() == self.members.count()
    }

    pub(super) fn write_arrangement(&self, to: &mut String) -> fmt::Result {
        if self.has_labels() {
            let labels = self.members.names().iter().map(|(_, label)| format!("{label:?}"));
            writeln!(to, "labels = [{}]", labels.collect::<Vec<_>>().join(", "))?;
        }
        if let Some(order) = self.members.ring() {
            let order: Vec<String> = order.iter().map(|node| node.0.to_string()).collect();
            writeln!(to, "ring = [{}]", order.join(", "))?;
        }
        Ok(())
    }
}
