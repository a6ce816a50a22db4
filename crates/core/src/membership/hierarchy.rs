//! The hierarchy of peer groups and of the groups above them: a pure function of the configuration.
//!
//! ```text
//!   level 2                 [ 0 ]                       super-peers of the groups of level 1
//!   level 1        [ 0 ]             [ 1 ]              super-peers of the peer groups
//!   level 0    [0] [1] [2] [3]   [4] [5] [6] [7]        peer groups: 3..16 nodes each
//! ```
//!
//! A group of a higher level is a range of groups of the level below, so a node computes the group
//! in which it would have a seat. Everything is computed once and shared; a node keeps no part of
//! it in its state. Leaves out: who the super-peers are, which is elected.

use alloc::vec::Vec;
use core::ops::Range;

use super::{Membership, NodeId, grouping};
use crate::config::GroupConfig;
use crate::election::super_peer::{By, Disperse, Inner};

/// The groups of all levels.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Hierarchy {
    /// What the election inside every group is configured with.
    pub(crate) inner: GroupConfig,
    /// The members of every peer group.
    peers: Vec<Membership>,
    /// The groups of every level, the lowest first; the last level has one group.
    levels: Vec<Vec<Group>>,
    /// The peer group of every node, in order of id.
    home: Vec<(NodeId, u32)>,
}

/// A group in its place.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Group {
    /// The groups of the level below whose super-peers meet here; empty at level 0.
    children: Range<usize>,
    /// The group above in which this one's super-peers meet.
    parent: usize,
    /// The node of highest rank below: the super-peer, as long as no node fails.
    first: NodeId,
}

impl Hierarchy {
    /// Groups the configured nodes as the options say, and refuses options that contradict each
    /// other.
    pub fn new(config: &GroupConfig, members: &Membership) -> Result<Self, HierarchyError> {
        let fan = check(config)?;
        let groups = grouping::groups(members, &config.options().super_peer);
        let mut home = Vec::new();
        for (at, members) in (0_u32..).zip(&groups) {
            home.extend(members.all().iter().map(|member| (member.id, at)));
        }
        home.sort_unstable();
        let lowest = groups.iter().map(|peers| {
            let first = peers.all().last().map_or(NodeId(0), |member| member.id);
            Group { children: 0..0, parent: 0, first }
        });
        let mut levels = alloc::vec![lowest.collect::<Vec<_>>()];
        while let Some(below) = levels.last_mut()
            && below.len() > 1
        {
            let above = stack(members, below, fan);
            levels.push(above);
        }
        Ok(Self { inner: config.inner(), peers: groups, levels, home })
    }

    /// How many levels there are; 1 if all nodes are in one group.
    #[must_use]
    pub fn depth(&self) -> usize {
        self.levels.len()
    }

    /// How many groups a level has.
    #[must_use]
    pub fn groups(&self, level: usize) -> usize {
        self.levels.get(level).map_or(0, Vec::len)
    }

    /// The members of a peer group.
    #[must_use]
    pub fn peers(&self, group: usize) -> Option<&Membership> {
        self.peers.get(group)
    }

    /// The group of a level that a node belongs to, or would if it were a super-peer of all below.
    #[must_use]
    pub fn place(&self, node: NodeId, level: usize) -> Option<usize> {
        let mut group = usize::try_from(self.home(node)?).ok()?;
        for below in self.levels.get(..level)? {
            group = below[group].parent;
        }
        (level < self.levels.len()).then_some(group)
    }

    fn home(&self, node: NodeId) -> Option<u32> {
        // Most large networks number their nodes from 1.
        let guess = usize::try_from(node.0).ok()?.wrapping_sub(1);
        if let Some((id, group)) = self.home.get(guess)
            && *id == node
        {
            return Some(*group);
        }
        let at = self.home.binary_search_by_key(&node, |(id, _)| *id).ok()?;
        Some(self.home[at].1)
    }

    /// The groups of the level below whose super-peers meet in this one.
    #[must_use]
    pub fn children(&self, level: usize, group: usize) -> Range<usize> {
        let found = self.levels.get(level).and_then(|groups| groups.get(group));
        found.map_or(0..0, |group| group.children.clone())
    }

    /// The node of highest rank in a group or below it.
    #[must_use]
    pub fn first(&self, level: usize, group: usize) -> Option<NodeId> {
        self.levels.get(level)?.get(group).map(|group| group.first)
    }

    /// The peer groups below a group, itself included.
    #[must_use]
    pub fn homes(&self, level: usize, group: usize) -> Range<usize> {
        let mut range = group..group + 1;
        for level in (1..=level).rev() {
            let from = self.children(level, range.start).start;
            let to = self.children(level, range.end - 1).end;
            range = from..to;
        }
        range
    }

    /// Every node of a group or below it, group by group and the highest of each first.
    pub fn nodes(&self, level: usize, group: usize) -> impl Iterator<Item = NodeId> + '_ {
        let homes = self.peers.get(self.homes(level, group)).unwrap_or_default();
        homes.iter().flat_map(|home| home.all().iter().rev().map(|member| member.id))
    }
}

/// One more level: each of its groups takes the super-peers of neighbouring groups below.
fn stack(members: &Membership, below: &mut [Group], fan: usize) -> Vec<Group> {
    let parts = below.len().div_ceil(fan);
    let mut above = Vec::with_capacity(parts);
    for (parent, children) in grouping::cut(below.len(), parts).enumerate() {
        let mut first = below[children.start].first;
        for child in &mut below[children.clone()] {
            child.parent = parent;
            if members.outranks(child.first, first) {
                first = child.first;
            }
        }
        above.push(Group { children, parent: 0, first });
    }
    above
}

/// How many groups can share a group of super-peers.
fn check(config: &GroupConfig) -> Result<usize, HierarchyError> {
    let options = &config.options().super_peer;
    let (min, max) = (options.min.count(), options.max.count());
    let most = options.super_peers(max);
    if options.k.count() > 1 && options.ratio.part().is_some() {
        return Err(HierarchyError::TwoCounts);
    }
    if min * 2 > max + 1 {
        return Err(HierarchyError::Bounds { min, max });
    }
    if most * 2 > max {
        return Err(HierarchyError::NoFewer { most, max });
    }
    if most > 1 && options.inner == Inner::BullyLecture {
        return Err(HierarchyError::Unlisted);
    }
    match (options.disperse, options.by) {
        (Disperse::Off, By::Rack | By::Zone | By::Hash) => {}
        (Disperse::On, By::Rack) => return Err(HierarchyError::OneRack),
        (Disperse::On, By::Zone | By::Hash) if most == 1 => {
            return Err(HierarchyError::NobodyToKeepApart);
        }
        (Disperse::On, By::Zone | By::Hash) => {}
    }
    Ok(max / most)
}

/// Why options make no hierarchy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HierarchyError {
    /// Both say how many super-peers there are.
    #[error(
        "both `k` and `ratio` say how many super-peers a group has, so none can be chosen; give \
         one of the two"
    )]
    TwoCounts,
    /// A group that is one too large could not be split.
    #[error(
        "a group of {} nodes is above max = {max}, and its halves are below min = {min}, so it \
         can be neither kept nor split; let max be at least {}",
        max + 1, 2 * min - 1
    )]
    Bounds {
        /// The smallest group.
        min: usize,
        /// The largest group.
        max: usize,
    },
    /// Every level would have as many groups as the one below.
    #[error(
        "with {most} super-peers from each group not even two groups fit into one of max = {max}, \
         so the levels would never end; let max be at least {}, or select fewer",
        2 * most
    )]
    NoFewer {
        /// The most super-peers that a group can have.
        most: usize,
        /// The largest group.
        max: usize,
    },
    /// The lectures' coordinator does not know its followers.
    #[error(
        "with inner = bully-lecture no coordinator knows who is in its group, so it can select \
         no node beside itself; choose another inner algorithm, or k = 1"
    )]
    Unlisted,
    /// Groups are racks.
    #[error(
        "with by = rack all super-peers of a group are on one rack, so they cannot be kept apart; \
         choose by = zone or by = hash, or disperse = off"
    )]
    OneRack,
    /// There is one super-peer in each group.
    #[error(
        "a group with one super-peer has no others to keep apart, so disperse = on means nothing; \
         select more with k or ratio, or choose disperse = off"
    )]
    NobodyToKeepApart,
}
