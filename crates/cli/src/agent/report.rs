//! What an agent says of its node: the same words over every way of asking.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rustix::process::{Resource, getrlimit};
use serde::{Deserialize, Serialize};
use tanist::{GroupNumber, Metrics, NodeId, Phase, RoleKind, SuperPeerStatus, View, parse_node};

use super::Agent;
use super::json_form;
use crate::config::read_peer;

/// A node at a glance. Names stay as they are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct StatusReport {
    /// The name of the group of processes.
    pub(crate) group: String,
    /// This node.
    pub(crate) node: String,
    /// Who elects.
    pub(crate) algorithm: String,
    /// What it is in its group.
    pub(crate) role: RoleKind,
    /// The textbook's status: `normal`, `election`, `reorganization` or `down`.
    pub(crate) state: String,
    /// Whether it is the active leader: every node that it can reach is in its group.
    pub(crate) active: bool,
    /// Whether no node of the group begins an election until the group is resumed.
    #[serde(default)]
    pub(crate) paused: bool,
    /// Whether the node has withdrawn and takes no part for a while.
    #[serde(default)]
    pub(crate) withdrawn: bool,
    /// Whether its health check succeeds, if it has one.
    #[serde(default = "is_healthy_unless_told")]
    pub(crate) healthy: bool,
    /// The number of the group that it is in, or was in last.
    #[serde(with = "json_form::optional_text")]
    pub(crate) group_number: Option<GroupNumber>,
    /// Who leads that group.
    pub(crate) leader: Option<LeaderReport>,
    /// The members of it.
    pub(crate) members: Vec<String>,
    /// What it is among super-peers, where there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) hierarchy: Option<HierarchyReport>,
    /// Which version of the list of peers the node has.
    pub(crate) peers_version: u32,
    /// Milliseconds of the wall clock since 1970 when it took this role.
    pub(crate) since_ms: u64,
    /// Counts the roles of this incarnation of the node.
    pub(crate) index: u64,
    /// Which incarnation of the node it is.
    pub(crate) incarnation: u64,
}

/// What a node is where groups select super-peers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct HierarchyReport {
    /// The super-peers of its own group, as it knows them.
    pub(crate) super_peers: Vec<String>,
    /// The highest level at which it takes part: 0 for a peer, 1 for a super-peer of peers.
    pub(crate) level: usize,
    /// The highest level that there is.
    pub(crate) top_level: usize,
    /// Who coordinates the groups above in which it takes part, the lowest first.
    pub(crate) coordinators: Vec<Option<String>>,
    /// Whether it coordinates the one group at the top.
    pub(crate) is_top: bool,
}

/// Who leads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LeaderReport {
    pub(crate) node: String,
    pub(crate) address: String,
}

/// One configured node, as another sees it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct MemberReport {
    pub(crate) node: String,
    pub(crate) address: String,
    /// What it is in the group of the asked node; none if it is not in it.
    #[serde(with = "json_form::role_or_dash")]
    pub(crate) role: Option<RoleKind>,
    pub(crate) is_self: bool,
    pub(crate) is_connected: bool,
    /// No process listens at its address.
    pub(crate) is_refused: bool,
    pub(crate) priority: u32,
    /// The way there and back, in milliseconds.
    pub(crate) rtt_ms: Option<f64>,
    /// How long ago something came from it, in milliseconds.
    pub(crate) seen_ms: Option<u64>,
    /// The version of the wire on the link with it.
    #[serde(default)]
    pub(crate) wire_version: Option<u8>,
    /// Why it gives this node no link although it is there and has the right key.
    #[serde(default)]
    pub(crate) refusal: Option<String>,
    /// Why this node gave it no link within the last minute although it has the right key.
    #[serde(default)]
    pub(crate) refused_here: Option<String>,
}

/// What a node was told at its start, and where its things are: what `tanist doctor` judges.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct SettingsReport {
    /// The version of the program.
    pub(crate) version: String,
    /// Its process.
    pub(crate) process: u32,
    pub(crate) data_dir: PathBuf,
    pub(crate) key_file: PathBuf,
    /// Where it listens for peers.
    pub(crate) listen: String,
    /// Tm: a message arrives within this.
    pub(crate) message_max_ms: f64,
    /// Tp: and is answered within this.
    pub(crate) processing_max_ms: f64,
    /// How often a sign of life is given.
    pub(crate) heartbeat_ms: Option<f64>,
    /// S: silence that is suspicious; none where it is derived.
    pub(crate) suspect_after_ms: Option<f64>,
    /// How many files it may have open.
    pub(crate) files_max: Option<u64>,
    /// Log lines that stderr did not take.
    #[serde(default)]
    pub(crate) log_lines_dropped: u64,
    /// Changes of role that stdout did not take.
    #[serde(default)]
    pub(crate) stdout_lines_dropped: u64,
}

/// The whole group, as one node sees it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct MembersReport {
    pub(crate) status: StatusReport,
    /// Whether others are reached by broadcast: then `is_connected` says that one is a neighbour.
    #[serde(default)]
    pub(crate) radio: bool,
    pub(crate) members: Vec<MemberReport>,
}

impl Agent {
    /// The node at a glance.
    pub(crate) fn status(&self) -> StatusReport {
        let status = self.group().status();
        let view = status.view;
        let since = status.since.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let is_in_group = status.role != RoleKind::Suspended;
        let leader = view.as_ref().filter(|_| is_in_group).map(|view| LeaderReport {
            node: view.coordinator().to_string(),
            address: self.address(view.coordinator()).unwrap_or_default(),
        });
        StatusReport {
            group: status.group,
            node: status.node.to_string(),
            algorithm: status.algorithm.to_owned(),
            role: status.role,
            state: status.phase.to_string().to_lowercase(),
            active: self.activity().active().is_some(),
            paused: self.group().is_paused(),
            withdrawn: self.group().is_withdrawn(),
            healthy: self.health().is_healthy(),
            group_number: view.as_ref().map(View::group_number),
            leader,
            members: view.iter().flat_map(|view| view.members().iter()).map(name).collect(),
            hierarchy: status.super_peer.map(|super_peer| self.hierarchy(&super_peer)),
            peers_version: status.peers_version,
            since_ms: u64::try_from(since.as_millis()).unwrap_or(u64::MAX),
            index: status.index,
            incarnation: self.history().incarnation(),
        }
    }

    fn hierarchy(&self, super_peer: &SuperPeerStatus) -> HierarchyReport {
        let (group, seats) = (self.group(), &super_peer.seats);
        let top_level = group.levels() - 1;
        let leads = match seats.last() {
            Some(seat) => seat.coordinator == Some(group.me()) && seat.status == Phase::Normal,
            None => group.role().is_leader(),
        };
        HierarchyReport {
            super_peers: super_peer.super_peers.iter().map(name).collect(),
            level: seats.len(),
            top_level,
            coordinators: seats.iter().map(|seat| seat.coordinator.map(name)).collect(),
            is_top: leads && seats.len() == top_level,
        }
    }

    /// All configured nodes, with what this one knows of them. None: the node has stopped.
    pub(crate) async fn members(&self) -> Option<MembersReport> {
        Some(self.members_of(&self.group().metrics().await?))
    }

    /// The same from what the node has counted already.
    pub(crate) fn members_of(&self, metrics: &Metrics) -> MembersReport {
        let status = self.status();
        let (now, own_priority) = (tanist::clock::now(), self.group().priority());
        let is_radio = self.config().radio.is_some();
        let rows = self.peers().into_iter().map(|(node, address)| {
            let peer = metrics.peers.iter().find(|peer| peer.id == node);
            let name = node.to_string();
            let is_leader = status.leader.as_ref().is_some_and(|leader| leader.node == name);
            let is_member = status.leader.is_some() && status.members.contains(&name);
            let seen = peer.and_then(|peer| peer.heard).map(|heard| now.since(heard));
            let rtt = peer.and_then(|peer| peer.round_trip);
            // By radio, where it was heard from is all there is.
            let heard_at = peer.map(|peer| peer.address.clone()).filter(|_| is_radio);
            MemberReport {
                address: heard_at.unwrap_or(address),
                role: match (is_leader, is_member) {
                    (true, _) => Some(RoleKind::Leader),
                    (false, true) => Some(RoleKind::Member),
                    (false, false) => None,
                },
                is_self: node == self.group().me(),
                is_connected: peer.is_some_and(|peer| peer.is_connected),
                is_refused: peer.is_some_and(|peer| peer.is_refused),
                priority: own_priority
                    .filter(|_| node == self.group().me())
                    .unwrap_or_else(|| self.config().priority_of(node)),
                rtt_ms: rtt.map(millis),
                seen_ms: seen.and_then(|seen| u64::try_from(seen.as_millis()).ok()),
                wire_version: peer.and_then(|peer| peer.version),
                refusal: peer.and_then(|peer| peer.refusal.clone()),
                refused_here: peer.and_then(|peer| peer.refused_here.clone()),
                node: name,
            }
        });
        let members = rows.collect();
        MembersReport { status, radio: is_radio, members }
    }

    /// What it was told at its start, and where its things are.
    pub(crate) fn settings(&self) -> SettingsReport {
        let config = self.config();
        let timing = config.timing.config();
        let mine = self.address(self.group().me()).unwrap_or_default();
        let lost = crate::terminal::log::lost();
        SettingsReport {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            process: std::process::id(),
            data_dir: whole(&config.data_dir),
            key_file: whole(&config.key_file),
            listen: match &config.radio {
                Some(reach) => format!("{}, UDP port {}", reach.cast, reach.port),
                None => config.listen.map_or(mine, |address| address.to_string()),
            },
            message_max_ms: millis(timing.message_max),
            processing_max_ms: millis(timing.processing_max),
            heartbeat_ms: timing.heartbeat.map(millis),
            suspect_after_ms: timing.silence.map(millis),
            files_max: getrlimit(Resource::Nofile).current,
            log_lines_dropped: lost.stderr,
            stdout_lines_dropped: lost.stdout,
        }
    }

    /// Where a node is.
    pub(crate) fn address(&self, node: NodeId) -> Option<String> {
        self.peers().into_iter().find(|(peer, _)| *peer == node).map(|(_, address)| address)
    }

    /// All configured nodes with their addresses.
    fn peers(&self) -> Vec<(NodeId, String)> {
        let config = self.config();
        let split = |peer: &String| {
            let (name, address) = read_peer(peer)?;
            let address = if config.radio.is_some() { "" } else { address };
            Some((parse_node(name)?, address.to_owned()))
        };
        config.peers.iter().filter_map(split).collect()
    }
}

/// A path is relative to where the agent runs, and a client may be elsewhere.
pub(super) fn whole(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

fn millis(span: Duration) -> f64 {
    span.as_secs_f64() * 1000.0
}

const fn is_healthy_unless_told() -> bool {
    true
}

fn name(node: NodeId) -> String {
    node.to_string()
}
