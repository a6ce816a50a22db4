//! Nodes of one group, each of which can be started, dropped and started again.

use std::fs;
use std::future::Future;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use tanist::{Algorithm, Builder, Group, GroupKey, NodeId, NodeSet, Preempt, Role, Timing, View};
use tempfile::TempDir;

use super::addresses::Host;

/// Long enough for a loaded machine; a test that waits so long has failed.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// What the nodes of a group have in common.
pub(crate) struct Fleet {
    pub(crate) algorithm: Algorithm,
    pub(crate) timing: Timing,
    preempt: Preempt,
    nodes: u32,
    host: Host,
    key: GroupKey,
    directory: TempDir,
}

impl Fleet {
    pub(crate) fn new(nodes: u32) -> Self {
        Self {
            algorithm: Algorithm::Invitation,
            timing: quick(),
            preempt: Preempt::Never,
            nodes,
            host: Host::claim(),
            key: GroupKey::generate().unwrap(),
            directory: tempfile::tempdir().unwrap(),
        }
    }

    /// Nodes that do not suspect a peer on a busy machine; the highest of them leads.
    pub(crate) fn unhurried(nodes: u32) -> Self {
        let bound = ms(250);
        let timing = Timing::bounded_by(bound, bound)
            .heartbeat(ms(100))
            .suspect_after(ms(10_000))
            .check_every(ms(300));
        let (algorithm, preempt) = (Algorithm::Bully, Preempt::Always);
        Self { algorithm, timing, preempt, ..Self::new(nodes) }
    }

    pub(crate) fn builder(&self, node: u32) -> Builder {
        let peers = (1..=self.nodes).map(|peer| format!("n{peer}={}", self.address(peer)));
        Group::builder("jobs")
            .node(format!("n{node}"))
            .peers(peers)
            .algorithm(self.algorithm)
            .timing(self.timing)
            .preempt(self.preempt)
            .key(self.key.clone())
            .data_dir(self.data_dir(node))
    }

    pub(crate) async fn start(&self, node: u32) -> Group {
        self.builder(node).start().await.unwrap()
    }

    pub(crate) async fn start_all(&self) -> Vec<Group> {
        let mut groups = Vec::new();
        for node in 1..=self.nodes {
            groups.push(self.start(node).await);
        }
        groups
    }

    pub(crate) fn address(&self, node: u32) -> SocketAddr {
        self.host.port(7400 + u16::try_from(node).unwrap())
    }

    pub(crate) fn data_dir(&self, node: u32) -> PathBuf {
        self.directory.path().join(format!("n{node}"))
    }

    /// Removes the directory of a running node: every later write fails, for root as well.
    pub(crate) fn lose_disk(&self, node: u32) {
        fs::remove_dir_all(self.data_dir(node)).unwrap();
    }
}

/// Waits for a condition; a test that waits too long has failed.
pub(crate) async fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    within(what, async {
        loop {
            if let Some(seen) = look() {
                return seen;
            }
            tokio::time::sleep(ms(5)).await;
        }
    })
    .await
}

/// Waits for a future, within the same limit.
pub(crate) async fn within<T>(what: &str, coming: impl Future<Output = T>) -> T {
    match tokio::time::timeout(PATIENCE, coming).await {
        Ok(come) => come,
        Err(_) => panic!("not within {PATIENCE:?}: {what}"),
    }
}

/// Waits until these nodes, and no others, are one group, and returns the leader's view of it.
pub(crate) async fn agreement(groups: &[Group]) -> View {
    let all: NodeSet = groups.iter().map(Group::me).collect();
    let mut seen = String::new();
    let look = || {
        let roles: Vec<Role> = groups.iter().map(Group::role).collect();
        seen = format!("{roles:?}");
        let is_in = |role: &Role| !matches!(role, Role::Suspended(_));
        let view = roles.iter().find(|role| role.is_leader())?.view()?.clone();
        let agree = roles.iter().all(|role| {
            is_in(role) && role.view().is_some_and(|own| own.group_number() == view.group_number())
        });
        (agree && *view.members() == all).then_some(view)
    };
    until(&format!("agreement of {all}"), look).await
}

/// Takes the leader out of these nodes.
pub(crate) fn take_leader(groups: &mut Vec<Group>, view: &View) -> Group {
    let at = groups.iter().position(|group| group.me() == view.coordinator()).unwrap();
    groups.remove(at)
}

pub(crate) fn node(id: u32) -> NodeId {
    NodeId(id)
}

pub(crate) const fn ms(count: u64) -> Duration {
    Duration::from_millis(count)
}

fn quick() -> Timing {
    Timing::bounded_by(ms(40), ms(40)).heartbeat(ms(50)).suspect_after(ms(400)).check_every(ms(300))
}
