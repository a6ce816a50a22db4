//! `tanist run` with real processes: no job runs twice, and no process is left behind.

pub(crate) mod exits;
pub(crate) mod inactive;
pub(crate) mod leaving;
pub(crate) mod loss;
pub(crate) mod lost;
pub(crate) mod orphans;
pub(crate) mod overlap;
pub(crate) mod signals;
pub(crate) mod terminal;
