//! Agents that reach only their neighbours: a line of machines, each in a network namespace of its
//! own.
//!
//! Needs root (CAP_NET_ADMIN, CAP_SYS_ADMIN) and `ip` of Debian's package iproute2. Without them
//! the tests say that they are skipped; with TANIST_TEST_REQUIRE_NETNS=1 they fail instead.

pub(crate) mod agents;
mod errors;
mod line;
mod links;
