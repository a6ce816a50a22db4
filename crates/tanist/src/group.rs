//! One node in your program: what you hold of it.

mod start;

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

use tanist_core::membership::NodeNames;
use tanist_core::trace::Header;
use tanist_core::{NodeId, NodeSet, Time};
use tokio::sync::{mpsc, oneshot, watch};

pub(crate) use self::start::{NetworkKind, Setup};
use crate::activity::NoVeto;
use crate::builder::Builder;
use crate::driver::Request;
use crate::ended::{Ended, NodeStopped};
use crate::error::Failure;
use crate::lead::Lead;
use crate::metrics::Metrics;
use crate::operations::Control;
use crate::role::Role;
use crate::spawner::Spawner;
use crate::status::{Changes, Identity, Roles, Shared, Status};
use crate::trace_writer::{Recent, RecentTrace};

/// A node of a group, running in a thread of its own. Cheap to clone.
///
/// When the last clone is dropped the node leaves as if it had been shut down, but without waiting
/// for it.
///
/// ```no_run
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// use tanist::Group;
///
/// let group = Group::builder("billing")
///     .node("n1")
///     .peers(["n1=10.0.0.1:7400", "n2=10.0.0.2:7400", "n3=10.0.0.3:7400"])
///     .data_dir("/var/lib/tanist")
///     .key_file("/etc/tanist/group.key")
///     .start()
///     .await?;
/// let mut roles = group.roles();
/// while let Some(role) = roles.next().await {
///     println!("this node {role}");
/// }
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct Group {
    pub(crate) identity: Identity,
    pub(crate) shared: Arc<Shared>,
    pub(crate) control: Control,
    pub(crate) requests: mpsc::UnboundedSender<Request>,
    /// None while it runs.
    pub(crate) ended: watch::Receiver<Option<Ended>>,
    pub(crate) recent: Arc<RecentTrace>,
    pub(crate) spawner: Spawner,
    /// Nothing is sent: the driver notices when the last clone is gone.
    pub(crate) _held: mpsc::Sender<()>,
}

impl Group {
    /// Describes a node of the group with this name.
    pub fn builder(group: impl Into<String>) -> Builder {
        Builder::new(group.into())
    }

    /// This node.
    #[must_use]
    pub const fn me(&self) -> NodeId {
        self.identity.me
    }

    /// What people call the nodes, as far as they have names: [`NodeNames::of`] for output,
    /// [`NodeNames::find`] for input.
    #[must_use]
    pub fn names(&self) -> &NodeNames {
        &self.identity.names
    }

    /// What it is at the moment. True when it was asked; [`Group::roles`] tells when it changes.
    #[must_use]
    pub fn role(&self) -> Role {
        self.shared.role()
    }

    /// What it is, and everything that it will be. No role is left out for a reader that keeps up
    /// ([`Changes`] says how far it may be behind).
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let scratch = tempfile::tempdir()?;
    /// # let address = std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?;
    /// # let group = tanist::Group::builder("doc").node("n1").peers([format!("n1={address}")])
    /// #     .data_dir(scratch.path()).key(tanist::GroupKey::generate()?).start().await?;
    /// let mut roles = group.roles();
    /// while let Some(role) = roles.next().await {
    ///     if role.is_leader() {
    ///         break; // alone in its group, a node leads it
    ///     }
    /// }
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn roles(&self) -> Roles {
        Roles::new(self.changes())
    }

    /// The same with times and indexes, for a history.
    #[must_use]
    pub fn changes(&self) -> Changes {
        self.shared.follow()
    }

    /// What it is, for people and monitoring; it serializes as JSON.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let scratch = tempfile::tempdir()?;
    /// # let address = std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?;
    /// # let group = tanist::Group::builder("doc").node("n1").peers([format!("n1={address}")])
    /// #     .data_dir(scratch.path()).key(tanist::GroupKey::generate()?).start().await?;
    /// group.leading().await?;
    /// let status = group.status();
    /// assert_eq!((status.group.as_str(), status.role), ("doc", tanist::RoleKind::Leader));
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn status(&self) -> Status {
        self.shared.status(&self.identity)
    }

    /// How many roles the node has had since it started: [`Status::index`] without the rest.
    #[must_use]
    pub fn index(&self) -> u64 {
        self.shared.index()
    }

    /// What it counted so far, and what it knows of its peers. None if the node has stopped.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let scratch = tempfile::tempdir()?;
    /// # let address = std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?;
    /// # let group = tanist::Group::builder("doc").node("n1").peers([format!("n1={address}")])
    /// #     .data_dir(scratch.path()).key(tanist::GroupKey::generate()?).start().await?;
    /// group.leading().await?;
    /// let metrics = group.metrics().await.expect("it runs");
    /// assert!(metrics.wakes > 0);
    /// # Ok(()) }
    /// ```
    pub async fn metrics(&self) -> Option<Metrics> {
        self.inspect(NodeSet::new()).await
    }

    /// How long a node is silent before this one suspects it: [`Timing::suspect_after`](crate::Timing::suspect_after).
    #[must_use]
    pub const fn suspect_after(&self) -> Duration {
        self.identity.suspect_after
    }

    /// How many levels of groups there are: one, unless groups select super-peers.
    #[must_use]
    pub const fn levels(&self) -> usize {
        self.identity.levels
    }

    /// The time by the clock that this node goes by.
    pub(crate) fn now(&self) -> Time {
        self.shared.clock().now()
    }

    /// Whether a node can be in this node's group.
    pub(crate) fn is_fellow(&self, node: NodeId) -> bool {
        self.identity.peer_group.as_ref().is_none_or(|peer_group| peer_group.contains(node))
    }

    pub(crate) async fn inspect(&self, probe: NodeSet) -> Option<Metrics> {
        let (reply, metrics) = oneshot::channel();
        self.requests.send(Request::Inspect { probe, reply }).ok()?;
        metrics.await.ok()
    }

    /// The first line of this node's trace: who takes part, and under which rules.
    #[must_use]
    pub fn trace_header(&self) -> Header {
        self.recent.header().clone()
    }

    /// What this node did lately, message by message, in the schema of its trace.
    #[must_use]
    pub fn recent(&self) -> Recent {
        self.recent.recent()
    }

    /// The listening socket of this node once more, for a process that outlives it for a moment.
    ///
    /// While it is held, the port does not refuse connections, so the others take a crashed node
    /// for a silent one. A supervisor that ends what the node has started, and closes this
    /// afterwards, so keeps the others from starting the same too early. None if the node has
    /// stopped.
    ///
    /// # Errors
    /// If the system has no descriptor left.
    pub async fn hold_port(&self) -> io::Result<Option<OwnedFd>> {
        let (reply, port) = oneshot::channel();
        if self.requests.send(Request::HoldPort(reply)).is_err() {
            return Ok(None);
        }
        port.await.map_or(Ok(None), |port| port.map(Some))
    }

    /// Waits until this node leads.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let scratch = tempfile::tempdir()?;
    /// # let address = std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?;
    /// # let group = tanist::Group::builder("doc").node("n1").peers([format!("n1={address}")])
    /// #     .data_dir(scratch.path()).key(tanist::GroupKey::generate()?).start().await?;
    /// let lead = group.leading().await?;
    /// assert!(lead.is_leading());
    /// group.shutdown().await?;
    /// assert!(!lead.is_leading());
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// If the node ends first.
    pub async fn leading(&self) -> Result<Lead, NodeStopped> {
        let mut roles = self.roles();
        while let Some(role) = roles.next().await {
            if let Role::Leader(lead) = role
                && lead.is_leading()
            {
                return Ok(lead);
            }
        }
        Err(self.why_stopped().await)
    }

    /// Runs a job on this node whenever, and only while, it leads.
    ///
    /// The job is started again in every leadership. When that is over it has `grace` to end by
    /// itself ([`Lead::lost`] tells it); then it is dropped where it stands. This node answers the
    /// election only after that, and a new leader begins only when every node that it can reach is
    /// in its group ([`Group::unopposed`]), so nodes that can reach each other never run two jobs.
    /// Across a cut each side runs one. Returns what the job returned, if it ended during its
    /// leadership, and `None` if the node was shut down before.
    ///
    /// If the node fails, or its shutdown takes longer than
    /// [`Builder::stop_within`](crate::Builder::stop_within), the job is dropped at once, since the
    /// others are about to elect. Until it is gone it holds the node's port: start the node again
    /// after this method has returned.
    ///
    /// With an algorithm whose leader does not know who is in its group
    /// ([`Algorithm::BullyLecture`](crate::Algorithm::BullyLecture) and the ad-hoc ones) no job
    /// starts while another node can be reached.
    ///
    /// A job may borrow what is around it (`async |lead| …`). To own something, it gets a clone for
    /// each leadership: `move |lead| job(lead, database.clone())`.
    ///
    /// ```no_run
    /// # use std::time::Duration;
    /// # async fn example(group: tanist::Group) -> Result<(), Box<dyn std::error::Error>> {
    /// let charged = group.while_leader(Duration::from_secs(5), async |lead| {
    ///     let mut charged = 0;
    ///     while charged < 100 && lead.sleep(Duration::from_secs(60)).await.is_leading() {
    ///         charged += 1; // write lead.group_number() beside everything that is done here
    ///     }
    ///     charged
    /// }).await?;
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// If the node fails first.
    pub async fn while_leader<J: Future>(
        &self,
        grace: Duration,
        job: impl FnMut(Lead) -> J,
    ) -> Result<Option<J::Output>, NodeStopped> {
        self.activity(NoVeto).while_active(grace, job).await
    }

    /// Holds an election now, if the algorithm sees a reason for one.
    pub fn call_election(&self) {
        // A node that has stopped holds no elections.
        let _ = self.requests.send(Request::Call);
    }

    /// Discards everything to and from these peers, as a cut network would: for experiments.
    ///
    /// A cut has two sides; call it on all nodes. The example `shared_work` does.
    ///
    /// ```no_run
    /// # fn example(groups: &[tanist::Group]) {
    /// // n3 on one side, all others on the other.
    /// for group in groups {
    ///     let is_alone = group.me() == tanist::NodeId(3);
    ///     let others = groups.iter().map(tanist::Group::me);
    ///     group.cut(others.filter(|other| (*other == tanist::NodeId(3)) != is_alone));
    /// }
    /// # }
    /// ```
    pub fn cut(&self, peers: impl IntoIterator<Item = NodeId>) {
        let _ = self.requests.send(Request::Block(peers.into_iter().collect()));
    }

    /// Ends every [`Group::cut`].
    pub fn heal(&self) {
        let _ = self.requests.send(Request::Unblock);
    }

    /// Stops the application, tells the others so that they elect at once, closes all connections
    /// and waits until the node is gone. A leader names the highest member of its group as its
    /// successor.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let scratch = tempfile::tempdir()?;
    /// # let address = std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?;
    /// # let group = tanist::Group::builder("doc").node("n1").peers([format!("n1={address}")])
    /// #     .data_dir(scratch.path()).key(tanist::GroupKey::generate()?).start().await?;
    /// let looker = group.clone();
    /// group.shutdown().await?;
    /// assert_eq!(looker.status().role, tanist::RoleKind::Suspended);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// If the node had failed before, or the application does not stop in time, which is
    /// [`Builder::stop_within`](crate::Builder::stop_within). Then the node is gone for the others
    /// as after a crash, and what hangs may still work until this process ends.
    pub async fn shutdown(self) -> Result<(), NodeStopped> {
        // It may have ended already; then there is nothing to ask.
        let _ = self.requests.send(Request::Shutdown);
        self.ended().await
    }

    /// Waits until the node has stopped, for whatever reason.
    ///
    /// # Errors
    /// If it failed.
    pub async fn ended(&self) -> Result<(), NodeStopped> {
        let stopped = self.why_stopped().await;
        if stopped.ended.is_failure() { Err(stopped) } else { Ok(()) }
    }

    #[cfg(test)]
    pub(crate) fn request(&self, request: Request) -> Result<(), ()> {
        self.requests.send(request).map_err(|_| ())
    }

    /// Why what was asked of the node cannot be done. Waits until it is known: a node closes its
    /// streams and its inbox before its thread is at its end and says how it ended.
    pub(crate) async fn why_stopped(&self) -> NodeStopped {
        let mut ended = self.ended.clone();
        let known = ended.wait_for(Option::is_some).await;
        // A thread that panics says nothing.
        let panicked = || Ended::of(Err(Failure::Panicked));
        let ended = known.map_or_else(|_| None, |known| known.clone()).unwrap_or_else(panicked);
        NodeStopped { node: self.names().of(self.me()).to_string(), ended }
    }
}
