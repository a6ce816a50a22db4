//! Real nodes: the socket that answers for one, and groups of them on this machine.

pub(crate) mod change;
pub(crate) mod connections;
pub(crate) mod control;
pub(crate) mod harness;
pub(crate) mod local;
pub(crate) mod local_socket;
pub(crate) mod places;
pub(crate) mod plan;
pub(crate) mod server;
pub(crate) mod work;
