//! Who works with whom at the moment.

use std::fmt;

use tanist_core::{GroupNumber, NodeId, NodeSet};

use super::world::World;
use crate::task::GroupTask;

/// A group that nodes work in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Formed {
    /// Its number.
    pub number: GroupNumber,
    /// Who coordinates it.
    pub coordinator: NodeId,
    /// Who works in it at the moment: perhaps fewer than it was formed with.
    pub members: NodeSet,
}

impl fmt::Display for Formed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "group {} of {} under {}", self.number, self.members, self.coordinator)
    }
}

impl<T: GroupTask> World<T> {
    /// The groups that nodes work in at the moment, by their lowest member. A node that is down or
    /// between groups is in none; one that is paused is in the one that it was in.
    ///
    /// During an election there may be fewer groups than before and after: ask
    /// [`World::is_settled`] too, or [`World::is_one_group`] instead.
    #[must_use]
    pub fn groups(&self) -> Vec<Formed> {
        let mut groups: Vec<Formed> = Vec::new();
        for view in self.nodes().filter_map(|node| self.view(node)) {
            match groups.iter_mut().find(|formed| formed.number == view.group) {
                Some(formed) => {
                    formed.members.insert(view.me);
                }
                None => groups.push(Formed {
                    number: view.group,
                    coordinator: view.coordinator,
                    members: NodeSet::from(vec![view.me]),
                }),
            }
        }
        groups
    }

    /// Whether every node that runs works in a group, and every such group has exactly the members
    /// that it was formed with, all of them running.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        let mut running = self.nodes().filter(|node| self.is_running(*node));
        running.all(|node| {
            self.view(node).is_some_and(|view| {
                let mut members = view.members().iter();
                members.all(|member| {
                    let theirs = self.view(member);
                    self.is_running(member)
                        && theirs.is_some_and(|theirs| theirs.group == view.group)
                })
            })
        })
    }

    /// Whether all nodes that run, at least one, work together in one group, and no other node is
    /// counted in.
    #[must_use]
    pub fn is_one_group(&self) -> bool {
        let mut running = self.nodes().filter(|node| self.is_running(*node));
        let Some(first) = running.next().and_then(|node| self.view(node)) else { return false };
        self.is_settled()
            && running.all(|node| self.view(node).is_some_and(|view| view.group == first.group))
    }
}
