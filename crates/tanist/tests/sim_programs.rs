//! Programs around simulated nodes: the leader's job that runs live, in simulated time.
#![allow(clippy::unwrap_used, reason = "a helper of a test may fail as the test itself may")]

use std::sync::{Arc, Mutex};
use std::time::Duration;

use tanist::sim::{Idle, LeaderCheck, Storm, World, WorldBuilder};
use tanist::{Algorithm, Group, Lead, NodeId, Role};

const fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

const fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// Worlds of tests that are meant to fail leave their pictures here.
const SCRATCH: &str = env!("CARGO_TARGET_TMPDIR");

/// What jobs said, with the simulated time in milliseconds.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<(u64, String)>>>);

impl Log {
    fn say(&self, begin: tokio::time::Instant, text: String) {
        let at = u64::try_from(begin.elapsed().as_millis()).unwrap();
        self.0.lock().unwrap().push((at, text));
    }

    fn lines(&self) -> Vec<(u64, String)> {
        self.0.lock().unwrap().clone()
    }
}

/// Says when it begins, acts, loses its leadership and ends; needs some time to end.
async fn job(lead: Lead, begin: tokio::time::Instant, log: Log, ends_in: Duration) {
    let me = lead.view().me();
    log.say(begin, format!("{me} begins in {}", lead.group_number()));
    while lead.sleep(millis(100)).await.is_leading() {}
    log.say(begin, format!("{me} has lost it"));
    tokio::time::sleep(ends_in).await;
    log.say(begin, format!("{me} ends"));
}

/// A world in which every node runs that job.
fn jobs(seed: u64, log: &Log, grace: Duration, ends_in: Duration) -> WorldBuilder<Idle> {
    let log = log.clone();
    let mut start = None;
    World::builder(seed, 3).save_to(SCRATCH).program(move |group: Group| {
        // The world's clock begins with the first program.
        let begin = *start.get_or_insert_with(tokio::time::Instant::now);
        let log = log.clone();
        async move {
            let job = move |lead| job(lead, begin, log.clone(), ends_in);
            group.while_leader(grace, job).await.unwrap();
        }
    })
}

#[test]
fn a_job_has_its_grace_and_the_next_leader_waits_for_it() {
    let log = Log::default();
    let mut world = jobs(7, &log, seconds(1), millis(300)).start(|_| Idle).unwrap();
    world.run_until(|_| log.lines().len() == 1).unwrap();
    let leader = world.groups()[0].coordinator;
    world.run_for(seconds(5));
    world.withdraw(leader);
    world.run_until(|_| log.lines().len() == 4).unwrap();
    let lines = log.lines();
    let texts: Vec<&str> = lines.iter().map(|(_, text)| text.as_str()).collect();
    assert_eq!(texts, ["n3 begins in 2.n3", "n3 has lost it", "n3 ends", "n2 begins in 2.n2"]);
    assert_eq!(lines[2].0 - lines[1].0, 300, "the job has the time that it needs: {lines:?}");
    assert!(lines[3].0 >= lines[2].0, "{lines:?}");
    assert_eq!(world.violations(), []);
}

#[test]
fn a_job_that_does_not_end_is_dropped_after_its_grace() {
    let log = Log::default();
    let mut world = jobs(7, &log, millis(200), seconds(60)).start(|_| Idle).unwrap();
    world.run_until(|_| log.lines().len() == 1).unwrap();
    world.run_for(seconds(5));
    world.withdraw(3);
    world.run_until(|_| log.lines().len() == 3).unwrap();
    let lines = log.lines();
    assert_eq!(lines[1].1, "n3 has lost it");
    assert_eq!(lines[2].1, "n2 begins in 2.n2", "the first job never ended by itself");
    assert!(lines[2].0 - lines[1].0 >= 200, "{lines:?}");
    assert!(lines[2].0 - lines[1].0 < 2_000, "{lines:?}");
}

/// What happens in a stormy run, to the millisecond.
fn stormy(seed: u64) -> (Vec<(u64, String)>, String) {
    let log = Log::default();
    let mut world = jobs(seed, &log, millis(50), millis(20)).start(|_| Idle).unwrap();
    world.storm(Storm::default());
    world.run_until(World::is_one_group).unwrap();
    world.run_for(seconds(2));
    (log.lines(), world.story())
}

#[test]
fn the_same_seed_gives_the_same_events() {
    let mut begun = 0;
    for seed in 0..10 {
        let (first, again) = (stormy(seed), stormy(seed));
        assert_eq!(first, again, "seed {seed}");
        begun += first.0.iter().filter(|(_, text)| text.contains("begins")).count();
    }
    assert!(begun >= 15, "only {begun} jobs began");
    assert_ne!(stormy(1), stormy(2));
}

#[tokio::test(start_paused = true)]
async fn within_tokios_paused_time_the_same_seed_gives_the_same_events() {
    let before = tokio::time::Instant::now();
    for seed in 0..2 {
        assert_eq!(stormy(seed), stormy(seed), "seed {seed}");
    }
    assert_eq!(before.elapsed(), Duration::ZERO, "the clock of the test is another one");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn within_a_real_runtime_it_is_the_same_as_outside() {
    let inside = stormy(3);
    let outside = std::thread::spawn(|| stormy(3)).join().unwrap();
    assert_eq!(inside, outside);
}

/// A world whose leader does as the documentation says, with a check.
fn checked(seed: u64, nodes: u32, check: &LeaderCheck) -> World<Idle> {
    let watched = check.clone();
    let world = World::builder(seed, nodes).save_to(SCRATCH).check(check);
    let world = world.while_leader(millis(100), move |lead| {
        let check = watched.clone();
        async move {
            let _acting = check.acts(&lead);
            while lead.sleep(millis(10)).await.is_leading() {}
        }
    });
    world.start(|_| Idle).unwrap()
}

#[test]
fn an_honest_leader_keeps_the_promise_through_every_storm() {
    let mut spans = 0;
    for seed in 0..60 {
        let check = LeaderCheck::connected();
        let mut world = checked(seed, 5, &check);
        world.storm(Storm::default());
        world.run_until(|world| world.is_one_group() && check.acting().len() == 1).unwrap();
        world.verdict().unwrap();
        spans += check.spans();
    }
    assert!(spans > 100, "only {spans} leaders acted");
}

#[test]
fn a_strict_check_sees_the_two_sides_of_a_cut_and_the_other_does_not() {
    let (strict, connected) = (LeaderCheck::strict(), LeaderCheck::connected());
    let both = (strict.clone(), connected.clone());
    let world = World::builder(7, 4).save_to(SCRATCH).check(&strict).check(&connected);
    let world = world.while_leader(millis(100), move |lead| {
        let (strict, connected) = both.clone();
        async move {
            let _acting = (strict.acts(&lead), connected.acts(&lead));
            lead.lost().await;
        }
    });
    let mut world = world.start(|_| Idle).unwrap();
    world.run_until(|_| strict.spans() == 1).unwrap();
    world.verdict().unwrap();
    world.cut([1, 2]);
    world.run_until(|_| strict.acting().len() == 2).unwrap();
    let error = world.verdict().unwrap_err();
    assert_eq!((error.seed, error.violations.len()), (7, 1));
    assert_eq!(error.violations[0].nodes, [NodeId(4), NodeId(2)]);
    let text = error.to_string();
    assert!(text.contains("n2 acts as the leader of group"), "{text}");
    assert!(text.contains("while n4 acts"), "{text}");
    let evidence = error.evidence.unwrap();
    let story = std::fs::read_to_string(evidence.story).unwrap();
    assert!(story.contains("leader-check"), "{story}");
    assert!(std::fs::read_to_string(evidence.picture).unwrap().contains("leader-check"));
    world.heal();
    world.run_until(World::is_one_group).unwrap();
    world.run_for(seconds(3));
    assert_eq!(world.violations().len(), 1, "the end of a cut is no further violation");
}

/// Goes on in a task that its job's end does not stop.
fn careless(seed: u64, nodes: u32, check: &LeaderCheck) -> World<Idle> {
    let watched = check.clone();
    let world = World::builder(seed, nodes).save_to(SCRATCH).check(check);
    let world = world.while_leader(millis(100), move |lead| {
        let check = watched.clone();
        async move {
            let late = lead.clone();
            tokio::spawn(async move {
                let _acting = check.acts(&late);
                late.lost().await;
                tokio::time::sleep(seconds(5)).await;
            });
            lead.lost().await;
        }
    });
    world.start(|_| Idle).unwrap()
}

#[test]
fn a_leader_that_acts_after_its_grace_is_found() {
    let check = LeaderCheck::connected();
    let mut world = careless(7, 3, &check);
    world.run_until(|_| check.spans() == 1).unwrap();
    world.run_for(seconds(5));
    world.step_down(3, seconds(1));
    world.run_until(|_| check.acting().len() == 2).unwrap();
    let why = &world.violations()[0].why;
    assert!(why.contains("had been able to reach each other for"), "{why}");
}

#[test]
fn a_program_does_not_go_on_while_its_node_hangs_and_dies_with_it() {
    let ticks = Arc::new(Mutex::new([0; 4]));
    let counted = Arc::clone(&ticks);
    let mut world = World::builder(7, 3)
        .save_to(SCRATCH)
        .program(move |group: Group| {
            let counted = Arc::clone(&counted);
            async move {
                loop {
                    tokio::time::sleep(millis(100)).await;
                    counted.lock().unwrap()[group.me().0 as usize] += 1;
                }
            }
        })
        .start(|_| Idle)
        .unwrap();
    let ticks = || *ticks.lock().unwrap();
    world.run_for(millis(1_050));
    assert_eq!(ticks(), [0, 10, 10, 10]);
    world.pause(3);
    world.run_for(seconds(1));
    assert_eq!(ticks(), [0, 20, 20, 10]);
    world.resume(3);
    world.run_for(millis(1));
    assert_eq!(ticks(), [0, 20, 20, 11], "what was due during the pause is due at its end");
    world.crash(1);
    world.run_for(seconds(1));
    assert_eq!(ticks()[1], 20);
    world.restart(1);
    world.run_for(millis(1_010));
    assert_eq!(ticks()[1], 30, "a new incarnation begins its program again");
}

#[test]
fn a_program_that_ends_takes_its_node_along() {
    let mut world = World::builder(7, 3)
        .save_to(SCRATCH)
        .program(async |group: Group| {
            let me = group.me();
            let mut roles = group.roles();
            while let Some(role) = roles.next().await {
                if role.is_leader() && role.view().is_some_and(|view| view.members().len() == 3) {
                    assert_eq!(me, NodeId(3));
                    break;
                }
            }
        })
        .start(|_| Idle)
        .unwrap();
    world.run_until(World::is_one_group).unwrap();
    world.run_until(|world| !world.is_up(3)).unwrap();
    world.run_until(|world| world.is_one_group() && world.groups()[0].members.len() == 2).unwrap();
}

#[test]
fn what_a_live_program_asks_of_its_node_works() {
    let log = Arc::new(Mutex::new(Vec::new()));
    let said = Arc::clone(&log);
    let mut world = World::builder(7, 3)
        .save_to(SCRATCH)
        .program(move |group: Group| {
            let said = Arc::clone(&said);
            async move {
                let mut lead = group.leading().await.unwrap();
                while !group.unopposed(&lead).await {
                    lead = group.leading().await.unwrap();
                }
                let successor = group.successor(None).await.unwrap();
                group.set_priority(50).await.unwrap();
                let status = group.status();
                let line = format!(
                    "{} {} {successor} {:?} {}",
                    group.me(),
                    status.role,
                    group.priority(),
                    group.metrics().await.unwrap().peers.len()
                );
                said.lock().unwrap().push(line);
                group.step_down(seconds(2)).await.unwrap();
                assert!(group.is_withdrawn() && !lead.is_leading());
                said.lock().unwrap().push("withdrawn".to_owned());
                group.shutdown().await.unwrap();
            }
        })
        .start(|_| Idle)
        .unwrap();
    world.run_until(|_| log.lock().unwrap().len() >= 2).unwrap();
    assert_eq!(log.lock().unwrap()[..2], ["n3 leader n2 Some(50) 2", "withdrawn"]);
    world.run_until(|world| !world.is_up(3)).unwrap();
}

#[test]
#[should_panic(expected = "the account is overdrawn")]
fn a_job_that_panics_fails_the_test() {
    let world = World::builder(7, 3).save_to(SCRATCH);
    let world = world.while_leader(seconds(1), async |_| panic!("the account is overdrawn"));
    world.start(|_| Idle).unwrap().run_for(seconds(10));
}

#[test]
fn a_job_is_written_as_it_is_live() {
    let world = World::builder(7, 3).algorithm(Algorithm::Bully);
    let world =
        world.while_leader(seconds(1), async |lead| lead.sleep(seconds(1)).await.is_leading());
    let mut world = world.start(|_| Idle).unwrap();
    world.run_for(seconds(10));
    world.verdict().unwrap();
}

#[test]
fn roles_are_told_in_order_and_none_is_left_out() {
    let log = Arc::new(Mutex::new(Vec::new()));
    let said = Arc::clone(&log);
    let mut world = World::builder(7, 2)
        .program(move |group: Group| {
            let said = Arc::clone(&said);
            async move {
                let mut changes = group.changes();
                while let Some(change) = changes.next().await {
                    if group.me() == NodeId(2) {
                        let is_lead = matches!(change.role, Role::Leader(_));
                        said.lock().unwrap().push((change.index, change.at, is_lead));
                    }
                }
            }
        })
        .start(|_| Idle)
        .unwrap();
    world.run_until(World::is_one_group).unwrap();
    world.run_for(millis(1));
    let log = log.lock().unwrap();
    let indexes: Vec<u64> = log.iter().map(|(index, ..)| *index).collect();
    let expected: Vec<u64> = (indexes[0]..indexes[0] + indexes.len() as u64).collect();
    assert_eq!(indexes, expected);
    assert!(log.windows(2).all(|pair| pair[0].1 <= pair[1].1));
    assert!(log.last().is_some_and(|(_, at, is_lead)| *is_lead && at.as_micros() < 3_000_000));
}
