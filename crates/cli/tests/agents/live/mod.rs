//! Real processes: started, killed, stopped, cut off, and started again with their disks.

pub(crate) mod agent;
pub(crate) mod dev;
pub(crate) mod failover;
pub(crate) mod look;
pub(crate) mod rings;
