//! Which counters of other nodes are believed.
//!
//! Counters only grow, and some algorithms go on from the highest that any node has used. A peer
//! that sends a counter near the end of `u64`, by a fault or on purpose, would exhaust the counter:
//! every node saves it, and no number is left for the next election. So a driver asks
//! [`CounterCap`] about every message before a node handles it, and drops a counter that no honest
//! node can have reached.
//!
//! Assumes that honest counters grow by elections, one at a time, and by what a node reserves. A
//! node with an empty disk still learns from peers that are up to [`JUMP_MAX`] ahead of it.
//!
//! Leaves out: which peer sent the message, and what happens to a peer that sends such numbers.

use crate::group::Counter;
use crate::node::Message;

/// The highest counter that a node knows of, and the rule how far the next may be above it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CounterCap {
    known: Counter,
}

impl CounterCap {
    /// Begins with what the node has saved.
    #[must_use]
    pub const fn new(saved: Counter) -> Self {
        Self { known: saved }
    }

    /// A counter that the node uses itself.
    pub fn note(&mut self, counter: Counter) {
        self.known = self.known.max(counter);
    }

    /// Whether a message of a peer may reach the node. If so, its counters are known from here on.
    pub fn admit(&mut self, message: &Message) -> Result<(), CounterRefused> {
        let counter = highest_counter(message);
        if counter.0 > COUNTER_MAX {
            return Err(CounterRefused::TooHigh { counter: counter.0 });
        }
        if counter.0.saturating_sub(self.known.0) > JUMP_MAX {
            return Err(CounterRefused::Jump { counter: counter.0, known: self.known.0 });
        }
        self.note(counter);
        Ok(())
    }
}

/// Why a message was not admitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CounterRefused {
    /// No group can have held so many elections.
    #[error(
        "it has counter {counter}, and {COUNTER_MAX} is the highest that is believed; the message \
         was dropped; the peer is faulty or hostile: look at it, and change the group's key if in \
         doubt"
    )]
    TooHigh {
        /// The highest counter in the message.
        counter: u64,
    },
    /// Too far above everything that this node knows.
    #[error(
        "it has counter {counter}, more than {JUMP_MAX} above {known}, the highest that this node \
         knows; the message was dropped; the peer is faulty or hostile: look at it, and change the \
         group's key if in doubt"
    )]
    Jump {
        /// The highest counter in the message.
        counter: u64,
        /// The highest that was known before.
        known: u64,
    },
}

/// The highest counter that is believed: what is above it is left for this node's own elections.
pub const COUNTER_MAX: u64 = 1 << 63;
/// How far a message may be ahead of what is known: more elections than any group holds.
pub const JUMP_MAX: u64 = 1 << 32;

/// The highest counter in a message; 0 if it has none.
#[must_use]
pub fn highest_counter(message: &Message) -> Counter {
    message.highest_counter()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::election::{self, bully};
    use crate::testing::number;

    fn named(counter: u64) -> Message {
        let group = number(counter, 2);
        Message::Election(election::Message::Bully(bully::Message::SetCoordinator { group }))
    }

    #[test]
    fn a_node_that_knows_nothing_learns_what_its_peers_have_reached() {
        let mut cap = CounterCap::default();
        assert_eq!(cap.admit(&named(JUMP_MAX)), Ok(()));
        assert_eq!(cap.admit(&named(2 * JUMP_MAX)), Ok(()), "what was learnt counts");
    }

    #[test]
    fn a_jump_beyond_the_cap_is_refused_and_not_learnt() {
        let mut cap = CounterCap::new(Counter(7));
        let counter = JUMP_MAX + 8;
        let refused = Err(CounterRefused::Jump { counter, known: 7 });
        assert_eq!(cap.admit(&named(counter)), refused);
        assert_eq!(cap.admit(&named(counter)), refused, "repeating it does not help");
        assert_eq!(cap.admit(&named(counter - 1)), Ok(()));
    }

    #[test]
    fn the_end_of_the_counter_is_refused_whatever_is_known() {
        let mut cap = CounterCap::new(Counter(COUNTER_MAX));
        for counter in [COUNTER_MAX + 1, u64::MAX - 1, u64::MAX] {
            assert_eq!(cap.admit(&named(counter)), Err(CounterRefused::TooHigh { counter }));
        }
        assert_eq!(cap.admit(&named(COUNTER_MAX)), Ok(()));
    }

    #[test]
    fn a_message_without_a_counter_is_always_admitted() {
        let up =
            Message::Election(election::Message::Bully(bully::Message::AyuAnswer { leads: false }));
        assert_eq!(highest_counter(&up), Counter(0));
        assert_eq!(CounterCap::default().admit(&up), Ok(()));
    }
}
