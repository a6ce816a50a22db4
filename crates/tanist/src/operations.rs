//! What an operator asks of a running node: withdraw and rejoin, pause and resume elections, change
//! its priority.
//!
//! The rules are the core's (`policy.rs` there); this is how a program reaches them, and what it
//! can see of them. Leaves out: keeping any of it over a restart. A node that starts takes part.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tanist_core::policy::{self, Objection};
use tanist_core::{NodeId, NodeSet};
use tokio::sync::oneshot;

use crate::driver::Request;
use crate::ended::NodeStopped;
use crate::error::StopOverdue;
use crate::group::Group;
use crate::handover::ActingLeader;
use crate::key::{Identities, Keyring};
use crate::transport::Secrets;

/// What the driver shows of this to the program.
#[derive(Clone, Debug, Default)]
pub(crate) struct Control {
    inner: Arc<Mutex<Inner>>,
    acting: ActingLeader,
}

#[derive(Debug, Default)]
struct Inner {
    is_withdrawn: bool,
    is_paused: bool,
    /// Peers that said farewell and were not heard since.
    farewells: NodeSet,
    /// What this node was told of its own priority.
    priority: Option<u32>,
    /// The leader that a pause keeps from being replaced although it is gone.
    lost_leader: Option<NodeId>,
}

impl Control {
    pub(crate) fn is_withdrawn(&self) -> bool {
        self.lock().is_withdrawn
    }

    pub(crate) fn set_withdrawn(&self, is_withdrawn: bool) {
        self.lock().is_withdrawn = is_withdrawn;
    }

    pub(crate) fn set_paused(&self, is_paused: bool) {
        self.lock().is_paused = is_paused;
    }

    pub(crate) fn set_priority(&self, priority: Option<u32>) {
        self.lock().priority = priority;
    }

    pub(crate) fn set_lost_leader(&self, leader: Option<NodeId>) {
        self.lock().lost_leader = leader;
    }

    /// Which leader acts.
    pub(crate) const fn acting(&self) -> &ActingLeader {
        &self.acting
    }

    /// A peer said farewell.
    pub(crate) fn miss(&self, peer: NodeId) {
        self.lock().farewells.insert(peer);
    }

    /// A peer said something else.
    pub(crate) fn heard(&self, peer: NodeId) {
        self.lock().farewells.remove(peer);
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // No holder can panic: every change above is a plain assignment.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Group {
    /// Hands over now: stops the application here, tells the others, who elect at once, and takes
    /// no part for `hold`. Then the node rejoins like one that has just started, and leads again
    /// if the algorithm says so.
    ///
    /// Resolves when the node has withdrawn: its jobs, guards and task have stopped, and all others
    /// were told. It does not wait for the next leader; [`Group::roles`] of the others tell that.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let scratch = tempfile::tempdir()?;
    /// # let address = std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?;
    /// # let group = tanist::Group::builder("doc").node("n1").peers([format!("n1={address}")])
    /// #     .data_dir(scratch.path()).key(tanist::GroupKey::generate()?).start().await?;
    /// let lead = group.leading().await?;
    /// group.step_down(std::time::Duration::from_millis(10)).await?;
    /// assert!(!lead.is_leading());
    /// group.leading().await?; // it is alone, so it leads again
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// If the application does not stop in time, which is [`Builder::stop_within`]: then the others
    /// elect without this node, and it withdraws for `hold` when the application has stopped. At
    /// once, if an election had waited for the application that long before. Or if the node ends first.
    ///
    /// [`Builder::stop_within`]: crate::Builder::stop_within
    pub async fn step_down(&self, hold: Duration) -> Result<(), WithdrawError> {
        self.withdraw_for(Some(hold)).await
    }

    /// As [`Group::step_down`], until [`Group::rejoin`].
    ///
    /// # Errors
    /// As [`Group::step_down`].
    pub async fn withdraw(&self) -> Result<(), WithdrawError> {
        self.withdraw_for(None).await
    }

    /// Ends [`Group::withdraw`] or [`Group::step_down`]. Resolves when the node takes part again:
    /// at once, or when the time T has passed in which all others must have received its farewell.
    /// A node whose application has not stopped in time takes part again after that has stopped.
    ///
    /// # Errors
    /// If the node ends first.
    pub async fn rejoin(&self) -> Result<(), NodeStopped> {
        let (reply, done) = oneshot::channel();
        self.ask(Request::Rejoin(reply), done).await
    }

    /// Objects to this node's taking part: it hands over and withdraws, and nothing brings it back
    /// before [`Group::lift`]; the end of a hold and [`Group::rejoin`] are put off until then. Does
    /// nothing if the objection stands already, or the node has stopped.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let scratch = tempfile::tempdir()?;
    /// # let address = std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?;
    /// # let group = tanist::Group::builder("doc").node("n1").peers([format!("n1={address}")])
    /// #     .data_dir(scratch.path()).key(tanist::GroupKey::generate()?).start().await?;
    /// use tanist::Objection;
    ///
    /// let lead = group.leading().await?;
    /// group.object(Objection::Health);
    /// lead.lost().await;
    /// group.lift(Objection::Health);
    /// group.leading().await?; // it is alone, so it leads again
    /// # Ok(()) }
    /// ```
    pub fn object(&self, objection: Objection) {
        let _ = self.requests.send(Request::Object { objection, stands: true });
    }

    /// Ends [`Group::object`]. If no other objection stands the node rejoins, unless an operator's
    /// hold lasts.
    pub fn lift(&self, objection: Objection) {
        let _ = self.requests.send(Request::Object { objection, stands: false });
    }

    /// Whether this node has withdrawn and not rejoined.
    #[must_use]
    pub fn is_withdrawn(&self) -> bool {
        self.control.is_withdrawn()
    }

    /// The peers that said farewell, and were not heard since.
    #[must_use]
    pub fn farewells(&self) -> Vec<NodeId> {
        self.control.lock().farewells.iter().collect()
    }

    /// Pauses elections in the whole group, for maintenance: until [`Group::resume`] a dead
    /// coordinator is not replaced, a lost member is not missed, and groups are not merged.
    ///
    /// Elections in progress continue, and a node that starts still stands for election; with
    /// [`crate::Algorithm::Bully`] and the rings it takes over if it is the highest. The pause is
    /// forgotten only when all nodes are down at the same time. Does nothing if the node has
    /// stopped.
    pub fn pause(&self) {
        let _ = self.requests.send(Request::Pause { is_on: true });
    }

    /// Ends [`Group::pause`], on whichever node it began: what was postponed is done at once.
    pub fn resume(&self) {
        let _ = self.requests.send(Request::Pause { is_on: false });
    }

    /// Whether elections are paused, as far as this node knows.
    #[must_use]
    pub fn is_paused(&self) -> bool {
        self.control.lock().is_paused
    }

    /// The leader of this node's group, if it is gone and a pause keeps it from being replaced: it
    /// has withdrawn, or was not heard for as long as makes it suspicious.
    #[must_use]
    pub fn lost_leader(&self) -> Option<NodeId> {
        self.control.lock().lost_leader
    }

    /// Gives this node another priority, for as long as it runs, and tells the others.
    ///
    /// It counts when the next group is formed: at the next election or merge. An established
    /// leader leads on, unless the group is configured with [`crate::Preempt::After`]: then it
    /// makes room for a higher member, also for one that is higher by this. A peer that cannot be
    /// reached uses what it knew until one of the two restarts, or it withdraws itself.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let scratch = tempfile::tempdir()?;
    /// # let address = std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?;
    /// # let group = tanist::Group::builder("doc").node("n1").peers([format!("n1={address}")])
    /// #     .data_dir(scratch.path()).key(tanist::GroupKey::generate()?).start().await?;
    /// group.set_priority(50).await?;
    /// assert_eq!(group.priority(), Some(50));
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// If the algorithm needs all nodes to agree on who is higher, or the node ends first.
    pub async fn set_priority(&self, priority: u32) -> Result<(), SetPriorityError> {
        let (reply, done) = oneshot::channel();
        // A node that has stopped drops the request, and with it the reply.
        let _ = self.requests.send(Request::Priority { priority, reply });
        match done.await {
            Ok(is_possible) => Ok(is_possible?),
            Err(_) => Err(self.why_stopped().await.into()),
        }
    }

    /// Uses other keys from here on, without a break: links move to the key in use, and those that
    /// rest on a key which is no longer accepted are closed and made again. With a radio, other
    /// keys count from the next start on. Does nothing if the node has stopped.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let scratch = tempfile::tempdir()?;
    /// # let address = std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?;
    /// # let old = tanist::GroupKey::generate()?;
    /// # let group = tanist::Group::builder("doc").node("n1").peers([format!("n1={address}")])
    /// #     .data_dir(scratch.path()).key(old.clone()).start().await?;
    /// use tanist::key::{Identities, Keyring};
    ///
    /// let mut keys = Keyring::of(old);
    /// keys.add(tanist::GroupKey::generate()?)?;
    /// group.set_secrets(keys, Identities::unconfigured()?);
    /// # Ok(()) }
    /// ```
    pub fn set_secrets(&self, keyring: Keyring, identities: Identities) {
        let secrets = Box::new(Secrets { keyring, identities });
        let _ = self.requests.send(Request::SetSecrets(secrets));
    }

    /// What [`Group::set_priority`] gave this node; none if it has the one it was started with.
    #[must_use]
    pub fn priority(&self) -> Option<u32> {
        self.control.lock().priority
    }

    async fn withdraw_for(&self, hold: Option<Duration>) -> Result<(), WithdrawError> {
        let (reply, done) = oneshot::channel();
        // A node that has stopped drops the request, and with it the reply.
        let _ = self.requests.send(Request::Withdraw { hold, reply });
        match done.await {
            Ok(withdrawn) => Ok(withdrawn?),
            Err(_) => Err(self.why_stopped().await.into()),
        }
    }

    async fn ask(&self, request: Request, done: oneshot::Receiver<()>) -> Result<(), NodeStopped> {
        // A node that has stopped drops the request, and with it the reply.
        let _ = self.requests.send(request);
        match done.await {
            Ok(()) => Ok(()),
            Err(_) => Err(self.why_stopped().await),
        }
    }
}

/// Why a node has not withdrawn.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WithdrawError {
    /// Its application has not stopped in time. The group goes on without the node, which withdraws
    /// when the application has stopped.
    #[error(transparent)]
    Overdue(#[from] StopOverdue),
    /// The node has stopped.
    #[error(transparent)]
    Stopped(#[from] NodeStopped),
}

/// Why the priority of a node was not changed.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SetPriorityError {
    /// The group's configuration does not allow it.
    #[error(transparent)]
    Fixed(#[from] policy::PriorityError),
    /// The node has stopped.
    #[error(transparent)]
    Stopped(#[from] NodeStopped),
}
