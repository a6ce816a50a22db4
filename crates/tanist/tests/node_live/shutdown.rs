//! What the rest of a program is told when its node is shut down: that, and never a failure.

use tanist::{Ended, Lead};

use crate::support::fleet::{Fleet, PATIENCE, within};

/// Each run is a race between the node's thread, which ends, and the tasks that wait for it.
const RUNS: u32 = 40;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_job_is_told_of_a_clean_shutdown_as_one() {
    let fleet = Fleet::new(1);
    let mut told = Vec::new();
    for _ in 0..RUNS {
        let group = fleet.start(1).await;
        let worker = group.clone();
        let job = tokio::spawn(async move {
            worker.while_leader(PATIENCE, |lead: Lead| async move { lead.lost().await }).await
        });
        within("the lead", group.leading()).await.unwrap();
        within("the shutdown", group.shutdown()).await.unwrap();
        told.push(within("the end of the job", job).await.unwrap());
    }
    let wrong: Vec<_> = told.iter().filter(|told| !matches!(told, Ok(None))).collect();
    assert!(wrong.is_empty(), "{} of {RUNS} shutdowns, such as {:?}", wrong.len(), wrong[0]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_asked_during_a_shutdown_is_refused_because_of_it() {
    let fleet = Fleet::new(1);
    for _ in 0..RUNS {
        let group = fleet.start(1).await;
        within("the lead", group.leading()).await.unwrap();
        let waits = group.clone();
        let asks = tokio::spawn(async move {
            // As long as it leads it can; the first time that it cannot says why.
            while waits.leading().await.is_ok() {
                tokio::task::yield_now().await;
            }
            waits.rejoin().await
        });
        within("the shutdown", group.shutdown()).await.unwrap();
        let told = within("the refusal", asks).await.unwrap().unwrap_err();
        assert!(matches!(told.ended, Ended::Shutdown), "{told}");
    }
}
