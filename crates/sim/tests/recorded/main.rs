//! A run that is split into the files that live nodes would have written, merged again, and judged.

mod files;
mod header;
mod numbers;
mod split;
mod window;

use std::collections::BTreeMap;
use std::time::Duration;

use tanist_core::trace::{Entry, Event, Loss};
use tanist_core::{GroupNumber, NodeId, NodeSet, Time};
use tanist_sim::monitors::{Selection, Verdict};
use tanist_sim::recorded::{Recorded, TOLERANCE, TraceFile};
use tanist_sim::scenario::library;

use split::{
    BOOTED, Files, broken, judge, merge, reason, simulate, split, text, told_by, verdicts, writer,
};

#[test]
fn every_shipped_run_is_the_same_after_splitting_and_merging() {
    let mut count = 0;
    let mut left_open = Vec::new();
    for (name, _) in library::all() {
        let (scenario, report) = simulate(name);
        if scenario.stops_at_break && report.violated().next().is_some() {
            continue;
        }
        let files = split(&report.recording);
        let recorded = merge(&files).unwrap_or_else(|error| panic!("{name}: {error}"));
        let entries: Vec<Entry> = recorded.entries().cloned().collect();
        for id in files.keys() {
            assert_eq!(
                told_by(*id, &entries),
                told_by(*id, &report.recording.entries),
                "{name}: the file of {id}"
            );
        }
        let judged = recorded.judge(scenario.selection);
        let expected: Vec<_> =
            report.assertions.iter().map(|judged| (judged.assertion, judged.verdict)).collect();
        let found: Vec<_> = judged
            .rulings
            .iter()
            .map(|ruling| (ruling.judgement.assertion, ruling.judgement.verdict))
            .collect();
        for (found, expected) in found.iter().zip(&expected) {
            // A short run may end before it counts as settled.
            let is_left_open = !reason(&judged, found.0).is_empty();
            left_open.extend(is_left_open.then_some((*name, found.0)));
            assert!(found == expected || is_left_open, "{name}: {found:?}, not {expected:?}");
        }
        assert_eq!(found.len(), expected.len(), "{name}");
        count += 1;
    }
    assert!(count > 30, "only {count} runs");
    // The runs that end within a few checks of their last fault, and no others.
    let too_short = [
        ("bully-heartbeats-stop", "A-2"),
        ("bully-paused-elections", "A-2"),
        ("ce-b1-broken", "A-2"),
        ("ce-b1-down-broken", "A-2"),
        ("ce-b2-broken", "A-2"),
        ("ce-i2-broken", "A-4"),
        ("ce-l2-broken", "G-15"),
        ("ce-l2-broken", "G-16"),
        ("lecture-heartbeats-stop", "G-15"),
        ("lecture-heartbeats-stop", "G-16"),
    ];
    assert_eq!(left_open, too_short);
}

#[test]
fn steps_that_take_time_are_judged_as_steps_that_take_none() {
    for (name, _) in library::all() {
        let (scenario, report) = simulate(name);
        if !scenario.steps.is_empty() {
            // In a script only the order of steps is meaningful, not the time.
            continue;
        }
        let mut files = split(&report.recording);
        let expected = verdicts(&merge(&files).unwrap().judge(scenario.selection));
        let mut ends = BTreeMap::new();
        for (id, file) in files.iter_mut().filter(|(id, _)| **id != 0) {
            take_time(NodeId(*id), &mut file.entries, &mut ends);
        }
        for entry in files.get_mut(&0).into_iter().flat_map(|file| &mut file.entries) {
            if let Event::Crash { node } = entry.event {
                // A crash in the middle of a step comes after the lines that the step has written.
                entry.at = ends.get(&(node, entry.at)).copied().unwrap_or(entry.at);
            }
        }
        let merged = merge(&files).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(verdicts(&merged.judge(scenario.selection)), expected, "{name}");
    }
}

/// Computing takes a little time, a line a little more, and the disk most. Notes when the steps of
/// each moment end.
fn take_time(node: NodeId, entries: &mut [Entry], ends: &mut BTreeMap<(NodeId, Time), Time>) {
    let mut late = Duration::ZERO;
    let mut moment = None;
    for entry in entries {
        if moment != Some(entry.at) {
            (moment, late) = (Some(entry.at), Duration::from_micros(20));
        }
        let is_disk = matches!(entry.event, Event::Save { .. });
        late += Duration::from_micros(if is_disk { 150 } else { 3 });
        let end = entry.at + late;
        ends.insert((node, entry.at), end);
        entry.at = end;
    }
}

#[test]
fn a_merged_trace_reads_back_as_the_same_run() {
    for name in ["bully-figure-10-8", "invitation-partition-and-merge", "ce-b1-down-held"] {
        let (_, report) = simulate(name);
        let mut files = split(&report.recording);
        for has_harness in [true, false] {
            if !has_harness {
                files.remove(&0);
            }
            let recorded = merge(&files).unwrap();
            let bytes = text(&recorded);
            let file = TraceFile::read("merged.jsonl", bytes.as_slice()).unwrap();
            let again = Recorded::merge(vec![file], TOLERANCE).unwrap();
            assert_eq!(text(&again), bytes, "{name}, harness: {has_harness}");
            let judged = |recorded: &Recorded| recorded.judge(Selection::STANDARD).rulings;
            assert_eq!(judged(&again), judged(&recorded), "{name}, harness: {has_harness}");
        }
    }
}

#[test]
fn a_message_to_a_dead_node_is_lost_because_it_is_down() {
    let (_, report) = simulate("bully-figure-10-8");
    let recorded = merge(&split(&report.recording)).unwrap();
    let lost: Vec<_> = recorded
        .entries()
        .filter_map(|entry| {
            let Event::Lose { to, why, .. } = entry.event else { return None };
            Some((to.0, why))
        })
        .collect();
    assert_eq!(lost.len(), 3);
    assert!(lost.iter().all(|(to, why)| *to > 3 && *why == Loss::Down), "{lost:?}");
    assert_eq!(recorded.fit.losses, 3);
}

#[test]
fn a_message_over_a_cut_link_is_lost_because_it_is_cut() {
    let (_, report) = simulate("invitation-partition-and-merge");
    let lost = |entries: &[Entry]| {
        let of = entries.iter().filter_map(|entry| {
            let Event::Lose { node, to, id, why, .. } = entry.event else { return None };
            Some((node, to, id, why == Loss::Cut))
        });
        let mut lost: Vec<_> = of.collect();
        lost.sort_unstable();
        lost
    };
    let merged = merge(&split(&report.recording)).unwrap();
    let merged: Vec<Entry> = merged.entries().cloned().collect();
    let expected = lost(&report.recording.entries);
    assert!(expected.iter().any(|(.., is_cut)| *is_cut), "nothing was cut");
    assert_eq!(lost(&merged), expected);
}

#[test]
fn a_message_that_nothing_explains_was_dropped_after_t() {
    let (_, report) = simulate("bully-figure-10-8");
    let mut files = split(&report.recording);
    let answer = Duration::from_micros(report.recording.header.answer_us);
    let (at, id, to) = files[&1]
        .entries
        .iter()
        .find_map(|entry| {
            let Event::Send { id, to, .. } = entry.event else { return None };
            Some((entry.at, id, to))
        })
        .unwrap();
    let receiver = files.get_mut(&to.0).unwrap();
    receiver
        .entries
        .retain(|entry| !matches!(entry.event, Event::Receive { id: other, .. } if other == id));
    let merged = merge(&files).unwrap();
    let lose = merged.entries().find_map(|entry| {
        let Event::Lose { id: other, why, .. } = entry.event else { return None };
        (other == id).then_some((entry.at, why))
    });
    assert_eq!(lose, Some((at - BOOTED + answer, Loss::Dropped)));
}

#[test]
fn crashes_that_nobody_recorded_are_inferred_and_break_nothing() {
    let mut restarts = 0;
    for (name, _) in library::all() {
        let (scenario, report) = simulate(name);
        if !scenario.steps.is_empty() {
            continue;
        }
        let mut files = split(&report.recording);
        let expected = broken(&merge(&files).unwrap().judge(scenario.selection));
        let Some(harness) = files.get_mut(&0) else { continue };
        harness.entries.retain(|entry| !matches!(entry.event, Event::Crash { .. }));
        let merged = merge(&files).unwrap_or_else(|error| panic!("{name}: {error}"));
        let mut up = NodeSet::new();
        for entry in merged.entries() {
            if let Event::Start { node, restarted } = entry.event {
                assert!(!up.contains(node), "{name}: {node} starts twice");
                up.insert(node);
                restarts += usize::from(restarted);
            } else if let Event::Crash { node } = entry.event {
                assert!(up.contains(node), "{name}: {node} crashes twice");
                up.remove(node);
            }
        }
        let found = broken(&merged.judge(scenario.selection));
        let is_new = |id: &&&str| !expected.contains(id);
        assert_eq!(found.iter().find(is_new), None, "{name}");
    }
    assert!(restarts > 5, "only {restarts} restarts");
}

#[test]
fn a_verdict_that_depends_on_an_unseen_death_is_not_given() {
    let (_, report) = simulate("bully-figure-10-8");
    let mut files = split(&report.recording);
    assert_eq!(verdicts(&judge(&files))["A-1.1"], Verdict::Holds);
    files.remove(&0);
    let judged = judge(&files);
    assert_eq!(broken(&judged), [""; 0]);
    for id in ["A-1.1", "A-1.2", "G-14"] {
        assert_eq!(verdicts(&judged)[id], Verdict::NotApplicable, "{id}");
        assert!(reason(&judged, id).contains("n4"), "{id}: {}", reason(&judged, id));
    }
    assert_eq!(verdicts(&judged)["A-3.1"], Verdict::Holds);
    let is_told = |entry: &Entry| matches!(entry.event, Event::Violation { .. });
    assert!(!judged.recording.entries.iter().any(is_told), "a withheld verdict is in the trace");
}

#[test]
fn a_node_writes_its_last_words_after_the_harness_stamped_its_crash() {
    let (_, report) = simulate("bully-figure-10-8");
    let mut files = split(&report.recording);
    let expected = verdicts(&judge(&files));
    let harness = files.get_mut(&0).unwrap();
    for entry in &mut harness.entries {
        entry.at = Time::ZERO + BOOTED;
    }
    let merged = merge(&files).unwrap();
    let mut is_dead = false;
    for entry in merged.entries() {
        is_dead |= entry.event == Event::Crash { node: NodeId(5) };
        let is_own = writer(&entry.event) == Some(5);
        assert!(!(is_dead && is_own), "n5 has crashed and does {:?}", entry.event);
    }
    assert_eq!(verdicts(&merged.judge(Selection::STANDARD)), expected);
}

#[test]
fn a_run_that_was_ended_too_early_is_not_judged_by_its_end() {
    let (_, report) = simulate("bully-figure-10-8");
    let mut files = split(&report.recording);
    for file in files.values_mut() {
        file.entries.retain(|entry| entry.at < Time::from_micros(12_000) + BOOTED);
    }
    let judged = judge(&files);
    assert_eq!(verdicts(&judged)["A-2"], Verdict::NotApplicable);
    assert!(reason(&judged, "A-2").contains("last disturbance"), "{}", reason(&judged, "A-2"));
}

#[test]
fn one_file_alone_is_judged_for_what_it_can_tell() {
    let (_, report) = simulate("bully-figure-10-8");
    let mut files = split(&report.recording);
    files.retain(|id, _| *id == 3);
    let merged = merge(&files).unwrap();
    let expected: NodeSet = [NodeId(1), NodeId(2)].into_iter().collect();
    assert_eq!(merged.fit.gaps, expected);
    let judged = merged.judge(Selection::STANDARD);
    assert_eq!(broken(&judged), [""; 0]);
    for id in ["B-37", "G-09", "I-02", "I-07", "I-50"] {
        assert_eq!(verdicts(&judged)[id], Verdict::Holds, "{id}");
    }
    for id in ["A-1.1", "A-2", "A-3.1", "I-51"] {
        assert!(reason(&judged, id).contains("missing"), "{id}: {}", reason(&judged, id));
    }
}

/// The group that a node's application last began in.
fn last_group(files: &Files, node: u32) -> GroupNumber {
    let groups = files[&node].entries.iter().rev().find_map(|entry| {
        let Event::Begin { group, .. } = entry.event else { return None };
        Some(group)
    });
    groups.expect("the node began to work")
}

#[test]
fn a_group_number_used_twice_is_caught() {
    let (_, report) = simulate("bully-figure-10-8");
    let mut files = split(&report.recording);
    let group = last_group(&files, 3);
    let file = files.get_mut(&3).unwrap();
    let last = file.entries.last().unwrap().at;
    let again = Event::Plan { node: NodeId(3), group };
    file.entries.push(Entry { at: last + Duration::from_millis(1), event: again });
    assert_eq!(broken(&judge(&files)), ["I-07"]);
}

#[test]
fn two_coordinators_in_one_group_are_caught() {
    let (_, report) = simulate("invitation-figure-10-9");
    let mut files = split(&report.recording);
    assert_eq!(broken(&judge(&files)), [""; 0]);
    let file = files.get_mut(&1).unwrap();
    let last = file.entries.last().unwrap().at;
    let state = file.entries.iter().rev().find_map(|entry| {
        let Event::State { state, .. } = &entry.event else { return None };
        Some(state.clone())
    });
    let mut state = state.unwrap();
    let stranger = if state.coordinator == Some(NodeId(2)) { NodeId(3) } else { NodeId(2) };
    state.coordinator = Some(stranger);
    let event = Event::State { node: NodeId(1), state };
    file.entries.push(Entry { at: last + Duration::from_millis(1), event });
    let found = broken(&judge(&files));
    assert!(found.contains(&"A-3.1"), "{found:?}");
}

#[test]
fn an_acknowledgement_before_the_application_stopped_is_caught() {
    let (_, report) = simulate("bully-figure-10-8");
    let mut files = split(&report.recording);
    files.get_mut(&1).unwrap().entries.retain(|entry| {
        let is_stopped = matches!(entry.event, Event::Stopped { .. });
        !is_stopped
    });
    assert_eq!(broken(&judge(&files)), ["B-37"]);
}
