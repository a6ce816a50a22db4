//! One invitation node on the test bench, state by state.

mod failure;
mod invited;
mod merge;
mod precedence;
mod search;

use alloc::string::String;
use alloc::vec::Vec;

use super::{Invitation, Message, Standing, Timer};
use crate::election::{Algorithm, Command};
use crate::group::Counter;
use crate::membership::{NodeId, NodeSet};
use crate::payload::Report;
use crate::testing::TestGroup;
use crate::testing::{Bench, NOTHING, group_of, nodes, number, settled};

/// Merges by delay (E-24), which most tests of the listings use.
fn group(n: u32) -> TestGroup {
    with(n, &[("policy", "delay")])
}

fn with(n: u32, options: &[(&str, &str)]) -> TestGroup {
    group_of(Algorithm::Invitation, n, options)
}

/// A coordinator of these members, itself included, in a configured set of n.
fn leader<const N: usize>(me: u32, members: [u32; N], config: TestGroup) -> Bench<Invitation> {
    Bench::established_among(config, me, me, nodes(members))
}

/// A Normal member of the highest node's group.
fn member(me: u32, n: u32) -> Bench<Invitation> {
    Bench::established(group(n), me, n)
}

/// The highest of three alone, with invitations to n1 and n2 into group 2.n3 in flight, and
/// stopped.
fn merging(options: &[(&str, &str)]) -> Bench<Invitation> {
    let mut bench = leader(3, [3], with(3, options));
    bench.tell(Command::Check);
    bench.receive(1, yes(1));
    bench.receive(2, yes(2));
    if bench.is_running(Timer::Answers) && !is_merging(&bench) {
        bench.ring(Timer::Answers);
    }
    assert_eq!(bench.state(), "Election under n3 in 2.n3 with {}");
    bench.stopped("");
    bench
}

fn is_merging(bench: &Bench<Invitation>) -> bool {
    bench.state().starts_with("Election")
}

/// The query of a coordinator that has not established itself.
fn query() -> Message {
    Message::AreYouCoordinator { standing: None }
}

/// An AYC_answer: the sender coordinates, and has not established itself.
fn yes(node: u32) -> Message {
    Message::AycAnswer { is_coordinator: true, coordinator: NodeId(node), standing: None }
}

/// An AYC_answer: the sender follows another node.
fn no(coordinator: u32) -> Message {
    Message::AycAnswer { is_coordinator: false, coordinator: NodeId(coordinator), standing: None }
}

fn invitation(counter: u64, node: u32) -> Message {
    Message::Invitation { group: number(counter, node), standing: None }
}

fn accept(counter: u64, node: u32) -> Message {
    let (report, forwarded) = (Report::default(), NodeSet::new());
    Message::Accept { group: number(counter, node), report, forwarded }
}

fn accept_answer(counter: u64, node: u32, ok: bool) -> Message {
    Message::AcceptAnswer { group: number(counter, node), ok }
}

/// The lines that send something.
fn sent(lines: Vec<String>) -> Vec<String> {
    lines.into_iter().filter(|line| line.starts_with("send")).collect()
}
