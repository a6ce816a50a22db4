//! Headers that describe no group, and the order of the ring that a header gives.

use tanist_core::NodeId;
use tanist_core::membership::NodeNames;
use tanist_core::trace::Header;
use tanist_sim::monitors::Selection;
use tanist_sim::recorded::{Recorded, TOLERANCE, TraceFile};

use crate::split::{broken, merge, simulate, split, text};

type Change = fn(&mut Header);

/// What the refusal of a run says whose headers are all changed like this.
fn refusal(run: &str, change: Change) -> String {
    let mut files = split(&simulate(run).1.recording);
    files.values_mut().for_each(|file| change(&mut file.header));
    let error = merge(&files).map(|_| ()).expect_err("the header is wrong").to_string();
    assert!(error.contains(".jsonl:1: ") && error.contains("othing was judged"), "{error}");
    error
}

#[test]
fn a_ring_that_is_not_one_of_the_nodes_is_refused() {
    let changes: [(&str, Change); 3] = [
        ("n9 is in the ring and is not a node", |header| header.ring = vec![NodeId(9), NodeId(9)]),
        ("is in the ring twice", |header| header.ring[0] = header.ring[1]),
        ("is not in the ring", |header| header.ring.truncate(2)),
    ];
    for (what, change) in changes {
        let error = refusal("ring-list-six-processes", change);
        assert!(error.contains("`ring`") && error.contains(what), "{error}");
        assert!(error.contains("name each node of the group once"), "{error}");
    }
    let error = refusal("bully-figure-10-8", |header| header.ring = (1..=5).map(NodeId).collect());
    assert!(error.contains("bully has no ring"), "{error}");
}

#[test]
fn names_and_labels_of_strangers_are_refused() {
    let error = refusal("bully-figure-10-8", |header| {
        header.names = NodeNames::new([(NodeId(7), "db".parse().unwrap())]).unwrap();
    });
    assert!(error.contains("`names`"), "{error}");
    assert!(error.contains("there is no node 7; the nodes are 1 2 3 4 5"), "{error}");
    let error = refusal("bully-figure-10-8", |header| {
        header.labels = vec![(NodeId(8), Default::default())];
    });
    assert!(error.contains("`labels`") && error.contains("there is no node 8"), "{error}");
}

#[test]
fn options_that_the_algorithm_does_not_have_are_refused() {
    for (option, what) in [
        ("foo=bar", "has no option \"foo\""),
        ("merge=often", "cannot be \"often\""),
        ("foo", "write name=value"),
    ] {
        let mut files = split(&simulate("invitation-figure-10-9").1.recording);
        let option = option.replace("merge", "policy");
        files.values_mut().for_each(|file| file.header.options = vec![option.clone()]);
        let error = merge(&files).map(|_| ()).expect_err("the option is wrong").to_string();
        assert!(error.contains("`options`") && error.contains(what), "{error}");
    }
}

#[test]
fn a_preempt_that_scenarios_cannot_have_is_refused() {
    let error = refusal("bully-figure-10-8", |header| header.preempt = "sometimes".to_owned());
    assert!(error.contains("`preempt`") && error.contains("\"sometimes\""), "{error}");
    assert!(error.contains("`never`") && error.contains("a duration"), "{error}");
    let highest_wins: Change = |header| header.preempt = "never".to_owned();
    let error = refusal("ce-l3-held", highest_wins);
    assert!(error.contains("the highest node always takes over"), "{error}");
    for good in ["", "never", "1.5s", "250ms", "20µs"] {
        let mut files = split(&simulate("bully-figure-10-8").1.recording);
        files.values_mut().for_each(|file| file.header.preempt = good.to_owned());
        assert!(merge(&files).is_ok(), "{good}");
    }
}

#[test]
fn the_limit_for_stopping_may_differ_between_nodes() {
    let mut files = split(&simulate("bully-figure-10-8").1.recording);
    for (id, file) in &mut files {
        file.header.stop_within_us = 1_000_000 * u64::from(10 - *id);
    }
    let merged = merge(&files).unwrap();
    assert_eq!(merged.header.stop_within_us, 10_000_000, "the longest of them");
    assert_eq!(broken(&merged.judge(Selection::STANDARD)), [""; 0]);
}

#[test]
fn a_ring_with_an_order_of_its_own_is_judged_in_that_order() {
    let (_, report) = simulate("ring-list-six-processes");
    let header = &report.recording.header;
    assert!(!header.ring.is_empty() && !header.names.is_empty());
    let merged = merge(&split(&report.recording)).unwrap();
    let judged = merged.judge(Selection::STANDARD);
    assert_eq!(judged.global.members.ring(), Some(header.ring.as_slice()));
    assert_eq!(broken(&judged), [""; 0]);
    let again = TraceFile::read("merged.jsonl", text(&merged).as_slice()).unwrap();
    let again = Recorded::merge(vec![again], TOLERANCE).unwrap();
    let ring = again.judge(Selection::STANDARD).global.members.ring().map(<[NodeId]>::to_vec);
    assert_eq!(ring, Some(header.ring.clone()));
}
