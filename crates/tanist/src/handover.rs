//! Handing over to a named node, and which leader acts, as far as this node was told.
//!
//! The rules are the core's (`policy/succession.rs` there). A leader tells all others when it
//! begins to act, so the node that handed over can tell how long no leader acted. Leaves out: a
//! leader that ends; the others notice that as ever.

use std::sync::Arc;

use tanist_core::policy::HandOverError;
use tanist_core::{GroupNumber, NodeId, Time};
use tokio::sync::{oneshot, watch};

use crate::driver::Request;
use crate::ended::NodeStopped;
use crate::error::StopOverdue;
use crate::group::Group;

/// A leader that acts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Acting {
    /// The leader.
    pub node: NodeId,
    /// The group that it leads.
    pub group_number: GroupNumber,
    /// When this node learnt of it, by [`crate::clock`].
    pub since: Time,
}

/// What the driver shows of it to the program.
#[derive(Clone, Debug, Default)]
pub(crate) struct ActingLeader {
    last: Arc<watch::Sender<Option<Acting>>>,
}

impl ActingLeader {
    pub(crate) fn note(&self, acting: Acting) {
        self.last.send_replace(Some(acting));
    }
}

impl Group {
    /// The node that this one, a leader, would hand over to: the named one, or the highest member
    /// of its group.
    ///
    /// # Errors
    /// If it cannot hand over, or not to that node, or has stopped.
    pub async fn successor(&self, to: Option<NodeId>) -> Result<NodeId, NotHandedOver> {
        let (reply, done) = oneshot::channel();
        // A node that has stopped drops the request, and with it the reply.
        let _ = self.requests.send(Request::Successor { to, reply });
        match done.await {
            Ok(successor) => Ok(successor?),
            Err(_) => Err(self.why_stopped().await.into()),
        }
    }

    /// Hands over to a member of the group that this node leads: stops the application here, tells
    /// the others, and rejoins by itself when the named node must have formed its group.
    ///
    /// Resolves when this node has withdrawn. It does not wait for the next leader;
    /// [`Group::acting_after`] tells when that acts.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let scratch = tempfile::tempdir()?;
    /// # let address = std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?;
    /// # let group = tanist::Group::builder("doc").node("n1").peers([format!("n1={address}")])
    /// #     .data_dir(scratch.path()).key(tanist::GroupKey::generate()?).start().await?;
    /// group.leading().await?;
    /// let alone = group.hand_over(tanist::NodeId(2)).await.unwrap_err();
    /// assert_eq!(alone.to_string(), "n2 is not in the peer list; nothing was done");
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// If it cannot hand over, or not to that node, or has stopped.
    pub async fn hand_over(&self, to: NodeId) -> Result<(), NotHandedOver> {
        let (reply, checked) = oneshot::channel();
        let (withdrawn, done) = oneshot::channel();
        // A node that has stopped drops the request, and with it the replies.
        let _ = self.requests.send(Request::HandOver { to, reply, withdrawn });
        match checked.await {
            Ok(is_possible) => is_possible?,
            Err(_) => return Err(self.why_stopped().await.into()),
        }
        match done.await {
            Ok(withdrawn) => Ok(withdrawn?),
            Err(_) => Err(self.why_stopped().await.into()),
        }
    }

    /// The leader of which this node was told last that it acts, this node included. It may have
    /// ended since.
    #[must_use]
    pub fn last_acting(&self) -> Option<Acting> {
        *self.control.acting().last.borrow()
    }

    /// Waits until this node is told that a leader acts, other than what it was told last before:
    /// give what [`Group::last_acting`] returned then.
    ///
    /// # Errors
    /// If the node ends first.
    pub async fn acting_after(&self, before: Option<Acting>) -> Result<Acting, NodeStopped> {
        let mut last = self.control.acting().last.subscribe();
        let is_later = |acting: &Option<Acting>| acting.is_some() && *acting != before;
        let later = async { last.wait_for(is_later).await.ok().and_then(|acting| *acting) };
        let acting = tokio::select! {
            biased;
            acting = later => acting,
            _ = self.ended() => None,
        };
        match acting {
            Some(acting) => Ok(acting),
            None => Err(self.why_stopped().await),
        }
    }

    /// Tells all others that this node acts as the leader of a group.
    pub(crate) fn tell_acting(&self, group: GroupNumber) {
        // A node that has stopped acts no more.
        let _ = self.requests.send(Request::Acting(group));
    }
}

/// Why a leader did not hand over.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NotHandedOver {
    /// It cannot, or not to that node.
    #[error(transparent)]
    Refused(#[from] HandOverError),
    /// Its application has not stopped in time. The group goes on without the node.
    #[error(transparent)]
    Overdue(#[from] StopOverdue),
    /// The node has stopped.
    #[error(transparent)]
    Stopped(#[from] NodeStopped),
}
