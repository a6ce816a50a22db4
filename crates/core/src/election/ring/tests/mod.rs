//! One ring node on the test bench, state by state.

mod active_list;
mod assembly;
mod calling;
mod chang_roberts;
mod hirschberg_sinclair;
mod listing;
mod passing;
mod peterson;

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::{Message, Ring, Timer, Token};
use crate::election::{Algorithm, Command, ElectionAlgorithm, Notice};
use crate::group::Counter;
use crate::membership::NodeId;
use crate::payload::Report;
use crate::testing::TestGroup;
use crate::testing::{Bench, NOTHING, Scripted, group_of, nodes, number, settled};
use crate::testing::{of_election, of_facts, of_report};

impl Scripted for Ring {
    fn message(message: &Message) -> String {
        let facts = of_facts(Self::facts(message));
        if let Message::Pass(token) = message {
            format!("{facts} {}", of_token(token))
        } else if let Message::Told { all, .. } = message {
            format!("{facts} {all}")
        } else if let Message::Ack { past: Some(past), .. } = message {
            format!("{facts} past {}", past.0)
        } else if let Message::Follow { report, .. } = message {
            format!("{facts}{}", of_report(report))
        } else {
            facts
        }
    }

    fn timer(timer: Timer) -> String {
        match timer {
            Timer::Acknowledgement(node) => format!("acknowledgement of {node}"),
            Timer::Stall | Timer::Follows | Timer::Check | Timer::Answers => {
                Self::timer_name(&timer).to_string()
            }
        }
    }

    fn record(counter: &Counter) -> String {
        counter.0.to_string()
    }

    fn notice(notice: &Notice) -> String {
        of_election(notice)
    }
}

fn of_token(token: &Token) -> String {
    match token {
        Token::Election { hops, .. } => format!("hop {hops}"),
        Token::Elected { told, .. } => format!("told {told}"),
        Token::List { names, .. } => format!("by {}", of_names(names)),
        Token::Coordinator { owner, names, told, .. } if names.is_empty() => {
            format!("of {owner} told {told}")
        }
        Token::Coordinator { owner, names, told, .. } => {
            format!("of {owner} told {told} by {}", of_names(names))
        }
        Token::Elect { place, .. } => format!("place {place}"),
        Token::Probe { phase, left, .. } => format!("phase {phase} left {left}"),
        Token::Okay { phase, .. } => format!("phase {phase}"),
    }
}

fn of_names(names: &[NodeId]) -> String {
    names.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}

fn group(n: u32) -> TestGroup {
    with(n, &[])
}

fn with(n: u32, options: &[(&str, &str)]) -> TestGroup {
    group_of(Algorithm::RingChangRoberts, n, options)
}

/// A Normal participant in group 1 of the highest node.
fn member(me: u32, n: u32) -> Bench<Ring> {
    Bench::established(group(n), me, n)
}

/// A candidate in this election.
const fn candidate(number: u64, node: u32, hops: u32) -> Message {
    Message::Pass(Token::Election {
        number: Counter(number),
        candidate: NodeId(node),
        hops,
        leads: false,
    })
}

/// The winner of this election, and the nodes that passed the message on.
fn elected<const N: usize>(number: u64, node: u32, told: [u32; N]) -> Message {
    let (number, winner) = (Counter(number), NodeId(node));
    Message::Pass(Token::Elected { number, winner, told: nodes(told), leads: false })
}

/// The successor acknowledges this.
fn ack(message: &Message, past: Option<u64>) -> Message {
    let Message::Pass(token) = message else { panic!("{message:?} is not acknowledged") };
    Message::Ack { label: token.label(), past: past.map(Counter) }
}

fn follow(counter: u64, node: u32) -> Message {
    Message::Follow { group: number(counter, node), report: Report::default() }
}

/// The lines that send something.
fn sent(lines: Vec<String>) -> Vec<String> {
    lines.into_iter().filter(|line| line.starts_with("send")).collect()
}
