//! Nodes that cannot start, or cannot continue.

use std::sync::Arc;

use tanist::{Ended, Failure, Role, StartError};

use crate::leading::{Count, work};
use crate::support::fleet::{Fleet, PATIENCE, agreement, take_leader, until, within};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_second_node_with_the_same_directory_is_refused_and_the_first_goes_on() {
    let fleet = Fleet::new(2);
    let first = fleet.start(1).await;
    // At another port; else the port would be refused first.
    let elsewhere = fleet.builder(1).listen(fleet.address(9));
    match elsewhere.start().await {
        Err(StartError::Store(error)) => {
            let text = error.to_string();
            assert!(text.contains(&fleet.data_dir(1).display().to_string()), "{text}");
        }
        other => panic!("{other:?}"),
    }
    match fleet.builder(1).start().await {
        Err(StartError::Listen(_)) => {}
        other => panic!("{other:?}"),
    }
    agreement(&[first, fleet.start(2).await]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_whose_disk_fails_ends_as_one_that_crashed() {
    let fleet = Fleet::unhurried(4);
    let mut groups = fleet.start_all().await;
    let view = agreement(&groups).await;
    let leader = take_leader(&mut groups, &view);
    let lead = leader.leading().await.unwrap();
    fleet.lose_disk(leader.me().0);
    // A node leaves, so the coordinator needs a new number, and cannot save one.
    groups.remove(0).shutdown().await.unwrap();
    let ended = within("the end of the node", leader.ended()).await.unwrap_err();
    let path = fleet.data_dir(leader.me().0).display().to_string();
    assert!(
        matches!(&ended.ended, Ended::Failed(failure) if matches!(**failure, Failure::Store(_)))
    );
    assert!(ended.to_string().contains(&path), "{ended}");
    assert!(!lead.is_leading(), "a node that has ended does not lead");
    assert!(matches!(leader.role(), Role::Suspended(_)));
    agreement(&groups).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_job_learns_that_its_node_has_failed() {
    let fleet = Fleet::unhurried(2);
    let groups = fleet.start_all().await;
    agreement(&groups).await;
    let leader = groups[1].clone();
    let job = tokio::spawn(async move {
        let job = async |lead: tanist::Lead| {
            lead.lost().await;
            lead.is_leading()
        };
        leader.while_leader(PATIENCE, job).await
    });
    until("n2 leads", || groups[1].role().is_leader().then_some(())).await;
    fleet.lose_disk(2);
    groups[0].clone().shutdown().await.unwrap();
    // The result of a job that outlived its leadership is dropped.
    let ended = within("the end of the job", job).await.unwrap();
    assert!(ended.is_err(), "{ended:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_job_of_a_node_that_fails_is_gone_before_the_next_one_begins() {
    let fleet = Fleet::unhurried(3);
    let mut groups = fleet.start_all().await;
    let count = Arc::new(Count::default());
    // The job ignores the end of its leadership, and its grace is longer than this test.
    groups.iter().for_each(|group| work(group, &count, PATIENCE));
    agreement(&groups).await;
    until("the job of n3", || (count.begun() == 1).then_some(())).await;
    fleet.lose_disk(3);
    // A node leaves, so n3 needs a new number, and cannot save one.
    groups.remove(0).shutdown().await.unwrap();
    until("the job of n2", || (count.begun() == 2).then_some(())).await;
    assert_eq!(count.most(), 1, "two jobs at once");
}
