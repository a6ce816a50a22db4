//! Attacks by strangers, and faults that a careless operator makes, each by name.
//!
//! Every test runs one attack on real agents and asserts what must hold meanwhile: at most one
//! active leader, health answered, the group up. An attack that succeeded once stays as a test.

mod control_socket;
mod disk;
mod events;
mod files;
mod handshake;
mod hooks;
mod http;
mod identity;
mod log;
pub(crate) mod proxy;
mod refusals;
mod reports;
mod samples;
mod services;
mod settings;
pub(crate) mod strangers;
