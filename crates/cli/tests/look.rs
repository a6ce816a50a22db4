//! Looking at a group and acting on it from the command line.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop where it stands")]

#[path = "agents/live/group.rs"]
#[allow(dead_code, reason = "every test program uses its own part of it")]
mod group;

mod look {
    mod acting;
    mod forms;
    mod reloading;
    mod top;
    mod watching;
}
