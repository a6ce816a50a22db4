//! One bully node on the test bench, state by state.

mod candidate;
mod halted;
mod triggers;
mod variants;
mod vetting;

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::{Bully, Message, Timer};
use crate::election::{Algorithm, Command};
use crate::group::Counter;
use crate::payload::Report;
use crate::testing::TestGroup;
use crate::testing::{Bench, NOTHING, group_of, nodes, number, settled};

fn group(n: u32) -> TestGroup {
    with(n, &[])
}

fn with(n: u32, options: &[(&str, &str)]) -> TestGroup {
    group_of(Algorithm::Bully, n, options)
}

/// A Normal participant in group 1 of the highest node.
fn member(me: u32, n: u32) -> Bench<Bully> {
    Bench::established(group(n), me, n)
}

/// The highest node, which has started, asked no other, and stopped; its Enter_Election is in
/// flight.
fn halting(config: TestGroup) -> Bench<Bully> {
    let highest = u32::try_from(config.members.count()).unwrap();
    let mut bench = Bench::coming_up(config, highest, None);
    assert_eq!(bench.state(), format!("Election under none in 1.n{highest} with {{}}"));
    bench.stopped("");
    bench
}

/// The highest of three nodes, which has told both others that it coordinates.
fn appointing(config: TestGroup) -> Bench<Bully> {
    let mut bench = halting(config);
    bench.receive(1, ee_answer(1, 3, true));
    let sent = bench.receive(2, ee_answer(1, 3, true));
    assert_eq!(sent, APPOINTMENTS);
    bench
}

/// A group that keeps its leader.
fn sticky(n: u32) -> TestGroup {
    let mut config = group(n);
    config.settings.preempt = crate::policy::Preempt::Never;
    config
}

const APPOINTMENTS: [&str; 3] =
    ["send n1 Set_Coordinator 1.n3", "send n2 Set_Coordinator 1.n3", "set answers 25ms"];

fn enter(counter: u64, node: u32) -> Message {
    Message::EnterElection { group: number(counter, node), appoints: false, leads: false }
}

fn ee_answer(counter: u64, node: u32, ok: bool) -> Message {
    Message::EeAnswer { group: number(counter, node), ok, report: Report::default() }
}

fn set_coordinator(counter: u64, node: u32) -> Message {
    Message::SetCoordinator { group: number(counter, node) }
}

fn sc_answer(counter: u64, node: u32, ok: bool) -> Message {
    Message::ScAnswer { group: number(counter, node), ok }
}

const fn probe() -> Message {
    Message::AreYouUp { nudge: false }
}

/// The lines that send something.
fn sent(lines: Vec<String>) -> Vec<String> {
    lines.into_iter().filter(|line| line.starts_with("send")).collect()
}
