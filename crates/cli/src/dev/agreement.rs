//! When all nodes of a local group that can take part are in one group.

use std::time::{Duration, Instant};

use anyhow::bail;
use tanist::{GroupNumber, NodeId, NodeSet, RoleKind};
use tanist_core::Time;

use super::group::{LocalGroup, Seen};
use crate::agent::change::RoleChange;

/// All nodes that can take part are in one group, or each in the group of its own rack: the numbers
/// and coordinators of these groups.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Agreement {
    pub(crate) group_numbers: Vec<GroupNumber>,
    pub(crate) coordinators: Vec<NodeId>,
    /// When the coordinator knew.
    pub(crate) first: Time,
    /// When the last one knew.
    pub(crate) all: Time,
}

impl LocalGroup {
    /// Waits until all nodes that can take part are in one group, in another than that of this
    /// number; for the one of two sides, if the group is cut.
    pub(crate) fn agree(
        &mut self,
        nodes: &[NodeId],
        old: Option<&[GroupNumber]>,
        limit: Duration,
    ) -> anyhow::Result<Agreement> {
        let end = Instant::now() + limit;
        loop {
            if let Some(agreement) = self.agreement(nodes)
                && old != Some(agreement.group_numbers.as_slice())
            {
                return Ok(agreement);
            }
            let left = end.saturating_duration_since(Instant::now());
            match self.next(left)? {
                Some(Seen::Stopped(id, why)) => bail!("error: {id} ended by itself: {why}"),
                Some(Seen::Refused(id, why)) => bail!("error: {id} does not start: {why}"),
                Some(Seen::Change(_)) => {}
                None if left.is_zero() => {
                    bail!("error: no agreement within {limit:?}:\n{}", self.describe());
                }
                None => {}
            }
        }
    }

    /// Whether these nodes are one whole group now; where groups select super-peers, whether all
    /// that have a node among these are whole.
    pub(crate) fn agreement(&self, nodes: &[NodeId]) -> Option<Agreement> {
        let awake = |group: &Vec<NodeId>| -> Vec<NodeId> {
            group.iter().filter(|id| nodes.contains(id)).copied().collect()
        };
        let mut parts = self.groups.iter().map(awake).filter(|group| !group.is_empty());
        let first = self.agreement_of(&parts.next()?)?;
        parts.try_fold(first, |all, part| {
            let part = self.agreement_of(&part)?;
            Some(Agreement {
                group_numbers: [all.group_numbers, part.group_numbers].concat(),
                coordinators: [all.coordinators, part.coordinators].concat(),
                first: all.first.max(part.first),
                all: all.all.max(part.all),
            })
        })
    }

    fn agreement_of(&self, nodes: &[NodeId]) -> Option<Agreement> {
        let lines: Option<Vec<&RoleChange>> =
            nodes.iter().map(|id| self.nodes.get(id)?.last.as_ref()).collect();
        let lines = lines?;
        let first = lines.first()?;
        let is_one = lines.iter().all(|line| {
            line.is_in_group()
                && line.group_number == first.group_number
                && line.coordinator == first.coordinator
        });
        let leader = lines.iter().find(|line| line.role == RoleKind::Leader)?;
        let is_whole = !self.knows_members || is_same(&leader.members, nodes);
        if !is_one || !is_whole {
            return None;
        }
        Some(Agreement {
            group_numbers: vec![leader.group_number?],
            coordinators: vec![leader.coordinator?],
            first: leader.at,
            all: lines.iter().map(|line| line.at).max()?,
        })
    }
}

/// Whether two lists have the same nodes.
fn is_same(one: &[NodeId], other: &[NodeId]) -> bool {
    let set = |nodes: &[NodeId]| nodes.iter().copied().collect::<NodeSet>();
    set(one) == set(other)
}
