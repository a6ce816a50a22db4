//! What the simulator knows of each algorithm: the cases that are counted against formulas.

pub(crate) mod adhoc;
pub(crate) mod bully;
pub(crate) mod ring;
pub(crate) mod super_peer;
