//! Tests that start agents: real processes, their sockets, files, jobs and hooks.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop where it stands")]

mod adhoc;
mod adversity;
mod attacks;
mod haproxy;
mod hooks;
mod http;
mod job;
mod live;
mod look;
mod network;
mod operators_day;
mod rolling;
mod rotation;
mod service;
mod soak;
mod super_peers;
#[path = "../support/mod.rs"]
mod support;
mod switchover;
mod vip;
