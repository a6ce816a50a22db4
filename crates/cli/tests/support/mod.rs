//! What the tests of agents share: addresses, waiting, processes and fleets of agents.

pub(crate) mod addresses;
pub(crate) mod agent;
pub(crate) mod dev;
pub(crate) mod fleet;
pub(crate) mod heavy;
pub(crate) mod job;
pub(crate) mod jobs;
pub(crate) mod lan;
pub(crate) mod namespaces;
pub(crate) mod wait;
