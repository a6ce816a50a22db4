//! What must hold for bytes that others made, one file for each target.
//!
//! Each module has one function, `check`, that takes any bytes and panics where a rule is broken.
//! The targets of libFuzzer are three lines each, so that everything here is plain safe code and an
//! input can be replayed by a test as well. Assumes nothing about the bytes. Leaves out sockets and
//! files: those are in the crates' own tests.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod control;
pub mod datagram;
pub mod frame;
pub mod handshake;
pub mod hello;
pub mod http;
pub mod keyfile;
pub mod message;
mod mutation;
mod pair;
pub mod radio;
pub mod store;
pub mod trace;
