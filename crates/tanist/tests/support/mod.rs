//! What the tests of nodes in one process share.

#[path = "../../../cli/tests/support/addresses.rs"]
pub(crate) mod addresses;
pub(crate) mod fleet;
