//! Every shipped scenario ends as it expects, and a run is a function of scenario and seed.

use std::collections::BTreeSet;

use tanist_core::NodeId;
use tanist_core::mutant::Mutant;
use tanist_core::trace::{Entry, Event};
use tanist_sim::monitors::Selection;
use tanist_sim::observe::recording::Recording;
use tanist_sim::recorded::{Recorded, TOLERANCE, TraceFile};
use tanist_sim::scenario::library;
use tanist_sim::world::mutants;
use tanist_sim::{Scenario, run};

fn parse(name: &str) -> Scenario {
    let text = library::find(name).unwrap_or_else(|| panic!("no scenario {name}"));
    Scenario::parse(text).unwrap_or_else(|error| panic!("scenarios/{name}.toml: {error}"))
}

#[test]
fn every_scenario_ends_as_it_says() {
    let mut wrong = Vec::new();
    for (name, _) in library::all() {
        let scenario = parse(name);
        assert_eq!(scenario.name, *name, "a scenario is named as its file");
        let report = run(&scenario, scenario.seed);
        wrong.extend(report.surprises.iter().map(|surprise| format!("{name}: {surprise}")));
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn a_hung_application_that_keeps_its_group_or_claims_to_have_stopped_is_noticed() {
    for (mutant, assertion) in
        [(Mutant::STOP_WITHOUT_LIMIT, "P-05"), (Mutant::FAREWELL_WHEN_OVERDUE, "B-37")]
    {
        for name in ["bully-hung-application", "invitation-hung-application"] {
            let mut scenario = parse(name);
            scenario.settings.mutant = Some(mutant);
            let report = run(&scenario, scenario.seed);
            let violated: Vec<&str> = report.violated().map(|judged| judged.assertion).collect();
            assert!(violated.contains(&assertion), "{name}, {}: {violated:?}", mutant.name());
        }
    }
}

#[test]
fn a_plan_without_a_limit_leaves_a_group_without_a_leader() {
    for name in ["bully-hangs-in-its-plan", "ring-hangs-in-its-plan"] {
        let mut scenario = parse(name);
        scenario.settings.mutant = Some(Mutant::STOP_WITHOUT_LIMIT);
        let report = run(&scenario, scenario.seed);
        let violated: Vec<&str> = report.violated().map(|judged| judged.assertion).collect();
        assert!(violated.contains(&"A-2"), "{name}: {violated:?}");
    }
}

#[test]
fn every_counterexample_comes_in_a_pair() {
    let names: BTreeSet<&str> = library::all().iter().map(|(name, _)| *name).collect();
    for id in [
        "l1", "l2", "l3", "b1", "b2", "b3", "b4", "b5", "b6", "i1", "i2", "i3", "i4", "i5", "i6",
        "r1", "r2", "r3", "r4", "r5", "w1",
    ] {
        let (violated, held) = (format!("ce-{id}-broken"), format!("ce-{id}-held"));
        assert!(names.contains(violated.as_str()), "{violated} is missing");
        assert!(names.contains(held.as_str()), "{held} is missing");
        assert!(!parse(&violated).expect.breaks.is_empty(), "{violated} expects nothing to break");
        assert!(parse(&held).expect.breaks.is_empty(), "{held} expects something to break");
    }
}

#[test]
fn a_held_counterexample_uses_no_literal_option() {
    for (name, _) in library::all().iter().filter(|(name, _)| name.ends_with("-held")) {
        let scenario = parse(name);
        let algorithm = scenario.settings.algorithm;
        for (option, value) in scenario.settings.options.of(algorithm) {
            let info = algorithm.options().iter().find(|info| info.name == option).unwrap();
            let value = info.values.iter().find(|known| known.name == value).unwrap();
            assert!(!value.is_literal, "{name}: {option} = {}", value.name);
        }
    }
}

#[test]
fn same_seed_same_bytes() {
    for (name, _) in library::all() {
        let scenario = parse(name);
        let bytes = |seed| {
            let mut bytes = Vec::new();
            run(&scenario, seed).recording.write(&mut bytes).unwrap();
            bytes
        };
        assert_eq!(bytes(7), bytes(7), "{name} with seed 7");
    }
    // The seed matters where something is random.
    let scenario = parse("ce-i3-held-by-jitter");
    assert_ne!(run(&scenario, 1).recording.hash(), run(&scenario, 2).recording.hash());
}

#[test]
fn a_trace_reads_back_as_it_was_written() {
    for (name, _) in library::all() {
        let scenario = parse(name);
        let recording = run(&scenario, scenario.seed).recording;
        let mut bytes = Vec::new();
        recording.write(&mut bytes).unwrap();
        let back =
            Recording::read(bytes.as_slice()).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(back, recording, "{name}");
    }
}

#[test]
fn a_broken_trace_is_refused_with_its_line() {
    let scenario = parse("lecture-best");
    let mut bytes = Vec::new();
    run(&scenario, 1).recording.write(&mut bytes).unwrap();
    let mut text = String::from_utf8(bytes).unwrap();
    text.insert_str(text.find('\n').unwrap() + 1, "{\"at_us\":0,\"event\":\"explode\"}\n");
    let error = Recording::read(text.as_bytes()).unwrap_err().to_string();
    assert!(error.starts_with("line 2:"), "{error}");
    assert!(Recording::read("".as_bytes()).is_err());
}

#[test]
fn a_scenario_reads_back_as_it_was_written() {
    for (name, _) in library::all() {
        let scenario = parse(name);
        let text = scenario.to_text();
        let back = Scenario::parse(&text).unwrap_or_else(|error| panic!("{name}: {error}\n{text}"));
        assert_eq!(back, scenario, "{name}\n{text}");
    }
}

#[test]
fn time_never_runs_backwards_in_a_trace() {
    for (name, _) in library::all() {
        let scenario = parse(name);
        let entries = run(&scenario, scenario.seed).recording.entries;
        let is_ordered = entries.windows(2).all(|pair: &[Entry]| pair[0].at <= pair[1].at);
        assert!(is_ordered, "{name}");
    }
}

#[test]
fn bad_files_are_refused_with_line_and_expectation() {
    let base = "name = \"x\"\nalgorithm = \"bully\"\nnodes = 3\nend = \"10ms\"\n";
    for (extra, line, expected) in [
        ("[[fault]]\nat = \"soon\"\ndo = \"crash\"\nnode = 1\n", 6, "not a duration"),
        ("[[fault]]\nat = \"1ms\"\ndo = \"explode\"\nnode = 1\n", 7, "no fault"),
        ("[[fault]]\nat = \"1ms\"\ndo = \"crash\"\nnode = 9\n", 5, "there is no node 9"),
        ("[[fault]]\nat = \"1ms\"\ndo = \"crash\"\n", 5, "needs `node`"),
        ("[[fault]]\ndo = \"crash\"\nnode = 1\n", 5, "either `at` or `when`"),
        ("[options]\nwaits = \"never\"\n", 6, "cannot be"),
        ("[options]\nhurry = \"yes\"\n", 6, "has no option"),
        ("[timing]\nmessage = \"2ms\"\nanswer = \"3ms\"\n", 7, "at least 2 Tm + Tp"),
        ("[timing]\nsilence = \"3ms\"\n", 6, "is called `suspect_after`"),
        ("[network]\nloss = 1.5\n", 6, "between 0 and 1"),
        ("[[group]]\ncoordinator = 1\nmembers = [2]\n", 5, "outranks"),
        (
            "[[group]]\ncoordinator = 3\n[[group]]\ncoordinator = 2\nmembers = [3]\n",
            7,
            "two groups",
        ),
        ("[expect]\nbreaks = [\"A-9\"]\n", 6, "no assertion"),
        ("[[message]]\nkind = \"Hello\"\ndrop = true\n", 6, "no message"),
        ("colour = \"red\"\n", 5, "unknown field"),
    ] {
        let error = Scenario::parse(&format!("{base}{extra}")).unwrap_err();
        assert_eq!(error.line, line, "{extra}: {error}");
        assert!(error.what.contains(expected), "{extra}: {error}");
    }
}

#[test]
fn duplicate_nodes_are_refused() {
    let text =
        "name = \"x\"\nalgorithm = \"bully\"\nend = \"1ms\"\n[[node]]\nid = 1\n[[node]]\nid = 1\n";
    assert!(Scenario::parse(text).unwrap_err().what.contains("listed twice"));
}

#[test]
fn nodes_with_names_are_called_by_them_and_read_back() {
    let scenario = parse("named-nodes-replace-a-leader");
    let text = scenario.to_text();
    assert!(text.contains("[[node]]\nid = 3\nname = \"db-west-1\"\n"), "{text}");
    assert_eq!(Scenario::parse(&text).unwrap().members.names(), scenario.members.names());
    let names = run(&scenario, 1).recording.header.names;
    assert_eq!(names.list([1, 2, 3].map(NodeId)), "db-east-1 db-east-2 db-west-1");

    let mut surprised = scenario;
    surprised.expect.coordinator = Some(NodeId(3));
    let surprises = run(&surprised, 1).surprises;
    let expected = "db-east-1: expected Normal under db-west-1, got Normal under db-east-2";
    assert!(surprises.contains(&expected.to_owned()), "{surprises:?}");
}

#[test]
fn bad_names_of_nodes_are_refused_with_their_line() {
    let base =
        "name = \"x\"\nalgorithm = \"bully\"\nend = \"1ms\"\n[[node]]\nid = 1\nname = \"db\"\n";
    let node = |name: &str| format!("{base}[[node]]\nid = 2\npriority = 9\nname = {name}\n");
    for (name, expected) in [
        ("\"db\"", "n1 and n2 are both called db"),
        ("\"Db East\"", "\"Db East\" is not the name of a node: a name has letters a to z"),
        ("\"n2\"", "is the short form of a node"),
        ("\"\"", "at least one letter"),
        ("2", "expected a string"),
    ] {
        let error = Scenario::parse(&node(name)).unwrap_err();
        assert_eq!(error.line, 10, "{name}: {error}");
        assert!(error.what.contains(expected), "{name}: {error}");
    }
    assert!(Scenario::parse(&node("\"db-2\"")).is_ok());
}

/// A crash triggered by a change of state ends the step that changed it, as a crash at a time does.
#[test]
fn a_node_that_crashes_as_it_becomes_normal_does_nothing_more() {
    for name in [
        "bully-winner-crashes-as-it-becomes-normal",
        "invitation-winner-crashes-as-it-becomes-normal",
        "ring-modified-winner-crashes-as-it-becomes-normal",
        "bully-member-crashes-as-the-run-begins",
    ] {
        let scenario = parse(name);
        let recording = run(&scenario, scenario.seed).recording;
        let mut down = BTreeSet::new();
        let mut crashes = 0;
        for Entry { at, event } in &recording.entries {
            let Some(node) = event.actor() else { continue };
            if matches!(event, Event::Crash { .. }) {
                down.insert(node);
                crashes += 1;
            } else if matches!(event, Event::Start { .. }) {
                down.remove(&node);
            } else {
                assert!(
                    !down.contains(&node),
                    "{name}: {node} is down and acts at {at}: {event:?}"
                );
            }
        }
        assert_eq!(crashes, 2, "{name}");
    }
}

#[test]
fn a_world_that_acts_after_a_crash_or_delivers_to_crashed_nodes_is_noticed() {
    for mutant in [mutants::ACTS_AFTER_CRASH, mutants::DELIVERS_TO_CRASHED] {
        let mut scenario = parse("bully-winner-crashes-as-it-becomes-normal");
        scenario.settings.mutant = Some(mutant);
        let report = run(&scenario, scenario.seed);
        let violated: Vec<&str> = report.violated().map(|judged| judged.assertion).collect();
        assert!(violated.contains(&"P-04"), "{}: {violated:?}", mutant.name());
        // The trace tells it, too: the order of one file is not blamed on clocks.
        let mut bytes = Vec::new();
        report.recording.write(&mut bytes).unwrap();
        let file = TraceFile::read("run.jsonl", bytes.as_slice()).unwrap();
        let recorded = Recorded::merge(vec![file], TOLERANCE).unwrap();
        let judged = recorded.judge(Selection::STANDARD);
        assert!(judged.violated().any(|found| found.assertion == "P-04"), "{}", mutant.name());
    }
}
