//! Lines on the control socket of a real agent: each question gets one answer, in order.
//!
//! Two bytes that no JSON has stand for many spaces and many letters, so that lines over the limit
//! are found.

use std::cell::RefCell;

use tanist_cli::fuzzing::{Bench, QUESTION_MAX, Question, is_answer, question};

/// Checks bytes as everything that a client says on one connection.
pub fn check(bytes: &[u8]) {
    let bytes = expanded(bytes);
    let expected = Expected::of(&bytes);
    let lines = BENCH.with_borrow_mut(|bench| {
        let bench = bench.get_or_insert_with(|| Bench::start().expect("a group of one starts"));
        bench.control(&bytes, expected.limit).expect("a pair of sockets")
    });
    assert!(lines.len() >= expected.answers, "{} answers, {expected:?}", lines.len());
    for line in &lines[..expected.answers] {
        assert!(is_answer(line), "{line:?} is not an answer");
    }
    for line in &lines {
        assert!(line.ends_with('\n') && !line.trim().is_empty(), "{line:?} is not a line");
        let is_whole = |byte: u8| byte >= b' ';
        assert!(line.trim_end_matches('\n').bytes().all(is_whole), "{line:?} is not one line");
    }
}

/// What must come back.
#[derive(Debug, Default)]
struct Expected {
    /// So many answers come first.
    answers: usize,
    /// The client goes away after so many lines; else it waits until the agent does.
    limit: Option<usize>,
}

impl Expected {
    fn of(bytes: &[u8]) -> Self {
        let mut expected = Self::default();
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            // What is not a line ends the conversation, with an answer or without.
            let is_long = line.len() as u64 > QUESTION_MAX;
            let Ok(text) = str::from_utf8(line) else { break };
            if is_long || !line.ends_with(b"\n") {
                break;
            }
            match question(text) {
                Some(Question::Plain(written)) => {
                    assert_eq!(question(&written), Some(Question::Plain(written.clone())));
                    expected.answers += 1;
                }
                Some(Question::Watch { is_answered }) => {
                    expected.limit = Some(expected.answers + usize::from(is_answered));
                    break;
                }
                Some(Question::Attach) => break,
                None => expected.answers += 1,
            }
        }
        expected
    }
}

fn expanded(bytes: &[u8]) -> Vec<u8> {
    let mut whole = Vec::with_capacity(bytes.len());
    for byte in bytes {
        match byte {
            1 if whole.len() < LENGTH_MAX => whole.resize(whole.len() + 40_000, b' '),
            2 if whole.len() < LENGTH_MAX => whole.resize(whole.len() + 40_000, b'a'),
            byte => whole.push(*byte),
        }
    }
    whole
}

thread_local! {
    /// One agent for all inputs: starting one takes longer than asking it.
    static BENCH: RefCell<Option<Bench>> = const { RefCell::new(None) };
}

/// Enough for several lines over the limit.
const LENGTH_MAX: usize = 200_000;
