use alloc::vec::Vec;

use super::*;
use crate::counter_cap::highest_counter;
use crate::detector::Heartbeat;
use crate::election::{self, Algorithm, bully, bully_lecture, invitation, ring};
use crate::group::Counter;
use crate::membership::{NodeId, NodeSet};
use crate::payload::{Definition, Report};
use crate::policy;
use crate::recall;
use crate::reorganization;
use crate::testing::{nodes, number};
use crate::trace::Kind;

fn bully(message: bully::Message) -> Message {
    Message::Election(election::Message::Bully(message))
}

fn lecture(message: bully_lecture::Message) -> Message {
    Message::Election(election::Message::BullyLecture(message))
}

fn invitation(message: invitation::Message) -> Message {
    Message::Election(election::Message::Invitation(message))
}

fn ring(message: ring::Message) -> Message {
    Message::Election(election::Message::RingChangRoberts(message))
}

fn stamp(counter: u64, node: u32) -> policy::Stamp {
    policy::Stamp { counter, node: NodeId(node) }
}

#[test]
fn every_kind_of_message_comes_back_as_it_was() {
    for message in Message::examples() {
        let bytes = encode(&message);
        assert_eq!(decode(&bytes), Ok(message.clone()), "{bytes:02x?}");
    }
}

/// A field with a counter that [`highest_counter`] leaves out fails here: it is seen in what the
/// message is printed as.
#[test]
fn the_highest_counter_of_every_message_is_found() {
    for message in Message::examples() {
        let shown = alloc::format!("{message:?}");
        let numbers = shown.split("counter: ").skip(1).chain(shown.split("Counter(").skip(1));
        let digits = |rest: &str| -> Option<u64> {
            let rest = rest.trim_start_matches("Some(").trim_start_matches("Counter(");
            rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
        };
        let highest = numbers.filter_map(digits).max().unwrap_or(0);
        assert_eq!(highest_counter(&message), Counter(highest), "{shown}");
    }
}

/// A new kind of which there is no example fails here, since every message has a kind of its own.
#[test]
fn the_list_has_every_kind() {
    let messages = Message::examples();
    for kind in Kind::ALL {
        let is_there = Algorithm::ALL
            .iter()
            .any(|algorithm| messages.iter().any(|said| said.facts(*algorithm).kind == *kind));
        assert!(is_there, "{kind} is missing");
    }
}

#[test]
fn the_encoding_is_what_peers_of_other_versions_know() {
    let report = Report::from("ok");
    for (message, bytes) in [
        (
            bully(bully::Message::AyuAnswer { leads: false }),
            &[0x82, 0, 0x81, 0x82, 0, 0x81, 0x82, 1, 0x81, 0xf4][..],
        ),
        (
            bully(bully::Message::EeAnswer { group: number(7, 3), ok: true, report }),
            &[0x82, 0, 0x81, 0x82, 0, 0x81, 0x82, 5, 0x83, 0x82, 7, 3, 0xf5, 0x42, b'o', b'k'],
        ),
        (
            lecture(bully_lecture::Message::Coordinator { number: number(300, 2), replaces: None }),
            &[0x82, 0, 0x81, 0x82, 1, 0x81, 0x82, 2, 0x81, 0x82, 0x19, 1, 44, 2],
        ),
        (
            invitation(invitation::Message::Invitation { group: number(1, 9), standing: None }),
            &[0x82, 0, 0x81, 0x82, 2, 0x81, 0x82, 4, 0x81, 0x82, 1, 9],
        ),
        (
            ring(ring::Message::Pass(ring::Token::Election {
                number: Counter(2),
                candidate: number(2, 9).node,
                hops: 4,
                leads: false,
            })),
            &[0x82, 0, 0x81, 0x82, 3, 0x81, 0x82, 0, 0x81, 0x82, 0, 0x84, 2, 9, 4, 0xf4],
        ),
        (
            Message::Reorganization(reorganization::Message::NewState {
                group: number(2, 3),
                members: nodes([1, 3]),
                definition: Definition::default(),
            }),
            &[0x82, 1, 0x81, 0x82, 0, 0x83, 0x82, 2, 3, 0x82, 1, 3, 0x40],
        ),
        (Message::Detector(Heartbeat), &[0x82, 2, 0x81, 0x80]),
        (
            Message::Recall(recall::Message::Recalled { question: 7, counter: Some(Counter(5)) }),
            &[0x82, 3, 0x81, 0x82, 1, 0x82, 7, 5],
        ),
        (
            Message::Policy(policy::Message::Farewell { successor: None }),
            &[0x82, 4, 0x81, 0x82, 0, 0x80],
        ),
        (
            Message::Policy(policy::Message::Pause { stamp: stamp(300, 2), is_on: true }),
            &[0x82, 4, 0x81, 0x82, 1, 0x82, 0x82, 0x19, 1, 44, 2, 0xf5],
        ),
        (
            Message::Policy(policy::Message::Priority { priority: 300 }),
            &[0x82, 4, 0x81, 0x82, 2, 0x81, 0x19, 1, 44],
        ),
    ] {
        assert_eq!(encode(&message), bytes, "{message:?} is {:02x?}", encode(&message));
    }
}

/// The bytes of every kind of message; `TANIST_BLESS=1` records them again.
#[test]
fn the_bytes_of_every_kind_of_message_are_the_recorded_ones() {
    extern crate std;
    use core::fmt::Write;
    let line = |message: &Message| {
        let mut line = alloc::string::String::new();
        encode(message).iter().for_each(|byte| write!(line, "{byte:02x}").unwrap());
        line + "\n"
    };
    let mut lines: Vec<_> = Message::examples().iter().map(line).collect();
    lines.sort();
    let lines = lines.concat();
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/wire/golden.txt");
    if std::env::var_os("TANIST_BLESS").is_some() {
        std::fs::write(path, &lines).unwrap();
    }
    assert_eq!(lines, std::fs::read_to_string(path).unwrap());
}

#[test]
fn a_field_that_a_newer_version_added_is_skipped() {
    // Invitation with an array behind its fields, and AYU_answer with a field at all.
    let newer =
        [0x82, 0, 0x81, 0x82, 2, 0x81, 0x82, 4, 0x83, 0x82, 1, 9, 0xf6, 0x82, 1, 0x61, b'x'];
    let message =
        invitation(invitation::Message::Invitation { group: number(1, 9), standing: None });
    assert_eq!(decode(&newer), Ok(message));
    let newer = [0x82, 0, 0x81, 0x82, 0, 0x81, 0x82, 1, 0x81, 0xf5];
    assert_eq!(decode(&newer), Ok(bully(bully::Message::AyuAnswer { leads: true })));
}

#[test]
fn a_kind_that_a_newer_version_added_is_unknown_and_not_malformed() {
    for newer in [
        &[0x82, 0x18, 99, 0x81, 0x01][..],
        &[0x82, 0, 0x81, 0x82, 0x17, 0x80],
        &[0x82, 0, 0x81, 0x82, 0, 0x81, 0x82, 0x18, 40, 0x80],
    ] {
        assert_eq!(decode(newer), Err(DecodeError::Unknown), "{newer:02x?}");
        let short = &newer[..newer.len() - 1];
        assert!(matches!(decode(short), Err(DecodeError::Malformed { .. })), "{short:02x?}");
    }
}

#[test]
fn a_message_cut_short_anywhere_is_malformed() {
    for message in Message::examples() {
        let bytes = encode(&message);
        for end in 0..bytes.len() {
            let error = decode(&bytes[..end]).unwrap_err();
            assert!(matches!(error, DecodeError::Malformed { .. }), "{message:?} to {end}");
        }
    }
}

#[test]
fn bytes_after_a_message_are_refused() {
    for message in Message::examples() {
        let mut bytes = encode(&message);
        bytes.extend([0x80, 0x80]);
        assert_eq!(decode(&bytes), Err(DecodeError::Trailing { trailing: 2 }));
    }
}

#[test]
fn a_length_that_the_bytes_do_not_have_is_refused_without_room_for_it() {
    // NewState whose members claim to be 2^60, and one whose definition does.
    let huge = [0xb, 0, 0, 0, 0, 0, 0, 0];
    let head = [0x82, 1, 0x81, 0x82, 0, 0x83, 0x82, 2, 3];
    let members = [&head[..], &[0x9b], &huge, &[1, 3, 0x40]].concat();
    let definition = [&head[..], &[0x82, 1, 3, 0x5b], &huge, &[1]].concat();
    for bytes in [members, definition] {
        assert!(matches!(decode(&bytes), Err(DecodeError::Malformed { .. })), "{bytes:02x?}");
    }
}

#[test]
fn members_in_any_order_and_named_twice_are_a_set() {
    let unsorted = [0x82, 1, 0x81, 0x82, 0, 0x83, 0x82, 2, 3, 0x84, 3, 1, 3, 2, 0x40];
    let Ok(Message::Reorganization(reorganization::Message::NewState { members, .. })) =
        decode(&unsorted)
    else {
        panic!("{:?}", decode(&unsorted));
    };
    let expected: NodeSet = nodes([1, 2, 3]);
    assert_eq!(members, expected);
}

#[test]
fn random_bytes_are_no_message() {
    let mut dice = Xorshift(1);
    for _ in 0..20_000 {
        let length = dice.below(48);
        let bytes: Vec<u8> = (0..length).map(|_| dice.byte()).collect();
        assert!(decode(&bytes).is_err(), "{bytes:02x?}");
    }
}

#[test]
fn a_message_with_a_wrong_byte_is_refused_or_is_another_message() {
    let mut dice = Xorshift(2);
    for message in Message::examples() {
        let right = encode(&message);
        for _ in 0..500 {
            let mut bytes = right.clone();
            let at = dice.below(bytes.len());
            bytes[at] ^= dice.byte();
            if let Ok(other) = decode(&bytes) {
                assert_eq!(decode(&encode(&other)), Ok(other));
            }
        }
    }
}

/// Random bytes, the same in every run.
struct Xorshift(u64);

impl Xorshift {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn byte(&mut self) -> u8 {
        self.next().to_le_bytes()[3]
    }

    fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() >> 33).unwrap() % bound
    }
}
