//! Commands that run and exit: their output, their files, their exit codes and what they refuse.
//!
//! No test here starts an agent; those are in `agents/`.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop where it stands")]

mod bench;
mod check;
mod compare;
mod completion;
mod config;
mod config_mistakes;
mod frames;
mod fuzz;
mod help;
mod mobility;
mod run;
mod scale;
mod sweep;
mod trace;
mod trade_off;
