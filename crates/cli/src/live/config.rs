//! The file that describes an agent, and what is wrong with it.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;
use tanist::{Algorithm, Builder, Group, TimingConfig, default_timing};
use tanist_sim::scenario::file::parse_duration;

use crate::commands;
use crate::problem::Problem;

/// An agent's file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AgentFile {
    /// The name of the group of processes, the same on all nodes.
    pub(crate) group: String,
    /// Which node this is.
    pub(crate) node: String,
    /// All nodes, this one included: `n1=10.0.0.1:7400`.
    pub(crate) peers: Vec<String>,
    /// Which version of that list it is.
    #[serde(default = "first_version")]
    pub(crate) peers_version: u32,
    /// Where the node keeps what must survive a crash.
    pub(crate) data_dir: PathBuf,
    /// The key that all nodes share.
    pub(crate) key_file: PathBuf,
    /// Where `tanist status` and the others reach the agent.
    pub(crate) socket: Option<PathBuf>,
    /// Who elects.
    #[serde(default, deserialize_with = "algorithm")]
    pub(crate) algorithm: Option<Algorithm>,
    /// Options of the algorithm.
    #[serde(default)]
    pub(crate) options: BTreeMap<String, String>,
    /// Priorities that are not the number in the node's name.
    #[serde(default)]
    pub(crate) priorities: BTreeMap<String, u32>,
    /// Where to listen, if not at the address that the peers are told.
    pub(crate) listen: Option<SocketAddr>,
    /// Writes down everything that the node does.
    pub(crate) trace: Option<PathBuf>,
    /// Bounds and periods.
    #[serde(default)]
    pub(crate) timing: TimingTable,
    /// What is served over HTTP.
    #[serde(default)]
    pub(crate) http: HttpTable,
    /// Programs that are run when the role changes.
    #[serde(default)]
    pub(crate) hooks: HooksTable,
    /// A command that says whether the node is fit to lead.
    pub(crate) health: Option<HealthTable>,
    /// For experiments: so many pieces of work for the group to share.
    pub(crate) work: Option<u32>,
}

/// Bounds and periods; what is not given is as in [`default_timing`].
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TimingTable {
    /// Tm: a message arrives within this.
    #[serde(default, deserialize_with = "duration")]
    message_max: Option<Duration>,
    /// Tp: and is answered within this.
    #[serde(default, deserialize_with = "duration")]
    processing_max: Option<Duration>,
    #[serde(default, deserialize_with = "duration")]
    heartbeat: Option<Duration>,
    /// S: silence that is suspicious.
    #[serde(default, deserialize_with = "duration")]
    suspect_after: Option<Duration>,
    /// How often a coordinator looks for other groups.
    #[serde(default, deserialize_with = "duration")]
    check_every: Option<Duration>,
}

/// What is served over HTTP, and to whom.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct HttpTable {
    /// Where.
    pub(crate) listen: Option<SocketAddr>,
    /// Where HAProxy's agent check is answered.
    pub(crate) agent_check: Option<SocketAddr>,
    /// A file with the token that allows actions.
    pub(crate) token_file: Option<PathBuf>,
    /// Names by which the page may be asked for, beside addresses and `localhost`.
    #[serde(default)]
    pub(crate) allowed_hosts: Vec<String>,
    /// Origins of pages that may ask.
    #[serde(default)]
    pub(crate) allowed_origins: Vec<String>,
}

/// Programs that are run when the role changes.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct HooksTable {
    pub(crate) pre_leader: Option<PathBuf>,
    pub(crate) leader: Option<PathBuf>,
    pub(crate) member: Option<PathBuf>,
    pub(crate) suspended: Option<PathBuf>,
    pub(crate) members: Option<PathBuf>,
    pub(crate) stop: Option<PathBuf>,
    pub(crate) any: Option<PathBuf>,
    #[serde(default, deserialize_with = "duration")]
    pub(crate) timeout: Option<Duration>,
}

/// A command that says whether the node is fit to lead.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct HealthTable {
    /// The program and its arguments.
    pub(crate) command: Vec<String>,
    #[serde(default, deserialize_with = "duration")]
    pub(crate) every: Option<Duration>,
    #[serde(default, deserialize_with = "duration")]
    pub(crate) timeout: Option<Duration>,
    /// After so many failures in a row the node is not fit.
    pub(crate) fail_after: Option<u32>,
}

impl AgentFile {
    /// Reads a file; a mistake is told with its line.
    pub(crate) fn read(path: &Path) -> Result<Self, Problem> {
        let name = path.display();
        let text = std::fs::read_to_string(path).map_err(|error| {
            Problem::BadFile(format!("{name}: {error}; `tanist agent --help` shows an example"))
        })?;
        toml::from_str(&text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            let line = text[..at.min(text.len())].matches('\n').count() + 1;
            Problem::BadFile(format!("{name}:{line}: {}", error.message().trim()))
        })
    }

    /// The node that it describes.
    pub(crate) fn builder(&self) -> Builder {
        let mut builder = Group::builder(&self.group)
            .node(&self.node)
            .peers(&self.peers)
            .peers_version(self.peers_version)
            .data_dir(&self.data_dir)
            .key_file(&self.key_file)
            .algorithm(self.algorithm.unwrap_or(Algorithm::Invitation))
            .timing(self.timing.config());
        for (name, value) in &self.options {
            builder = builder.option(name, value);
        }
        for (node, priority) in &self.priorities {
            builder = builder.priority(node, *priority);
        }
        if let Some(address) = self.listen {
            builder = builder.listen(address);
        }
        if let Some(path) = &self.trace {
            builder = builder.trace(path);
        }
        builder
    }
}

impl TimingTable {
    /// The whole of it.
    pub(crate) fn config(&self) -> TimingConfig {
        let base = default_timing();
        let check_every = self.check_every.unwrap_or(base.check_every);
        TimingConfig {
            message_max: self.message_max.unwrap_or(base.message_max),
            processing_max: self.processing_max.unwrap_or(base.processing_max),
            heartbeat: self.heartbeat.or(base.heartbeat),
            silence: self.suspect_after.or(base.silence),
            check_every,
            timeout_every: check_every,
            ..base
        }
    }
}

const fn first_version() -> u32 {
    1
}

fn algorithm<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Option<Algorithm>, D::Error> {
    let name = String::deserialize(from)?;
    commands::algorithm(&name).map(Some).map_err(serde::de::Error::custom)
}

fn duration<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Option<Duration>, D::Error> {
    let text = String::deserialize(from)?;
    let wrong = || serde::de::Error::custom(format!("`{text}` is no duration; write 250ms or 2s"));
    parse_duration(&text).map(Some).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = r#"group = "billing"
node = "n1"
peers = ["n1=127.0.0.1:7401"]
data_dir = "data"
key_file = "key"
"#;

    fn refusal(more: &str) -> String {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("agent.toml");
        std::fs::write(&path, format!("{GOOD}{more}")).unwrap();
        match AgentFile::read(&path) {
            Ok(_) => String::new(),
            Err(problem) => problem.to_string(),
        }
    }

    #[test]
    fn a_mistake_is_told_with_its_line() {
        assert_eq!(refusal(""), "");
        let typo = refusal("algorythm = \"bully\"\n");
        assert!(typo.contains("agent.toml:6:") && typo.contains("algorythm"), "{typo}");
        let unit = refusal("[timing]\nheartbeat = \"250\"\n");
        assert!(unit.contains("agent.toml:7:") && unit.contains("250ms"), "{unit}");
        assert!(refusal("algorithm = \"raft\"\n").contains("invitation"));
    }
}
