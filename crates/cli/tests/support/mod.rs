//! What the tests of agents share.

pub(crate) mod dev;
pub(crate) mod namespaces;
