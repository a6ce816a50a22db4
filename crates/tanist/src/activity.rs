//! Whether this node may act as the leader of its group: the one place that decides it.
//!
//! ```text
//!   Standby --leads--> Waiting (for nodes outside the group; for a veto) --none left--> Active
//!      ^---------------------------- the leadership is over -------------------------------/
//! ```
//!
//! A group number is unique, but nodes that have just started may lead groups of their own until
//! they have met, and a node that is slow to stop is left out of the next group for a while. So
//! that the same work is not done twice, a new leader waits until every node that it can reach is
//! in its group. It is asked once, when a leadership begins: a leader that is active stays active
//! until its leadership is over, and newcomers wait for it.
//!
//! A leader that its veto refuses must not come back to be refused again, each time at the cost of
//! an election. So a refusal is an objection ([`Objection::Gate`]), which the core holds against
//! the node until the veto permits it to rejoin.
//!
//! Assumes that a refused connection means that no process listens there, and that a node which
//! answers nothing for as long as the detector is patient has crashed or is cut off. So across a
//! cut both sides become active; that is what a group without a majority rule promises.

use std::future::Future;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

use tanist_core::policy::Objection;
use tanist_core::{NodeSet, Time};
use tokio::sync::watch;
use tokio::task::AbortHandle;

use crate::ended::NodeStopped;
use crate::group::Group;
use crate::lead::Lead;
use crate::role::Role;
use crate::status::Roles;
use crate::transport::PeerView;

/// Whether a node may act as the leader of its group.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Activity {
    /// It does not lead.
    Standby,
    /// It leads and must not act yet.
    Waiting {
        /// Nodes that may be reachable and are not in its group; none if it waits for the veto.
        for_nodes: NodeSet,
    },
    /// It leads, and every node that it can reach is in its group.
    Active(Lead),
}

impl Activity {
    /// The leadership in which the node is active, if it is and that leadership lasts.
    #[must_use]
    pub fn lead(&self) -> Option<&Lead> {
        match self {
            Self::Active(lead) => Some(lead).filter(|lead| lead.is_leading()),
            Self::Standby | Self::Waiting { .. } => None,
        }
    }
}

/// Keeps a leader from acting although every node that it can reach is in its group.
pub trait Veto: Send + 'static {
    /// Asked once for each leadership. The answer does not matter if it is over meanwhile.
    fn judge(&mut self, lead: &Lead) -> impl Future<Output = Verdict> + Send;

    /// Waits, after a refusal, until the node may be a candidate again.
    fn relents(&mut self) -> impl Future<Output = ()> + Send;
}

/// What a [`Veto`] says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The node may act.
    Permit,
    /// The node withdraws, and takes no part until [`Veto::relents`].
    Refuse,
}

/// Permits everything.
#[derive(Clone, Copy, Debug)]
pub struct NoVeto;

impl Veto for NoVeto {
    async fn judge(&mut self, _: &Lead) -> Verdict {
        Verdict::Permit
    }

    async fn relents(&mut self) {}
}

/// The activity of a node as it changes. Cheap to clone; the task behind it ends with the last one.
#[derive(Clone, Debug)]
pub struct Activities {
    group: Group,
    current: watch::Receiver<Activity>,
    _task: Arc<Task>,
}

#[derive(Debug)]
struct Task(AbortHandle);

impl Drop for Task {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Activities {
    /// What it is at the moment.
    #[must_use]
    pub fn now(&self) -> Activity {
        let current = self.current.borrow().clone();
        // The task behind it may be a moment late.
        let is_over = matches!(&current, Activity::Active(lead) if !lead.is_leading());
        if is_over { Activity::Standby } else { current }
    }

    /// The leadership in which the node is active at the moment.
    #[must_use]
    pub fn active(&self) -> Option<Lead> {
        self.current.borrow().lead().cloned()
    }

    /// Waits until it changes. None: the node has stopped.
    pub async fn changed(&mut self) -> Option<()> {
        self.current.changed().await.ok()
    }

    /// Waits until the node is active.
    ///
    /// # Errors
    /// If the node stops first.
    pub async fn begins(&self) -> Result<Lead, NodeStopped> {
        let mut current = self.current.clone();
        while let Ok(activity) = current.wait_for(|activity| activity.lead().is_some()).await {
            // None: the leadership was over before it could be handed out.
            if let Some(lead) = activity.lead() {
                return Ok(lead.clone());
            }
        }
        Err(self.group.why_stopped().await)
    }

    /// Runs a job whenever, and only while, the node is active: see [`Group::while_leader`].
    ///
    /// # Errors
    /// If the node fails first.
    pub async fn while_active<J: Future>(
        &self,
        grace: Duration,
        mut job: impl FnMut(Lead) -> J,
    ) -> Result<Option<J::Output>, NodeStopped> {
        loop {
            let lead = match self.begins().await {
                Ok(lead) => lead,
                Err(stopped) if stopped.ended.is_failure() => return Err(stopped),
                Err(_) => return Ok(None),
            };
            // None: the leadership was over before it could be used.
            let Some(_guard) = lead.guard() else { continue };
            // Until the job is gone the others take a node that has failed for a silent one, and
            // wait, instead of having a refused connection as evidence that it is gone.
            let _port = self.hold_port().await;
            let over = lead.clone();
            let deadline = async {
                over.lost().await;
                tokio::select! {
                    biased;
                    // They do not wait for long, so the job of a failed node has no grace.
                    () = self.fails() => {}
                    () = tokio::time::sleep(grace) => {}
                }
            };
            tokio::select! {
                biased;
                result = job(lead.clone()) => if lead.is_leading() {
                    return Ok(Some(result));
                },
                () = deadline => {}
            }
        }
    }

    async fn hold_port(&self) -> Option<OwnedFd> {
        self.group.hold_port().await.unwrap_or_else(|error| {
            tracing::warn!(
                "the port cannot be held for the job ({error}): if this node fails, another may \
                 start the job a moment too early. Raise the number of open files: ulimit -n"
            );
            None
        })
    }

    /// Waits until the node has failed; without end if it is shut down.
    async fn fails(&self) {
        if !self.group.why_stopped().await.ended.is_failure() {
            std::future::pending::<()>().await;
        }
    }
}

impl Group {
    /// Follows whether this node may act as a leader, in a task that ends with the node or with the
    /// last clone of what comes back. Must be called within tokio's runtime.
    #[must_use]
    pub fn activity(&self, veto: impl Veto) -> Activities {
        let (changes, current) = watch::channel(Activity::Standby);
        let task = self.spawner.spawn(follow(self.clone(), veto, changes));
        let task = Arc::new(Task(task));
        Activities { group: self.clone(), current, _task: task }
    }

    /// Waits until every node that this node can reach is in the group that it leads. False: the
    /// leadership was over before that.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let scratch = tempfile::tempdir()?;
    /// # let address = std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?;
    /// # let group = tanist::Group::builder("doc").node("n1").peers([format!("n1={address}")])
    /// #     .data_dir(scratch.path()).key(tanist::GroupKey::generate()?).start().await?;
    /// let lead = group.leading().await?;
    /// assert!(group.unopposed(&lead).await);
    /// # Ok(()) }
    /// ```
    pub async fn unopposed(&self, lead: &Lead) -> bool {
        self.waits_for_others(lead, |_| {}).await
    }

    /// The same, and tells each time when other nodes are waited for.
    async fn waits_for_others(&self, lead: &Lead, mut tell: impl FnMut(&NodeSet)) -> bool {
        let suspect_after = self.suspect_after();
        let began = self.now();
        let mut told = NodeSet::new();
        loop {
            let Some(opposed) = self.opposed_by(lead, began, suspect_after).await else {
                return false;
            };
            if opposed.is_empty() {
                return lead.is_leading();
            }
            if opposed != told {
                tracing::info!(
                    "elected; waiting for {} before acting: reachable, or not known to be gone, \
                     and not in this group",
                    self.names().list(opposed.iter())
                );
                tell(&opposed);
                told = opposed;
            }
            if !lead.sleep(suspect_after / LOOKS).await.is_leading() {
                return false;
            }
        }
    }

    /// Who is reachable, or not known to be unreachable, and not in the group. None: the node has
    /// ended.
    async fn opposed_by(
        &self,
        lead: &Lead,
        began: Time,
        suspect_after: Duration,
    ) -> Option<NodeSet> {
        // A leader that forms another group itself goes on leading.
        let current = self.role();
        let members = current.view().unwrap_or(lead.view()).members();
        let seen = self.metrics().await?;
        // A node that said farewell had stopped before, and does nothing until it is heard again.
        let farewells = self.farewells();
        // A node of another group of a hierarchy is not expected in this one.
        let outside = |peer: &&PeerView| {
            let (is_in, has_left) = (members.contains(peer.id), farewells.contains(&peer.id));
            self.is_fellow(peer.id) && !is_in && !has_left
        };
        let others: NodeSet = seen.peers.iter().filter(outside).map(|peer| peer.id).collect();
        if others.is_empty() {
            return Some(others);
        }
        let seen = self.inspect(others).await?;
        let now = self.now();
        let against = seen.peers.iter().filter(outside);
        let against = against.filter(|peer| stands(peer, began, now, suspect_after));
        Some(against.map(|peer| peer.id).collect())
    }
}

async fn follow(group: Group, mut veto: impl Veto, changes: watch::Sender<Activity>) {
    let waiting = |for_nodes: NodeSet| drop(changes.send_replace(Activity::Waiting { for_nodes }));
    let mut roles = group.roles();
    while let Some(role) = roles.next().await {
        let Role::Leader(lead) = role else { continue };
        waiting(NodeSet::new());
        if group.waits_for_others(&lead, |others| waiting(others.clone())).await {
            waiting(NodeSet::new());
            let verdict = veto.judge(&lead).await;
            match verdict {
                // The leadership was over meanwhile.
                Verdict::Permit | Verdict::Refuse if !lead.is_leading() => {}
                Verdict::Permit => {
                    let current = group.role();
                    let current = current.lead().unwrap_or(&lead);
                    changes.send_replace(Activity::Active(current.clone()));
                    group.tell_acting(current.group_number());
                    lead_on(&group, &lead, &mut roles, &changes).await;
                }
                Verdict::Refuse => {
                    group.object(Objection::Gate);
                    lead.lost().await;
                    changes.send_replace(Activity::Standby);
                    veto.relents().await;
                    group.lift(Objection::Gate);
                }
            }
        }
        changes.send_replace(Activity::Standby);
    }
}

/// Waits until a leadership is over, and shows the groups that the leader forms meanwhile. Their
/// members are told that it acts, since some of them may have joined just then.
async fn lead_on(group: &Group, lead: &Lead, roles: &mut Roles, changes: &watch::Sender<Activity>) {
    loop {
        tokio::select! {
            biased;
            () = lead.lost() => return,
            role = roles.next() => match role {
                Some(Role::Leader(later)) if lead.is_leading() => {
                    let number = later.group_number();
                    changes.send_replace(Activity::Active(later));
                    group.tell_acting(number);
                }
                Some(Role::Leader(_) | Role::Member(_) | Role::Suspended(_)) => {}
                None => return,
            },
        }
    }
}

/// Whether a peer may be there: it refuses this node with the right key, or its port refused no
/// connection and it was heard, or has not yet had the time to be.
fn stands(peer: &PeerView, began: Time, now: Time, suspect_after: Duration) -> bool {
    if peer.refusal.is_some() {
        return true;
    }
    let since = peer.heard.map_or(began, |heard| heard.max(began));
    !peer.is_refused && now < since + suspect_after
}

/// How often a leader looks while it waits for a silent peer to be silent for long enough.
const LOOKS: u32 = 8;
