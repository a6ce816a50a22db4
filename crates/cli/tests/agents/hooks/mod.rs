//! Hooks and health of real agents: their order, their gate, what is refused, what they see.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop where it stands")]

pub(crate) mod ending;
pub(crate) mod fleet;
pub(crate) mod gate;
pub(crate) mod order;
pub(crate) mod program;
