//! Steps per second of a five-node world with every monitor on and no trace kept.
//!
//! `cargo bench -p tanist-sim`. Each sample runs a world for a stretch of simulated time in which
//! its coordinator crashes and restarts again and again; the throughput is counted in steps of
//! nodes.

use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use tanist_core::{NodeId, Time};
use tanist_sim::Scenario;
use tanist_sim::world::faults::{Action, Fault, Moment};

/// How long a sample lasts in simulated time.
const SPAN: Duration = Duration::from_secs(20);

fn worlds(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("five-node-world");
    for algorithm in ["bully", "invitation"] {
        for (weather, period) in [("idle", None), ("failovers", Some(Duration::from_millis(200)))] {
            let scenario = scenario(algorithm, period);
            group.throughput(Throughput::Elements(steps(&scenario)));
            group.bench_function(format!("{algorithm}-{weather}"), |bencher| {
                bencher.iter(|| steps(&scenario));
            });
        }
    }
    group.finish();
}

fn scenario(algorithm: &str, crash_every: Option<Duration>) -> Scenario {
    let text = format!(
        "name = \"bench\"\nalgorithm = \"{algorithm}\"\nnodes = 5\nend = \"20s\"\n\
         [timing]\nmessage = \"1ms\"\nprocessing = \"500us\"\ncheck = \"25ms\"\ntimeout = \"25ms\"\n\
         [network]\ndelay_min = \"200us\"\ndelay_max = \"1ms\"\n"
    );
    let mut scenario = Scenario::parse(&text).expect("the text above is a scenario");
    if let Some(period) = crash_every {
        let mut at = period;
        while at < SPAN {
            let moment = |at| Moment::At(Time::ZERO + at);
            let node = NodeId(5);
            scenario.faults.push(Fault { moment: moment(at), action: Action::Crash(node) });
            let restart = Action::Restart { node, lost_writes: 0 };
            scenario.faults.push(Fault { moment: moment(at + period / 2), action: restart });
            at += period;
        }
    }
    scenario
}

fn steps(scenario: &Scenario) -> u64 {
    let mut world = scenario.world(1, false);
    world.run_until(Time::ZERO + SPAN);
    assert!(world.observers.first_violated().is_none(), "{:?}", world.observers.first_violated());
    world.events()
}

criterion_group!(benches, worlds);
criterion_main!(benches);
