//! The faults that every compared group goes through, and when the next one is due.

use tanist_core::trace::Link;
use tanist_core::{Membership, NodeId, NodeSet};

use crate::world::faults::Action;

/// A sequence of faults for a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Script {
    /// The coordinator of all nodes crashes.
    LeaderCrash,
    /// All nodes start at once.
    ColdStart,
    /// The best node was down and rejoins a group under the second best.
    LeaderReturns,
    /// One node after the other crashes and restarts, the lowest first.
    Rolling,
    /// The lower half is cut off from the upper half, and later the cut heals.
    PartitionAndHeal,
}

impl Script {
    /// All scripts.
    pub const ALL: [Self; 5] = [
        Self::LeaderCrash,
        Self::ColdStart,
        Self::LeaderReturns,
        Self::Rolling,
        Self::PartitionAndHeal,
    ];

    /// The name on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::LeaderCrash => "leader-crash",
            Self::ColdStart => "cold-start",
            Self::LeaderReturns => "leader-returns",
            Self::Rolling => "rolling",
            Self::PartitionAndHeal => "partition-and-heal",
        }
    }

    /// The script of this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|script| script.name() == name)
    }

    /// What happens, in a sentence for a picture.
    #[must_use]
    pub const fn about(self) -> &'static str {
        match self {
            Self::LeaderCrash => "the coordinator of everybody dies",
            Self::ColdStart => "all nodes start at once",
            Self::LeaderReturns => "the best node comes back to a group under the second best",
            Self::Rolling => "one node after the other dies and comes back",
            Self::PartitionAndHeal => "the group is cut into halves, and later the cut heals",
        }
    }

    /// Whether only algorithms that tolerate partitions must keep all their guarantees.
    #[must_use]
    pub const fn is_beyond_synchronous(self) -> bool {
        match self {
            Self::LeaderCrash | Self::ColdStart | Self::LeaderReturns | Self::Rolling => false,
            Self::PartitionAndHeal => true,
        }
    }

    /// The nodes of the group that is established at the beginning; all others are down.
    pub(super) fn standing(self, members: &Membership) -> NodeSet {
        let ranks = members.all();
        let standing = match self {
            Self::LeaderCrash | Self::Rolling | Self::PartitionAndHeal => ranks,
            Self::ColdStart => &[],
            Self::LeaderReturns => &ranks[..ranks.len() - 1],
        };
        standing.iter().map(|member| member.id).collect()
    }

    /// The faults in stages; the next stage begins when all nodes have agreed after the one before.
    pub(super) fn stages(self, members: &Membership) -> Vec<Vec<Action>> {
        let ranks: Vec<NodeId> = members.all().iter().map(|member| member.id).collect();
        let start = |node: &NodeId| Action::Restart { node: *node, lost_writes: 0 };
        let best = ranks.last();
        match self {
            Self::LeaderCrash => best.map(|best| vec![Action::Crash(*best)]).into_iter().collect(),
            Self::ColdStart => vec![ranks.iter().map(start).collect()],
            Self::LeaderReturns => best.map(|best| vec![start(best)]).into_iter().collect(),
            Self::Rolling => ranks
                .iter()
                .flat_map(|node| [vec![Action::Crash(*node)], vec![start(node)]])
                .collect(),
            Self::PartitionAndHeal => {
                let (lower, upper) = ranks.split_at(ranks.len() / 2);
                vec![vec![Action::Cut(between(lower, upper))], vec![Action::Heal(Vec::new())]]
            }
        }
    }
}

/// The links between two sides, in both directions.
fn between(one: &[NodeId], other: &[NodeId]) -> Vec<Link> {
    let pairs = one.iter().flat_map(|a| other.iter().map(|b| (*a, *b)));
    pairs.flat_map(|(a, b)| [Link { from: a, to: b }, Link { from: b, to: a }]).collect()
}
