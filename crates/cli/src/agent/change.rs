//! A change of a node's role: typed here, one line of JSON outside.

use std::fmt;
use std::str::FromStr;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};
use tanist::{Change, GroupNumber, NodeId, NodeNames, RoleKind, View};
use tanist_core::Time;

use super::json_form;
use super::loss::LostNode;

/// What an agent says when its role changes. Inside an agent nodes are numbers; outside, and in
/// JSON, they are what people call them: `RoleChange<String>`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(bound(
    serialize = "N: AsRef<str> + Serialize",
    deserialize = "N: From<String> + Deserialize<'de>"
))]
pub(crate) struct RoleChange<N = NodeId> {
    /// Counts the changes of this incarnation of the node.
    pub(crate) index: u64,
    /// Which incarnation; indexes of another one mean nothing in this one.
    #[serde(default)]
    pub(crate) incarnation: u64,
    /// When, on the machine's boot-time clock.
    #[serde(rename = "at_us", with = "json_form::boot_micros")]
    pub(crate) at: Time,
    /// When, by the wall clock.
    #[serde(rename = "when_ms", with = "json_form::unix_millis")]
    pub(crate) when: SystemTime,
    /// Whose role it is.
    pub(crate) node: N,
    /// What changed.
    #[serde(default)]
    pub(crate) event: Changed,
    /// The role.
    pub(crate) role: RoleKind,
    /// Whether the node is the active leader.
    #[serde(default)]
    pub(crate) active: bool,
    /// The number of the group that the node is in, or was in last.
    #[serde(with = "json_form::optional_text")]
    pub(crate) group_number: Option<GroupNumber>,
    /// Its coordinator.
    pub(crate) coordinator: Option<N>,
    /// The members of it, in order of number.
    pub(crate) members: Vec<N>,
    /// Why it changed.
    #[serde(default)]
    pub(crate) reason: Reason,
    /// Who led the group that the node was in before.
    #[serde(default = "none")]
    pub(crate) old_leader: Option<N>,
    /// Who was in the group before and is not in this one, and why as far as this node knows.
    #[serde(default = "Vec::new", skip_serializing_if = "Vec::is_empty")]
    pub(crate) lost: Vec<LostNode<N>>,
    /// For how long the node was in no group before this one; after the loss of a leader that fell
    /// silent, from its last sign of life on.
    #[serde(default, rename = "gap_ms", with = "json_form::optional_millis")]
    pub(crate) gap: Option<Duration>,
    /// How many changes before this one the reader asked for and the agent has forgotten.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) missed: u64,
    /// The same in a sentence.
    pub(crate) text: String,
}

/// A change of one incarnation of a node, written `INCARNATION.INDEX`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ChangeId {
    pub(crate) incarnation: u64,
    pub(crate) index: u64,
}

impl fmt::Display for ChangeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.incarnation, self.index)
    }
}

impl FromStr for ChangeId {
    type Err = ParseChangeIdError;

    fn from_str(text: &str) -> Result<Self, ParseChangeIdError> {
        let read = || {
            let (incarnation, index) = text.split_once('.')?;
            Some(Self { incarnation: incarnation.parse().ok()?, index: index.parse().ok()? })
        };
        read().ok_or(ParseChangeIdError)
    }
}

/// The text is not the id of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "write INCARNATION.INDEX, such as 1794796184209.41: `incarnation` and `index` of the last \
     change that was seen. An index alone could be one of an earlier run of the agent"
)]
pub(crate) struct ParseChangeIdError;

const fn none<N>() -> Option<N> {
    None
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
const fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// What a change is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Changed {
    /// The node took a role.
    #[default]
    Role,
    /// A leader became active. That it is no longer shows with its next role.
    Activity,
}

/// Why a node's role changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Reason {
    /// It started.
    #[default]
    Start,
    /// An election is on; what caused it shows when it is over.
    Election,
    /// A member is gone without a farewell.
    Failure,
    /// A member stepped down or left.
    StepDown,
    /// Groups met.
    Merge,
    /// The node was told to end.
    Stop,
}

impl Reason {
    /// The word for it.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Election => "election",
            Self::Failure => "failure",
            Self::StepDown => "step-down",
            Self::Merge => "merge",
            Self::Stop => "stop",
        }
    }
}

impl RoleChange {
    /// The first change of an incarnation.
    pub(crate) fn start(me: NodeId, at: Time, when: SystemTime) -> Self {
        Self {
            index: 0,
            incarnation: 0,
            at,
            when,
            node: me,
            event: Changed::Role,
            role: RoleKind::Suspended,
            active: false,
            group_number: None,
            coordinator: None,
            members: Vec::new(),
            reason: Reason::Start,
            old_leader: None,
            lost: Vec::new(),
            gap: None,
            missed: 0,
            text: String::new(),
        }
    }

    /// The line for a change; its index is that of the history, and its words are added there.
    pub(crate) fn new(me: NodeId, change: &Change) -> Self {
        let view = change.role.view();
        Self {
            role: change.role.kind(),
            group_number: view.map(View::group_number),
            coordinator: view.map(View::coordinator),
            members: view.map(|view| view.members().iter().collect()).unwrap_or_default(),
            ..Self::start(me, change.at, change.when)
        }
    }

    /// The same with nodes as people call them.
    pub(crate) fn called(&self, names: &NodeNames) -> RoleChange<String> {
        self.with_nodes(|node| names.of(*node).to_string())
    }
}

impl RoleChange<String> {
    /// The same with nodes as numbers; nodes of unknown names get the number 0, which none has.
    pub(crate) fn numbered(&self, names: &NodeNames) -> RoleChange {
        self.with_nodes(|node| names.find(node).unwrap_or(NodeId(0)))
    }
}

impl<N> RoleChange<N> {
    fn with_nodes<M>(&self, convert: impl Fn(&N) -> M) -> RoleChange<M> {
        RoleChange {
            index: self.index,
            incarnation: self.incarnation,
            at: self.at,
            when: self.when,
            node: convert(&self.node),
            event: self.event,
            role: self.role,
            active: self.active,
            group_number: self.group_number,
            coordinator: self.coordinator.as_ref().map(&convert),
            members: self.members.iter().map(&convert).collect(),
            reason: self.reason,
            old_leader: self.old_leader.as_ref().map(&convert),
            lost: self.lost.iter().map(|lost| lost.with_node(&convert)).collect(),
            gap: self.gap,
            missed: self.missed,
            text: self.text.clone(),
        }
    }

    /// Where a reader that saw this one last goes on.
    pub(crate) const fn id(&self) -> ChangeId {
        ChangeId { incarnation: self.incarnation, index: self.index }
    }

    /// Whether the node is in a group at the moment.
    pub(crate) fn is_in_group(&self) -> bool {
        self.role != RoleKind::Suspended
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_read_from_the_line_that_it_is_written_as() {
        let line = r#"{"index":7,"incarnation":9,"at_us":5000001,"when_ms":1700000000123,"node":"n2","event":"role","role":"member","active":false,"group_number":"42.n3","coordinator":"n3","members":["n2","n3","n10"],"reason":"step-down","old_leader":"n1","lost":[{"node":"n1","evidence":"silence","silent_ms":2100}],"gap_ms":31,"missed":2,"text":"n2 is in a group"}"#;
        let change: RoleChange<String> = serde_json::from_str(line).unwrap();
        assert_eq!(change.group_number, Some(GroupNumber { counter: 42, node: NodeId(3) }));
        assert_eq!(change.members, ["n2", "n3", "n10"]);
        assert_eq!(serde_json::to_string(&change).unwrap(), line);
        let names = NodeNames::new([(NodeId(3), "db-east-1".parse().unwrap())]).unwrap();
        let numbered = change.numbered(&names);
        assert_eq!(numbered.members, [2, 3, 10].map(NodeId));
        let called = numbered.called(&names);
        assert_eq!(called.members, ["n2", "db-east-1", "n10"]);
        assert_eq!(called.numbered(&names), numbered);
    }

    #[test]
    fn a_node_between_groups_has_nulls() {
        let line = r#"{"index":0,"incarnation":9,"at_us":0,"when_ms":0,"node":"n2","event":"role","role":"suspended","active":false,"group_number":null,"coordinator":null,"members":[],"reason":"start","old_leader":null,"gap_ms":null,"text":"n2 starts"}"#;
        let change: RoleChange<String> = serde_json::from_str(line).unwrap();
        assert!(!change.is_in_group());
        assert_eq!(serde_json::to_string(&change).unwrap(), line);
    }

    #[test]
    fn an_id_is_read_as_it_was_written_and_nothing_else_is_one() {
        let id = ChangeId { incarnation: 1_731_000_000_000, index: 7 };
        assert_eq!(id.to_string().parse(), Ok(id));
        for text in ["", "7", "7.", ".7", "a.7", "1.2.3", "1.-2"] {
            assert_eq!(text.parse::<ChangeId>(), Err(ParseChangeIdError), "{text}");
        }
    }
}
