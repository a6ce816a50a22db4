//! Jobs of leaders: one at a time, cancelled when the leadership ends, and waited for.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use tanist::{Algorithm, Group, Role};

use crate::support::fleet::{Fleet, agreement, ms, node, take_leader, until, within};

/// How many jobs run, and how many ever ran at once.
#[derive(Default)]
pub(crate) struct Count {
    running: AtomicUsize,
    most: AtomicUsize,
    begun: AtomicU64,
    dropped: AtomicU64,
}

impl Count {
    pub(crate) fn begun(&self) -> u64 {
        self.begun.load(Ordering::SeqCst)
    }

    pub(crate) fn most(&self) -> usize {
        self.most.load(Ordering::SeqCst)
    }
}

/// A job that is running.
struct Running(Arc<Count>);

impl Running {
    fn begin(count: &Arc<Count>) -> Self {
        count.begun.fetch_add(1, Ordering::SeqCst);
        let now = count.running.fetch_add(1, Ordering::SeqCst) + 1;
        count.most.fetch_max(now, Ordering::SeqCst);
        Self(Arc::clone(count))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Ordering::SeqCst);
        self.0.dropped.fetch_add(1, Ordering::SeqCst);
    }
}

/// Runs a job that never ends by itself whenever this node leads.
pub(crate) fn work(group: &Group, count: &Arc<Count>, grace: Duration) {
    let (group, count) = (group.clone(), Arc::clone(count));
    tokio::spawn(async move {
        // A closure that makes futures, since one that lends to them could not be spawned.
        let job = move |_| {
            let running = Running::begin(&count);
            async move {
                let _running = running;
                std::future::pending::<()>().await;
            }
        };
        // It ends with its node.
        let _ = group.while_leader(grace, job).await;
    });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn jobs_of_leaders_never_overlap_over_many_elections() {
    one_job_over_many_elections(&Fleet::unhurried(3)).await;
}

/// Nodes that start lead groups of their own at first; no job may begin there.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn jobs_never_overlap_where_every_node_begins_as_a_leader() {
    let mut fleet = Fleet::unhurried(3);
    fleet.algorithm = Algorithm::Invitation;
    one_job_over_many_elections(&fleet).await;
}

async fn one_job_over_many_elections(fleet: &Fleet) {
    let count = Arc::new(Count::default());
    let mut groups = fleet.start_all().await;
    groups.iter().for_each(|group| work(group, &count, ms(30)));
    for round in 0..4 {
        let view = agreement(&groups).await;
        let begun = count.begun();
        until("a job", || (count.running.load(Ordering::SeqCst) == 1).then_some(())).await;
        let leader = take_leader(&mut groups, &view);
        let id = leader.me().0;
        leader.shutdown().await.unwrap();
        let view = agreement(&groups).await;
        assert_ne!(view.coordinator(), node(id), "round {round}");
        until("the next job", || (count.begun() > begun).then_some(())).await;
        groups.push(fleet.start(id).await);
        work(groups.last().unwrap(), &count, ms(30));
    }
    agreement(&groups).await;
    assert_eq!(count.most(), 1, "two jobs ran at once");
    assert!(count.dropped.load(Ordering::SeqCst) >= 4, "jobs are cancelled when their term ends");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_job_has_its_grace_and_the_next_group_waits_for_it() {
    let fleet = Fleet::unhurried(3);
    let mut groups = vec![fleet.start(1).await, fleet.start(2).await];
    until("n2 leads", || groups[1].role().is_leader().then_some(())).await;
    let (told, lost) = tokio::sync::oneshot::channel();
    let (finish, finished) = tokio::sync::oneshot::channel::<()>();
    let worker = groups[1].clone();
    let mut channels = Some((told, finished));
    let job = tokio::spawn(async move {
        let job = move |lead: tanist::Lead| {
            let channels = channels.take();
            async move {
                let Some((told, finished)) = channels else { return };
                lead.lost().await;
                told.send(()).unwrap();
                finished.await.unwrap();
            }
        };
        worker.while_leader(crate::support::fleet::PATIENCE, job).await
    });
    let mut roles = groups[1].roles();
    // A higher node starts and halts the lower leader, whose job takes a while to end.
    groups.push(fleet.start(3).await);
    within("the end of the term", lost).await.unwrap();
    loop {
        let role = within("suspension", roles.next()).await.unwrap();
        if matches!(role, Role::Suspended(_)) {
            break;
        }
    }
    let is_in = |group: &Group| !matches!(group.role(), Role::Suspended(_));
    assert!(!is_in(&groups[1]), "it is in no group before its job has ended");
    finish.send(()).unwrap();
    agreement(&groups).await;
    groups.into_iter().for_each(drop);
    job.abort();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_held_guard_keeps_its_node_out_of_the_next_group() {
    let fleet = Fleet::unhurried(3);
    let mut groups = vec![fleet.start(1).await, fleet.start(2).await];
    let lead = within("leading", groups[1].leading()).await.unwrap();
    let guard = lead.guard().expect("it leads");
    groups.push(fleet.start(3).await);
    within("the end of the term", lead.lost()).await;
    assert!(!lead.is_leading() && lead.guard().is_none());
    // Left out at first, since it may not answer; accepted when it does.
    until("n3 leads", || groups[2].role().is_leader().then_some(())).await;
    let members = groups[2].role().view().unwrap().members().clone();
    assert!(!members.contains(node(2)), "{members}");
    drop(guard);
    agreement(&groups).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_is_shut_down_during_an_election_still_waits_for_its_guard() {
    let fleet = Fleet::unhurried(3);
    let mut groups = vec![fleet.start(1).await, fleet.start(2).await];
    let lead = within("leading", groups[1].leading()).await.unwrap();
    let guard = lead.guard().expect("it leads");
    groups.push(fleet.start(3).await);
    within("the end of the term", lead.lost()).await;
    let leaving = groups.remove(1);
    let left = tokio::spawn(leaving.shutdown());
    until("n3 leads without it", || groups[1].role().is_leader().then_some(())).await;
    assert!(!left.is_finished(), "the node left while its guard was held");
    drop(guard);
    within("the shutdown", left).await.unwrap().unwrap();
}

/// What people write first compiles without a type in it, also in a task that is spawned.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_job_is_written_without_types() {
    let fleet = Fleet::new(1);
    let group = fleet.start(1).await;
    let charged = Arc::new(AtomicU64::new(0));

    let job = group.while_leader(ms(30), |lead| async move { lead.is_leading() });
    assert_eq!(within("a future from a closure", job).await.unwrap(), Some(true));
    let job = group.while_leader(ms(30), async |lead| lead.is_leading());
    assert_eq!(within("an async closure", job).await.unwrap(), Some(true));

    let (spawned, count) = (group.clone(), Arc::clone(&charged));
    let job = tokio::spawn(async move {
        spawned
            .while_leader(ms(30), async |lead| {
                lead.sleep(ms(1)).await;
                count.fetch_add(1, Ordering::SeqCst)
            })
            .await
    });
    assert_eq!(within("a spawned one that borrows", job).await.unwrap().unwrap(), Some(0));

    let (spawned, count) = (group.clone(), Arc::clone(&charged));
    let job = tokio::spawn(async move {
        spawned
            .while_leader(ms(30), move |lead| {
                let count = Arc::clone(&count);
                async move {
                    lead.sleep(ms(1)).await;
                    count.fetch_add(1, Ordering::SeqCst)
                }
            })
            .await
    });
    assert_eq!(within("a spawned one that owns", job).await.unwrap().unwrap(), Some(1));
}
