use alloc::string::String;
use alloc::vec::Vec;

use super::*;
use crate::election::Algorithm;
use crate::testing::TestGroup;
use crate::testing::{Bench, NOTHING, group_of, number};

fn group(n: u32) -> TestGroup {
    group_of(Algorithm::Invitation, n, &[]).recalling()
}

/// Node 1 of three, with this on its disk.
fn coming_up(saved: u64) -> Bench<Recall> {
    Bench::coming_up(group(3), 1, Some(Counter(saved)))
}

/// The dice of the test bench show 0, so that is the number of the question.
fn recalled(counter: Option<u64>) -> Message {
    Message::Recalled { question: 0, counter: counter.map(Counter) }
}

fn saw(counter: u64, node: u32) -> Command {
    Command::Saw(number(counter, node))
}

#[test]
fn a_node_that_comes_up_asks_everybody_before_anything_else() {
    assert_eq!(coming_up(4).began, ["send n2 Recall", "send n3 Recall", "set recall 25ms"]);
}

#[test]
fn the_highest_number_that_somebody_saw_is_saved_before_the_election_starts() {
    let mut bench = coming_up(4);
    assert_eq!(bench.receive(2, recalled(Some(9))), NOTHING);
    assert_eq!(bench.receive(3, recalled(Some(7))), ["cancel recall", "save 9", "known 9"]);
}

#[test]
fn a_disk_that_kept_everything_is_not_written() {
    let mut bench = coming_up(4);
    bench.receive(2, recalled(Some(4)));
    assert_eq!(bench.receive(3, recalled(None)), ["cancel recall", "known 4"]);
}

#[test]
fn a_node_whose_disk_is_empty_goes_on_from_what_others_saw() {
    let mut bench = Bench::<Recall>::coming_up(group(2), 1, None);
    assert_eq!(bench.receive(2, recalled(Some(3))), ["cancel recall", "save 3", "known 3"]);
}

#[test]
fn nobody_is_waited_for_longer_than_t() {
    let mut bench = coming_up(4);
    bench.receive(2, recalled(Some(5)));
    assert_eq!(bench.ring(Answers), ["save 5", "known 5"]);
}

#[test]
fn the_dead_are_not_waited_for() {
    let mut bench = coming_up(4);
    assert_eq!(bench.tell(Command::Failed(NodeId(2))), NOTHING);
    assert_eq!(bench.tell(Command::Failed(NodeId(3))), ["cancel recall", "known 4"]);
}

#[test]
fn an_answer_to_an_earlier_life_counts_as_a_number_and_not_as_an_answer() {
    let mut bench = Bench::<Recall>::coming_up(group(2), 1, Some(Counter(4)));
    let stray = Message::Recalled { question: 77, counter: Some(Counter(6)) };
    assert_eq!(bench.receive(2, stray), NOTHING);
    assert_eq!(bench.receive(2, recalled(Some(8))), ["cancel recall", "save 8", "known 8"]);
}

#[test]
fn a_number_of_ours_in_any_message_counts() {
    let mut bench = coming_up(4);
    assert_eq!(bench.tell(saw(6, 1)), NOTHING);
    assert_eq!(bench.ring(Answers), ["save 6", "known 6"]);
    assert_eq!(bench.tell(saw(8, 1)), ["seen 8"]);
}

#[test]
fn a_late_answer_is_passed_on_to_the_election() {
    let mut bench = coming_up(4);
    bench.ring(Answers);
    assert_eq!(bench.receive(2, recalled(Some(9))), ["seen 9"]);
    assert_eq!(bench.receive(3, recalled(None)), NOTHING);
}

#[test]
fn a_peer_is_told_the_highest_number_of_its_own_that_was_seen() {
    let mut bench = coming_up(4);
    for (counter, node) in [(3, 2), (8, 2), (5, 2), (9, 3)] {
        bench.tell(saw(counter, node));
    }
    let question = Message::Recall { question: 12 };
    assert_eq!(bench.receive(2, question), ["send n2 Recall_answer yes 8"]);
    assert_eq!(bench.receive(3, question), ["send n3 Recall_answer yes 9"]);
    assert_eq!(coming_up(4).receive(2, question), ["send n2 Recall_answer no"]);
}

#[test]
fn a_node_that_is_alone_waits_for_nobody() {
    let bench = Bench::<Recall>::coming_up(group(1), 1, Some(Counter(4)));
    assert_eq!(bench.began, ["known 4"]);
}

#[test]
fn where_recall_is_off_nothing_is_asked_and_nothing_remembered() {
    let config = group_of(Algorithm::Invitation, 3, &[]);
    let mut bench = Bench::<Recall>::coming_up(config, 1, None);
    assert_eq!(bench.began, ["nothing known"]);
    bench.tell(saw(8, 2));
    bench.tell(saw(8, 1));
    assert_eq!(bench.machine, Recall::established());
    let lines: Vec<String> = bench.receive(2, Message::Recall { question: 1 });
    assert_eq!(lines, ["send n2 Recall_answer no"]);
}
