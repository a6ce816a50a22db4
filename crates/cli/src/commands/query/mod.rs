//! What an agent on this machine sees: one file for each way of looking.
//!
//! Everything here asks an agent's socket and changes nothing. What an agent says in JSON is passed
//! on as it is, so every form that programs read has the names of [`crate::agent::report`].

pub(crate) mod history;
mod leader;
pub(crate) mod members;
mod status;
mod views;
mod wait;
mod watch;

use std::path::PathBuf;

use serde::de::DeserializeOwned;

pub(crate) use self::history::History;
pub(crate) use self::leader::{IsLeader, Leader};
pub(crate) use self::members::Members;
pub(crate) use self::status::Status;
pub(crate) use self::wait::Wait;
pub(crate) use self::watch::Watch;
use crate::agent::report::{MemberReport, StatusReport};
use crate::control::client::Client;
use crate::control::place::Place;
use crate::control::protocol::Ask;
use crate::terminal::output;

/// Which agent is meant.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Agent {
    /// The agent's socket; this comes before -c.
    #[arg(long, value_name = "PATH", env = "TANIST_SOCKET")]
    socket: Option<PathBuf>,
    /// The agent's file, which names its socket [default: /etc/tanist/tanist.toml].
    #[arg(short, long, value_name = "FILE", env = "TANIST_CONFIG", hide_env_values = true)]
    pub(crate) config: Option<PathBuf>,
    /// A node of the group that `tanist dev` runs, or NAME/NODE of one of several; without it, the
    /// first that answers.
    #[arg(long, value_name = "NODE", conflicts_with = "socket")]
    node: Option<String>,
}

impl Agent {
    /// A connection to it.
    pub(crate) fn connect(&self) -> anyhow::Result<Client> {
        let (socket, config) = (self.socket.as_deref(), self.config.as_deref());
        Place { socket, config, node: self.node.as_deref() }.connect()
    }

    /// Its answer to one question.
    pub(crate) fn ask<R: DeserializeOwned>(&self, ask: &Ask) -> anyhow::Result<R> {
        self.connect()?.ask(ask)
    }

    /// Whether the user said which.
    pub(crate) fn is_given(&self) -> bool {
        self.socket.is_some() || self.node.is_some()
    }
}

/// What must not be overlooked, in capitals: elections that are paused, a leader that is gone
/// meanwhile, a node that is withdrawn.
pub(crate) fn alarms(status: &StatusReport) -> Vec<String> {
    let mut alarms = Vec::new();
    let resume = "End the pause: tanist resume";
    match (status.paused, &status.lost_leader, &status.leader) {
        (true, Some(lost), _) => alarms.push(format!(
            "PAUSED and NO LEADER: {lost}, which led, is gone and is not replaced. {resume}"
        )),
        (true, None, None) => alarms.push(format!(
            "PAUSED, and {} knows NO LEADER: it is {}. {resume}",
            status.node, status.state
        )),
        (true, None, Some(_)) => {
            alarms.push(format!("PAUSED: a dead leader is not replaced. {resume}"));
        }
        (false, ..) => {}
    }
    let node = &status.node;
    for objection in &status.objections {
        alarms.push(format!("{node} is WITHDRAWN: {}", objection.text()));
    }
    if status.withdrawn && status.objections.is_empty() {
        alarms.push(format!("{node} is WITHDRAWN: it takes no part. Bring it back: tanist rejoin"));
    }
    alarms
}

/// Peers with the right key that give this node no link, each with its reason.
pub(crate) fn refusals(members: &[MemberReport]) -> Vec<String> {
    let refuses = |member: &MemberReport| {
        let why = member.refusal.as_ref()?;
        Some(format!("{} REFUSES this node: {}", member.node, output::plain(why)))
    };
    members.iter().filter_map(refuses).collect()
}
