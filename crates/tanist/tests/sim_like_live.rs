//! What happens to programs and tasks of simulated nodes where live ones go on or end.
#![allow(clippy::unwrap_used, reason = "a helper of a test may fail as the test itself may")]

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tanist::sim::{Idle, LeaderCheck, World};
use tanist::{Ended, Failure, Group, GroupTask, NodeId, Reports, Timing, View};

const fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// Worlds of tests that are meant to fail leave their pictures here.
const SCRATCH: &str = env!("CARGO_TARGET_TMPDIR");

/// Counts how often it was told to start.
struct Starts(u32);

impl GroupTask for Starts {
    type Report = ();
    type Plan = ();

    async fn stop(&mut self, _: &View) {}

    async fn plan(&mut self, _: &View, _: Reports<()>) {}

    async fn start(&mut self, _: &View, (): ()) {
        self.0 += 1;
    }
}

#[test]
fn a_program_and_its_task_live_through_a_step_down() {
    let begun = Arc::new(AtomicU32::new(0));
    let count = Arc::clone(&begun);
    let mut world = World::builder(7, 3)
        .save_to(SCRATCH)
        .program(move |group: Group| {
            count.fetch_add(1, Ordering::Relaxed);
            async move { drop(group.ended().await) }
        })
        .start(|_| Starts(0))
        .unwrap();
    world.run_until(World::is_one_group).unwrap();
    let before = world.task(3).unwrap().0;
    world.step_down(3, seconds(2));
    world.run_until(|world| world.is_withdrawn(3)).unwrap();
    world.run_until(|world| !world.is_withdrawn(3) && world.is_one_group()).unwrap();
    assert_eq!(begun.load(Ordering::Relaxed), 3, "one for each node");
    assert!(world.task(3).unwrap().0 > before, "the task is the one that it was");
}

#[test]
fn what_acts_through_a_step_down_is_still_known_to_act() {
    let check = LeaderCheck::strict();
    let checked = check.clone();
    let mut world = World::builder(7, 3)
        .save_to(SCRATCH)
        .check(&check)
        .program(move |group: Group| {
            let check = checked.clone();
            async move {
                let lead = group.leading().await.unwrap();
                if lead.view().me() == NodeId(3) {
                    // It holds no guard and does not look whether it still leads.
                    let _acting = check.acts(&lead);
                    group.ended().await.unwrap();
                }
                group.ended().await.unwrap();
            }
        })
        .start(|_| Idle)
        .unwrap();
    world.run_until(|_| check.acting() == [NodeId(3)]).unwrap();
    world.run_until(World::is_one_group).unwrap();
    world.step_down(3, seconds(1));
    world.run_until(|world| world.is_withdrawn(3)).unwrap();
    world.run_until(|world| !world.is_withdrawn(3) && world.is_one_group()).unwrap();
    assert_eq!(check.acting(), [NodeId(3)]);
}

#[test]
fn a_shutdown_whose_job_does_not_stop_ends_when_a_live_one_does() {
    let told = Arc::new(Mutex::new(None));
    let said = Arc::clone(&told);
    let mut world = World::<Idle>::builder(7, 3)
        .save_to(SCRATCH)
        .timing(Timing::default().stop_within(seconds(2)))
        .program(move |group: Group| {
            let said = Arc::clone(&said);
            async move {
                let lead = group.leading().await.unwrap();
                while lead.view().me() != NodeId(3) || !group.unopposed(&lead).await {
                    std::future::pending::<()>().await;
                }
                let _guard = lead.guard();
                let begin = tokio::time::Instant::now();
                let stopped = group.shutdown().await.unwrap_err();
                *said.lock().unwrap() = Some((begin.elapsed(), stopped));
            }
        })
        .start(|_| Idle)
        .unwrap();
    world.run_until(|_| told.lock().unwrap().is_some()).unwrap();
    let (after, stopped) = told.lock().unwrap().take().unwrap();
    assert_eq!(after, seconds(2));
    let Ended::Failed(failure) = &stopped.ended else { panic!("{stopped}") };
    assert!(matches!(**failure, Failure::Overdue(overdue) if overdue.what == "job"), "{stopped}");
    world.run_until(|world| !world.is_up(3) && world.is_one_group()).unwrap();
}
