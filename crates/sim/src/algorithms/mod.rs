//! What the simulator knows of each algorithm: the cases that are counted against formulas.

pub(crate) mod adhoc;
pub(crate) mod bully;
pub(crate) mod bully_lecture;
pub(crate) mod invitation;
pub(crate) mod ring;
pub(crate) mod super_peer;
