//! Nodes that withdraw hand over at once, and rejoin; no election starts while elections are
//! paused.

use std::time::Instant;

use tanist::{Group, Role, Suspension, Why};

use crate::support::fleet::{Fleet, agreement, ms, take_leader, until, within};

/// Longer than any of these tests may take.
const LONG: std::time::Duration = ms(300_000);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_leader_that_steps_down_hands_over_before_silence_could_tell() {
    for algorithm in tanist::Algorithm::ALL {
        let mut fleet = Fleet::unhurried(3);
        fleet.algorithm = *algorithm;
        fleet.timing = fleet.timing.suspect_after(ms(30_000));
        let mut groups = fleet.start_all().await;
        let view = if algorithm.descriptor().handover.is_some() {
            agreement(&groups).await
        } else {
            // The lecture's bully does not say which nodes are in the group.
            until("n3 leads", || {
                let roles: Vec<Role> = groups.iter().map(Group::role).collect();
                let view = roles[2].is_leader().then(|| roles[2].view().cloned())??;
                let is_led = |role: &Role| {
                    role.view().is_some_and(|own| own.coordinator() == view.coordinator())
                };
                roles.iter().all(is_led).then_some(view)
            })
            .await
        };
        let leader = take_leader(&mut groups, &view);
        let lead = leader.leading().await.unwrap();
        let begun = Instant::now();
        within("stepping down", leader.step_down(LONG)).await.unwrap();
        assert!(leader.is_withdrawn() && !lead.is_leading(), "{algorithm:?}");
        let role = leader.role();
        let Role::Suspended(Suspension { why: Why::Withdrawn, left: Some(left), .. }) = role else {
            panic!("{algorithm:?}: {role}");
        };
        assert_eq!(left.group_number(), view.group_number());
        until("another leader", || {
            groups.iter().find(|group| group.role().is_leader()).map(Group::me)
        })
        .await;
        assert!(begun.elapsed() < ms(30_000), "{algorithm:?}: {:?}", begun.elapsed());
        for group in &groups {
            assert_eq!(group.farewells(), [leader.me()], "{algorithm:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_takes_part_again_is_in_the_group() {
    let fleet = Fleet::unhurried(3);
    let mut groups = fleet.start_all().await;
    let view = agreement(&groups).await;
    let leader = take_leader(&mut groups, &view);
    within("withdrawing", leader.withdraw()).await.unwrap();
    agreement(&groups).await;
    assert!(leader.is_withdrawn());
    within("rejoining", leader.rejoin()).await.unwrap();
    assert!(!leader.is_withdrawn());
    groups.push(leader);
    agreement(&groups).await;
    for group in &groups {
        assert!(group.farewells().is_empty(), "{:?}", group.farewells());
    }
    // The node has not withdrawn, so it cannot rejoin.
    within("rejoining", groups[0].rejoin()).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn when_the_hold_is_over_a_node_comes_back_by_itself() {
    let fleet = Fleet::unhurried(2);
    let groups = fleet.start_all().await;
    agreement(&groups).await;
    within("stepping down", groups[1].step_down(ms(300))).await.unwrap();
    agreement(&groups).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_else_leads_while_a_guard_is_held_by_a_leader_that_steps_down() {
    let fleet = Fleet::unhurried(3);
    let mut groups = fleet.start_all().await;
    let view = agreement(&groups).await;
    let leader = take_leader(&mut groups, &view);
    let guard = leader.leading().await.unwrap().guard().expect("it leads");
    let stepping = leader.withdraw();
    tokio::pin!(stepping);
    let early = tokio::time::timeout(ms(500), &mut stepping).await;
    assert!(early.is_err(), "it withdrew while its guard was held");
    for group in &groups {
        assert!(matches!(group.role(), Role::Member(_)), "{}", group.role());
        assert!(group.farewells().is_empty());
    }
    drop(guard);
    within("withdrawing", stepping).await.unwrap();
    agreement(&groups).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_leader_that_is_shut_down_says_farewell() {
    let fleet = Fleet::unhurried(3);
    let mut groups = fleet.start_all().await;
    let view = agreement(&groups).await;
    let leader = take_leader(&mut groups, &view);
    let name = leader.me();
    within("the end", leader.shutdown()).await.unwrap();
    agreement(&groups).await;
    for group in &groups {
        assert_eq!(group.farewells(), [name]);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_has_ended_cannot_step_aside() {
    let fleet = Fleet::new(1);
    let group = fleet.start(1).await;
    let other = group.clone();
    group.shutdown().await.unwrap();
    assert!(within("the answer", other.withdraw()).await.is_err());
    assert!(within("the answer", other.rejoin()).await.is_err());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_is_elected_while_elections_are_paused() {
    let fleet = Fleet::unhurried(3);
    let mut groups = fleet.start_all().await;
    let view = agreement(&groups).await;
    groups[0].pause();
    until("all nodes to be paused", || groups.iter().all(Group::is_paused).then_some(())).await;
    let leader = take_leader(&mut groups, &view);
    let name = leader.me();
    within("the end", leader.shutdown()).await.unwrap();
    until("a farewell", || groups.iter().all(|group| group.farewells() == [name]).then_some(()))
        .await;
    // Three periods of Check, and evidence that the coordinator has crashed: no election.
    tokio::time::sleep(ms(1000)).await;
    for group in &groups {
        let own = group.role();
        assert!(matches!(&own, Role::Member(own) if own.coordinator() == name), "{own}");
    }
    groups[1].resume();
    agreement(&groups).await;
    assert!(!groups.iter().any(Group::is_paused));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_comes_up_learns_of_the_pause() {
    let fleet = Fleet::unhurried(3);
    let mut groups = fleet.start_all().await;
    agreement(&groups).await;
    groups[0].pause();
    until("all nodes to be paused", || groups.iter().all(Group::is_paused).then_some(())).await;
    groups.pop().unwrap().shutdown().await.unwrap();
    groups.push(fleet.start(3).await);
    until("the new one knows", || groups[2].is_paused().then_some(())).await;
    groups[2].resume();
    until("no node to be paused", || (!groups.iter().any(Group::is_paused)).then_some(())).await;
    agreement(&groups).await;
}
