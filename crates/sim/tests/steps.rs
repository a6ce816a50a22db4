//! Scenarios with a script: steps that read back, steps that run, and time that continues
//! afterwards.

use tanist_core::NodeId;
use tanist_core::trace::{Event, Kind};
use tanist_sim::scenario::script::{ScriptStep, ScriptStepError};
use tanist_sim::{Scenario, run};

fn scenario(steps: &str, more: &str) -> Scenario {
    let text = format!(
        "name = \"steps\"\nalgorithm = \"bully\"\nnodes = 2\nend = \"1s\"\nsteps = [{steps}]\n\
         {more}\n[[group]]\ncoordinator = 2\nmembers = [1]\n"
    );
    Scenario::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

#[test]
fn words_read_back_as_they_were_written() {
    for words in [
        "deliver Enter_Election from 2 to 1",
        "deliver the 2nd election from 3 to 1",
        "deliver the 11th election from 3 to 1",
        "deliver the 23rd ack from 3 to 1 and crash after 2 effects",
        "timer answers at 2",
        "timer the 3rd silence at 2 and crash after 1 effect",
        "lose Accept from 1 to 2",
        "duplicate the 2nd Ready from 2 to 1",
        "crash 3",
        "recover 3",
        "tick",
    ] {
        let step: ScriptStep = words.parse().unwrap_or_else(|error| panic!("{words}: {error}"));
        assert_eq!(step.to_string(), words);
    }
}

#[test]
fn words_that_are_no_step_are_refused() {
    for words in [
        "",
        "deliver",
        "deliver election from 1",
        "deliver election from one to two",
        "deliver the 0th election from 1 to 2",
        "deliver election from 1 to 2 and crash after 0 effects",
        "crash 3 and crash after 2 effects",
        "crash the 2nd 3",
        "tick tock",
    ] {
        assert!(matches!(words.parse::<ScriptStep>(), Err(ScriptStepError::Form(_))), "{words}");
    }
    let unknown = "deliver greeting from 1 to 2".parse::<ScriptStep>();
    assert_eq!(unknown, Err(ScriptStepError::Kind("greeting".to_owned())));
    let unknown = "timer dinner at 1".parse::<ScriptStep>();
    assert_eq!(unknown, Err(ScriptStepError::Timer("dinner".to_owned())));
}

#[test]
fn a_scenario_with_steps_reads_back_from_its_text() {
    let steps = "\"timer silence at 1\", \"crash 2\", \"recover 2\"";
    let scenario = scenario(steps, "stop_at_break = true");
    assert_eq!(scenario.steps.len(), 3);
    assert_eq!(Scenario::parse(&scenario.to_text()), Ok(scenario));
}

#[test]
fn steps_happen_in_their_order_and_then_time_goes_on() {
    let steps = "\"timer silence at 1\", \"deliver AreYouUp from 1 to 2 and crash after 1 effect\"";
    let report = run(&scenario(steps, ""), 1);
    assert_eq!(report.surprises, [] as [String; 0]);
    let entries = report.recording.entries.iter().map(|entry| &entry.event);
    let told: Vec<&Event> = entries
        .filter(|event| {
            matches!(event, Event::Timer { .. } | Event::Receive { .. } | Event::Crash { .. })
        })
        .take(3)
        .collect();
    assert!(matches!(told[0], Event::Timer { node: NodeId(1), .. }), "{told:?}");
    let is_asked = |event: &Event| matches!(event, Event::Receive { node: NodeId(2), message, .. } if message.kind == Kind::AreYouUp);
    assert!(is_asked(told[1]), "{told:?}");
    assert!(matches!(told[2], Event::Crash { node: NodeId(2) }), "{told:?}");
    // Node 1 is alone and finds that out when its timers expire.
    assert_eq!(report.nodes[0].coordinator, Some(1));
    assert_eq!(report.nodes[0].status, "Normal");
    let times = report.recording.entries.iter().map(|entry| entry.at);
    assert!(times.is_sorted(), "a trace is in order of time");
}

#[test]
fn a_step_that_cannot_happen_names_those_that_can() {
    let report = run(&scenario("\"recover 2\"", ""), 1);
    let [surprise] = &report.surprises[..] else { panic!("{:?}", report.surprises) };
    assert!(surprise.starts_with("step 1: `recover 2` cannot happen here"), "{surprise}");
    for possible in ["`crash 1`", "`crash 2`", "`timer silence at 1`", "`timer check at 2`"] {
        assert!(surprise.contains(possible), "{surprise}");
    }
}

#[test]
fn a_message_can_be_lost_and_can_come_twice() {
    let lost = "\"timer silence at 1\", \"lose AreYouUp from 1 to 2\"";
    let report = run(&scenario(lost, ""), 1);
    assert_eq!(report.surprises, [] as [String; 0]);
    assert_eq!(report.counts.dropped, 1);
    let twice = "\"timer silence at 1\", \"duplicate AreYouUp from 1 to 2\", \
                 \"deliver AreYouUp from 1 to 2\"";
    let report = run(&scenario(twice, ""), 1);
    assert_eq!(report.surprises, [] as [String; 0]);
    let asked = report.recording.entries.iter().filter(|entry| {
        matches!(&entry.event, Event::Receive { message, .. } if message.kind == Kind::AreYouUp)
    });
    assert!(asked.count() >= 2);
}

#[test]
fn links_that_are_cut_from_the_start_are_cut_before_the_first_step() {
    let cut = "[[fault]]\nat = \"0ms\"\ndo = \"cut\"\nlinks = [[1, 2]]\n";
    let report = run(&scenario("\"timer silence at 1\"", cut), 1);
    assert_eq!(report.surprises.len(), 1, "{:?}", report.surprises);
    let first =
        report.recording.entries.iter().position(|entry| matches!(entry.event, Event::Cut { .. }));
    let timer = report
        .recording
        .entries
        .iter()
        .position(|entry| matches!(entry.event, Event::Timer { .. }));
    assert!(first < timer, "{first:?} {timer:?}");
}
