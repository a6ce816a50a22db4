//! How much of the time roaming nodes agree, and that the share is computed correctly.

use std::time::Duration;

use tanist_core::election::Algorithm;
use tanist_core::options::Options;
use tanist_core::{NodeId, Time};
use tanist_sim::Scenario;
use tanist_sim::studies::agreement;
use tanist_sim::studies::roaming::{Outcome, Roaming};
use tanist_sim::studies::scale::Control;
use tanist_sim::world::places::Area;
use tanist_sim::world::topology::Fading;
use tanist_sim::world::walking::Mobility;

/// As in the paper, at the density of 500 nodes in two kilometres by two.
fn roaming(algorithm: Algorithm, nodes: u32, side: u32) -> Roaming {
    Roaming {
        algorithm,
        options: Options::default(),
        nodes,
        time: Duration::from_secs(120),
        range: 2500,
        fading: Fading::Flat(0),
        mobility: Mobility {
            area: Area { width: side, height: side },
            speed_min: 30,
            speed_max: 190,
            pause_min: Duration::ZERO,
            pause_max: Duration::from_secs(10),
            until: None,
        },
        message_max: Duration::from_millis(2),
        heartbeat: Duration::from_secs(1),
        seed: 1,
    }
}

fn run(roaming: &Roaming) -> Outcome {
    roaming.run(&mut |_| Control::GoOn).expect("these figures can work")
}

#[test]
fn nodes_agree_for_at_least_97_percent_of_the_time() {
    for algorithm in [Algorithm::AdhocDiffusing, Algorithm::AdhocExpandingRing] {
        let outcome = run(&roaming(algorithm, 125, 10_000));
        let share = outcome.agreement.of_nodes();
        assert!(share >= 0.97, "{}: {share}", algorithm.name());
        assert!(outcome.links_changed > 1000, "no node moved: {}", outcome.links_changed);
    }
}

#[test]
fn a_run_that_is_stopped_has_looked_at_what_it_ran() {
    let roaming = roaming(Algorithm::AdhocDiffusing, 10, 3000);
    let stop = |second| if second == 5 { Control::Stop } else { Control::GoOn };
    let outcome = roaming.run(&mut { stop }).expect("these figures can work");
    let span = outcome.agreement.span();
    assert!((5.0..6.0).contains(&span.as_secs_f64()), "{span:?}");
}

#[test]
fn a_roaming_is_a_scenario_that_a_file_can_hold() {
    let scenario = roaming(Algorithm::AdhocDiffusing, 20, 5000).scenario().expect("it can work");
    assert_eq!(Scenario::parse(&scenario.to_text()).as_ref(), Ok(&scenario));
}

/// n1 and n2 follow n2; n4 is alone and leads; n3, also alone, follows n4, which is not in its
/// component.
#[test]
fn whoever_follows_a_leader_of_another_component_does_not_agree() {
    let text = "name = \"a\"\nalgorithm = \"adhoc-expanding-ring\"\nnodes = 4\nend = \"1s\"\n\
                [timing]\ncheck = \"10s\"\n[radio]\nlinks = [\"1-2\"]\n\
                [[group]]\ncoordinator = 2\nmembers = [1]\n\
                [[group]]\ncoordinator = 4\nmembers = [3]\n";
    let scenario = Scenario::parse(text).expect("this file is right");
    let mut world = scenario.world(1, false);
    let end = Time::ZERO + Duration::from_secs(1);
    let agreement = agreement::watch(&mut world, end, &mut |_| Control::GoOn);
    assert_eq!(agreement.of_nodes(), 0.75);
    assert_eq!(agreement.of_components(), 2.0 / 3.0);
    assert_eq!(agreement.components_mean(), 3.0);
    let components = agreement::components(&world);
    let leaders: Vec<Option<NodeId>> = components.iter().map(|part| part.leader).collect();
    assert_eq!(leaders, [Some(NodeId(2)), None, Some(NodeId(4))]);
}
