//! The messages of the hand-over.

use minicbor::{Decode, Encode};

use crate::election::Algorithm;
use crate::election::descriptor;
use crate::group::{Counter, GroupNumber};
use crate::membership::NodeSet;
use crate::payload::Definition;
use crate::trace::{Contents, MessageFacts};

/// Messages of the hand-over: New_State and NS_answer, or Ready and Ready_answer.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Encode, Decode)]
pub enum Message {
    /// The definition of the group, and its members.
    #[n(0)]
    NewState {
        /// The group.
        #[n(0)]
        group: GroupNumber,
        /// All its members, the coordinator included.
        #[n(1)]
        members: NodeSet,
        /// The state of the task.
        #[n(2)]
        definition: Definition,
    },
    /// The definition was taken, or refused.
    #[n(1)]
    NewStateAnswer {
        /// Echoed, so that an answer is matched with its question (E-13, E-25).
        #[n(0)]
        group: GroupNumber,
        /// Whether it was taken (E-12, E-23).
        #[n(1)]
        ok: bool,
    },
}

impl Message {
    /// The counter of the group that it names.
    pub(crate) const fn highest_counter(&self) -> Counter {
        match self {
            Self::NewState { group, .. } | Self::NewStateAnswer { group, .. } => {
                Counter(group.counter)
            }
        }
    }

    /// A message of every kind with every field filled.
    #[cfg(test)]
    pub(crate) fn examples() -> [Self; 2] {
        let group = crate::testing::number(7, 3);
        let members = crate::testing::nodes([1, 2, 300]);
        let definition = Definition::from(&[0, 255, 7][..]);
        [Self::NewState { group, members, definition }, Self::NewStateAnswer { group, ok: false }]
    }

    /// What a trace says of it, in the words of the algorithm's source.
    #[must_use]
    pub fn facts(&self, algorithm: Algorithm) -> MessageFacts {
        let handover = algorithm.descriptor().handover.unwrap_or(descriptor::Handover::NEW_STATE);
        match self {
            Self::NewState { group, .. } => MessageFacts::new(handover.request, Some(*group), None),
            Self::NewStateAnswer { group, ok } => {
                MessageFacts::new(handover.answer, Some(*group), Some(*ok))
            }
        }
    }

    /// What it says beyond that.
    #[must_use]
    pub fn contents(&self) -> Contents {
        match self {
            Self::NewState { definition, .. } => {
                let is_empty = definition.as_bytes().is_empty();
                let definition = (!is_empty).then(|| definition.clone());
                Contents { definition, ..Contents::default() }
            }
            Self::NewStateAnswer { .. } => Contents::default(),
        }
    }
}
