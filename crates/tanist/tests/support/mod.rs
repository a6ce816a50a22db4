//! What the tests of nodes in one process share.

pub(crate) mod fleet;
