//! How a node is described before it starts.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use tanist_core::election::Algorithm;
use tanist_core::membership::{MembershipVersion, NodeId};
use tanist_core::options::Options;
use tanist_core::policy::{Objection, Preempt};
use tanist_core::recall::RecallMode;
use tanist_core::{GroupConfig, GroupSettings, Member, Membership, Priority};

use crate::error::StartError;
use crate::group::{Group, NetworkKind, Setup};
use crate::key::{Identities, Keyring};
use crate::names::{Peer, PeerList, known, labels, listed};
use crate::task::GroupTask;
use crate::timing::Timing;
use crate::transport::introduction::About;
use crate::transport::radio::Reach;
use crate::transport::version::Versions;
use crate::transport::{Limits, Secrets};

/// Describes a node; [`Builder::start`] starts it.
///
/// Name, peers, data directory and key must be given; everything else has a default. All nodes of
/// a group are given the same peers, priorities, algorithm, options and timing.
///
/// ```no_run
/// use std::time::Duration;
/// use tanist::{Algorithm, Group, Timing};
///
/// # async fn example() -> Result<(), tanist::StartError> {
/// let group = Group::builder("billing")
///     .node("n2")
///     .peers(["n1=10.0.0.1:7400", "n2=10.0.0.2:7400", "n3=10.0.0.3:7400"])
///     .priority("n1", 100) // the best machine
///     .algorithm(Algorithm::Bully)
///     .timing(Timing::default().suspect_after(Duration::from_secs(3)))
///     .data_dir("/var/lib/tanist")
///     .key_file("/etc/tanist/group.key")
///     .start()
///     .await?;
/// # Ok(()) }
/// ```
#[derive(Debug)]
#[must_use = "a builder does nothing until it is started"]
pub struct Builder {
    group: String,
    node: Option<String>,
    peers: Vec<String>,
    peers_version: u32,
    priorities: Vec<(String, u32)>,
    zones: Vec<(String, String)>,
    racks: Vec<(String, String)>,
    algorithm: Algorithm,
    options: Vec<(String, String)>,
    timing: Timing,
    stop_within: Option<Duration>,
    preempt: Option<Preempt>,
    data_dir: Option<PathBuf>,
    keyring: Option<Keyring>,
    key_file: Option<PathBuf>,
    identities: Option<Identities>,
    versions: Versions,
    program: String,
    clock_ahead_ms: i64,
    listen: Option<SocketAddr>,
    radio: Option<Reach>,
    trace: Option<PathBuf>,
    objections: BTreeSet<Objection>,
}

impl Builder {
    pub(crate) fn new(group: String) -> Self {
        Self {
            group,
            node: None,
            peers: Vec::new(),
            peers_version: 1,
            priorities: Vec::new(),
            zones: Vec::new(),
            racks: Vec::new(),
            algorithm: Algorithm::Invitation,
            options: Vec::new(),
            timing: Timing::default(),
            stop_within: None,
            preempt: None,
            data_dir: None,
            keyring: None,
            key_file: None,
            identities: None,
            versions: Versions::RELEASED,
            program: About::release().program,
            clock_ahead_ms: 0,
            listen: None,
            radio: None,
            trace: None,
            objections: BTreeSet::new(),
        }
    }

    /// Which of the nodes this one is: its name in the list of peers, or `n1`, `n2` and so on.
    pub fn node(mut self, node: impl Into<String>) -> Self {
        self.node = Some(node.into());
        self
    }

    /// All nodes with their addresses, this one included: `db-east-1=10.0.0.1:7400`, in the same order
    /// on all nodes, since a node's number is its place in the list. `n7:db-east-1=10.0.0.1:7400` says
    /// the number, and `n7=10.0.0.1:7400` is a node without a name.
    pub fn peers(mut self, peers: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.peers.extend(peers.into_iter().map(Into::into));
        self
    }

    /// Which version of the list of peers this is, for those who change it: 1 if not given. It is
    /// shown in [`crate::Status`], so that a node that was left behind can be found.
    pub const fn peers_version(mut self, version: u32) -> Self {
        self.peers_version = version;
        self
    }

    /// The priority of a node, the same on all nodes; without one it is the number in its name.
    /// Of two with the same priority the one with the higher number comes first. A node that is not
    /// one of the peers is refused at the start, as with [`Builder::zone`] and [`Builder::rack`].
    pub fn priority(mut self, node: impl Into<String>, priority: u32) -> Self {
        self.priorities.push((node.into(), priority));
        self
    }

    /// The zone of a node, the same on all nodes: a name of up to 16 bytes.
    /// [`Algorithm::SuperPeer`] makes groups of nodes that are in one place.
    pub fn zone(mut self, node: impl Into<String>, zone: impl Into<String>) -> Self {
        self.zones.push((node.into(), zone.into()));
        self
    }

    /// The rack of a node, the same on all nodes: a name of up to 16 bytes.
    pub fn rack(mut self, node: impl Into<String>, rack: impl Into<String>) -> Self {
        self.racks.push((node.into(), rack.into()));
        self
    }

    /// The algorithm, the same on all nodes; [`Algorithm::Invitation`] if not given.
    pub const fn algorithm(mut self, algorithm: Algorithm) -> Self {
        self.algorithm = algorithm;
        self
    }

    /// An option of the algorithm, as `tanist algorithms` lists them.
    pub fn option(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.options.push((name.into(), value.into()));
        self
    }

    /// How long the task and the leader's job of this node may take to stop; 30 seconds if not
    /// given. A node that takes longer is left out by the others until it has stopped, and
    /// [`Group::step_down`] and [`Group::shutdown`] say so. Give more than the grace of
    /// [`Group::while_leader`]. It goes before that of [`Builder::timing`].
    pub const fn stop_within(mut self, within: Duration) -> Self {
        self.stop_within = Some(within);
        self
    }

    /// Bounds and periods, the same on all nodes; the default if not given.
    pub const fn timing(mut self, timing: Timing) -> Self {
        self.timing = timing;
        self
    }

    /// Whether a node of higher priority takes over from an established leader, the same on all
    /// nodes. If not given it is [`Preempt::Never`], and [`Preempt::Always`] with the algorithms in
    /// which the highest node always wins: [`Algorithm::BullyLecture`], the ad-hoc ones and
    /// [`Algorithm::SuperPeer`].
    pub const fn preempt(mut self, preempt: Preempt) -> Self {
        self.preempt = Some(preempt);
        self
    }

    /// Where the node keeps what must survive a crash. One directory for each node and group.
    pub fn data_dir(mut self, path: impl Into<PathBuf>) -> Self {
        self.data_dir = Some(path.into());
        self
    }

    /// The key that all nodes share, or a [`Keyring`] with several of them.
    pub fn key(mut self, key: impl Into<Keyring>) -> Self {
        self.keyring = Some(key.into());
        self
    }

    /// This node's own key pair and the public keys of its peers, so that a process with another
    /// node's files cannot speak as this one. Without it nodes know each other by the group's key.
    pub fn identities(mut self, identities: Identities) -> Self {
        self.identities = Some(identities);
        self
    }

    /// The versions of the wire that this node speaks, for tests of upgrades.
    #[doc(hidden)]
    pub const fn wire_versions(mut self, versions: Versions) -> Self {
        self.versions = versions;
        self
    }

    /// The release that this node says it is, for tests of upgrades.
    #[doc(hidden)]
    pub fn program(mut self, version: impl Into<String>) -> Self {
        self.program = version.into();
        self
    }

    /// How far this node's wall clock is made to be ahead, in milliseconds, for tests.
    #[doc(hidden)]
    pub const fn clock_ahead_ms(mut self, millis: i64) -> Self {
        self.clock_ahead_ms = millis;
        self
    }

    /// The file with the keys, as `tanist keygen` writes it. No other user may be able to read it.
    pub fn key_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.key_file = Some(path.into());
        self
    }

    /// Where to listen, if not at the address that the peers are told.
    pub const fn listen(mut self, address: SocketAddr) -> Self {
        self.listen = Some(address);
        self
    }

    /// Reaches its neighbours by broadcast, one hop far, instead of all nodes by links: for
    /// networks in which neighbours are not known beforehand. Then [`Builder::peers`] are names
    /// alone, `n1`, and the algorithm is one of those for ad-hoc networks.
    ///
    /// ```no_run
    /// use tanist::Group;
    /// use tanist::radio::{Interfaces, Reach};
    ///
    /// # async fn example() -> Result<(), tanist::StartError> {
    /// let interfaces = Interfaces::Named(vec!["wlan0".to_owned()]);
    /// let group = Group::builder("rovers")
    ///     .node("n2")
    ///     .peers(["n1", "n2", "n3"])
    ///     .radio(Reach::new(interfaces, 7400))
    ///     .data_dir("/var/lib/tanist")
    ///     .key_file("/etc/tanist/group.key")
    ///     .start()
    ///     .await?;
    /// # Ok(()) }
    /// ```
    pub fn radio(mut self, reach: Reach) -> Self {
        self.radio = Some(reach);
        self
    }

    /// Writes down everything that the node does, in the simulator's schema: `tanist trace` reads
    /// it.
    pub fn trace(mut self, path: impl Into<PathBuf>) -> Self {
        self.trace = Some(path.into());
        self
    }

    /// Starts the node although this stands against its taking part: it is no candidate and in no
    /// group until [`Group::lift`]. For a program that asks its checks first.
    pub fn objection(mut self, objection: Objection) -> Self {
        self.objections.insert(objection);
        self
    }

    /// Starts the node without a task: its roles are all there is to know.
    ///
    /// What is wrong is said before anything is touched:
    ///
    /// ```
    /// use tanist::{Group, StartError};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let refused = Group::builder("billing").node("first").start().await.unwrap_err();
    /// assert!(matches!(refused, StartError::Name(_)));
    /// assert_eq!(refused.to_string(), "`first` is not a node: write its name in the list of peers, or n1, n2 and so on");
    /// # }
    /// ```
    ///
    /// # Errors
    /// If the description is wrong, or the system does not give what the node needs.
    pub async fn start(self) -> Result<Group, StartError> {
        Group::start(self.checked()?).await
    }

    /// Starts the node with a task that is stopped, planned and started with its group. The task
    /// runs where this is called: in a runtime of tokio's, on its threads.
    ///
    /// # Errors
    /// If the description is wrong, or the system does not give what the node needs.
    pub async fn start_with<T: GroupTask>(self, task: T) -> Result<Group, StartError> {
        let setup = self.checked()?;
        let algorithm = setup.config.algorithm();
        if algorithm.descriptor().handover.is_none() {
            return Err(StartError::NoHandover(algorithm.name()));
        }
        Group::start_with(setup, task).await
    }

    /// Whether the description fits together, as [`Builder::start`] asks it. Keys and files are not
    /// looked at.
    ///
    /// ```
    /// use tanist::{Group, Preempt};
    ///
    /// let described = Group::builder("billing").node("n1").peers(["n1=10.0.0.1:7400"]);
    /// described.check().unwrap();
    /// let refused = described.option("policy", "only-lower").preempt(Preempt::Never).check();
    /// assert!(refused.unwrap_err().to_string().contains("remove the option `policy`"));
    /// ```
    ///
    /// # Errors
    /// If the description is wrong.
    pub fn check(&self) -> Result<(), StartError> {
        self.plan().map(drop)
    }

    /// Checks everything that can be checked before anything is touched.
    fn checked(self) -> Result<Setup, StartError> {
        let Plan { me, address, peers, members, config, timing } = self.plan()?;
        let keyring = match (self.keyring, self.key_file) {
            (Some(keyring), _) => keyring,
            (None, Some(path)) => Keyring::read(&path)?,
            (None, None) => return Err(StartError::Missing(NO_KEY)),
        };
        let identities = match self.identities {
            Some(identities) => identities,
            None => Identities::unconfigured()?,
        };
        let port = address.rsplit_once(':').and_then(|(_, port)| port.parse().ok());
        Ok(Setup {
            name: self.group.into(),
            me,
            peers: peers.into_iter().filter(|(id, _)| *id != me).collect(),
            network: match self.radio {
                Some(reach) => NetworkKind::Radio(reach),
                None => {
                    let listen = self.listen.map_or(address, |address| address.to_string());
                    NetworkKind::Links { listen }
                }
            },
            members,
            config,
            limits: limits(&timing),
            data_dir: self.data_dir.ok_or(StartError::Missing(NO_DATA_DIR))?,
            secrets: Secrets { keyring, identities },
            versions: self.versions,
            about: About {
                program: self.program,
                peers_version: self.peers_version,
                port,
                clock_ahead_ms: self.clock_ahead_ms,
            },
            trace: self.trace,
            objections: self.objections,
        })
    }

    /// The nodes and the settings of the group, if they fit together.
    fn plan(&self) -> Result<Plan, StartError> {
        if self.group.is_empty() {
            return Err(StartError::Missing(NO_GROUP));
        }
        let name = self.node.clone().ok_or(StartError::Missing(NO_NODE))?;
        let list = self.peer_list()?;
        let me = known(&list, &name)?;
        let mut priorities = Vec::new();
        for (name, priority) in &self.priorities {
            priorities.push((listed(&list, name, "a priority")?, *priority));
        }
        let peers: Vec<(NodeId, String)> =
            list.all().iter().map(|peer| (peer.id, peer.address.clone())).collect();
        let members = peers.iter().map(|(id, _)| {
            let given = priorities.iter().rev().find(|(node, _)| node == id);
            Member { priority: Priority(given.map_or(id.0, |(_, priority)| *priority)), id: *id }
        });
        let version = MembershipVersion(self.peers_version);
        let labels = labels(&list, &self.zones, &self.racks)?;
        let members = Membership::new(members)?
            .with_version(version)
            .with_labels(labels)
            .with_names(list.names().clone());
        let address = match peers.iter().find(|(id, _)| *id == me) {
            Some((_, address)) => address.clone(),
            None => return Err(StartError::Stranger(name)),
        };
        let mut options = Options::default();
        for (name, value) in &self.options {
            options.set(self.algorithm, name, value)?;
        }
        let timing = self.stop_within.map_or(self.timing, |within| self.timing.stop_within(within));
        let timing = tanist_core::Timing::new(timing.into())?;
        let preempt = self.preempt.unwrap_or_else(|| Preempt::usual(self.algorithm, &options));
        let config = GroupConfig::new(GroupSettings {
            options,
            recall: RecallMode::On,
            preempt,
            ..GroupSettings::new(self.algorithm, timing)
        })?;
        let members = members.arranged(&config)?;
        Ok(Plan { me, address, peers, members, config, timing })
    }

    fn peer_list(&self) -> Result<PeerList, StartError> {
        let mut peers = Vec::new();
        for (place, entry) in (1..).zip(&self.peers) {
            let peer = Peer::parse(entry, place);
            // By radio nodes have no addresses.
            let peer = if self.radio.is_some() { peer } else { peer.and_then(Peer::with_address) };
            let wrong = |cause| StartError::Peer { entry: entry.clone(), cause };
            peers.push(peer.map_err(wrong)?);
        }
        Ok(PeerList::new(peers)?)
    }
}

/// Who takes part, and under which settings.
struct Plan {
    me: NodeId,
    /// Where the others reach this node; empty by radio.
    address: String,
    /// All nodes, this one included.
    peers: Vec<(NodeId, String)>,
    members: Membership,
    config: GroupConfig,
    timing: tanist_core::Timing,
}

/// A network that may be slow is given the time for a handshake, too: a message there, one back.
fn limits(timing: &tanist_core::Timing) -> Limits {
    let usual = Limits::default();
    let there_and_back = timing.answer() * 2;
    Limits {
        unacknowledged: timing.suspect_after(),
        dial: usual.dial.max(there_and_back),
        handshake: usual.handshake.max(there_and_back),
        ..usual
    }
}

const NO_GROUP: &str = "the group has no name: give `Group::builder` the same one on every node, \
                        for example billing";
const NO_NODE: &str = "which node is this? Say it with `node`, for example n1";
const NO_KEY: &str = "no group key was given: make one with `tanist keygen FILE`, put the same \
                      file on every node and name it with `key_file`";
const NO_DATA_DIR: &str = "no data directory was given: a node must remember the group numbers \
                           that it used. Name one with `data_dir`";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::GroupKey;

    #[test]
    fn what_is_wrong_is_said_before_anything_is_touched() {
        let full = || {
            let two = ["n1=127.0.0.1:7401", "n2=127.0.0.1:7402"];
            Builder::new("g".to_owned()).node("n1").peers(two).data_dir("/nowhere")
        };
        let refusal = |builder: Builder| builder.checked().map(|_| ()).unwrap_err().to_string();
        let key = || GroupKey::generate().unwrap();
        assert!(full().key(key()).checked().is_ok());
        assert!(refusal(full()).contains("tanist keygen"));
        assert!(refusal(full().key(key()).node("n3")).contains("not one of the peers"));
        assert!(refusal(full().key(key()).node("first")).contains("n1, n2"));
        for unlisted in [full().priority("n9", 5), full().zone("n9", "a"), full().rack("n9", "a")] {
            let told = refusal(unlisted.key(key()));
            assert!(told.contains("n9") && told.contains("expected one of: n1 n2"), "{told}");
        }
        assert!(refusal(full().key(key()).priority("best", 5)).contains("priority"));
        let nameless = Builder { group: String::new(), ..full().key(key()) };
        assert!(refusal(nameless).contains("the group has no name"));
        assert!(refusal(full().key(key()).peers(["n2=host:1"])).contains("twice"));
        assert!(refusal(full().key(key()).option("waits", "no")).contains("waits"));
        let sticky = full().key(key()).algorithm(Algorithm::BullyLecture).preempt(Preempt::Never);
        assert!(refusal(sticky).contains("the highest node always takes over"));
        let short = Timing::default().suspect_after(Duration::from_millis(1));
        assert!(refusal(full().key(key()).timing(short)).contains("at least"));
    }
}
