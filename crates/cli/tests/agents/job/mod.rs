//! `tanist run` with real processes: nothing runs twice, nothing stays behind.

pub(crate) mod exits;
pub(crate) mod leaving;
pub(crate) mod loss;
pub(crate) mod orphans;
pub(crate) mod overlap;
pub(crate) mod signals;
pub(crate) mod terminal;
