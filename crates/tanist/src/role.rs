//! What a node is at the moment, in the words of its user.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize, Serializer};
use tanist_core::membership::NodeNames;
use tanist_core::{GroupNumber, NodeId, NodeSet};

use crate::lead::Lead;

/// A group as one of its members sees it.
///
/// Every role carries one of these, so that no further question is needed.
///
/// ```
/// # let mut world = tanist::sim::World::new(7, 3, |_| tanist::sim::Idle);
/// # world.run_until(tanist::sim::World::is_one_group).expect("three nodes find each other");
/// # let view = world.view(1).expect("n1 is in a group");
/// assert_eq!(view.members().len(), 3);
/// assert!(view.members().contains(view.coordinator()));
/// println!("{} is in {view}", view.me()); // n1 is in group 2.n3 of {n1 n2 n3} under n3
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct View {
    #[serde(serialize_with = "as_text")]
    pub(crate) me: NodeId,
    #[serde(serialize_with = "as_text")]
    pub(crate) group: GroupNumber,
    #[serde(serialize_with = "as_text")]
    pub(crate) coordinator: NodeId,
    #[serde(serialize_with = "as_texts")]
    pub(crate) members: NodeSet,
}

impl View {
    /// This node.
    #[must_use]
    pub const fn me(&self) -> NodeId {
        self.me
    }

    /// The group's number, unique and never reused.
    ///
    /// Numbers of different coordinators are not ordered in time: it names a group, it is no
    /// fencing token.
    #[must_use]
    pub const fn group_number(&self) -> GroupNumber {
        self.group
    }

    /// Who coordinates the group.
    #[must_use]
    pub const fn coordinator(&self) -> NodeId {
        self.coordinator
    }

    /// Its members, this node and the coordinator included.
    #[must_use]
    pub const fn members(&self) -> &NodeSet {
        &self.members
    }

    /// Whether this node coordinates.
    #[must_use]
    pub fn is_coordinator(&self) -> bool {
        self.me == self.coordinator
    }
}

impl View {
    /// The group in words that call nodes by their names.
    #[must_use]
    pub fn called(&self, names: &NodeNames) -> String {
        let (members, leader) = (names.list(self.members.iter()), names.of(self.coordinator));
        format!("group {} of {{{members}}} under {leader}", self.group)
    }
}

impl fmt::Display for View {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.called(&NodeNames::default()))
    }
}

/// Names as people write them: `n3`, `7.n3`.
pub(crate) fn as_text<S: Serializer>(name: &impl fmt::Display, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(name)
}

fn as_texts<S: Serializer>(nodes: &NodeSet, to: S) -> Result<S::Ok, S::Error> {
    to.collect_seq(nodes.iter().map(|node| node.to_string()))
}

/// What a node is: the leader of its group, a member, or between groups.
///
/// ```
/// use tanist::Role;
///
/// fn should_take_writes(role: &Role) -> bool {
///     match role {
///         Role::Leader(lead) => lead.is_leading(),
///         _ => false, // a member, between groups, or what a later release adds
///     }
/// }
/// # let _ = should_take_writes;
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Role {
    /// This node coordinates its group and may act.
    Leader(Lead),
    /// Another node coordinates the group that this one is in.
    Member(View),
    /// No operation is accepted: the node is between groups.
    Suspended(Suspension),
}

impl Role {
    /// The group that the node is in, or was in last.
    #[must_use]
    pub fn view(&self) -> Option<&View> {
        match self {
            Self::Leader(lead) => Some(lead.view()),
            Self::Member(view) => Some(view),
            Self::Suspended(suspension) => suspension.left.as_ref(),
        }
    }

    /// The leadership of a node that leads.
    #[must_use]
    pub const fn lead(&self) -> Option<&Lead> {
        match self {
            Self::Leader(lead) => Some(lead),
            Self::Member(_) | Self::Suspended(_) => None,
        }
    }

    /// Why a node is between groups; none if it is in one.
    #[must_use]
    pub const fn suspension(&self) -> Option<&Suspension> {
        match self {
            Self::Leader(_) | Self::Member(_) => None,
            Self::Suspended(suspension) => Some(suspension),
        }
    }

    /// Whether this node leads.
    #[must_use]
    pub const fn is_leader(&self) -> bool {
        matches!(self, Self::Leader(_))
    }

    /// Which of the three it is.
    #[must_use]
    pub const fn kind(&self) -> RoleKind {
        match self {
            Self::Leader(_) => RoleKind::Leader,
            Self::Member(_) => RoleKind::Member,
            Self::Suspended(_) => RoleKind::Suspended,
        }
    }

    /// The role in a word.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.kind().name()
    }
}

impl Role {
    /// The role in words that call nodes by their names: [`Group::names`](crate::Group::names).
    #[must_use]
    pub fn called(&self, names: &NodeNames) -> String {
        match self {
            Self::Leader(lead) => format!("leads {}", lead.view().called(names)),
            Self::Member(view) => format!("is in {}", view.called(names)),
            Self::Suspended(Suspension { why, left: Some(left) }) => {
                format!("{why}, after group {}", left.group)
            }
            Self::Suspended(Suspension { why, left: None }) => why.to_string(),
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.called(&NodeNames::default()))
    }
}

/// A [`Role`] without its group.
///
/// ```
/// use tanist::RoleKind;
///
/// assert_eq!("member".parse(), Ok(RoleKind::Member));
/// assert_eq!(RoleKind::Leader.to_string(), "leader");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RoleKind {
    /// It coordinates its group.
    Leader,
    /// It is in a group that another node coordinates.
    Member,
    /// It is between groups.
    Suspended,
}

impl RoleKind {
    /// The role in a word.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Leader => "leader",
            Self::Member => "member",
            Self::Suspended => "suspended",
        }
    }
}

impl fmt::Display for RoleKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for RoleKind {
    type Err = ParseRoleError;

    fn from_str(text: &str) -> Result<Self, ParseRoleError> {
        let all = [Self::Leader, Self::Member, Self::Suspended];
        all.into_iter().find(|kind| kind.name() == text).ok_or(ParseRoleError)
    }
}

/// The text is not a role.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected one of: leader, member, suspended")]
pub struct ParseRoleError;

/// Being between groups.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Suspension {
    /// Why nothing may be done.
    pub why: Why,
    /// The group that the node was in before, if it was in one.
    pub left: Option<View>,
}

/// Why a node is between groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Why {
    /// It has just started.
    Starting,
    /// An election or the reorganization after it is on.
    Election,
    /// It has withdrawn, and takes no part until it rejoins.
    Withdrawn,
    /// The user shut it down, or its disk failed.
    Stopped,
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Starting => "starts",
            Self::Election => "is in an election",
            Self::Withdrawn => "has withdrawn",
            Self::Stopped => "has stopped",
        })
    }
}
