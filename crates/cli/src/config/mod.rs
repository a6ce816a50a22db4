//! The configuration of an agent: a file, the environment and flags, one over the other.
//!
//! ```text
//! default < file < TANIST_* < flags      sources.rs: the layers     key.rs: what keys there are
//!        \  each value with its origin   draft.rs, file.rs, value.rs
//!         -> check.rs -> Config          every mistake with its place, or a value that fits
//!                        Config::accepted             surroundings.rs: its files and programs
//!                        Config::changes_against      change.rs: what a reload would do
//! ```
//!
//! A [`Config`] is read once and not changed; a reload reads a new one. What `config check` accepts,
//! an agent starts with and a reload takes, since all three ask [`Config::examine`] and then
//! [`Config::surroundings`].
//! Left out: fragments in a directory, and values that a group agrees on by itself.

mod acting;
mod change;
mod check;
mod draft;
mod file;
mod identity;
mod key;
mod labels;
mod origin;
mod programs;
mod radio;
mod reader;
pub(crate) mod sample;
mod secrets;
mod sources;
mod surroundings;
mod timing;
mod value;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tanist::radio::Reach;
use tanist::{Algorithm, Builder, Group, NodeId, PeerList};

pub(crate) use self::acting::why_inactive;
pub(crate) use self::change::Change;
pub(crate) use self::draft::{Setting, Settings};
pub(crate) use self::identity::IdentityTable;
pub(crate) use self::key::Effect;
use self::key::KEYS;
pub(crate) use self::origin::{Finding, Origin, Severity};
use self::reader::Reader;
pub(crate) use self::secrets::Secrets;
pub(crate) use self::sources::{ConfigArgs, FILE, Sources};
pub(crate) use self::timing::{TimingTable, default_timing};
use crate::problem::Problem;

/// A configuration that fits together.
#[derive(Clone, Debug)]
pub(crate) struct Config {
    /// The name of the group of processes, the same on all nodes.
    pub(crate) group: String,
    /// Which node this is, as it is called.
    pub(crate) node: String,
    /// The same by its number.
    pub(crate) me: NodeId,
    /// All nodes, this one included.
    pub(crate) peers: PeerList,
    /// The same as it was written.
    peer_entries: Vec<String>,
    /// Which version of that list it is.
    pub(crate) peers_version: u32,
    /// This node's own priority, if it was given one of its own.
    pub(crate) priority: Option<u32>,
    /// Priorities that are not the number in the node's name.
    pub(crate) priorities: BTreeMap<String, u32>,
    /// Where nodes are.
    pub(crate) zones: BTreeMap<String, String>,
    /// What may fail together.
    pub(crate) racks: BTreeMap<String, String>,
    /// Who elects.
    pub(crate) algorithm: Algorithm,
    /// Options of the algorithm.
    pub(crate) options: BTreeMap<String, String>,
    /// Where the node keeps what must survive a crash.
    pub(crate) data_dir: PathBuf,
    /// The keys that all nodes share.
    pub(crate) key_file: PathBuf,
    /// This node's own key and those of its peers, if they have some.
    pub(crate) identity: Option<IdentityTable>,
    /// Where `tanist status` and the others reach the agent.
    pub(crate) socket: Option<PathBuf>,
    /// Where to listen, if not at the address that the peers are told.
    pub(crate) listen: Option<SocketAddr>,
    /// Writes down everything that the node does.
    pub(crate) trace: Option<PathBuf>,
    /// Bounds and periods.
    pub(crate) timing: TimingTable,
    /// What the node does when its last job is lost.
    pub(crate) on_job_lost: OnJobLost,
    /// How neighbours are reached by radio, if not all nodes by links.
    pub(crate) radio: Option<Reach>,
    /// What is served over HTTP, and to whom.
    pub(crate) http: HttpTable,
    /// Programs that run when something happens.
    pub(crate) hooks: HooksTable,
    /// The health check of this node, if it has one.
    pub(crate) health: Option<HealthTable>,
    /// How the agent tells what it does.
    pub(crate) log: LogTable,
    /// For experiments: so many pieces of work for the group to share.
    pub(crate) work: Option<u32>,
    /// What works, and may not be meant.
    pub(crate) warnings: Vec<Finding>,
    /// Every value with its origin.
    pub(crate) settings: Settings,
}

/// What is served over HTTP, and to whom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HttpTable {
    /// Where it listens.
    pub(crate) listen: Option<SocketAddr>,
    /// Where HAProxy asks for a line.
    pub(crate) agent_check: Option<SocketAddr>,
    /// The file with the token of those who may change things.
    pub(crate) token_file: Option<PathBuf>,
    /// Names by which it may be asked, besides its addresses.
    pub(crate) allowed_hosts: Vec<String>,
    /// Pages that may ask.
    pub(crate) allowed_origins: Vec<String>,
}

/// Programs that run when something happens; each is a path, not a command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HooksTable {
    pub(crate) pre_leader: Option<PathBuf>,
    pub(crate) leader: Option<PathBuf>,
    pub(crate) member: Option<PathBuf>,
    pub(crate) suspended: Option<PathBuf>,
    pub(crate) members: Option<PathBuf>,
    pub(crate) stop: Option<PathBuf>,
    pub(crate) any: Option<PathBuf>,
    /// One that runs longer is ended.
    pub(crate) timeout: Duration,
}

/// A program that says whether this node is healthy enough to lead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HealthTable {
    /// The program and its arguments.
    pub(crate) command: Vec<String>,
    /// How often it runs.
    pub(crate) every: Duration,
    /// Longer counts as failed.
    pub(crate) timeout: Duration,
    /// So many failures in a row count.
    pub(crate) fail_after: u32,
}

/// What a node does when the last `tanist run` that was attached to it is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OnJobLost {
    /// It withdraws until one attaches again, so that another node leads.
    StepDown,
    /// It leads on without a job.
    Wait,
}

/// How the agent tells what it does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct LogTable {
    pub(crate) format: LogFormat,
    pub(crate) level: LogLevel,
}

/// How a line of the log looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum LogFormat {
    #[default]
    Text,
    Json,
}

/// What is logged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum LogLevel {
    Error,
    Warn,
    #[default]
    Info,
    Debug,
    Trace,
}

impl Config {
    /// This one, with what a newer one says of the keys that a reload can change.
    pub(crate) fn with_live_values_of(&self, new: &Self) -> Self {
        let http = HttpTable {
            token_file: new.http.token_file.clone(),
            allowed_hosts: new.http.allowed_hosts.clone(),
            allowed_origins: new.http.allowed_origins.clone(),
            ..self.http.clone()
        };
        Self {
            priority: new.priority,
            key_file: new.key_file.clone(),
            identity: new.identity.clone(),
            http,
            hooks: new.hooks.clone(),
            health: new.health.clone(),
            on_job_lost: new.on_job_lost,
            log: LogTable { level: new.log.level, ..self.log.clone() },
            settings: self.settings.with_live_values_of(&new.settings),
            ..self.clone()
        }
    }

    /// Reads all sources; what is wrong with them is told all at once.
    pub(crate) fn load(sources: &Sources) -> Result<Self, Problem> {
        Self::examine(sources).map_err(|findings| refused(&findings))
    }

    /// Reads all sources; else everything that was found, warnings included.
    pub(crate) fn examine(sources: &Sources) -> Result<Self, Vec<Finding>> {
        let mut draft = sources.draft();
        let path: Arc<str> = sources.name().into();
        // A file that cannot be read lacks every key; that was said once.
        if !draft.is_file_lost {
            check::check(&mut draft, &Origin::File { path, line: None });
            if !sources.is_experiment {
                acting::check(&mut draft);
            }
        }
        if draft.is_refused() {
            return Err(draft.findings);
        }
        let config = Reader(&draft.settings).config(draft.findings.clone());
        let Some(config) = config else { return Err(draft.findings) };
        match check::fits(&config) {
            Ok(()) => Ok(config),
            Err(finding) => Err([draft.findings, vec![finding]].concat()),
        }
    }

    /// The node that it describes, without its keys: [`Self::secrets`] reads those.
    pub(crate) fn builder(&self) -> Builder {
        let mut builder = Group::builder(&self.group)
            .node(&self.node)
            .peers(&self.peer_entries)
            .peers_version(self.peers_version)
            .data_dir(&self.data_dir)
            .algorithm(self.algorithm)
            .timing(self.timing.config().into());
        for (name, value) in &self.options {
            builder = builder.option(name, value);
        }
        for (node, priority) in &self.priorities {
            builder = builder.priority(node, *priority);
        }
        for (node, zone) in &self.zones {
            builder = builder.zone(node, zone);
        }
        for (node, rack) in &self.racks {
            builder = builder.rack(node, rack);
        }
        for key in KEYS {
            if let (Some(tell), Some(value)) = (key.tell, self.settings.value(key.name)) {
                builder = tell(builder, value);
            }
        }
        if let Some(address) = self.listen {
            builder = builder.listen(address);
        }
        if let Some(reach) = &self.radio {
            builder = builder.radio(reach.clone());
        }
        if let Some(path) = &self.trace {
            builder = builder.trace(path);
        }
        builder
    }

    /// All nodes with their addresses, as they were written.
    pub(crate) fn peer_entries(&self) -> &[String] {
        &self.peer_entries
    }

    /// The priority of a node, as far as this one is told.
    pub(crate) fn priority_of(&self, node: NodeId) -> u32 {
        let own = self.priority.filter(|_| node == self.me);
        let is_this = |name: &str| self.peers.find(name) == Some(node);
        let listed = || self.priorities.iter().find(|(name, _)| is_this(name));
        own.or_else(|| listed().map(|(_, priority)| *priority)).unwrap_or(node.0)
    }

    /// What is wrong with the files, directories and programs that it names.
    pub(crate) fn surroundings(&self) -> Vec<Finding> {
        surroundings::look(self)
    }

    /// Looks at what it names as well: the warnings, or why no agent starts with it.
    pub(crate) fn accepted(&self) -> Result<Vec<Finding>, Problem> {
        let findings = self.surroundings();
        let is_refused = findings.iter().any(|finding| finding.severity.is_error());
        if is_refused { Err(refused(&findings)) } else { Ok(findings) }
    }
}

/// All errors, one line each.
fn refused(findings: &[Finding]) -> Problem {
    let errors = findings.iter().filter(|finding| finding.severity.is_error());
    let lines: Vec<String> = errors.clone().map(Finding::to_string).collect();
    let text = lines.join("\n");
    let stop = if text.ends_with('?') { "" } else { "." };
    let text = format!("{text}{stop} No agent starts with this.");
    // Another try helps only if nothing else is wrong.
    let is_temporary = |finding: &Finding| finding.severity == Severity::Unavailable;
    Problem::of_start(errors.clone().all(is_temporary), text)
}
