//! Whether anybody stands against a leader: a node that it can reach and that is not in its group.
//!
//! A group number is unique, but nodes that have just come up may lead groups of their own until
//! they have met, and a node that is slow to stop is left out of the next group for a while. Whoever
//! must not do the same work twice waits until neither is the case. A leader that has begun goes on:
//! newcomers wait for it.
//!
//! Assumes that a refused connection means that nobody is there, and that a node which answers
//! nothing for as long as the detector is patient is dead or cut off. So across a cut both sides
//! begin; that is what a group without a majority rule promises.

use std::time::Duration;

use tanist_core::{NodeSet, Time};

use crate::clock;
use crate::group::Group;
use crate::lead::Lead;
use crate::transport::PeerView;

impl Group {
    /// Waits until nobody whom this node can reach is outside the group that it leads. False: the
    /// term was over before that.
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
        let patience = self.patience();
        let began = clock::now();
        let mut told = NodeSet::new();
        loop {
            let Some(opposed) = self.opposed_by(lead, began, patience).await else { return false };
            if opposed.is_empty() {
                return lead.is_leading();
            }
            if opposed != told {
                tracing::info!(
                    "elected but not active: {opposed} may be reachable and not in this group"
                );
                told = opposed;
            }
            if !lead.sleep(patience / LOOKS).await.is_leading() {
                return false;
            }
        }
    }

    /// Who is reachable, or not known to be unreachable, and not in the group. None: the node has
    /// ended.
    async fn opposed_by(&self, lead: &Lead, began: Time, patience: Duration) -> Option<NodeSet> {
        let members = lead.view().members();
        let seen = self.meter().await?;
        // Whoever said farewell had stopped before, and does nothing until it is heard again.
        let farewells = self.farewells();
        // Nobody of another group of a hierarchy can be meant to be in this one.
        let outside = |peer: &&PeerView| {
            let (is_in, has_left) = (members.contains(peer.id), farewells.contains(&peer.id));
            self.is_fellow(peer.id) && !is_in && !has_left
        };
        let others: NodeSet = seen.peers.iter().filter(outside).map(|peer| peer.id).collect();
        if others.is_empty() {
            return Some(others);
        }
        let seen = self.inspect(others).await?;
        let now = clock::now();
        let against = seen.peers.iter().filter(outside);
        let against = against.filter(|peer| stands(peer, began, now, patience));
        Some(against.map(|peer| peer.id).collect())
    }
}

/// Whether a peer may be there: it refuses this node with the right key, or its port refused no
/// connection and it was heard, or has not yet had the time to be.
fn stands(peer: &PeerView, began: Time, now: Time, patience: Duration) -> bool {
    if peer.refusal.is_some() {
        return true;
    }
    let since = peer.heard.map_or(began, |heard| heard.max(began));
    !peer.is_refused && now < since + patience
}

/// How often a leader looks while it waits for a silent peer to be silent for long enough.
const LOOKS: u32 = 8;
