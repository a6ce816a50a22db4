//! Nodes elect, notice which node leaves, and merge again.

use std::time::Instant;

use tanist::{Group, Metrics, Preempt, Role, Suspension, Why};

use crate::support::fleet::{Fleet, agreement, ms, node, take_leader, within};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn three_nodes_elect_one_coordinator() {
    let fleet = Fleet::new(3);
    let groups = fleet.start_all().await;
    let view = agreement(&groups).await;
    let leaders: Vec<_> = groups.iter().filter(|group| group.role().is_leader()).collect();
    assert!(leaders.len() <= 1, "{leaders:?}");
    for group in &groups {
        let status = group.status();
        assert_eq!((status.node, status.algorithm), (group.me(), "invitation"));
        assert!(status.index > 0, "{status:?}");
    }
    assert_eq!(view.members().len(), 3);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn roles_begin_with_the_current_one_and_leave_none_out() {
    let fleet = Fleet::new(3);
    let mut groups = fleet.start_all().await;
    let mut first = groups[0].changes();
    agreement(&groups).await;
    let mut late = groups[0].roles();
    let begins = late.next().await.unwrap();
    assert!(begins.view().is_some(), "{begins}");
    // Provoke more of them: another node leaves and returns, and then this one leaves.
    let other = groups.pop().unwrap();
    other.shutdown().await.unwrap();
    agreement(&groups).await;
    groups.push(fleet.start(3).await);
    agreement(&groups).await;
    groups.remove(0).shutdown().await.unwrap();
    let mut next = None;
    let mut roles = Vec::new();
    while let Some(change) = within("the stream's end", first.next()).await {
        assert_eq!(change.index, next.unwrap_or(change.index), "a role was left out");
        next = Some(change.index + 1);
        roles.push(change.role);
    }
    for role in &roles {
        match role {
            Role::Leader(lead) => {
                assert!(lead.view().is_coordinator() && lead.group_number().counter > 0);
            }
            Role::Member(view) => {
                assert!(!view.is_coordinator() && view.members().contains(view.coordinator()));
                assert!(view.members().contains(view.me()), "{view}");
            }
            Role::Suspended(_) | _ => {}
        }
    }
    assert!(roles.iter().any(|role| !matches!(role, Role::Suspended(_))), "{roles:?}");
    match roles.last() {
        Some(Role::Suspended(Suspension { why, left, .. })) => {
            assert_eq!(*why, Why::Stopped);
            assert!(left.is_some(), "it was in a group");
        }
        other => panic!("the last role is {other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_shutdown_is_noticed_before_silence_could_tell() {
    let mut fleet = Fleet::unhurried(3);
    let silence = ms(20_000);
    fleet.timing = fleet.timing.suspect_after(silence);
    let mut groups = fleet.start_all().await;
    let view = agreement(&groups).await;
    let leader = take_leader(&mut groups, &view);
    let begun = Instant::now();
    leader.shutdown().await.unwrap();
    agreement(&groups).await;
    assert!(begun.elapsed() < silence, "it took {:?} of {silence:?}", begun.elapsed());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dropping_a_leader_waits_for_nobody_and_the_others_elect() {
    let fleet = Fleet::unhurried(3);
    let mut groups = fleet.start_all().await;
    let view = agreement(&groups).await;
    let leader = take_leader(&mut groups, &view);
    let guard = leader.leading().await.unwrap().guard().expect("it leads");
    let mut roles = leader.roles();
    // The node cannot leave while the guard is held, so a drop that waited would never return.
    let dropped = tokio::task::spawn_blocking(move || drop(leader));
    within("the drop", dropped).await.unwrap();
    let end = async { while roles.next().await.is_some() {} };
    let ended = tokio::time::timeout(ms(300), end).await;
    assert!(ended.is_err(), "the node left while its guard was held");
    let others_know = |groups: &[Group]| {
        groups.iter().all(|group| {
            matches!(group.role(), Role::Member(own) if own.coordinator() == view.coordinator())
        })
    };
    assert!(others_know(&groups), "the others elected while its guard was held");
    drop(guard);
    agreement(&groups).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_halves_of_a_cut_network_lead_themselves_and_merge_when_it_heals() {
    let fleet = Fleet::new(4);
    let groups = fleet.start_all().await;
    agreement(&groups).await;
    let (left, right) = groups.split_at(2);
    for group in left {
        group.cut([node(3), node(4)]);
    }
    for group in right {
        group.cut([node(1), node(2)]);
    }
    agreement(left).await;
    agreement(right).await;
    groups.iter().for_each(Group::heal);
    agreement(&groups).await;
}

/// The host of a fleet is not the one from which the kernel would dial.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn heartbeats_reach_nodes_that_listen_at_a_second_address_of_their_machine() {
    let fleet = Fleet::unhurried(2);
    let groups = fleet.start_all().await;
    agreement(&groups).await;
    for group in &groups {
        within("heartbeats", async {
            while group.metrics().await.unwrap().transport.datagrams_in < 3 {
                tokio::time::sleep(ms(20)).await;
            }
        })
        .await;
    }
}

#[test]
fn a_node_whose_programs_runtime_is_blocked_keeps_its_group() {
    let fleet = Fleet::unhurried(3);
    let others = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let (others, blocked) = (others.unwrap(), single_thread());
    let mut groups = others.block_on(async { vec![fleet.start(1).await, fleet.start(2).await] });
    groups.push(blocked.block_on(fleet.start(3)));
    let view = others.block_on(agreement(&groups));
    assert_eq!(view.coordinator(), node(3));
    let (over, blocking) = std::sync::mpsc::channel::<()>();
    let body = move || blocked.block_on(async move { blocking.recv() });
    let thread = std::thread::spawn(body);
    // n1 hears only of its coordinator, thirty more times: the driver needs no runtime of the
    // caller.
    let beats = |metrics: &Metrics| metrics.received.values().sum::<u64>();
    let elections = others.block_on(async {
        let before = groups[0].metrics().await.unwrap();
        within("signs of life", async {
            loop {
                let now = groups[0].metrics().await.unwrap();
                if beats(&now) >= beats(&before) + 30 {
                    return now.elections - before.elections;
                }
                tokio::time::sleep(ms(20)).await;
            }
        })
        .await
    });
    assert_eq!(elections, 0);
    assert_eq!(groups[0].role().view().unwrap().group_number(), view.group_number());
    over.send(()).unwrap();
    thread.join().unwrap().unwrap();
}

fn single_thread() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

/// A higher node that starts waits until it is found, so the leader stays.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn where_nobody_preempts_a_leader_stays_when_a_higher_node_comes_up() {
    let fleet = Fleet::new(3);
    let start = async |id| fleet.builder(id).preempt(Preempt::Never).start().await.unwrap();
    let mut groups = vec![start(1).await, start(2).await];
    let before = agreement(&groups).await;
    groups.push(start(3).await);
    let after = agreement(&groups).await;
    assert_eq!(after.coordinator(), before.coordinator());
    assert_ne!(after.coordinator(), node(3));
}
