//! Work for a local group to share: so many pieces, each done once in the end.
//!
//! Whenever the group re-forms, every node reports what it knows to be done, and the coordinator
//! shares out what is left. Two halves of a cut group both go on with all that is left; when they
//! meet again, a piece that both have done counts once.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tanist::{GroupTask, NodeId, Reports, View};
use tokio::task::JoinHandle;

/// How long a piece takes.
const PIECE: Duration = Duration::from_millis(10);

/// Pieces of work by their number, each with the node whose result counts.
pub(crate) type Done = BTreeMap<u32, NodeId>;

/// One node's part in the work.
#[derive(Debug)]
pub(crate) struct Work {
    pieces: u32,
    ledger: Arc<Ledger>,
    worker: Option<JoinHandle<()>>,
}

/// What is done, as far as this node knows.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    inner: Mutex<Progress>,
}

/// How far the work is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Progress {
    /// How many pieces there are.
    pub(crate) pieces: u32,
    /// What is done, and the node that did it first.
    pub(crate) done: Done,
    /// Pieces that were done on both sides of a cut, and counted once.
    #[serde(rename = "doubled")]
    pub(crate) duplicated: u32,
    /// Pieces that this process itself did.
    pub(crate) own: u32,
}

/// What a coordinator hands out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Shares {
    done: Done,
    #[serde(rename = "doubled")]
    duplicated: u32,
    shares: BTreeMap<NodeId, Vec<u32>>,
}

impl Ledger {
    /// How far the work is.
    pub(crate) fn progress(&self) -> Progress {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, Progress> {
        // No holder can panic.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Work {
    /// So many pieces, none of them done, and where to look how far they are.
    pub(crate) fn new(pieces: u32) -> (Self, Arc<Ledger>) {
        let ledger = Arc::new(Ledger::default());
        ledger.lock().pieces = pieces;
        (Self { pieces, ledger: Arc::clone(&ledger), worker: None }, ledger)
    }
}

impl GroupTask for Work {
    type Report = (Done, u32);
    type Plan = Shares;

    async fn stop(&mut self, _: &View) -> Self::Report {
        if let Some(worker) = self.worker.take() {
            worker.abort();
            // Only when it is really gone nothing more is done.
            let _ = worker.await;
        }
        let progress = self.ledger.lock();
        (progress.done.clone(), progress.duplicated)
    }

    async fn plan(&mut self, view: &View, reports: Reports<Self::Report>) -> Shares {
        let (done, duplicated) = combined(reports.into_values());
        let left: Vec<u32> = (1..=self.pieces).filter(|piece| !done.contains_key(piece)).collect();
        let share = left.len().div_ceil(view.members().len()).max(1);
        let shares = view.members().iter().zip(left.chunks(share).map(<[u32]>::to_vec));
        Shares { shares: shares.collect(), done, duplicated }
    }

    async fn start(&mut self, view: &View, plan: Shares) {
        let me = view.me();
        let mine = plan.shares.get(&me).cloned().unwrap_or_default();
        {
            let mut progress = self.ledger.lock();
            progress.done = plan.done;
            progress.duplicated = plan.duplicated;
        }
        let ledger = Arc::clone(&self.ledger);
        self.worker = Some(tokio::spawn(async move {
            for piece in mine {
                tokio::time::sleep(PIECE).await;
                let mut progress = ledger.lock();
                progress.done.insert(piece, me);
                progress.own += 1;
            }
        }));
    }
}

/// What several nodes know together. A piece that different nodes did counts once, for the lowest.
fn combined(reports: impl IntoIterator<Item = (Done, u32)>) -> (Done, u32) {
    let mut by_piece: BTreeMap<u32, BTreeSet<NodeId>> = BTreeMap::new();
    let mut duplicated = 0;
    for (done, known) in reports {
        duplicated = duplicated.max(known);
        for (piece, node) in done {
            by_piece.entry(piece).or_default().insert(node);
        }
    }
    let extra: usize = by_piece.values().map(|nodes| nodes.len() - 1).sum();
    duplicated += u32::try_from(extra).unwrap_or(u32::MAX);
    let first = |(piece, nodes): (u32, BTreeSet<NodeId>)| Some((piece, *nodes.first()?));
    (by_piece.into_iter().filter_map(first).collect(), duplicated)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_piece_that_both_sides_did_counts_once() {
        let one = (Done::from([(1, NodeId(1)), (2, NodeId(1))]), 0);
        let other = (Done::from([(2, NodeId(3)), (3, NodeId(3))]), 0);
        let (done, duplicated) = combined([one, other]);
        assert_eq!(done, Done::from([(1, NodeId(1)), (2, NodeId(1)), (3, NodeId(3))]));
        assert_eq!(duplicated, 1);
    }

    #[test]
    fn members_that_know_the_same_count_nothing_twice() {
        let same = || (Done::from([(1, NodeId(1)), (2, NodeId(2))]), 4);
        let (done, duplicated) = combined([same(), same()]);
        assert_eq!((done.len(), duplicated), (2, 4));
    }
}
