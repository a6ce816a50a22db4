//! The peer groups of a run, computed from the header of its trace.

use std::sync::Arc;
use std::time::Duration;

use tanist_core::election::Algorithm;
use tanist_core::membership::Hierarchy;
use tanist_core::options::Options;
use tanist_core::timing::TimingConfig;
use tanist_core::trace::{Header, SuperPeerStatus};
use tanist_core::{GroupConfig, GroupSettings, Membership, NodeId, NodeSet, Timing};

use crate::observe::global_state::{GlobalState, NodeView};

/// The peer groups and their hierarchy.
#[derive(Clone)]
pub(crate) struct Peers {
    pub(super) hierarchy: Arc<Hierarchy>,
    pub(super) options: Options,
}

impl Peers {
    /// None if the trace is of another algorithm, or of options that make no groups.
    pub(crate) fn of(header: &Header) -> Option<Self> {
        let members = Membership::new(header.nodes.iter().copied()).ok()?;
        let mut options = Options::default();
        for option in &header.options {
            let (name, value) = option.split_once('=')?;
            options.set(Algorithm::SuperPeer, name, value).ok()?;
        }
        // Groups do not depend on the timing.
        let timing = TimingConfig::bounded_by(Duration::from_millis(1), Duration::ZERO);
        let usual = GroupSettings::new(Algorithm::SuperPeer, Timing::new(timing).ok()?);
        let config = GroupConfig::new(GroupSettings { options, ..usual }).ok()?;
        let members = members.with_labels(header.labels.iter().copied());
        let hierarchy = Arc::new(Hierarchy::new(&config, &members).ok()?);
        Some(Self { hierarchy, options })
    }

    /// The algorithm inside the groups.
    pub(crate) fn inner(&self) -> Algorithm {
        self.options.super_peer.inner.algorithm()
    }

    /// The members of a node's peer group, itself included.
    pub(super) fn home(&self, node: NodeId) -> NodeSet {
        let group = self.hierarchy.place(node, 0);
        let peers = group.and_then(|group| self.hierarchy.peers(group));
        peers.map_or_else(NodeSet::new, members)
    }

    /// The live nodes of a peer group.
    pub(super) fn live<'a>(
        &'a self,
        global: &'a GlobalState,
        group: usize,
    ) -> impl Iterator<Item = &'a NodeView> + 'a {
        let all = self.hierarchy.peers(group).into_iter().flat_map(|peers| peers.all());
        all.filter_map(|member| global.view(member.id)).filter(|view| view.is_up)
    }
}

/// The super-peers that a node knows, and its seats.
pub(super) fn peerage(view: &NodeView) -> Option<&SuperPeerStatus> {
    view.state.super_peer.as_deref()
}

fn members(peers: &Membership) -> NodeSet {
    peers.all().iter().map(|member| member.id).collect()
}
