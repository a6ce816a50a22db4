//! `tanist run` with real processes: nothing runs twice, nothing stays behind.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop where it stands")]

#[path = "agents/live/group.rs"]
#[allow(dead_code, reason = "the tests of live groups use more of it")]
mod group;

mod job {
    pub(crate) mod exits;
    pub(crate) mod home;
    pub(crate) mod leaving;
    pub(crate) mod loss;
    pub(crate) mod orphans;
    pub(crate) mod overlap;
    pub(crate) mod signals;
    pub(crate) mod terminal;
}
