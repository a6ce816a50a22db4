//! What a process of this program does about itself: limits, signals, orphans, its memory.

pub(crate) mod descriptors;
pub(crate) mod interrupt;
pub(crate) mod reaper;
pub(crate) mod second_signal;
pub(crate) mod secrecy;
