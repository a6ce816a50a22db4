//! A task of one's own in a simulated group, as a user would test it.
#![allow(clippy::unwrap_used, reason = "a helper of a test may fail as the test itself may")]

use std::collections::{BTreeMap, BTreeSet};
use std::future::pending;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tanist::sim::{Idle, SetupError, Storm, World};
use tanist::{Algorithm, GroupTask, NodeId, Reports, View};

const fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// Worlds of tests that are meant to fail leave their pictures here.
const SCRATCH: &str = env!("CARGO_TARGET_TMPDIR");

/// Pieces of work, each to be done; what several nodes did counts once.
#[derive(Debug, Default)]
struct Crawl {
    mine: Vec<u32>,
    done: BTreeSet<u32>,
    calls: Vec<&'static str>,
}

const PIECES: u32 = 120;

impl GroupTask for Crawl {
    type Report = BTreeSet<u32>;
    type Plan = (BTreeSet<u32>, BTreeMap<NodeId, Vec<u32>>);

    async fn stop(&mut self, _: &View) -> Self::Report {
        self.calls.push("stop");
        self.mine.clear();
        self.done.clone()
    }

    async fn plan(&mut self, view: &View, reports: Reports<Self::Report>) -> Self::Plan {
        self.calls.push("plan");
        let done: BTreeSet<u32> = reports.into_values().flatten().collect();
        let left: Vec<u32> = (1..=PIECES).filter(|piece| !done.contains(piece)).collect();
        let share = left.len().div_ceil(view.members().len()).max(1);
        let shares = view.members().iter().zip(left.chunks(share).map(<[u32]>::to_vec));
        (done, shares.collect())
    }

    async fn start(&mut self, view: &View, (done, mut shares): Self::Plan) {
        self.calls.push("start");
        self.done = done;
        self.mine = shares.remove(&view.me()).unwrap_or_default();
    }
}

impl Crawl {
    fn step(&mut self, _: &View) {
        if let Some(piece) = self.mine.pop() {
            assert!(self.done.insert(piece), "piece {piece} was shared out although it was done");
        }
    }
}

fn crawling(seed: u64) -> World<Crawl> {
    let world = World::builder(seed, 5).stop_takes(millis(20)).plan_takes(millis(10));
    world.work(millis(50), Crawl::step).start(|_| Crawl::default()).unwrap()
}

fn is_finished(world: &World<Crawl>) -> bool {
    let is_done = |node| world.task(node).is_some_and(|task| task.done.len() == PIECES as usize);
    world.is_one_group() && world.nodes().any(is_done)
}

#[test]
fn two_halves_combine_what_they_did_apart() {
    let mut world = crawling(7);
    world.run_until(World::is_one_group).unwrap();
    world.cut([1, 2]);
    world.run_until(|world| world.is_settled() && world.groups().len() == 2).unwrap();
    let sides: Vec<String> = world.groups().iter().map(|side| side.members.to_string()).collect();
    assert_eq!(sides, ["{n1 n2}", "{n3 n4 n5}"]);
    world.run_for(millis(500));
    let done = |world: &World<Crawl>, node: u32| world.task(node).unwrap().done.clone();
    let (low, high) = (done(&world, 1), done(&world, 3));
    assert!(!low.is_subset(&high) && !high.is_subset(&low), "neither side did a thing alone");
    world.heal();
    world.run_until(World::is_one_group).unwrap();
    assert!(done(&world, 5).is_superset(&(&low | &high)), "what a side did is lost");
    assert_eq!(world.violations(), []);
}

#[test]
fn work_is_finished_after_every_storm() {
    for seed in 0..60 {
        let mut world = crawling(seed);
        world.storm(Storm::default());
        world.run_until(is_finished).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(world.violations(), [], "seed {seed}");
    }
}

#[test]
fn a_task_is_stopped_only_after_it_was_started() {
    let mut plans = 0;
    for seed in 0..20 {
        let mut world = crawling(seed);
        world.storm(Storm::default());
        for node in world.nodes() {
            let calls = &world.task(node).unwrap().calls;
            let of = |name| calls.iter().filter(|call| **call == name).count();
            plans += of("plan");
            let turns: Vec<_> = calls.iter().filter(|call| **call != "plan").collect();
            let in_turn = ["start", "stop"].iter().cycle().take(turns.len());
            assert!(turns.iter().copied().eq(in_turn), "seed {seed}, {node}: {calls:?}");
        }
    }
    assert!(plans > 0, "no node ever planned");
}

#[test]
fn a_storm_does_what_it_says() {
    let after = |storm, look: fn(&World<Crawl>) -> String| {
        let run = |seed| {
            let mut world = crawling(seed);
            world.storm(storm);
            look(&world)
        };
        (0..8).map(run).collect::<Vec<_>>()
    };
    let calm = Storm::default().crashes(0).cuts(0).pauses(0).losses(0).duplicates(0).withdrawals(0);
    let marks = ["CRASHES", "is cut", "is paused", "dropped it", "WITHDRAWS"];
    let seen = |storm| marks.map(|mark| after(storm, World::story).concat().contains(mark));
    assert_eq!(seen(calm), [false; 5]);
    assert!(seen(calm.crashes(1))[0]);
    assert!(seen(calm.cuts(1))[1]);
    assert!(seen(calm.pauses(1))[2]);
    assert!(seen(calm.losses(1))[3]);
    assert!(seen(calm.withdrawals(1))[4]);
    let has_duplicates = |storm| after(storm, trace).iter().any(|trace| has_duplicate(trace));
    assert!(!has_duplicates(calm));
    assert!(has_duplicates(calm.duplicates(1)));
}

fn trace(world: &World<Crawl>) -> String {
    let mut lines = Vec::new();
    world.write_trace(&mut lines).unwrap();
    String::from_utf8(lines).unwrap()
}

/// Whether a message arrived twice. None of them is a broadcast.
fn has_duplicate(trace: &str) -> bool {
    let receive = |line: &str| line.contains("\"event\":\"receive\"").then(|| id(line));
    let arrived: Vec<u64> = trace.lines().filter_map(receive).collect();
    arrived.iter().collect::<BTreeSet<_>>().len() < arrived.len()
}

fn id(line: &str) -> u64 {
    let number = line.split("\"id\":").nth(1).unwrap();
    number.split(|c: char| !c.is_ascii_digit()).next().unwrap().parse().unwrap()
}

#[test]
fn a_crash_loses_the_task_and_a_restart_makes_a_new_one() {
    let lives = Arc::new(Mutex::new(Vec::new()));
    let made = Arc::clone(&lives);
    let mut world = World::new(3, 3, move |node| {
        made.lock().unwrap().push(node.0);
        Crawl::default()
    });
    world.run_until(World::is_one_group).unwrap();
    world.task_mut(2).unwrap().done.insert(1000);
    world.crash(2);
    assert!(world.task(2).is_none());
    assert!(world.view(2).is_none());
    world.run_until(World::is_one_group).unwrap();
    assert_eq!(world.groups()[0].members.len(), 2);
    world.restart(2);
    assert!(!world.task(2).unwrap().done.contains(&1000));
    world.run_until(World::is_one_group).unwrap();
    assert_eq!(world.groups()[0].members.len(), 3);
    assert_eq!(*lives.lock().unwrap(), [1, 2, 3, 2]);
}

#[test]
fn a_node_that_hangs_is_left_out_and_taken_in_again() {
    let mut world = crawling(5);
    world.run_until(World::is_one_group).unwrap();
    world.pause(3);
    world.run_until(World::is_one_group).unwrap();
    assert!(!world.groups()[0].members.contains(NodeId(3)) || world.groups().len() == 2);
    assert_eq!(world.view(1).unwrap().members().len(), 4);
    world.resume(3);
    world.run_until(|world| world.is_one_group()).unwrap();
    assert_eq!(world.view(3).unwrap().members().len(), 5);
}

#[test]
fn stopping_takes_as_long_as_was_said() {
    let slow = World::builder(7, 3).stop_takes(millis(40)).start(|_| Idle).unwrap();
    let fast = World::builder(7, 3).start(|_| Idle).unwrap();
    let formed = |mut world: World<Idle>| {
        world.run_until(World::is_one_group).unwrap();
        world.now()
    };
    assert!(formed(slow) >= formed(fast) + millis(40));
}

#[test]
fn the_same_seed_gives_the_same_story() {
    let story = |seed| {
        let mut world = crawling(seed);
        world.storm(Storm::default());
        world.story()
    };
    assert_eq!(story(11), story(11));
    assert_ne!(story(11), story(12));
}

#[test]
fn what_never_comes_true_is_told_with_seed_and_picture() {
    let directory = tempfile::tempdir().unwrap();
    let world = World::builder(42, 2).limit(Duration::from_secs(3)).save_to(directory.path());
    let mut world = world.start(|_| Idle).unwrap();
    world.cut([1]);
    let error = world.run_until(|world| world.groups().len() == 9).unwrap_err();
    assert_eq!((error.seed, error.now), (42, Duration::from_secs(3)));
    let evidence = error.evidence.clone().unwrap();
    assert!(std::fs::read_to_string(&evidence.picture).unwrap().starts_with("<svg"));
    assert!(std::fs::read_to_string(&evidence.story).unwrap().contains("seed 42"));
    let text = error.to_string();
    assert!(text.contains("seed 42"), "{text}");
    assert!(text.contains(evidence.picture.to_str().unwrap()), "{text}");
    assert!(text.contains("group 1.n1 of {n1} under n1"), "{text}");
}

/// Waits for something that no simulation has.
struct Waiting;

impl GroupTask for Waiting {
    type Report = ();
    type Plan = ();

    async fn stop(&mut self, _: &View) {}

    async fn plan(&mut self, _: &View, _: Reports<()>) {
        pending().await
    }

    async fn start(&mut self, _: &View, (): ()) {}
}

#[test]
#[should_panic(expected = "`plan` waited for something that the simulation does not have")]
fn a_task_that_waits_for_the_real_world_ends_the_test() {
    let mut world = World::builder(1, 2).save_to(SCRATCH).start(|_| Waiting).unwrap();
    world.run_for(Duration::from_secs(1));
}

/// Reports that cannot be read back.
struct Garbled;

impl GroupTask for Garbled {
    type Report = BTreeMap<String, f64>;
    type Plan = ();

    async fn stop(&mut self, _: &View) -> Self::Report {
        // JSON has no such number and writes null.
        BTreeMap::from([("share".to_owned(), f64::NAN)])
    }

    async fn plan(&mut self, _: &View, _: Reports<Self::Report>) {}

    async fn start(&mut self, _: &View, (): ()) {}
}

#[test]
#[should_panic(expected = "cannot be read")]
fn a_report_that_cannot_be_read_back_ends_the_test() {
    let mut world = World::builder(1, 2).save_to(SCRATCH).start(|_| Garbled).unwrap();
    world.run_for(Duration::from_secs(10));
}

#[test]
fn what_no_live_group_could_be_is_refused() {
    let refusal = |world: tanist::sim::WorldBuilder<Idle>| world.start(|_| Idle).unwrap_err();
    let lecture = World::builder(1, 3).algorithm(Algorithm::BullyLecture);
    assert!(matches!(refusal(lecture), SetupError::NoHandover("bully-lecture")));
    assert!(matches!(refusal(World::builder(1, 0)), SetupError::Members(_)));
    let stranger = World::builder(1, 3).priority(4, 1);
    assert!(matches!(refusal(stranger), SetupError::Stranger { .. }));
    let option = World::builder(1, 3).option("waits", "no");
    assert!(matches!(refusal(option), SetupError::Option(_)));
}

#[test]
#[should_panic(expected = "there is no n4 in this world: its nodes are n1 to n3")]
fn a_node_that_is_not_there_cannot_crash() {
    World::builder(1, 3).save_to(SCRATCH).start(|_| Idle).unwrap().crash(4);
}
