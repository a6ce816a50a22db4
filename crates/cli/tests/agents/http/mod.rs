//! HTTP of real agents: answers, refusals, and load.

mod actions;
#[allow(dead_code, reason = "other tests use the rest of it")]
pub(crate) mod agents;
pub(crate) mod client;
mod contract;
mod hardening;
mod health;
mod metrics;
mod watch;
