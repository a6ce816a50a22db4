//! Memory does not grow with simulated time when no trace is kept.

use std::time::Duration;

use tanist_core::Time;
use tanist_core::election::Algorithm;
use tanist_sim::Scenario;

#[test]
fn what_a_world_holds_does_not_grow_with_simulated_time() {
    for algorithm in Algorithm::ALL.iter().map(|algorithm| algorithm.name()) {
        let text =
            format!("name = \"long\"\nalgorithm = \"{algorithm}\"\nnodes = 5\nend = \"1h\"\n");
        let scenario = Scenario::parse(&text).unwrap();
        let mut world = scenario.world(1, false);
        world.run_until(Time::ZERO + Duration::from_secs(10));
        let early = world.scheduled();
        let mut most = 0;
        for seconds in (20..=600).step_by(10) {
            world.run_until(Time::ZERO + Duration::from_secs(seconds));
            most = most.max(world.scheduled());
        }
        assert!(
            most <= early * 2 + 64,
            "{algorithm}: {early} things scheduled early, {most} later"
        );
        assert!(world.observers.into_recording().is_none());
    }
}
