//! What the driver shows to all holders of a [`crate::Group`].

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, SystemTime};

use futures_core::Stream;
use serde::Serialize;
use tanist_core::membership::NodeNames;
use tanist_core::trace::{NodeState, SuperPeerStatus};
use tanist_core::{GroupConfig, Membership, NodeId, NodeSet, Phase, Time};

use crate::clock::Clock;
use crate::follower::{self, Follower, Queue};
use crate::role::{Role, RoleKind, Suspension, View, Why, as_text};

/// The one place where the current role is kept.
///
/// The driver shares the lock with every client, so nothing is built, copied or freed while it is
/// held: the driver exchanges one pointer, and a reader copies one.
#[derive(Debug)]
pub(crate) struct Shared {
    inner: Mutex<Inner>,
    clock: Clock,
}

#[derive(Debug)]
struct Inner {
    current: Arc<Current>,
    /// What the next change is shown with.
    signs: Arc<[PeerSign]>,
    followers: Vec<Follower>,
    is_over: bool,
}

/// What the node is. Never changed: the driver puts another one in its place.
#[derive(Clone, Debug)]
struct Current {
    change: Arc<Change>,
    phase: Phase,
    super_peer: Option<SuperPeerStatus>,
}

impl Shared {
    /// A node that is starting.
    pub(crate) fn new(clock: Clock) -> Self {
        let role = Role::Suspended(Suspension { why: Why::Starting, left: None });
        let (at, when, peers) = (clock.now(), clock.wall(), Arc::default());
        let change = Change { index: 0, at, when, role, peers };
        let current = Current { change: Arc::new(change), phase: Phase::Down, super_peer: None };
        let (current, signs) = (Arc::new(current), Arc::default());
        let inner = Inner { current, signs, followers: Vec::new(), is_over: false };
        Self { inner: Mutex::new(inner), clock }
    }

    /// The clock that the node goes by.
    pub(crate) const fn clock(&self) -> &Clock {
        &self.clock
    }

    /// Notes what the node knows of its peers, which the next change is shown with.
    pub(crate) fn note_signs(&self, signs: Arc<[PeerSign]>) {
        let before = std::mem::replace(&mut self.lock().signs, signs);
        // Freed after the lock.
        drop(before);
    }

    /// Shows a new role to all readers. Only the driver does, so no other change comes between.
    pub(crate) fn publish(&self, role: Role) {
        let old = self.current();
        let index = old.change.index + 1;
        let peers = Arc::clone(&self.lock().signs);
        let (at, when) = (self.clock.now(), self.clock.wall());
        let change = Change { index, at, when, role, peers };
        let change = Arc::new(change);
        let current = Current { change: Arc::clone(&change), ..Current::clone(&old) };
        let current = Arc::new(current);
        let mut inner = self.lock();
        inner.current = current;
        inner.followers.retain(|follower| follower.push(Arc::clone(&change)));
        // `old` is freed after the lock.
        drop(inner);
    }

    /// Shows where in an election the node is, and what it is above its own group.
    pub(crate) fn show_state(&self, state: &NodeState) {
        let old = self.current();
        let change = Arc::clone(&old.change);
        let super_peer = state.super_peer.as_deref().cloned();
        let current = Arc::new(Current { change, phase: state.status, super_peer });
        self.lock().current = current;
    }

    /// The last role of all: streams end after it.
    pub(crate) fn end(&self) {
        let left = self.role().view().cloned();
        self.publish(Role::Suspended(Suspension { why: Why::Stopped, left }));
        let old = self.current();
        let current = Arc::new(Current { phase: Phase::Down, ..Current::clone(&old) });
        let mut inner = self.lock();
        inner.current = current;
        inner.is_over = true;
        inner.followers.clear();
    }

    /// The current role.
    pub(crate) fn role(&self) -> Role {
        self.current().change.role.clone()
    }

    /// Counts the roles that the node has had.
    pub(crate) fn index(&self) -> u64 {
        self.current().change.index
    }

    /// The current role and every later one.
    pub(crate) fn follow(&self) -> Changes {
        let (follower, changes) = follower::queue();
        let mut inner = self.lock();
        // The reader's end is in our hands, so it takes the role.
        let _ = follower.push(Arc::clone(&inner.current.change));
        if !inner.is_over {
            inner.followers.push(follower);
        }
        Changes { changes }
    }

    /// The state in the form that `tanist status` shows.
    pub(crate) fn status(&self, identity: &Identity) -> Status {
        let current = self.current();
        let change = &current.change;
        Status {
            group: identity.group.to_string(),
            node: identity.me,
            algorithm: identity.algorithm,
            peers_version: identity.peers_version,
            role: change.role.kind(),
            phase: current.phase,
            view: change.role.view().cloned(),
            super_peer: current.super_peer.clone(),
            index: change.index,
            since: change.when,
        }
    }

    fn current(&self) -> Arc<Current> {
        Arc::clone(&self.lock().current)
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // No holder can panic: every change above is a plain assignment.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What of a node never changes.
#[derive(Clone, Debug)]
pub(crate) struct Identity {
    pub(crate) group: Arc<str>,
    pub(crate) me: NodeId,
    pub(crate) names: Arc<NodeNames>,
    pub(crate) algorithm: &'static str,
    pub(crate) peers_version: u32,
    /// S: a node that was silent for this long is suspected.
    pub(crate) suspect_after: Duration,
    /// Its own group, where a hierarchy says who can be in it.
    pub(crate) peer_group: Option<NodeSet>,
    /// How many levels of groups there are.
    pub(crate) levels: usize,
}

impl Identity {
    pub(crate) fn new(
        group: &Arc<str>,
        me: NodeId,
        config: &GroupConfig,
        members: &Membership,
    ) -> Self {
        Self {
            group: Arc::clone(group),
            me,
            names: Arc::clone(members.names()),
            algorithm: config.algorithm().name(),
            peers_version: members.version().0,
            suspect_after: config.timing().suspect_after(),
            peer_group: members.hierarchy().map(|_| members.peer_group(me).others(me).collect()),
            levels: members.hierarchy().map_or(1, |all| all.depth()),
        }
    }
}

/// A role that a node took, and when.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Change {
    /// Counts the node's roles since it started.
    pub index: u64,
    /// When, by the boot-time clock, which all processes of one machine share.
    pub at: Time,
    /// When, by the wall clock.
    pub when: SystemTime,
    /// The role.
    pub role: Role,
    /// What the node knew of its peers when it took it; none before its first group.
    pub peers: Arc<[PeerSign]>,
}

/// The last that a node knew of a peer when its own role changed: why a lost node counts as lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PeerSign {
    /// Which peer.
    pub peer: NodeId,
    /// When something came from it last, by the boot-time clock.
    pub heard: Option<Time>,
    /// Whether the last connection to it was refused: no process listens there.
    pub is_refused: bool,
}

/// What a node becomes, one change after the other. The first is what it is now.
///
/// A reader that falls behind gets changes late, not fewer, up to 1024 of them. For one that is
/// further behind the oldest are dropped; [`Change::index`] then leaves out as many numbers. It is
/// a [`Stream`] too.
#[derive(Debug)]
pub struct Changes {
    changes: Arc<Queue>,
}

impl Changes {
    /// The next change; none when the node has stopped.
    pub async fn next(&mut self) -> Option<Change> {
        poll_fn(|cx| Pin::new(&mut *self).poll_next(cx)).await
    }
}

impl Stream for Changes {
    type Item = Change;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Change>> {
        self.changes.poll_next(cx).map(|change| change.map(Arc::unwrap_or_clone))
    }
}

/// The roles of a node: [`Changes`] without the times.
#[derive(Debug)]
pub struct Roles {
    changes: Changes,
}

impl Roles {
    pub(crate) const fn new(changes: Changes) -> Self {
        Self { changes }
    }

    /// The next role; none when the node has stopped.
    pub async fn next(&mut self) -> Option<Role> {
        self.changes.next().await.map(|change| change.role)
    }
}

impl Stream for Roles {
    type Item = Role;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Role>> {
        Pin::new(&mut self.changes).poll_next(cx).map(|next| next.map(|change| change.role))
    }
}

/// A node at a glance.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Status {
    /// The name of the group of processes, as configured.
    pub group: String,
    /// This node.
    #[serde(serialize_with = "as_text")]
    pub node: NodeId,
    /// The algorithm that elects.
    pub algorithm: &'static str,
    /// Which version of the list of peers the node has.
    pub peers_version: u32,
    /// What it is in its group.
    pub role: RoleKind,
    /// Where it is between two groups: the textbook's status variable.
    pub phase: Phase,
    /// The group that the node is in, or was in last.
    pub view: Option<View>,
    /// Whom it takes for its super-peers, and what it is above its own group, where there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub super_peer: Option<SuperPeerStatus>,
    /// How many roles the node has had since it started.
    pub index: u64,
    /// When it took this one, by the wall clock.
    #[serde(serialize_with = "as_milliseconds")]
    pub since: SystemTime,
}

fn as_milliseconds<S: serde::Serializer>(time: &SystemTime, to: S) -> Result<S::Ok, S::Error> {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    to.serialize_u64(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_stream_begins_with_the_current_role_and_leaves_none_out() {
        let shared = Shared::new(Clock::Machine);
        let mut early = shared.follow();
        let suspended = |why| Role::Suspended(Suspension { why, left: None });
        shared.publish(suspended(Why::Election));
        let mut late = shared.follow();
        shared.end();
        let names = async |roles: &mut Changes| {
            let mut names = Vec::new();
            while let Some(change) = roles.next().await {
                names.push(change.role.to_string());
            }
            names
        };
        let (up, election, ended) = ("starts", "is in an election", "has stopped");
        assert_eq!(names(&mut early).await, [up, election, ended]);
        assert_eq!(names(&mut late).await, [election, ended]);
        assert_eq!(names(&mut shared.follow()).await, [ended]);
    }

    #[tokio::test]
    async fn a_reader_that_stops_reading_costs_a_bounded_number_of_changes() {
        let shared = Shared::new(Clock::Machine);
        let mut slow = shared.follow();
        let count = 3 * follower::WAITING_MAX as u64;
        for _ in 0..count {
            shared.publish(Role::Suspended(Suspension { why: Why::Election, left: None }));
        }
        shared.end();
        let mut seen = Vec::new();
        while let Some(change) = slow.next().await {
            seen.push(change.index);
        }
        assert_eq!(seen.len(), follower::WAITING_MAX);
        assert_eq!(seen.last(), Some(&(count + 1)), "the newest is the last to be dropped");
        assert!(seen.windows(2).all(|pair| pair[0] + 1 == pair[1]), "the rest is in order");
    }
}
