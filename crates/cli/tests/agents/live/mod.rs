//! Real processes: started, killed, stopped, disconnected, and restarted with their disks.

pub(crate) mod agent;
pub(crate) mod dev;
pub(crate) mod failover;
mod local_groups;
pub(crate) mod look;
pub(crate) mod rings;
