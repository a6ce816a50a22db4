//! The order of a ring and the labels of nodes: what they change, and what is refused.

use tanist_core::NodeId;
use tanist_core::trace::Kind;
use tanist_sim::{Report, Scenario, run};

const RING: &str = "name = \"ring\"\nend = \"1s\"\nalgorithm = \"ring-chang-roberts\"\nnodes = 5\n";

fn report(text: &str) -> Report {
    let scenario = Scenario::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(Scenario::parse(&scenario.to_text()).expect("it reads back"), scenario);
    run(&scenario, scenario.seed)
}

/// How many candidacies there are when all nodes of this ring call an election.
fn candidacies(order: &[u32]) -> u64 {
    let n = order.len();
    let ring: Vec<String> = order.iter().map(u32::to_string).collect();
    let members: Vec<String> = (1..n).map(|node| node.to_string()).collect();
    let calls: Vec<String> = (1..=n)
        .map(|node| format!("[[fault]]\nat = \"1ms\"\ndo = \"call\"\nnode = {node}\n"))
        .collect();
    let text = format!(
        "name = \"order\"\nend = \"1s\"\nalgorithm = \"ring-chang-roberts\"\nnodes = {n}\n\
         ring = [{}]\n[[group]]\ncoordinator = {n}\nmembers = [{}]\n{}",
        ring.join(", "),
        members.join(", "),
        calls.concat()
    );
    let report = report(&text);
    assert!(report.violated().next().is_none(), "{text}");
    report.counts.of(Kind::Election)
}

#[test]
fn an_ascending_ring_is_best_for_chang_and_roberts_and_a_descending_one_worst() {
    for n in 2..=9_u32 {
        let ascending: Vec<u32> = (1..=n).collect();
        let descending: Vec<u32> = (1..=n).rev().collect();
        assert_eq!(candidacies(&ascending), u64::from(2 * n - 1), "{n}");
        assert_eq!(candidacies(&descending), u64::from(n * (n + 1) / 2), "{n}");
    }
    assert_eq!(candidacies(&[3, 1, 4, 2, 5]), candidacies(&[4, 2, 5, 3, 1]), "a ring has no start");
}

#[test]
fn the_order_by_id_is_the_default() {
    let plain = report(RING).recording;
    let given = report(&format!("{RING}ring = [1, 2, 3, 4, 5]\n")).recording;
    assert_eq!(plain.hash(), given.hash());
    assert!(plain.header.ring.is_empty());
    let other = report(&format!("{RING}ring = [5, 2, 3, 1, 4]\n")).recording;
    assert_eq!(other.header.in_ring_order(), [5, 2, 3, 1, 4].map(NodeId));
    assert_ne!(plain.hash(), other.hash());
}

fn refused(lines: &str) -> String {
    let told = Scenario::parse(&format!("{RING}{lines}")).expect_err(lines);
    told.to_string()
}

#[test]
fn a_ring_that_is_no_permutation_is_refused_with_its_line() {
    let each = "name each node of the group once";
    assert_eq!(refused("ring = [1, 2]"), format!("line 5: n3 is not in the ring; {each}"));
    assert_eq!(
        refused("ring = [\n  1,\n  2,\n  2,\n]"),
        format!("line 8: n2 is in the ring twice; {each}")
    );
    assert_eq!(
        refused("ring = [1, 2, 3, 4,\n  9]"),
        format!("line 6: n9 is in the ring and is not a node of the group; {each}")
    );
    let bully = RING.replace("ring-chang-roberts", "bully") + "ring = [1, 2, 3, 4, 5]";
    let told = Scenario::parse(&bully).expect_err("bully has no ring").to_string();
    let begin = "line 5: `ring` is the order of a ring, and bully has none; leave it out, or choose \
                 one of ring-chang-roberts, ring-modified, ring-list, ring-active-list";
    assert!(told.starts_with(begin), "{told}");
}

#[test]
fn labels_are_refused_with_their_line() {
    assert_eq!(
        refused("labels = [\"17\", \"24\"]"),
        "line 5: 2 labels for 5 nodes; give one each, in order of id"
    );
    assert_eq!(
        refused("labels = [\"17\",\n \"24\",\n \"33\",\n \"24\", \"5\"]"),
        "line 8: n2 and n4 are both called 24; give each node a name of its own"
    );
    assert_eq!(
        refused("labels = [\"17\", \"2 4\", \"33\", \"4\", \"5\"]"),
        "line 5: \"2 4\" is not the label of a node: a label has no spaces and no control \
         characters"
    );
    assert_eq!(
        refused("labels = [\"n2\", \"24\", \"33\", \"4\", \"5\"]"),
        "line 5: \"n2\" is not the label of a node: n and a number is the short form of a node; \
         choose another label"
    );
    let named = "name = \"x\"\nend = \"1s\"\nalgorithm = \"bully\"\nlabels = [\"17\"]\n[[node]]\n\
                 id = 1\nname = \"db\"\n";
    assert_eq!(
        Scenario::parse(named).expect_err("it has both").to_string(),
        "line 7: a node has the name db as well as a label; give either `labels` or names"
    );
}

#[test]
fn labels_are_in_the_header_and_in_the_file_again() {
    let text = format!("{RING}labels = [\"17\", \"9\", \"24\", \"1\", \"p3\"]\n");
    let header = report(&text).recording.header;
    assert_eq!(header.names.list((1..=5).map(NodeId)), "17 9 24 1 p3");
    let json = serde_json::to_string(&header).expect("it can be written");
    let back: tanist_core::trace::Header = serde_json::from_str(&json).expect("it reads back");
    assert_eq!(back, header);
}
