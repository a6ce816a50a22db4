//! One node of an ad-hoc network on the test bench, state by state.
//!
//! Five nodes: a flood crosses four links, a link takes 15 ms, T = 25 ms, h = 500 ms, and a leader
//! may be silent for 1.56 s.

mod computation;
mod leadership;
mod probing;
mod rings;

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::{Diffusing, ExpandingRing, diffusing, expanding_ring};
use crate::election::{self, Algorithm, ElectionAlgorithm};
use crate::group::Counter;
use crate::testing::TestGroup;
use crate::testing::{Scripted, group_of, of_election, of_facts};

impl Scripted for ExpandingRing {
    fn message(message: &expanding_ring::Message) -> String {
        use expanding_ring::Message;
        let facts = of_facts(Self::facts(message));
        match message {
            Message::Election { ttl, hops, .. } => format!("{facts} hop {hops} of {ttl}"),
            Message::Answer { leader: Some(leader), .. } => format!("{facts} follow {leader}"),
            Message::Answer { leader: None, .. } => facts,
            Message::Beat(beat) => format!("{facts} hop {}", beat.hops),
        }
    }

    fn timer(timer: expanding_ring::Timer) -> String {
        Self::timer_name(&timer).to_string()
    }

    fn record(counter: &Counter) -> String {
        counter.0.to_string()
    }

    fn notice(notice: &election::Notice) -> String {
        of_election(notice)
    }
}

impl Scripted for Diffusing {
    fn message(message: &diffusing::Message) -> String {
        use diffusing::Message;
        let facts = of_facts(Self::facts(message));
        match message {
            Message::Hello { leader: Some(leader), .. } => format!("{facts} following {leader}"),
            Message::Ack { best: Some(best), .. } => format!("{facts} best {best}"),
            Message::Beat(beat) => format!("{facts} hop {}", beat.hops),
            Message::Hello { leader: None, .. }
            | Message::Ack { best: None, .. }
            | Message::Election { .. }
            | Message::Leader { .. }
            | Message::Probe { .. }
            | Message::Reply { .. } => facts,
        }
    }

    fn timer(timer: diffusing::Timer) -> String {
        Self::timer_name(&timer).to_string()
    }

    fn record(counter: &Counter) -> String {
        counter.0.to_string()
    }

    fn notice(notice: &election::Notice) -> String {
        of_election(notice)
    }
}

fn ring_of(n: u32, options: &[(&str, &str)]) -> TestGroup {
    group_of(Algorithm::AdhocExpandingRing, n, options)
}

fn diffusing_of(n: u32) -> TestGroup {
    group_of(Algorithm::AdhocDiffusing, n, &[])
}

/// The lines that send something.
fn said(lines: Vec<String>) -> Vec<String> {
    lines.into_iter().filter(|line| line.starts_with("send") || line.starts_with("broad")).collect()
}
