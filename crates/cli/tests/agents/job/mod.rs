//! `tanist run` with real processes: nothing runs twice, nothing stays behind.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop where it stands")]

pub(crate) mod exits;
pub(crate) mod leaving;
pub(crate) mod loss;
pub(crate) mod orphans;
pub(crate) mod overlap;
pub(crate) mod signals;
pub(crate) mod terminal;
