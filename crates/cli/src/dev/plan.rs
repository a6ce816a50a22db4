//! What a local group is made of, and the files that say so to its nodes.

use std::hash::{BuildHasher, RandomState};
use std::net::{TcpListener, UdpSocket};
use std::ops::Range;
use std::path::Path;

use anyhow::bail;
use tanist::{Algorithm, NodeId, default_timing};
use tanist_core::membership::Hierarchy;
use tanist_core::membership::Labels;
use tanist_core::options::Options;
use tanist_core::timing::Timing;
use tanist_core::{GroupConfig, GroupSettings, Membership};

/// What a local group is made of.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) nodes: u32,
    pub(crate) algorithm: Algorithm,
    /// `name=value`, for the algorithm.
    pub(crate) options: Vec<(String, String)>,
    /// On how many racks the nodes are, in order; on none if not given.
    pub(crate) racks: Option<u32>,
    /// Lines for the `[timing]` table of every node.
    pub(crate) timing: Vec<(String, String)>,
    /// Whether every node writes a trace.
    pub(crate) is_traced: bool,
    /// Pieces of work for the group to share.
    pub(crate) work: Option<u32>,
    /// Ports on which the nodes serve HTTP, in order; a node without one serves none.
    pub(crate) http: Vec<u16>,
}

impl Plan {
    /// The file that describes one of its nodes.
    pub(super) fn agent_file(&self, directory: &Path, id: NodeId, peers: &[String]) -> String {
        let path = |name: String| format!("{:?}", directory.join(name));
        let mut lines = vec![
            "group = \"dev\"".to_owned(),
            format!("node = \"{id}\""),
            format!("peers = {peers:?}"),
            format!("data_dir = {}", path(format!("{id}.data"))),
            format!("key_file = {}", path("group.key".to_owned())),
            format!("socket = {}", path(format!("{id}.sock"))),
            format!("algorithm = {:?}", self.algorithm.name()),
        ];
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

/// Ports that are free, all different, and below those that the system gives to connections: one
/// of an agent that is up already could take the port of one that is not.
pub(crate) fn free_ports(count: usize) -> anyhow::Result<Vec<u16>> {
    let chance = RandomState::new().hash_one(std::process::id());
    let start = u16::try_from(chance % u64::from(PORTS.end - PORTS.start)).unwrap_or(0);
    let ports = (PORTS.start + start..PORTS.end).chain(PORTS.start..PORTS.start + start);
    let is_free = |port: &u16| {
        let tcp = TcpListener::bind(("127.0.0.1", *port));
        tcp.is_ok() && UdpSocket::bind(("127.0.0.1", *port)).is_ok()
    };
    let free: Vec<u16> = ports.filter(is_free).take(count).collect();
    if free.len() < count {
        bail!("error: this machine has no {count} free ports between {PORTS:?}");
    }
    Ok(free)
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
    /// The first free ports from the one that the documents name.
    pub(crate) fn reserve(count: u32) -> anyhow::Result<Self> {
        let count = usize::try_from(count)?;
        let take = |port: u16| {
            let held = UdpSocket::bind(("127.0.0.1", port)).ok()?;
            let is_free = TcpListener::bind(("127.0.0.1", port)).is_ok();
            is_free.then_some((port, held))
        };
        let (ports, held): (Vec<u16>, Vec<UdpSocket>) =
            HTTP_PORTS.filter_map(take).take(count).unzip();
        if ports.len() < count {
            bail!("error: this machine has no {count} free ports between {HTTP_PORTS:?}");
        }
        Ok(Self { ports, _held: held })
    }
}

/// The first is the one that the documents name.
const HTTP_PORTS: Range<u16> = 7480..9480;
const PORTS: Range<u16> = 10_000..30_000;
