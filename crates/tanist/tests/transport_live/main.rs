//! The transport on the loopback interface: real sockets, real time, one thread per node.
//!
//! Nothing here asserts how long something takes; every wait is for a condition, and ends in a
//! failure that says what did not come.
#![allow(clippy::unwrap_used, reason = "a helper of a test may fail as the test itself may")]

#[path = "../../../cli/tests/support/addresses.rs"]
mod addresses;
mod datagrams;
mod evidence;
mod flow;
mod keys;
mod links;
mod node;
mod refusals;
mod rogue;
mod strangers;
mod twins;
