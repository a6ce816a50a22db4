//! What a scenario asked for and did not happen is told at the end of its run.

use std::time::Duration;

use tanist_core::election::Algorithm;
use tanist_sim::scenario::{Scenario, library};
use tanist_sim::studies::run::{Report, run, run_within};
use tanist_sim::studies::{fuzz, shrink};

const BASE: &str = "name = \"quiet\"\nalgorithm = \"bully\"\nnodes = 3\nend = \"100ms\"\n";

fn report(lines: &str) -> Report {
    let text = format!("{BASE}{lines}\n");
    let scenario = Scenario::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let back = Scenario::parse(&scenario.to_text()).expect("it reads back");
    assert_eq!(back, scenario);
    run(&scenario, 1)
}

/// Lines of a scenario of which a part does not happen, and what is told of it.
const QUIET: &[(&str, &str)] = &[
    (
        "[[fault]]\nwhen = { node = 1, sends = \"Enter_Election\" }\ndo = \"crash\"\nnode = 1",
        "when = { node = 1, sends = \"Enter_Election\", nth = 1 }, after = \"0s\", do = \"crash\", \
         node = 1: its condition was never met",
    ),
    (
        "[[fault]]\nwhen = { node = 3, enters = \"Normal\", nth = 2 }\ndo = \"crash\"\nnode = 3",
        "its condition was met only once",
    ),
    (
        "[[fault]]\nwhen = { node = 3, enters = \"Normal\" }\nafter = \"99ms\"\ndo = \"crash\"\n\
         node = 3",
        "the run ended before it was due",
    ),
    (
        "[[fault]]\nat = \"1ms\"\ndo = \"crash\"\nnode = 3\neffects = 99",
        "do = \"crash\", node = 3, effects = 99: the node took no step with so many effects",
    ),
    ("[[message]]\nkind = \"Farewell\"\ndrop = true", "no such message was sent"),
    ("[[message]]\nkind = \"New_State\"\nnth = 3\ndrop = true", "only 2 such messages were sent"),
    (
        "[[fault]]\nat = \"20ms\"\ndo = \"crash\"\nnode = 1\n\
         [[fault]]\nat = \"30ms\"\ndo = \"crash\"\nnode = 1",
        "at = \"30ms\", do = \"crash\", node = 1: it changed nothing, since the node was down",
    ),
    ("[[fault]]\nat = \"20ms\"\ndo = \"heal\"", "it changed nothing, since no link was cut"),
    (
        "[[fault]]\nat = \"20ms\"\ndo = \"clock\"\nnode = 1\nrate = 1.0",
        "it changed nothing, since its clock ran at this rate already",
    ),
    (
        "[[fault]]\nat = \"20ms\"\ndo = \"calm\"\n[[fault]]\nat = \"30ms\"\ndo = \"calm\"",
        "at = \"30ms\", do = \"calm\": it changed nothing, since the network was calm already",
    ),
    (
        "[[fault]]\nat = \"20ms\"\ndo = \"rejoin\"\nnode = 2",
        "it changed nothing, since the node took part",
    ),
    (
        "down = [1]\n[[fault]]\nat = \"20ms\"\ndo = \"pause\"\nnode = 1",
        "it changed nothing, since the node was down",
    ),
    (
        "[[fault]]\nat = \"10ms\"\ndo = \"crash\"\nnode = 3\neffects = 4000\n\
         [[fault]]\nat = \"20ms\"\ndo = \"crash\"\nnode = 3",
        "at = \"10ms\", do = \"crash\", node = 3, effects = 4000: it changed nothing, since the \
         node crashed before it took a step with so many effects",
    ),
    (
        "[[message]]\nkind = \"AreYouUp\"\ndelay = \"500us\"\n\
         [[message]]\nkind = \"AreYouUp\"\ndrop = true\n\
         [[fault]]\nat = \"50ms\"\ndo = \"call\"\nnode = 1",
        "such messages were sent, and an earlier rule decided instead",
    ),
    (
        "[[group]]\ncoordinator = 3\nmembers = [1, 2]\n\
         [[fault]]\nat = \"20ms\"\ndo = \"timeout\"\nnode = 3",
        "it changed nothing, since the node led its group itself",
    ),
    (
        "[[group]]\ncoordinator = 3\nmembers = [1, 2]\n\
         [[fault]]\nat = \"20ms\"\ndo = \"check\"\nnode = 2",
        "it changed nothing, since the node was not a coordinator",
    ),
    (
        "[[group]]\ncoordinator = 3\nmembers = [1, 2]\n\
         [[fault]]\nat = \"20ms\"\ndo = \"hand-over\"\nnode = 1\npeer = 2",
        "it changed nothing, since the node did not lead",
    ),
    (
        "[[group]]\ncoordinator = 3\nmembers = [1, 2]\n\
         [[fault]]\nat = \"20ms\"\ndo = \"hand-over\"\nnode = 3\npeer = 2",
        "it changed nothing, since the node outranked the other one and would have led again",
    ),
    (
        "[[fault]]\nat = \"20ms\"\ndo = \"withdraw\"\nnode = 1\n\
         [[fault]]\nat = \"30ms\"\ndo = \"call\"\nnode = 1",
        "it changed nothing, since the node had withdrawn",
    ),
    (
        "[[fault]]\nat = \"20ms\"\ndo = \"pause\"\nnode = 1\n\
         [[fault]]\nat = \"30ms\"\ndo = \"call\"\nnode = 1\n\
         [[fault]]\nat = \"40ms\"\ndo = \"crash\"\nnode = 1\n\
         [[fault]]\nat = \"50ms\"\ndo = \"restart\"\nnode = 1\n\
         [[fault]]\nat = \"60ms\"\ndo = \"pause\"\nnode = 1\n\
         [[fault]]\nat = \"70ms\"\ndo = \"resume\"\nnode = 1",
        "at = \"30ms\", do = \"call\", node = 1: it changed nothing, since the node was paused and \
         did not resume",
    ),
    (
        "[[fault]]\nat = \"20ms\"\ndo = \"withdraw\"\nnode = 1\n\
         [[fault]]\nat = \"30ms\"\ndo = \"withdraw\"\nnode = 1",
        "at = \"30ms\", do = \"withdraw\", node = 1: it changed nothing, since the node had \
         withdrawn",
    ),
    (
        "[[fault]]\nat = \"20ms\"\ndo = \"pause-elections\"\nnode = 1\n\
         [[fault]]\nat = \"30ms\"\ndo = \"pause-elections\"\nnode = 2",
        "do = \"pause-elections\", node = 2: it changed nothing, since elections were paused \
         already",
    ),
    (
        "[[fault]]\nat = \"20ms\"\ndo = \"resume-elections\"\nnode = 1",
        "it changed nothing, since elections were not paused",
    ),
    (
        "[[fault]]\nat = \"20ms\"\ndo = \"slow\"\nnode = 1\nby = \"0s\"",
        "it changed nothing, since its messages were delayed by as much already",
    ),
    (
        "[[fault]]\nat = \"20ms\"\ndo = \"loss\"\nrate = 0.0",
        "it changed nothing, since the network lost this share already",
    ),
    (
        "[[fault]]\nat = \"20ms\"\ndo = \"duplicate\"\nrate = 0.0",
        "it changed nothing, since the network duplicated this share already",
    ),
];

/// Lines of a scenario of which each part does happen.
const BUSY: &[&str] = &[
    // The timer of a member, the check of a coordinator.
    "[[group]]\ncoordinator = 3\nmembers = [1, 2]\n\
     [[fault]]\nat = \"20ms\"\ndo = \"timeout\"\nnode = 1\n\
     [[fault]]\nat = \"20ms\"\ndo = \"check\"\nnode = 3",
    // The second one takes the hold away.
    "[[fault]]\nat = \"20ms\"\ndo = \"withdraw\"\nnode = 1\nhold = \"10ms\"\n\
     [[fault]]\nat = \"25ms\"\ndo = \"withdraw\"\nnode = 1",
    // The command waits, and is carried out then.
    "[[fault]]\nat = \"20ms\"\ndo = \"pause\"\nnode = 1\n\
     [[fault]]\nat = \"30ms\"\ndo = \"call\"\nnode = 1\n\
     [[fault]]\nat = \"40ms\"\ndo = \"resume\"\nnode = 1",
    // The node that was down has not heard of the pause.
    "[[fault]]\nat = \"20ms\"\ndo = \"pause-elections\"\nnode = 1\n\
     [[fault]]\nat = \"20ms\"\ndo = \"pause-elections\"\nnode = 2\n\
     [[fault]]\nat = \"30ms\"\ndo = \"resume-elections\"\nnode = 3",
    "[[fault]]\nat = \"20ms\"\ndo = \"slow\"\nnode = 1\nby = \"1ms\"\n\
     [[fault]]\nat = \"30ms\"\ndo = \"slow\"\nnode = 1\nby = \"0s\"\n\
     [[fault]]\nat = \"30ms\"\ndo = \"loss\"\nrate = 0.5\n\
     [[fault]]\nat = \"40ms\"\ndo = \"loss\"\nrate = 0.0",
    // The first crash comes within a step, and ends what the second one waits for.
    "[[fault]]\nat = \"20ms\"\ndo = \"crash\"\nnode = 1\neffects = 1\n\
     [[fault]]\nat = \"21ms\"\ndo = \"call\"\nnode = 1",
    // Each rule decides about one.
    "[[message]]\nkind = \"New_State\"\nnth = 1\ndelay = \"1ms\"\n\
     [[message]]\nkind = \"New_State\"\ndelay = \"2ms\"",
];

#[test]
fn a_fault_that_changes_something_is_not_told() {
    for lines in BUSY {
        assert_eq!(report(lines).not_happened, [] as [String; 0], "{lines}");
    }
}

#[test]
fn a_node_that_is_down_does_not_crash_in_its_first_step() {
    let report = report(
        "[[group]]\ncoordinator = 3\nmembers = [1, 2]\n\
         [[fault]]\nat = \"5ms\"\ndo = \"crash\"\nnode = 1\n\
         [[fault]]\nat = \"10ms\"\ndo = \"crash\"\nnode = 1\neffects = 1\n\
         [[fault]]\nat = \"20ms\"\ndo = \"restart\"\nnode = 1",
    );
    let [found] = &report.not_happened[..] else { panic!("{:?}", report.not_happened) };
    assert!(found.ends_with("effects = 1: it changed nothing, since the node was down"), "{found}");
    assert_ne!(report.nodes[0].status, "Crashed");
}

#[test]
fn a_command_to_a_node_that_stays_paused_is_told() {
    let report = report(
        "[[fault]]\nat = \"20ms\"\ndo = \"pause\"\nnode = 1\n\
         [[fault]]\nat = \"30ms\"\ndo = \"call\"\nnode = 1",
    );
    let [found] = &report.not_happened[..] else { panic!("{:?}", report.not_happened) };
    assert!(found.ends_with("since the node was paused and did not resume"), "{found}");
}

#[test]
fn a_rule_for_a_cut_link_is_not_told_as_one_without_messages() {
    let report = report(
        "[[group]]\ncoordinator = 3\nmembers = [1, 2]\n\
         [[fault]]\nat = \"1ms\"\ndo = \"cut\"\nsides = [[1, 2], [3]]\n\
         [[message]]\nfrom = 3\nto = 1\ndrop = true",
    );
    let [found] = &report.not_happened[..] else { panic!("{:?}", report.not_happened) };
    let told = "were sent, and none of them reached the rule, since their link was down";
    assert!(found.ends_with(told), "{found}");
}

#[test]
fn a_second_crash_after_effects_takes_the_place_of_the_first() {
    let report = report(
        "[[fault]]\nat = \"10ms\"\ndo = \"crash\"\nnode = 3\neffects = 4000\n\
         [[fault]]\nat = \"20ms\"\ndo = \"crash\"\nnode = 3\neffects = 4001",
    );
    let [first, second] = &report.not_happened[..] else { panic!("{:?}", report.not_happened) };
    let told = "effects = 4000: it changed nothing, since a later `effects` took its place";
    assert!(first.ends_with(told), "{first}");
    assert!(second.contains("effects = 4001: the node took no step with so many"), "{second}");
}

#[test]
fn faults_before_the_first_step_are_told_if_they_change_nothing() {
    let report = report(
        "steps = [\"tick\"]\n\
         [[fault]]\nat = \"0s\"\ndo = \"heal\"\n\
         [[fault]]\nat = \"0s\"\ndo = \"rejoin\"\nnode = 2",
    );
    let [first, second] = &report.not_happened[..] else { panic!("{:?}", report.not_happened) };
    assert!(first.ends_with("since no link was cut"), "{first}");
    assert!(second.ends_with("since the node took part"), "{second}");
}

#[test]
fn what_did_not_happen_is_told_in_the_order_of_the_file() {
    let report = report(
        "[[fault]]\nat = \"50ms\"\ndo = \"crash\"\nnode = 2\neffects = 99\n\
         [[fault]]\nwhen = { node = 1, sends = \"Enter_Election\" }\ndo = \"crash\"\nnode = 1\n\
         [[fault]]\nat = \"20ms\"\ndo = \"heal\"\n\
         [[fault]]\nwhen = { node = 3, enters = \"Normal\" }\nafter = \"99ms\"\ndo = \"crash\"\n\
         node = 3\n\
         [[fault]]\nat = \"10ms\"\ndo = \"rejoin\"\nnode = 2\n\
         [[message]]\nkind = \"Farewell\"\ndrop = true",
    );
    let words = ["so many effects", "never met", "link was cut", "before it was due", "took part"];
    let found = &report.not_happened;
    assert_eq!(found.len(), 6, "{found:?}");
    for (found, words) in found.iter().zip(words) {
        assert!(found.contains(words), "{words}: {found}");
    }
}

#[test]
fn a_fault_that_never_fired_is_told_and_changes_no_verdict() {
    for &(lines, told) in QUIET {
        let report = report(lines);
        let [found] = &report.not_happened[..] else { panic!("{:?}", report.not_happened) };
        assert!(found.ends_with(told), "{found}");
        assert_eq!(report.surprises, [] as [String; 0], "{lines}");
    }
}

#[test]
fn a_scenario_may_expect_that_all_its_faults_happen() {
    for &(lines, told) in QUIET {
        let report = report(&format!("{lines}\n[expect]\nall_faults = true"));
        let [found] = &report.surprises[..] else { panic!("{:?}", report.surprises) };
        assert!(found.ends_with(told), "{found}");
    }
    let crash = "[[fault]]\nat = \"20ms\"\ndo = \"crash\"\nnode = 1\n";
    let rule = "[[message]]\nkind = \"New_State\"\nnth = 2\ndelay = \"1ms\"\n";
    let report = report(&format!("{crash}{rule}[expect]\nall_faults = true"));
    assert_eq!(report.not_happened, [] as [String; 0]);
    assert_eq!(report.surprises, [] as [String; 0]);
}

#[test]
fn everything_in_a_shipped_scenario_happens() {
    let mut found = Vec::new();
    // The held one of a pair keeps the rules of the broken one, and its option prevents what they
    // are for.
    for (name, text) in library::all().iter().filter(|(name, _)| !name.contains("-held")) {
        let mut scenario = Scenario::parse(text).expect("it is shipped");
        // A run that ends at the first violation may leave out what follows.
        scenario.stops_at_break = false;
        let report = run(&scenario, scenario.seed);
        found.extend(report.not_happened.iter().map(|what| format!("{name}: {what}")));
    }
    assert!(found.is_empty(), "\n{}", found.join("\n"));
}

#[test]
fn a_count_of_a_kind_does_not_read_as_a_winner() {
    let text = "name = \"count\"\nalgorithm = \"bully-lecture\"\nnodes = 3\nend = \"100ms\"\n\
                [expect]\nby_kind = { coordinator = 99 }\n";
    let report = run(&Scenario::parse(text).expect("a scenario"), 1);
    let [found] = &report.surprises[..] else { panic!("{:?}", report.surprises) };
    assert!(found.starts_with("messages of kind coordinator: expected 99, got "), "{found}");
}

#[test]
fn a_run_with_too_many_events_ends_with_a_report() {
    let text = "name = \"busy\"\nalgorithm = \"bully\"\nnodes = 3\nend = \"24h\"\n\
                [timing]\ncheck = \"10us\"\n";
    let scenario = Scenario::parse(text).expect("a scenario");
    let report = run_within(&scenario, 1, 1000);
    let [found] = &report.surprises[..] else { panic!("{:?}", report.surprises) };
    assert!(found.contains("after 1000 events") && found.contains("`end`"), "{found}");
    assert!(Duration::from_micros(report.end.as_micros()) < Duration::from_secs(60));
    assert_eq!(report.nodes.len(), 3);
}

#[test]
fn a_drawn_scenario_without_idle_faults_is_readable() {
    for algorithm in Algorithm::ALL.iter().copied() {
        for seed in 1..=300 {
            let drawn = shrink::without_idle(&fuzz::scenario(algorithm, seed, None));
            let text = drawn.to_text();
            let read = Scenario::parse(&text);
            assert!(read.is_ok(), "{} {seed}: {read:?}\n{text}", algorithm.name());
        }
    }
}
