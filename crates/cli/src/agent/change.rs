//! A change of a node's role: typed here, one line of JSON outside.

use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};
use tanist::{Change, GroupNumber, NodeId, NodeSet, RoleKind, View};
use tanist_core::Time;

use super::json_form;

/// What an agent says when its role changes. Names stay as they are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RoleChange {
    /// Counts the roles of this incarnation of the node.
    pub(crate) index: u64,
    /// When, on the machine's boot-time clock.
    #[serde(rename = "at_us", with = "json_form::boot_micros")]
    pub(crate) at: Time,
    /// When, by the wall clock.
    #[serde(rename = "when_ms", with = "json_form::unix_millis")]
    pub(crate) when: SystemTime,
    /// Whose role it is.
    #[serde(with = "json_form::text")]
    pub(crate) node: NodeId,
    /// The role.
    pub(crate) role: RoleKind,
    /// The number of the group that the node is in, or was in last.
    #[serde(with = "json_form::optional_text")]
    pub(crate) group_number: Option<GroupNumber>,
    /// Its coordinator.
    #[serde(with = "json_form::optional_text")]
    pub(crate) coordinator: Option<NodeId>,
    /// The members of it.
    #[serde(with = "json_form::names")]
    pub(crate) members: NodeSet,
    /// Why it changed.
    #[serde(default)]
    pub(crate) reason: Reason,
    /// Who led the group that the node was in before.
    #[serde(default, with = "json_form::optional_text")]
    pub(crate) old_leader: Option<NodeId>,
    /// For how long the node was in no group before this one.
    #[serde(default, rename = "gap_ms", with = "json_form::optional_millis")]
    pub(crate) gap: Option<Duration>,
    /// How many changes before this one the reader asked for and the agent has forgotten.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) missed: u64,
    /// The same in a sentence.
    pub(crate) text: String,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
const fn is_zero(count: &u64) -> bool {
    *count == 0
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
    /// The line for a change.
    pub(crate) fn new(me: NodeId, change: &Change) -> Self {
        let view = change.role.view();
        Self {
            index: change.index,
            at: change.at,
            when: change.when,
            node: me,
            role: change.role.kind(),
            group_number: view.map(View::group_number),
            coordinator: view.map(View::coordinator),
            members: view.map(|view| view.members().clone()).unwrap_or_default(),
            reason: Reason::default(),
            old_leader: None,
            gap: None,
            missed: 0,
            text: format!("{me} {}", change.role),
        }
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
        let line = r#"{"index":7,"at_us":5000001,"when_ms":1700000000123,"node":"n2","role":"member","group_number":"42.n3","coordinator":"n3","members":["n2","n3","n10"],"reason":"step-down","old_leader":"n1","gap_ms":31,"missed":2,"text":"n2 is in a group"}"#;
        let change: RoleChange = serde_json::from_str(line).unwrap();
        assert_eq!(change.group_number, Some(GroupNumber { counter: 42, node: NodeId(3) }));
        assert_eq!(change.members, [2, 3, 10].map(NodeId).into_iter().collect());
        assert_eq!(serde_json::to_string(&change).unwrap(), line);
    }

    #[test]
    fn a_node_between_groups_has_nulls() {
        let line = r#"{"index":0,"at_us":0,"when_ms":0,"node":"n2","role":"suspended","group_number":null,"coordinator":null,"members":[],"reason":"start","old_leader":null,"gap_ms":null,"text":"n2 starts"}"#;
        let change: RoleChange = serde_json::from_str(line).unwrap();
        assert!(!change.is_in_group());
        assert_eq!(serde_json::to_string(&change).unwrap(), line);
    }
}
