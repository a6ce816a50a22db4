//! The facts of a message that monitors, counts and the checker need.
//!
//! They are made for every message, recorded or not, so they are few and small; what a message says
//! beyond them is its [`super::Contents`].

use serde::{Deserialize, Serialize};

use super::Kind;
use crate::group::GroupNumber;
use crate::membership::NodeId;

/// The facts of a message that a reader of traces needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessageFacts {
    /// Its kind.
    pub kind: Kind,
    /// The group it speaks of.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub group: Option<GroupNumber>,
    /// Yes or no, for an answer.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub ok: Option<bool>,
    /// The node that it names to lead after its sender.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub successor: Option<NodeId>,
}

impl MessageFacts {
    /// What most messages say.
    #[must_use]
    pub const fn new(kind: Kind, group: Option<GroupNumber>, ok: Option<bool>) -> Self {
        Self { kind, group, ok, successor: None }
    }
}
