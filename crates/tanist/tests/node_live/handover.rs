//! A leader hands over to the node that it is told, with every algorithm that keeps its leader.

use tanist::{Activities, Algorithm, Group, HandOverError, NoVeto, NodeId, NotHandedOver, Preempt};

use crate::support::fleet::{Fleet, agreement, take_leader, until, within};

const KEEPING: [Algorithm; 6] = [
    Algorithm::Invitation,
    Algorithm::Bully,
    Algorithm::RingChangRoberts,
    Algorithm::RingModified,
    Algorithm::RingList,
    Algorithm::RingActiveList,
];

async fn start(fleet: &Fleet, preempt: Preempt) -> Vec<Group> {
    let mut groups = Vec::new();
    for node in 1..=3 {
        groups.push(fleet.builder(node).preempt(preempt).start().await.unwrap());
    }
    groups
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_named_node_acts_and_leads_on_when_the_old_leader_has_rejoined() {
    for algorithm in KEEPING {
        let mut fleet = Fleet::unhurried(3);
        fleet.algorithm = algorithm;
        let mut groups = start(&fleet, Preempt::Never).await;
        let activities: Vec<Activities> =
            groups.iter().map(|group| group.activity(NoVeto)).collect();
        let view = agreement(&groups).await;
        let old = take_leader(&mut groups, &view);
        let lead = old.leading().await.unwrap();
        until("the leader acts", || old.last_acting()).await;
        // The lowest, which no election would choose.
        let to = groups.iter().map(Group::me).min().unwrap();
        assert_eq!(old.successor(Some(to)).await.unwrap(), to, "{algorithm:?}");

        let before = old.last_acting();
        within("handing over", old.hand_over(to)).await.unwrap();
        assert!(!lead.is_leading(), "{algorithm:?}");
        let acting = within("the next leader", old.acting_after(before)).await.unwrap();
        assert_eq!(acting.node, to, "{algorithm:?}");

        groups.push(old);
        let view = agreement(&groups).await;
        assert_eq!(view.coordinator(), to, "{algorithm:?}");
        let actives = activities.iter().filter_map(Activities::active);
        assert_eq!(actives.map(|lead| lead.view().me()).collect::<Vec<_>>(), [to], "{algorithm:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_cannot_be_done_changes_nothing() {
    let fleet = Fleet::unhurried(3);
    let mut groups = start(&fleet, Preempt::Always).await;
    let view = agreement(&groups).await;
    let leader = take_leader(&mut groups, &view);
    let (from, to) = (leader.me(), groups[0].me());
    let refused = async |to| match leader.hand_over(to).await {
        Err(NotHandedOver::Refused(why)) => Some(why),
        Err(NotHandedOver::Overdue(_) | NotHandedOver::Stopped(_) | _) | Ok(()) => None,
    };
    assert_eq!(refused(to).await, Some(HandOverError::WouldNotLast { from, to }));
    assert_eq!(refused(NodeId(9)).await, Some(HandOverError::Unknown(NodeId(9))));
    assert!(leader.role().is_leader() && !leader.is_withdrawn());
}
