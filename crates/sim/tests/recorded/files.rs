//! Files that do not fit together, or not exactly, and files that are cut off.

use std::collections::BTreeSet;
use std::time::Duration;

use tanist_core::election::Algorithm;
use tanist_core::membership::NodeNames;
use tanist_core::trace::{Event, Header};
use tanist_core::{NodeId, Time};
use tanist_sim::monitors::Selection;
use tanist_sim::recorded::{FileError, MergeError, Recorded, TOLERANCE, TraceFile};

use crate::split::{judge, lines, merge, read, reason, simulate, split, text, verdicts};

#[test]
fn a_receipt_stamped_a_little_early_is_put_behind_its_sending() {
    let (_, report) = simulate("bully-figure-10-8");
    let mut files = split(&report.recording);
    let expected = verdicts(&judge(&files));
    // n1's clock is late by more than a message takes.
    let late = Duration::from_millis(2);
    files.get_mut(&1).unwrap().entries.iter_mut().for_each(|entry| entry.at = entry.at - late);
    let merged = merge(&files).unwrap();
    assert!(merged.fit.nudged > 0);
    assert!(merged.fit.nudged_max <= late);
    let mut sent = BTreeSet::new();
    let mut before = Time::ZERO;
    for entry in merged.entries() {
        assert!(entry.at >= before, "not in order of time");
        before = entry.at;
        if let Event::Send { id, .. } = entry.event {
            sent.insert(id);
        } else if let Event::Receive { id, .. } = entry.event {
            assert!(sent.contains(&id), "message {id} is received before it is sent");
        }
    }
    assert_eq!(verdicts(&merged.judge(Selection::STANDARD)), expected);
}

#[test]
fn files_of_two_clocks_are_refused_with_the_pair() {
    let (_, report) = simulate("bully-figure-10-8");
    let mut files = split(&report.recording);
    let late = Duration::from_secs(60);
    files.get_mut(&1).unwrap().entries.iter_mut().for_each(|entry| entry.at = entry.at - late);
    let error = merge(&files).unwrap_err();
    assert!(matches!(error, MergeError::Contradiction { .. }), "{error}");
    let error = error.to_string();
    for part in ["n1.jsonl:", "n3.jsonl:", "Enter_Election", "one by one"] {
        assert!(error.contains(part), "{part} is not in {error}");
    }
}

#[test]
fn a_clock_that_runs_back_is_refused_with_its_line() {
    let (_, report) = simulate("bully-figure-10-8");
    let mut files = split(&report.recording);
    files.get_mut(&2).unwrap().entries[5].at = Time::ZERO;
    let error = merge(&files).unwrap_err();
    assert!(matches!(error, MergeError::Backwards { line: 7, .. }), "{error}");
}

#[test]
fn headers_that_disagree_are_refused_with_file_and_reason() {
    let (_, report) = simulate("bully-figure-10-8");
    let files = split(&report.recording);
    type Change = fn(&mut Header);
    let changes: [(&str, Change); 5] = [
        ("algorithm", |header| header.algorithm = Algorithm::Invitation.name().to_owned()),
        ("nodes", |header| header.nodes.truncate(4)),
        ("options", |header| header.options.push("waits=full".to_owned())),
        ("T (", |header| header.answer_us += 1),
        ("Check", |header| header.check_every_us += 1),
    ];
    for (what, change) in changes {
        let mut files = files.clone();
        change(&mut files.get_mut(&4).unwrap().header);
        let error = merge(&files).unwrap_err().to_string();
        assert!(error.starts_with("n4.jsonl:1: ") && error.contains(what), "{error}");
    }
}

#[test]
fn names_are_those_of_the_files_that_have_any() {
    let (_, report) = simulate("named-nodes-replace-a-leader");
    let mut files = split(&report.recording);
    let names = report.recording.header.names.clone();
    assert_eq!(names.list([NodeId(1)]), "db-east-1");
    // The harness does not know names, nor does a node that was updated last.
    for id in [0, 1] {
        files.get_mut(&id).unwrap().header.names = NodeNames::default();
    }
    let merged = merge(&files).unwrap();
    assert_eq!(merged.header.names, names);
    assert_eq!(merged.judge(Selection::STANDARD).recording.header.names, names);
    let again = TraceFile::read("merged.jsonl", text(&merged).as_slice()).unwrap();
    assert_eq!(Recorded::merge(vec![again], TOLERANCE).unwrap().header.names, names);
    files.values_mut().for_each(|file| file.header.names = NodeNames::default());
    assert!(merge(&files).unwrap().header.names.is_empty());
}

#[test]
fn names_that_disagree_are_refused_with_file_and_reason() {
    let (_, report) = simulate("named-nodes-replace-a-leader");
    let mut files = split(&report.recording);
    let other = NodeNames::new([(NodeId(1), "db-north-1".parse().unwrap())]).unwrap();
    files.get_mut(&2).unwrap().header.names = other;
    let error = merge(&files).unwrap_err();
    assert!(matches!(error, MergeError::Differs { what: "list of names", .. }), "{error}");
    let error = error.to_string();
    assert!(
        error.starts_with("n2.jsonl:1: its list of names is n1 db-north-1, that of"),
        "{error}"
    );
}

#[test]
fn missing_lines_are_those_of_a_node_by_its_name() {
    let (_, report) = simulate("named-nodes-replace-a-leader");
    let mut files = split(&report.recording);
    files.remove(&1);
    assert_eq!(reason(&judge(&files), "A-2"), "lines of {db-east-1} are missing");
}

#[test]
fn a_copy_among_the_files_is_refused() {
    let (_, report) = simulate("bully-figure-10-8");
    let mut files = split(&report.recording);
    let copy = files[&2].clone();
    files.insert(9, copy);
    let error = merge(&files).unwrap_err();
    assert!(matches!(error, MergeError::Twice { node: NodeId(2), .. }), "{error}");
}

#[test]
fn a_file_without_its_beginning_is_refused() {
    let (_, report) = simulate("bully-figure-10-8");
    let mut files = split(&report.recording);
    files.get_mut(&2).unwrap().entries.remove(0);
    let error = merge(&files).unwrap_err();
    assert!(matches!(error, MergeError::NotStarted { line: 2, .. }), "{error}");
}

#[test]
fn half_a_line_is_tolerated_at_the_end_and_before_a_new_header_only() {
    let (_, report) = simulate("bully-figure-10-8");
    let all = lines(&split(&report.recording)[&1]);
    let (header, rest) = all.split_first().unwrap();
    let half = |line: &str| line[..line.len() / 2].to_owned();
    let whole = rest.join("\n");
    let dead = format!("{header}\n{}\n{}", rest[0], half(&rest[1]));

    let halves = |text: &str| {
        let file = read(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        Recorded::merge(vec![file], TOLERANCE).unwrap().fit.half_lines
    };
    assert_eq!(halves(&format!("{header}\n{whole}\n")), 0);
    assert_eq!(halves(&format!("{header}\n{whole}")), 0);
    assert_eq!(halves(&dead), 1);
    assert_eq!(halves(&format!("{dead}{header}\n{whole}\n")), 1, "right behind the half");
    assert_eq!(halves(&format!("{dead}\n{header}\n{whole}\n")), 1, "in a line of its own");
    assert_eq!(halves(&format!("{dead}{header}\n{whole}\n{}", half(&rest[2]))), 2);

    let line_of = |text: &str| match read(text) {
        Err(FileError::Line { line, file, .. }) => (file, line),
        other => panic!("{other:?}"),
    };
    let file = || "n1.jsonl".to_owned();
    assert_eq!(line_of(&format!("{dead}\n{whole}\n")), (file(), 3));
    assert_eq!(line_of(&format!("{header}\n{whole}\ngarbage\n")), (file(), all.len() + 1));
    assert_eq!(line_of(&format!("{header}\n{{}}\n{whole}\n")), (file(), 2));
}

#[test]
fn mistakes_in_a_header_name_its_line() {
    let (_, report) = simulate("bully-figure-10-8");
    let all = lines(&report.recording);
    let (header, whole) = (all[0].clone(), all[1..].join("\n"));
    let told = |text: &str| match read(text) {
        Ok(file) => Recorded::merge(vec![file], TOLERANCE).unwrap_err().to_string(),
        Err(error) => error.to_string(),
    };
    for (from, to, expected) in [
        ("\"algorithm\":\"bully\"", "\"algorithm\":\"paxos\"", "the trace is of algorithm"),
        ("\"id\":2}", "\"id\":1}", "do not make a group"),
        ("\"nodes\":", "\"knots\":", "not the header of a trace"),
    ] {
        assert!(header.contains(from), "{header}");
        let text = format!("\n{}\n{whole}\n", header.replace(from, to));
        let error = told(&text);
        assert!(error.starts_with("n1.jsonl:2: ") && error.contains(expected), "{error}");
    }
    let later = header.replace("\"algorithm\":\"bully\"", "\"algorithm\":\"invitation\"");
    let error = told(&format!("{header}\n{whole}\n{later}\n"));
    let line = all.len() + 1;
    assert!(error.starts_with(&format!("n1.jsonl:{line}: its algorithm is")), "{error}");
}

#[test]
fn what_is_no_trace_is_refused() {
    let (_, report) = simulate("bully-figure-10-8");
    let header = lines(&report.recording).swap_remove(0);
    assert!(matches!(read(""), Err(FileError::Empty { .. })));
    assert!(matches!(read(&header[..40]), Err(FileError::Empty { .. })));
    assert!(matches!(read("name,value\n1,2\n"), Err(FileError::NoHeader { .. })));
    let newer = header.replace("\"tanist_trace\":2", "\"tanist_trace\":3");
    assert!(matches!(read(&newer), Err(FileError::Schema { found: 3, .. })));
    assert!(matches!(Recorded::merge(Vec::new(), TOLERANCE), Err(MergeError::NoFiles)));
}
