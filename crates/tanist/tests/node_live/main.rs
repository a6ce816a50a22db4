//! Whole nodes in one process, over the loopback device: what a program that uses the crate sees.
//!
//! Every wait is for a condition, and ends in a failure that says what did not come. Where a test
//! is about evidence, its nodes wait long for a silent peer, so silence cannot be what they
//! noticed.
#![allow(clippy::unwrap_used, reason = "a helper of a test may fail as the test itself may")]

mod elections;
mod failures;
mod handover;
mod hanging;
mod leading;
mod questions;
mod shutdown;
mod strangers;
#[path = "../support/mod.rs"]
mod support;
mod tasks;
mod withdrawal;
