//! A change of a node's role as one line of JSON.

use std::time::SystemTime;

use serde::{Deserialize, Serialize};
use tanist::{Change, NodeId};

/// What an agent says when its role changes. Names stay as they are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ChangeLine {
    /// Counts the roles of this life of the node.
    pub(crate) index: u64,
    /// Microseconds on the machine's boot-time clock.
    pub(crate) at_us: u64,
    /// Milliseconds of the wall clock since 1970.
    pub(crate) when_ms: u64,
    /// Whose role it is.
    pub(crate) node: String,
    /// `leader`, `member` or `suspended`.
    pub(crate) role: String,
    /// The number of the group that the node is in, or was in last.
    pub(crate) group: Option<String>,
    /// Its coordinator.
    pub(crate) coordinator: Option<String>,
    /// Everybody in it.
    pub(crate) members: Vec<String>,
    /// Why it changed.
    #[serde(default)]
    pub(crate) reason: Reason,
    /// Who led the group that the node was in before.
    #[serde(default)]
    pub(crate) old_leader: Option<String>,
    /// For how many milliseconds the node was in no group before this one.
    #[serde(default)]
    pub(crate) gap_ms: Option<u64>,
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
    /// It came up.
    #[default]
    Start,
    /// An election is on; what caused it shows when it is over.
    Election,
    /// Somebody is gone who did not say goodbye.
    Failure,
    /// Somebody stepped down or left.
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

impl ChangeLine {
    /// The line for a change.
    pub(crate) fn new(me: NodeId, change: &Change) -> Self {
        let view = change.role.view();
        let when = change.when.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let members = view.map(|view| view.members().iter().map(|id| id.to_string()).collect());
        Self {
            index: change.index,
            at_us: change.at.as_micros(),
            when_ms: u64::try_from(when.as_millis()).unwrap_or(u64::MAX),
            node: me.to_string(),
            role: change.role.name().to_owned(),
            group: view.map(|view| view.group_number().to_string()),
            coordinator: view.map(|view| view.coordinator().to_string()),
            members: members.unwrap_or_default(),
            reason: Reason::default(),
            old_leader: None,
            gap_ms: None,
            missed: 0,
            text: format!("{me} {}", change.role),
        }
    }

    /// Whether the node is in a group at the moment.
    pub(crate) fn is_in_group(&self) -> bool {
        self.role != "suspended"
    }
}
