//! What a node tells a peer about itself when they meet, for people to compare.
//!
//! No node decides anything by it: the release that it runs, its wall clock, the version of its
//! member list and the port at which it expects its peers. It is part of both sides of the
//! handshake, so it is sealed, and a refused node learns it too. A release that does not send it is
//! a peer without an introduction.

use std::time::{Duration, SystemTime};

use minicbor::{Decode, Encode};
use serde::Serialize;
use tanist_core::Time;

use crate::clock;

/// What this node says about itself, apart from the time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct About {
    /// The version of the program.
    pub program: String,
    /// The version of its member list.
    pub peers_version: u32,
    /// The port of its address in its own member list.
    pub port: Option<u16>,
    /// How far its wall clock is made to be ahead, in milliseconds: for tests, else 0.
    pub clock_ahead_ms: i64,
}

impl About {
    /// This release, with the first version of a member list.
    #[must_use]
    pub fn release() -> Self {
        let program = env!("CARGO_PKG_VERSION").to_owned();
        Self { program, peers_version: 1, port: None, clock_ahead_ms: 0 }
    }

    /// What is said at this moment.
    pub(super) fn introduction(&self) -> Introduction {
        Introduction {
            program: self.program.clone(),
            peers_version: self.peers_version,
            port: self.port,
            wall_clock_ms: self.wall_clock_ms(),
        }
    }

    /// Milliseconds since 1970 on this node's wall clock.
    fn wall_clock_ms(&self) -> i64 {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        millis(since).saturating_add(self.clock_ahead_ms)
    }
}

/// What a node says about itself in a handshake.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
#[cbor(map)]
pub struct Introduction {
    /// The version of the program.
    #[n(0)]
    pub program: String,
    /// The version of its member list.
    #[n(1)]
    pub peers_version: u32,
    /// The port of its address in its own member list.
    #[n(2)]
    pub port: Option<u16>,
    /// Milliseconds since 1970 on its wall clock.
    #[n(3)]
    pub wall_clock_ms: i64,
}

/// An introduction as it was heard.
#[derive(Clone, Debug)]
pub(super) struct Heard {
    introduction: Introduction,
    at: Time,
}

impl Heard {
    /// Notes what a peer said a moment ago. A log or a terminal must not be steered by it.
    pub(super) fn now(introduction: Introduction) -> Self {
        let program = introduction.program.chars().filter(|c| c.is_ascii_graphic());
        let program = program.take(PROGRAM_MAX).collect();
        Self { introduction: Introduction { program, ..introduction }, at: clock::now() }
    }

    /// What can be told of the peer at this moment. Its clock is taken to have run on since then.
    pub(super) fn told(&self, own: &About) -> Told {
        let Introduction { program, peers_version, port, wall_clock_ms } = &self.introduction;
        let theirs = wall_clock_ms.saturating_add(millis(clock::now().since(self.at)));
        Told {
            program: program.clone(),
            peers_version: *peers_version,
            port: *port,
            clock_ahead_ms: theirs.saturating_sub(own.wall_clock_ms()),
        }
    }
}

/// What a peer told about itself when it was last met.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Told {
    /// The version of its program.
    pub program: String,
    /// The version of its member list.
    pub peers_version: u32,
    /// The port at which it expects its peers.
    pub port: Option<u16>,
    /// By how much its wall clock is ahead of this node's, in milliseconds, as far as a handshake
    /// shows it: within the time of a message, and without what its clock was set to since then.
    pub clock_ahead_ms: i64,
}

fn millis(span: Duration) -> i64 {
    i64::try_from(span.as_millis()).unwrap_or(i64::MAX)
}

/// Longer than any version.
const PROGRAM_MAX: usize = 32;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_is_compared_at_the_moment_of_the_question() {
        let (own, ahead) = (About::release(), About { clock_ahead_ms: 90_000, ..About::release() });
        let told = Heard::now(ahead.introduction()).told(&own);
        assert!((89_000..91_000).contains(&told.clock_ahead_ms), "{told:?}");
        let told = Heard::now(own.introduction()).told(&ahead);
        assert!((-91_000..-89_000).contains(&told.clock_ahead_ms), "{told:?}");
    }

    #[test]
    fn a_program_cannot_steer_a_terminal_and_no_time_overflows() {
        let program = format!("1.2\u{1b}[31m{}", "9".repeat(100));
        let wild =
            Introduction { program, wall_clock_ms: i64::MIN, ..About::release().introduction() };
        let told = Heard::now(wild).told(&About::release());
        assert_eq!((told.program.len(), &told.program[..6]), (32, "1.2[31"));
    }
}
