//! What an agent says of its node: the same words over every way of asking.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rustix::process::{Resource, getrlimit};
use serde::{Deserialize, Serialize};
use tanist::{
    Activity, DatagramPath, GroupNumber, Metrics, NodeId, NodeNames, Peer, PeerView, Phase,
    RoleKind, SuperPeerStatus, View,
};

use super::Agent;
use super::json_form;
use super::objections::ObjectionReport;

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
    /// The nodes that an elected leader waits for before it acts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) waiting_for: Vec<String>,
    /// Whether no node of the group begins an election until the group is resumed.
    #[serde(default)]
    pub(crate) paused: bool,
    /// Whether the node has withdrawn and takes no part for a while.
    #[serde(default)]
    pub(crate) withdrawn: bool,
    /// Whether its health check succeeds, if it has one.
    #[serde(default = "is_healthy_unless_told")]
    pub(crate) healthy: bool,
    /// What stands against its taking part, whatever operators want.
    #[serde(default)]
    pub(crate) objections: Vec<ObjectionReport>,
    /// The number of the group that it is in, or was in last.
    #[serde(with = "json_form::optional_text")]
    pub(crate) group_number: Option<GroupNumber>,
    /// Who leads that group.
    pub(crate) leader: Option<LeaderReport>,
    /// The leader of that group, if it is gone and elections are paused: it is not replaced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) lost_leader: Option<String>,
    /// The members of it.
    pub(crate) members: Vec<String>,
    /// What it is among super-peers, where there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) hierarchy: Option<HierarchyReport>,
    /// Which version of the list of peers the node has.
    pub(crate) peers_version: u32,
    /// Milliseconds of the wall clock since 1970 when it took this role.
    pub(crate) since_ms: u64,
    /// Counts the changes of this incarnation of the node.
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
    /// Its number, as in a group number; the short form of 3 is `n3`.
    #[serde(default)]
    pub(crate) number: u32,
    pub(crate) address: String,
    /// What it is in the group of the asked node; none if it is not in it.
    #[serde(with = "json_form::role_or_dash")]
    pub(crate) role: Option<RoleKind>,
    /// Whether it is the active leader; none if the asked node does not know.
    #[serde(default)]
    pub(crate) active: Option<bool>,
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
    /// Whether heartbeats pass by UDP; none without a link, and if none was due for a minute.
    #[serde(default)]
    pub(crate) udp: Option<UdpReport>,
}

/// Whether heartbeats between the asked node and another one pass by UDP. Where they do not, the
/// link carries them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum UdpReport {
    /// In both directions, as far as is known.
    Ok,
    /// Those of the other node do not arrive.
    BlockedIn,
    /// Those of the asked node do not arrive.
    BlockedOut,
    /// In no direction.
    Blocked,
}

impl UdpReport {
    fn of(peer: &PeerView) -> Option<Self> {
        let missing = Some(DatagramPath::Missing);
        match (peer.datagrams_in == missing, peer.datagrams_out == missing) {
            (true, true) => Some(Self::Blocked),
            (true, false) => Some(Self::BlockedIn),
            (false, true) => Some(Self::BlockedOut),
            (false, false) => peer.datagrams_in.or(peer.datagrams_out).map(|_| Self::Ok),
        }
    }

    /// The word for it in tables and in JSON.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::BlockedIn => "blocked-in",
            Self::BlockedOut => "blocked-out",
            Self::Blocked => "blocked",
        }
    }
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
    /// Nodes that an elected leader waits for before it acts; empty while it waits for its
    /// `pre_leader` check, and none if it does not wait.
    #[serde(default)]
    pub(crate) waits_for: Option<Vec<String>>,
    /// How its peers differ from it.
    #[serde(default)]
    pub(crate) peers: Vec<PeerReport>,
}

/// How a peer differs from the node that was asked.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PeerReport {
    pub(crate) node: String,
    /// What the two were told differently, if one refuses the other for that.
    pub(crate) differences: Vec<DifferenceReport>,
    /// What it told about itself; nothing from a release that does not.
    pub(crate) told: Option<ToldReport>,
}

/// One setting that two nodes were told differently.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct DifferenceReport {
    pub(crate) key: String,
    pub(crate) ours: String,
    pub(crate) theirs: String,
}

/// What a peer told about itself when the two last met.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ToldReport {
    /// The version of its program.
    pub(crate) program: String,
    /// The version of its member list.
    pub(crate) peers_version: u32,
    /// The port at which it expects its peers.
    pub(crate) port: Option<u16>,
    /// By how much its wall clock is ahead of this node's, in milliseconds.
    pub(crate) clock_ahead_ms: i64,
}

impl PeerReport {
    fn of(peer: &PeerView, names: &NodeNames) -> Self {
        let differences = peer.differences.iter().map(|difference| DifferenceReport {
            key: difference.key.clone(),
            ours: with_names(&difference.key, &difference.ours, names),
            theirs: with_names(&difference.key, &difference.theirs, names),
        });
        let told = peer.told.as_ref().map(|told| ToldReport {
            program: told.program.clone(),
            peers_version: told.peers_version,
            port: told.port,
            clock_ahead_ms: told.clock_ahead_ms,
        });
        Self { node: names.of(peer.id).to_string(), differences: differences.collect(), told }
    }
}

/// A value that nodes compare, with names in place of short forms. Values about nodes are lists of
/// `n3` or `n3:value`.
fn with_names(key: &str, value: &str, names: &NodeNames) -> String {
    if names.is_empty() || !matches!(key, "peers" | "priorities" | "zones and racks") {
        return value.to_owned();
    }
    let item = |item: &str| {
        let (node, rest) = item.split_at(item.find(':').unwrap_or(item.len()));
        node.parse().map_or_else(|_| item.to_owned(), |id| format!("{}{rest}", names.of(id)))
    };
    value.split(' ').map(item).collect::<Vec<_>>().join(" ")
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

impl StatusReport {
    /// Why an elected leader does not act yet; none if the node does not lead, or acts.
    pub(crate) fn waiting(&self) -> Option<String> {
        if self.active || self.role != RoleKind::Leader {
            return None;
        }
        Some(match self.waiting_for.as_slice() {
            [] => "elected; about to act".to_owned(),
            nodes => format!("elected; waiting for {} before acting", nodes.join(" ")),
        })
    }
}

impl Agent {
    /// The node at a glance.
    pub(crate) fn status(&self) -> StatusReport {
        // Before the rest: what is shown may be newer than its number, and never older.
        let index = self.history().index();
        let status = self.group().status();
        let view = status.view;
        let since = status.since.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let is_in_group = status.role != RoleKind::Suspended;
        let lost = self.group().lost_leader().filter(|_| is_in_group);
        let has_leader = is_in_group && lost.is_none();
        let called = |node| self.name(node);
        let leader = view.as_ref().filter(|_| has_leader).map(|view| LeaderReport {
            node: self.name(view.coordinator()),
            address: self.address(view.coordinator()).unwrap_or_default(),
        });
        StatusReport {
            group: status.group,
            node: self.name(status.node),
            algorithm: status.algorithm.to_owned(),
            role: status.role,
            state: status.phase.to_string().to_lowercase(),
            active: self.activity().active().is_some(),
            waiting_for: match self.activity().now() {
                Activity::Waiting { for_nodes } => for_nodes.iter().map(called).collect(),
                Activity::Standby | Activity::Active(_) | _ => Vec::new(),
            },
            paused: self.group().is_paused(),
            withdrawn: self.group().is_withdrawn(),
            healthy: self.health().is_healthy(),
            objections: self.objections(),
            group_number: view.as_ref().map(View::group_number),
            leader,
            lost_leader: lost.map(called),
            members: view.iter().flat_map(|view| view.members().iter()).map(called).collect(),
            hierarchy: status.super_peer.map(|super_peer| self.hierarchy(&super_peer)),
            peers_version: status.peers_version,
            since_ms: u64::try_from(since.as_millis()).unwrap_or(u64::MAX),
            index,
            incarnation: self.history().incarnation(),
        }
    }

    fn hierarchy(&self, super_peer: &SuperPeerStatus) -> HierarchyReport {
        let (group, seats) = (self.group(), &super_peer.seats);
        let called = |node| self.name(node);
        let top_level = group.levels() - 1;
        let leads = match seats.last() {
            Some(seat) => seat.coordinator == Some(group.me()) && seat.status == Phase::Normal,
            None => group.role().is_leader(),
        };
        HierarchyReport {
            super_peers: super_peer.super_peers.iter().map(called).collect(),
            level: seats.len(),
            top_level,
            coordinators: seats.iter().map(|seat| seat.coordinator.map(called)).collect(),
            is_top: leads && seats.len() == top_level,
        }
    }

    /// All configured nodes, with what this one knows of them. None: the node has stopped.
    pub(crate) async fn members(&self) -> Option<MembersReport> {
        let mut seen = self.members_of(&self.group().metrics().await?);
        self.ask_leader(&mut seen).await;
        Some(seen)
    }

    /// The same from what the node has counted already; the leader is not asked.
    pub(crate) fn members_of(&self, metrics: &Metrics) -> MembersReport {
        let status = self.status();
        let (now, own_priority) = (tanist::clock::now(), self.group().priority());
        let is_radio = self.config().radio.is_some();
        let rows = self.peers().into_iter().map(|(node, address)| {
            let peer = metrics.peers.iter().find(|peer| peer.id == node);
            let name = self.name(node);
            let is_leader = status.leader.as_ref().is_some_and(|leader| leader.node == name);
            let is_lost = status.lost_leader.as_ref() == Some(&name);
            let has_group = status.leader.is_some() || status.lost_leader.is_some();
            let is_member = has_group && !is_lost && status.members.contains(&name);
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
                active: match (node == self.group().me(), is_leader, is_member) {
                    (true, ..) => Some(status.active),
                    (false, false, true) => Some(false),
                    // Only it knows whether it is.
                    (false, true, _) | (false, false, false) => None,
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
                udp: peer.and_then(UdpReport::of),
                node: name,
                number: node.0,
            }
        });
        let members = rows.collect();
        MembersReport { status, radio: is_radio, members }
    }

    /// What it was told at its start, and where its things are.
    pub(crate) async fn settings(&self) -> SettingsReport {
        let waits_for = match self.activity().now() {
            Activity::Waiting { for_nodes } => {
                Some(for_nodes.iter().map(|node| self.name(node)).collect())
            }
            Activity::Standby | Activity::Active(_) | _ => None,
        };
        // A node that has stopped knows no peers.
        let metrics = self.group().metrics().await;
        let peers = metrics.iter().flat_map(|metrics| &metrics.peers);
        let peers = peers.map(|peer| PeerReport::of(peer, self.group().names()));
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
            suspect_after_ms: timing.suspect_after.map(millis),
            files_max: getrlimit(Resource::Nofile).current,
            log_lines_dropped: lost.stderr,
            stdout_lines_dropped: lost.stdout,
            waits_for,
            peers: peers.collect(),
        }
    }

    /// Where a node is.
    pub(crate) fn address(&self, node: NodeId) -> Option<String> {
        self.peers().into_iter().find(|(peer, _)| *peer == node).map(|(_, address)| address)
    }

    /// All configured nodes with their addresses.
    pub(super) fn peers(&self) -> Vec<(NodeId, String)> {
        let config = self.config();
        let is_radio = config.radio.is_some();
        let address = |peer: &Peer| if is_radio { String::new() } else { peer.address.clone() };
        config.peers.all().iter().map(|peer| (peer.id, address(peer))).collect()
    }

    /// What this node is called.
    pub(crate) fn my_name(&self) -> String {
        self.name(self.group().me())
    }

    /// What a node is called.
    pub(crate) fn name(&self, node: NodeId) -> String {
        self.group().names().of(node).to_string()
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
