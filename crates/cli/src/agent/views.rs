//! What each node of the group says of itself: asked over the links, answered by its agent.
//!
//! A node knows its own role exactly and those of others only from its group. After a cut, or while
//! groups merge, nodes say different things; this is how an operator sees them side by side. What
//! is asked and answered are lines of JSON. Left out: nodes that cannot be reached from here.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use tanist::AskError;
use tanist::NodeId;
use tokio::task::JoinSet;

use super::Agent;
use super::report::{MembersReport, StatusReport};
use crate::control::protocol::Answer;

/// What the agents of a group ask each other. A later release may ask more.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "ask", rename_all = "snake_case")]
pub(super) enum PeerAsk {
    /// The node at a glance.
    Status,
    /// Hand over, as an operator asked at the node that sends this.
    Switchover {
        /// To which node; none means the best.
        to: Option<String>,
        /// Only say whether it could be done.
        dry_run: bool,
    },
}

/// What one node says of itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct ViewReport {
    pub(crate) node: String,
    pub(crate) address: String,
    /// What it says; none if it said nothing.
    pub(crate) status: Option<StatusReport>,
    /// Why it said nothing.
    pub(crate) problem: Option<String>,
}

/// What all nodes say of themselves.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct ViewsReport {
    /// Who asked the others.
    pub(crate) asked_by: String,
    pub(crate) views: Vec<ViewReport>,
}

impl Agent {
    /// Answers the agents of other nodes, until the node has stopped.
    pub(super) async fn answer_peers(self) {
        let Some(mut questions) = self.group().questions().await else { return };
        while let Some(question) = questions.next().await {
            let answer = match serde_json::from_slice(&question.bytes) {
                Ok(PeerAsk::Switchover { to, dry_run }) => {
                    // It takes a while, and other questions are answered meanwhile.
                    let agent = self.clone();
                    tokio::spawn(async move {
                        let answer = agent.switchover_for_peer(to.as_deref(), dry_run).await;
                        if let Ok(bytes) = serde_json::to_vec(&answer) {
                            question.answer(&bytes);
                        }
                    });
                    continue;
                }
                Ok(PeerAsk::Status) => match serde_json::to_value(self.status()) {
                    Ok(status) => Answer::Ok(status),
                    Err(error) => Answer::Error(error.to_string()),
                },
                Err(_) => Answer::Error(NOT_UNDERSTOOD.to_owned()),
            };
            if let Ok(bytes) = serde_json::to_vec(&answer) {
                question.answer(&bytes);
            }
        }
    }

    /// What every node says of itself, this one first asked and all others at the same time.
    pub(crate) async fn views(&self) -> ViewsReport {
        let me = self.group().me();
        let mut asking = JoinSet::new();
        for (position, (node, address)) in self.peers().into_iter().enumerate() {
            let agent = self.clone();
            asking.spawn(async move {
                let said = match node == me {
                    true => Ok(agent.status()),
                    false => agent.status_of(node, ANSWER_MAX).await,
                };
                let (status, problem) = match said {
                    Ok(status) => (Some(status), None),
                    Err(problem) => (None, Some(problem)),
                };
                (position, ViewReport { node: agent.name(node), address, status, problem })
            });
        }
        let mut views = asking.join_all().await;
        views.sort_by_key(|(position, _)| *position);
        let views = views.into_iter().map(|(_, view)| view).collect();
        ViewsReport { asked_by: self.my_name(), views }
    }

    /// Adds to the report whether the leader is active, if another node leads: only it knows.
    pub(crate) async fn ask_leader(&self, seen: &mut MembersReport) {
        let leader = seen.status.leader.as_ref().map(|leader| leader.node.clone());
        let row = seen.members.iter_mut().find(|member| Some(&member.node) == leader.as_ref());
        let Some(row) = row.filter(|row| !row.is_self) else { return };
        let Some(node) = self.config().peers.find(&row.node) else { return };
        if let Ok(said) = self.status_of(node, LEADER_ANSWER_MAX).await {
            row.active = Some(said.active);
        }
    }

    /// What another node says of itself, or why it said nothing.
    pub(super) async fn status_of(
        &self,
        node: NodeId,
        limit: Duration,
    ) -> Result<StatusReport, String> {
        match self.ask_agent(node, &PeerAsk::Status, limit).await? {
            Answer::Ok(status) => serde_json::from_value(status).map_err(|_| UNREADABLE.to_owned()),
            Answer::Error(what) | Answer::Refused(what) => Err(what),
        }
    }

    /// What the agent of another node answers, or why it said nothing.
    pub(super) async fn ask_agent(
        &self,
        node: NodeId,
        ask: &PeerAsk,
        limit: Duration,
    ) -> Result<Answer, String> {
        let question = serde_json::to_vec(ask).map_err(|error| error.to_string())?;
        let answer = self.group().ask_peer(node, question, limit).await;
        let bytes = answer.map_err(|error| match error {
            AskError::Silent => format!("no answer within {} ms", limit.as_millis()),
            AskError::TooOld
            | AskError::Untaken
            | AskError::TooMany
            | AskError::TooLong
            | AskError::UnknownPeer
            | AskError::NoLinks
            | AskError::Stopped
            | _ => error.to_string(),
        })?;
        serde_json::from_slice(&bytes).map_err(|_| UNREADABLE.to_owned())
    }
}

const NOT_UNDERSTOOD: &str = "too old to ask";
const UNREADABLE: &str = "its answer is not understood; it runs another version of tanist";
/// How long the slowest node may take. Less than a client of the socket waits.
const ANSWER_MAX: Duration = Duration::from_secs(2);
/// How long a leader may take to say whether it is active.
pub(super) const LEADER_ANSWER_MAX: Duration = Duration::from_millis(500);
