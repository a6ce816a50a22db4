//! Looking at a group and acting on it from the command line.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop where it stands")]

mod acting;
mod forms;
mod reloading;
mod top;
mod watching;
