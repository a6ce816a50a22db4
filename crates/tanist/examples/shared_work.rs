//! Work that a group shares, through a cut network and together again: nothing is lost, and nothing
//! is counted twice.
//!
//! ```text
//! cargo run --example shared_work          # four nodes in one process; ends by itself
//! ```
//!
//! Pieces of work are numbers. Whenever the group re-forms, every node reports what it knows to be
//! done, and the coordinator shares out what is left. The two halves of a cut group both go on with
//! all that is left; a piece that both have done counts once when they meet again.

#![allow(clippy::print_stdout, reason = "an example talks to the person who runs it")]

mod local;

use std::collections::BTreeMap;
use std::error::Error;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use local::Place;
use tanist::{Group, GroupTask, NodeId, Reports, Role, View};
use tokio::task::JoinHandle;

const PIECES: u32 = 1200;
const PIECE: Duration = Duration::from_millis(10);

/// Pieces that are done, each with the node whose result counts.
type Done = BTreeMap<u32, NodeId>;

/// What this node knows to be done; the example looks at it from outside.
#[derive(Clone, Default)]
struct Ledger {
    done: Arc<Mutex<Done>>,
    /// How many pieces this node itself did, whether they count or not.
    own: Arc<AtomicU32>,
}

impl Ledger {
    fn lock(&self) -> MutexGuard<'_, Done> {
        self.done.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One node's part in the work.
struct Work {
    ledger: Ledger,
    worker: Option<JoinHandle<()>>,
}

impl GroupTask for Work {
    type Report = Done;
    type Plan = (Done, BTreeMap<NodeId, Vec<u32>>);

    async fn stop(&mut self, _: &View) -> Done {
        if let Some(worker) = self.worker.take() {
            worker.abort();
            // Only when it is really gone nothing more is done.
            let _ = worker.await;
        }
        self.ledger.lock().clone()
    }

    async fn plan(&mut self, view: &View, reports: Reports<Done>) -> Self::Plan {
        let done = merged(reports.into_values());
        let left: Vec<u32> = (1..=PIECES).filter(|piece| !done.contains_key(piece)).collect();
        println!("{} plans {} pieces for {}", view.me(), left.len(), view.members());
        let share = left.len().div_ceil(view.members().len()).max(1);
        let shares = view.members().iter().zip(left.chunks(share).map(<[u32]>::to_vec));
        (done, shares.collect())
    }

    async fn start(&mut self, view: &View, (done, mut shares): Self::Plan) {
        let (me, mine) = (view.me(), shares.remove(&view.me()).unwrap_or_default());
        *self.ledger.lock() = done;
        let ledger = self.ledger.clone();
        self.worker = Some(tokio::spawn(async move {
            for piece in mine {
                tokio::time::sleep(PIECE).await;
                ledger.lock().insert(piece, me);
                ledger.own.fetch_add(1, Ordering::Relaxed);
            }
        }));
    }
}

/// Waits until a node is in a group of so many.
async fn in_group_of(members: usize, group: &Group) -> Result<(), Box<dyn Error>> {
    let mut roles = group.roles();
    while let Some(role) = roles.next().await {
        if let Role::Leader(_) | Role::Member(_) = role
            && role.view().is_some_and(|view| view.members().len() == members)
        {
            return Ok(());
        }
    }
    Err("a node has stopped".into())
}

/// What several nodes know together. A piece that was done on both sides of a cut counts once.
fn merged(known: impl IntoIterator<Item = Done>) -> Done {
    let mut done = Done::new();
    for (piece, node) in known.into_iter().flatten() {
        done.entry(piece).or_insert(node);
    }
    done
}

fn combined(ledgers: &[Ledger]) -> Done {
    merged(ledgers.iter().map(|ledger| ledger.lock().clone()))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let place = Place::fresh(4)?;
    let (mut groups, mut ledgers) = (Vec::new(), Vec::new());
    for node in ["n1", "n2", "n3", "n4"] {
        let ledger = Ledger::default();
        let work = Work { ledger: ledger.clone(), worker: None };
        groups.push(place.node("work", node).start_with(work).await?);
        ledgers.push(ledger);
    }
    local::gathered(&groups).await?;
    println!("all four work together");

    let ids: Vec<NodeId> = groups.iter().map(Group::me).collect();
    let (low, high) = ids.split_at(2);
    for group in &groups {
        group.cut(if low.contains(&group.me()) { high } else { low }.iter().copied());
    }
    for group in &groups {
        in_group_of(2, group).await?;
    }
    println!("the network is cut: two groups of two, and both go on with all that is left");
    tokio::time::sleep(PIECE * 40).await;

    for group in &groups {
        group.heal();
    }
    local::gathered(&groups).await?;
    println!("the network is mended, and all four work together again");
    while combined(&ledgers).len() < PIECES as usize {
        tokio::time::sleep(PIECE).await;
    }
    for group in groups {
        group.shutdown().await?;
    }
    let worked: u32 = ledgers.iter().map(|ledger| ledger.own.load(Ordering::Relaxed)).sum();
    let counted = combined(&ledgers).len();
    println!("{worked} pieces were worked on, some on both sides of the cut");
    println!("{counted} of {PIECES} pieces are done, each counted once");
    Ok(())
}
