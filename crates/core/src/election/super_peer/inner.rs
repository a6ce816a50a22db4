//! The messages and timers of the algorithm inside a group.
//!
//! They are those of [`crate::election`] without the super-peers' own: no group inside a group, so
//! that a message from outside cannot be nested without end.

use minicbor::{Decode, Encode};

use super::Inner;
use crate::election::{self, Algorithm, Bully, BullyLecture, ElectionAlgorithm, Invitation, Ring};
use crate::group::Counter;
use crate::protocol::Protocol;

macro_rules! inner {
    ($($number:literal $variant:ident($type:ty)),+ $(,)?) => {
        /// A message of an inner algorithm.
        #[derive(Clone, Debug, PartialEq, Eq, Hash, Encode, Decode)]
        pub enum Message {
            $(
                #[doc = stringify!($variant)]
                #[n($number)]
                $variant(#[n(0)] <$type as Protocol>::Message)
            ),+
        }

        /// A timer of an inner algorithm.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Timer {
            $( #[doc = stringify!($variant)] $variant(<$type as Protocol>::Timer) ),+
        }

        impl Inner {
            /// The algorithm.
            #[must_use]
            pub const fn algorithm(self) -> Algorithm {
                match self {
                    $( Self::$variant => Algorithm::$variant ),+
                }
            }
        }

        impl From<Message> for election::Message {
            fn from(message: Message) -> Self {
                match message {
                    $( Message::$variant(message) => Self::$variant(message) ),+
                }
            }
        }

        impl From<Timer> for election::Timer {
            fn from(timer: Timer) -> Self {
                match timer {
                    $( Timer::$variant(timer) => Self::$variant(timer) ),+
                }
            }
        }

        impl Message {
            /// The highest counter in it; 0 if it has none.
            pub(super) fn highest_counter(&self) -> Counter {
                match self {
                    $( Self::$variant(message) => <$type>::highest_counter(message) ),+
                }
            }

            /// The same message as one of an inner algorithm; none if it is not of one.
            pub(super) fn of(message: election::Message) -> Option<Self> {
                match message {
                    $( election::Message::$variant(message) => Some(Self::$variant(message)), )+
                    _ => None,
                }
            }
        }

        impl Timer {
            /// The same timer as one of an inner algorithm; none if it is not of one.
            pub(super) fn of(timer: election::Timer) -> Option<Self> {
                match timer {
                    $( election::Timer::$variant(timer) => Some(Self::$variant(timer)), )+
                    _ => None,
                }
            }
        }
    };
}

// The one list of algorithms that can be inside. The numbers are on the wire: never change one,
// never use one again.
inner! {
    0 Bully(Bully),
    1 BullyLecture(BullyLecture),
    2 Invitation(Invitation),
    3 RingChangRoberts(Ring),
    4 RingModified(Ring),
    5 RingList(Ring),
    6 RingActiveList(Ring),
}
