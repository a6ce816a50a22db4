//! A task or a job that does not stop: the others elect without its node, and the caller is told.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tanist::{Group, GroupTask, Reports, View, WithdrawError};
use tokio::sync::Notify;

use crate::support::fleet::{Fleet, agreement, ms, take_leader, until, within};

/// Longer than any of these tests may take.
const LONG: std::time::Duration = ms(300_000);
/// How long the nodes of these tests wait for a task or a job to stop.
const LIMIT: std::time::Duration = ms(300);

/// Stops at once until it is told to hang, and then when it is released.
#[derive(Clone, Default)]
struct Switch {
    hangs: Arc<AtomicBool>,
    released: Arc<Notify>,
}

struct Hanging(Switch);

impl GroupTask for Hanging {
    type Report = ();
    type Plan = ();

    async fn stop(&mut self, _: &View) {
        if self.0.hangs.load(Ordering::Relaxed) {
            self.0.released.notified().await;
        }
    }

    async fn plan(&mut self, _: &View, _: Reports<()>) {}

    async fn start(&mut self, _: &View, (): ()) {}
}

/// Three nodes of which the leader's task does not stop any more, the leader, and its switch.
async fn led_by_one_that_hangs(fleet: &Fleet) -> (Vec<Group>, Group, Switch) {
    let (mut groups, mut switches) = (Vec::new(), Vec::new());
    for id in 1..=3 {
        let switch = Switch::default();
        let started = fleet.builder(id).stop_within(LIMIT).start_with(Hanging(switch.clone()));
        groups.push(started.await.unwrap());
        switches.push(switch);
    }
    let view = agreement(&groups).await;
    let leader = take_leader(&mut groups, &view);
    let switch = switches.swap_remove(usize::try_from(leader.me().0).unwrap() - 1);
    switch.hangs.store(true, Ordering::Relaxed);
    (groups, leader, switch)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_leader_whose_task_does_not_stop_is_left_out_and_withdraws_when_it_has() {
    let fleet = Fleet::new(3);
    let (mut groups, leader, switch) = led_by_one_that_hangs(&fleet).await;
    let told = within("the end of the wait", leader.step_down(ms(0))).await.unwrap_err();
    let WithdrawError::Overdue(overdue) = &told else { panic!("{told}") };
    assert_eq!((overdue.what, overdue.within), ("task", LIMIT));
    let words = "the task has not stopped within 300ms; the group goes on without this node";
    assert_eq!(told.to_string(), words);
    assert!(!leader.is_withdrawn(), "its task has not stopped, so it has told no other node so");
    agreement(&groups).await;
    switch.hangs.store(false, Ordering::Relaxed);
    switch.released.notify_one();
    groups.push(leader);
    agreement(&groups).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_shutdown_whose_task_does_not_stop_ends_and_says_so() {
    let fleet = Fleet::new(3);
    let (groups, leader, _switch) = led_by_one_that_hangs(&fleet).await;
    let told = within("the end of the wait", leader.shutdown()).await.unwrap_err();
    let words = "the task has not stopped within 300ms; the group goes on without this node";
    assert!(told.to_string().contains(words), "{told}");
    agreement(&groups).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_leader_whose_job_does_not_stop_is_left_out() {
    let fleet = Fleet::new(3);
    let mut groups = Vec::new();
    for id in 1..=3 {
        groups.push(fleet.builder(id).stop_within(LIMIT).start().await.unwrap());
    }
    let view = agreement(&groups).await;
    let leader = take_leader(&mut groups, &view);
    let guard = leader.leading().await.unwrap().guard().unwrap();
    let told = within("the end of the wait", leader.step_down(LONG)).await.unwrap_err();
    assert!(told.to_string().contains("the job has not stopped within 300ms"), "{told}");
    agreement(&groups).await;
    drop(guard);
    until("the withdrawal", || leader.is_withdrawn().then_some(())).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_was_waited_for_already_says_so_at_once() {
    let fleet = Fleet::new(3);
    let (mut groups, leader, switch) = led_by_one_that_hangs(&fleet).await;
    // An election tells its task to stop: a member goes.
    groups.pop().unwrap().shutdown().await.unwrap();
    agreement(&groups).await;
    for _ in 0..2 {
        let told = within("the answer", leader.step_down(LONG)).await.unwrap_err();
        assert!(matches!(told, WithdrawError::Overdue(_)), "{told}");
    }
    switch.hangs.store(false, Ordering::Relaxed);
    switch.released.notify_one();
    until("the withdrawal", || leader.is_withdrawn().then_some(())).await;
}
