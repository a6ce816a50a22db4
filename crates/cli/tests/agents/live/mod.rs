//! Real processes: started, killed, stopped, cut off, and started again with their disks.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop where it stands")]

pub(crate) mod agent;
pub(crate) mod dev;
pub(crate) mod failover;
pub(crate) mod look;
pub(crate) mod rings;
