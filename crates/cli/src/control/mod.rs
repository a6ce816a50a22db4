//! An agent's control socket: what is said over it, its two sides, and how it is bound.

pub(crate) mod client;
pub(crate) mod connections;
pub(crate) mod local_socket;
pub(crate) mod place;
pub(crate) mod protocol;
pub(crate) mod server;
