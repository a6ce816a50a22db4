//! What an agent on this machine sees: one file for each way of looking.
//!
//! Everything here asks an agent's socket and changes nothing. What an agent says in JSON is passed
//! on as it is, so every form that programs read has the names of [`crate::agent::report`].

pub(crate) mod history;
mod leader;
pub(crate) mod members;
mod status;
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
use crate::control::protocol::Ask;
use crate::dev::places;
use crate::terminal::output;

/// Which agent is meant.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Agent {
    /// The agent's socket, as its file names it.
    #[arg(long, value_name = "PATH", env = "TANIST_SOCKET")]
    socket: Option<PathBuf>,
    /// A node of the group that `tanist dev` runs; without it, the first that answers.
    #[arg(long, value_name = "NODE", conflicts_with = "socket")]
    node: Option<String>,
}

impl Agent {
    /// A connection to it.
    pub(crate) fn connect(&self) -> anyhow::Result<Client> {
        let path = places::socket(self.socket.as_deref(), self.node.as_deref())?;
        Ok(Client::connect(&path)?)
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

/// What must not be overlooked, in capitals: a node that was paused or is withdrawn.
pub(crate) fn alarms(status: &StatusReport) -> Vec<String> {
    let mut alarms = Vec::new();
    if status.paused {
        let what = "PAUSED: a dead leader is not replaced. Go on with: tanist resume";
        alarms.push(what.to_owned());
    }
    let node = &status.node;
    if status.withdrawn && !status.healthy {
        alarms.push(format!("{node} is WITHDRAWN: its health check fails"));
    } else if status.withdrawn {
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
