//! What a local group is made of, and the files that say so to its nodes.

use std::hash::{BuildHasher, RandomState};
use std::net::{TcpListener, UdpSocket};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::bail;
use tanist::{Algorithm, NodeId};
use tanist_core::membership::Hierarchy;
use tanist_core::membership::Labels;
use tanist_core::options::Options;
use tanist_core::timing::Timing;
use tanist_core::{GroupConfig, GroupSettings, Membership};

use crate::config::{Config, Sources, default_timing};
use crate::problem::Problem;

/// What a local group is made of.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    /// The name of the group.
    pub(crate) name: String,
    pub(crate) nodes: u32,
    pub(crate) algorithm: Algorithm,
    /// `name=value`, for the algorithm.
    pub(crate) options: Vec<(String, String)>,
    /// Whether a higher node takes over: always, never, or after a time; the agent's default if none.
    pub(crate) preempt: Option<String>,
    /// On how many racks the nodes are, in order; on none if not given.
    pub(crate) racks: Option<u32>,
    /// Lines for the `[timing]` table of every node.
    pub(crate) timing: Vec<(String, String)>,
    /// Whether every node writes a trace.
    pub(crate) is_traced: bool,
    /// Pieces of work for the group to share.
    pub(crate) work: Option<u32>,
    /// The port of the first node; the others follow. Any free ones if not given.
    pub(crate) base_port: Option<u16>,
    /// Ports on which the nodes serve HTTP, in order; a node without one serves none.
    pub(crate) http: Vec<u16>,
}

impl Plan {
    /// The file that describes one of its nodes.
    pub(super) fn agent_file(&self, directory: &Path, id: NodeId, peers: &[String]) -> String {
        let path = |name: String| format!("{:?}", directory.join(name));
        let mut lines = vec![
            format!("group = {:?}", self.name),
            format!("node = \"{id}\""),
            format!("peers = {peers:?}"),
            format!("data_dir = {}", path(format!("{id}.data"))),
            format!("key_file = {}", path("group.key".to_owned())),
            format!("socket = {}", path(format!("{id}.sock"))),
            format!("algorithm = {:?}", self.algorithm.name()),
        ];
        lines.extend(self.preempt.as_ref().map(|preempt| format!("preempt = {preempt:?}")));
        if let Some(racks) = self.racks_line() {
            lines.push(racks);
        }
        if self.is_traced {
            lines.push(format!("trace = {}", path(format!("traces/{id}.jsonl"))));
        }
        lines.extend(self.work.map(|pieces| format!("work = {pieces}")));
        let table = |name: &str, rows: &[(String, String)]| {
            let rows = rows.iter().map(|(name, value)| format!("{name} = {value:?}\n"));
            format!("[{name}]\n{}", rows.collect::<String>())
        };
        lines.push(table("options", &self.options));
        lines.push(table("timing", &self.timing));
        let at = usize::try_from(id.0).ok().and_then(|id| id.checked_sub(1));
        if let Some(port) = at.and_then(|at| self.http.get(at)) {
            lines.push(format!("[http]\nlisten = \"127.0.0.1:{port}\"\n"));
        }
        lines.join("\n")
    }
}

/// Refuses options and timing that no node would start with, in the words of the flags.
pub(crate) fn check_flags(
    algorithm: Algorithm,
    options: &[(String, String)],
    timing: &[(String, String)],
) -> Result<(), Problem> {
    let flag = |flag: &str, table: &str, (name, value): &(String, String)| {
        (format!("--{flag} {name}={value}"), format!("{table}.{name}"), value.clone())
    };
    let base = [
        ("group", "dev"),
        ("node", "n1"),
        ("peers", "n1=127.0.0.1:1"),
        ("data_dir", "/"),
        ("key_file", "/"),
        ("algorithm", algorithm.name()),
    ];
    let base = base.map(|(key, value)| ("tanist dev".to_owned(), key.to_owned(), value.to_owned()));
    let options = options.iter().map(|pair| flag("option", "options", pair));
    let timing = timing.iter().map(|pair| flag("timing", "timing", pair));
    let sources = Sources {
        file: Some(PathBuf::from("/dev/null")),
        environment: Vec::new(),
        flags: base.into_iter().chain(options).chain(timing).collect(),
        is_experiment: true,
    };
    Config::examine(&sources).map(|_| ()).map_err(|findings| {
        let errors = findings.iter().filter(|finding| finding.severity.is_error());
        let lines = errors.map(|finding| format!("{}: {}", finding.place, finding.what));
        let lines: Vec<String> = lines.collect();
        Problem::Usage(format!("{}; nothing was started", lines.join("\n")))
    })
}

/// Where the nodes are.
impl Plan {
    /// The name of a node's rack: neighbours share one, and all racks are about as large.
    fn rack(&self, id: NodeId) -> Option<String> {
        let racks = self.racks?;
        let at =
            u64::from(id.0.saturating_sub(1)) * u64::from(racks) / u64::from(self.nodes.max(1));
        Some(format!("r{}", at + 1))
    }

    fn racks_line(&self) -> Option<String> {
        let pair = |id| Some(format!("{id} = {:?}", self.rack(id)?));
        let pairs: Option<Vec<String>> = (1..=self.nodes).map(NodeId).map(pair).collect();
        pairs.map(|pairs| format!("racks = {{ {} }}", pairs.join(", ")))
    }

    /// Who is in one group with whom: all with all, unless groups select super-peers.
    pub(super) fn groups(&self) -> anyhow::Result<Vec<Vec<NodeId>>> {
        let ids: Vec<NodeId> = (1..=self.nodes).map(NodeId).collect();
        if self.algorithm != Algorithm::SuperPeer {
            return Ok(vec![ids]);
        }
        let mut options = Options::default();
        for (name, value) in &self.options {
            options.set(self.algorithm, name, value)?;
        }
        let mut labels = Vec::new();
        for id in ids {
            let rack = self.rack(id).map(|rack| rack.parse()).transpose()?;
            labels.push((id, Labels { zone: None, rack }));
        }
        let usual = GroupSettings::new(self.algorithm, Timing::new(default_timing())?);
        let config = GroupConfig::new(GroupSettings { options, ..usual })?;
        let members = Membership::numbered(self.nodes)?.with_labels(labels);
        let hierarchy = Hierarchy::new(&config, &members)?;
        let nodes = |group| hierarchy.nodes(0, group).collect();
        Ok((0..hierarchy.groups(0)).map(nodes).collect())
    }
}

/// Where the nodes listen.
impl Plan {
    /// The ports for their links, in order.
    pub(super) fn ports(&self) -> anyhow::Result<Vec<u16>> {
        let count = usize::try_from(self.nodes)?;
        match self.base_port {
            Some(first) => ports_from(first, count),
            None => free_ports(count),
        }
    }
}

/// So many ports in a row, if all of them are free.
fn ports_from(first: u16, count: usize) -> anyhow::Result<Vec<u16>> {
    let ports: Vec<u16> = (first..=u16::MAX).take(count).collect();
    if ports.len() < count {
        let what = format!("there are no {count} ports from {first} on; use a lower --base-port");
        return Err(Problem::Usage(what).into());
    }
    if let Some(port) = ports.iter().find(|port| !is_free(port)) {
        let what = format!("port {port} is taken; use another --base-port, or none");
        return Err(Problem::Unavailable(what).into());
    }
    Ok(ports)
}

fn is_free(port: &u16) -> bool {
    let tcp = TcpListener::bind(("127.0.0.1", *port));
    tcp.is_ok() && UdpSocket::bind(("127.0.0.1", *port)).is_ok()
}

/// Ports that are free, all different, and below those that the system gives to connections: one
/// of an agent that is up already could take the port of one that is not.
pub(crate) fn free_ports(count: usize) -> anyhow::Result<Vec<u16>> {
    let chance = RandomState::new().hash_one(std::process::id());
    let start = u16::try_from(chance % u64::from(PORTS.end - PORTS.start)).unwrap_or(0);
    let ports = (PORTS.start + start..PORTS.end).chain(PORTS.start..PORTS.start + start);
    let free: Vec<u16> = ports.filter(is_free).take(count).collect();
    if free.len() < count {
        bail!("error: this machine has no {count} free ports between {PORTS:?}");
    }
    Ok(free)
}

/// How many times longer than by default everything may take that many nodes do on one machine. They
/// share its cores, and each asks each at the start: with times that do not hold, nodes give each
/// other up, ask again, and are slower still.
pub(crate) fn pace(nodes: u32) -> u32 {
    nodes.div_ceil(NODES_AT_FULL_PACE).max(1)
}

/// What the user chose; if that is nothing, times that so many nodes on one machine can hold.
pub(crate) fn paced_timing(nodes: u32, given: &[(String, String)]) -> Vec<(String, String)> {
    let times = pace(nodes);
    if !given.is_empty() || times == 1 {
        return given.to_vec();
    }
    let base = default_timing();
    let spans = [
        ("message_max", Some(base.message_max)),
        ("processing_max", Some(base.processing_max)),
        ("heartbeat", base.heartbeat),
        ("suspect_after", base.suspect_after),
        ("check_every", Some(base.check_every)),
    ];
    let row = |(name, span): (&str, Option<Duration>)| {
        Some((name.to_owned(), format!("{}ms", (span? * times).as_millis())))
    };
    spans.into_iter().filter_map(row).collect()
}

/// Ports for HTTP, kept for one group for as long as this is held.
#[derive(Debug)]
pub(crate) struct HttpPorts {
    pub(crate) ports: Vec<u16>,
    /// HTTP uses no datagrams, so a datagram socket keeps a port from other groups on this machine
    /// and leaves it to the nodes, however often they are killed and started.
    _held: Vec<UdpSocket>,
}

impl HttpPorts {
    /// So many ports: those behind the ones of the nodes, if the user chose these, else the first
    /// free ones from the one that the documents name.
    pub(crate) fn reserve(count: u32, base_port: Option<u16>) -> anyhow::Result<Self> {
        let count = usize::try_from(count)?;
        let candidates: Vec<u16> = match base_port {
            Some(first) => ports_from(first, count * 2)?.split_off(count),
            None => HTTP_PORTS.collect(),
        };
        let take = |port: u16| {
            let held = UdpSocket::bind(("127.0.0.1", port)).ok()?;
            let is_free = TcpListener::bind(("127.0.0.1", port)).is_ok();
            is_free.then_some((port, held))
        };
        let (ports, held): (Vec<u16>, Vec<UdpSocket>) =
            candidates.into_iter().filter_map(take).take(count).unzip();
        if ports.len() < count {
            bail!("error: this machine has no {count} free ports between {HTTP_PORTS:?}");
        }
        Ok(Self { ports, _held: held })
    }
}

/// So many agree with the default times on two cores.
const NODES_AT_FULL_PACE: u32 = 25;

/// The first is the one that the documents name.
const HTTP_PORTS: Range<u16> = 7480..9480;
const PORTS: Range<u16> = 10_000..30_000;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::TimingTable;

    #[test]
    fn a_small_group_and_a_user_who_chose_keep_their_times() {
        assert_eq!(paced_timing(25, &[]), []);
        let given = [("heartbeat".to_owned(), "100ms".to_owned())];
        assert_eq!(paced_timing(200, &given), given);
    }

    #[test]
    fn times_of_many_nodes_are_longer_and_still_fit_each_other() {
        let (base, timing) = (default_timing(), paced_timing(200, &[]));
        let config = TimingTable::from_pairs(&timing).unwrap().config();
        assert_eq!(config.message_max, base.message_max * 8);
        assert_eq!(config.check_every, base.check_every * 8);
        assert!(Timing::new(config).is_ok());
    }

    #[test]
    fn ports_in_a_row_end_at_the_last_one() {
        let refused = ports_from(u16::MAX - 1, 3).unwrap_err().to_string();
        assert!(refused.contains("use a lower --base-port"), "{refused}");
    }

    #[test]
    fn a_port_that_is_taken_is_named() {
        let taken = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = taken.local_addr().unwrap().port();
        let refused = ports_from(port, 1).unwrap_err().to_string();
        assert!(refused.contains(&format!("port {port} is taken")), "{refused}");
    }
}
