//! What is said over an agent's socket: one line of JSON asks, one line answers, or many.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::agent::action::Action;

/// What an agent can be asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "ask", rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Ask {
    /// The node at a glance.
    Status,
    /// All configured nodes as this one sees them.
    Members,
    /// What each node says of itself, asked over the links.
    Views,
    /// What the node counted.
    Metrics,
    /// What it was told at its start, and where its things are.
    Settings,
    /// The keys that it accepts, and what its links rest on.
    Keys,
    /// What it was and is, and why.
    History,
    /// What it did lately, message by message.
    Events,
    /// Do something.
    Act {
        /// What.
        what: Action,
    },
    /// For experiments: how far the shared work is.
    Work,
    /// Every change, from here on or after a number.
    Watch {
        /// The last number that the reader has seen.
        #[serde(default)]
        after: Option<u64>,
        /// The incarnation that gave it; a number of another one is not one of this.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        incarnation: Option<u64>,
    },
    /// For experiments: discard everything to and from these nodes.
    Cut {
        /// Their names.
        peers: Vec<String>,
    },
    /// End every cut.
    Heal,
    /// Have a job run here whenever the node leads: from here on the connection carries
    /// [`JobOrder`] one way and [`JobNews`] the other.
    Attach {
        /// How long the job may take to end.
        grace_ms: u64,
    },
}

/// What an agent tells a client that runs a job for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "order", rename_all = "snake_case")]
pub(crate) enum JobOrder {
    /// The node leads: start. The node's port may come with it, to be held until the job is gone.
    Start {
        /// What the job is told of the group.
        environment: BTreeMap<String, String>,
    },
    /// It leads no more: stop.
    Stop {
        /// Why.
        reason: String,
    },
    /// It takes no further job.
    Refuse {
        /// Why.
        reason: String,
    },
    /// It leaves its group on purpose, and will never say start again.
    Leave,
}

/// What an agent is told of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "news", rename_all = "snake_case")]
pub(crate) enum JobNews {
    /// It was stopped, no process of it is left, and it could be started again.
    Stopped,
    /// The client was told to end, or has nothing more to wait for, and no process is left.
    Detached,
    /// It has ended by itself.
    Exited {
        /// With this code.
        code: u8,
    },
}

/// What comes back for a question that has one answer.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Answer {
    /// This.
    Ok(serde_json::Value),
    /// Nothing, because of this.
    Error(String),
    /// Nothing, because it would be unsafe, is impossible, or is not for this user to ask.
    Refused(String),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_old_name_is_refused_with_a_list_that_has_the_new_one() {
        for (line, new) in [
            (r#"{"ask":"meter"}"#, "`metrics`"),
            (r#"{"ask":"act","what":{"action":"take-part"}}"#, "`rejoin`"),
        ] {
            let error = serde_json::from_str::<Ask>(line).unwrap_err();
            assert!(error.to_string().contains(new), "{line}: {error}");
        }
    }
}
