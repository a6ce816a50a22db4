//! Whole nodes in one process, over the loopback device: what a program that uses the crate sees.

mod elections;
mod failures;
mod fleet;
mod leading;
mod strangers;
mod tasks;
