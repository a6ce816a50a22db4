//! Agents on machines of their own: firewalls between them, and names that move.
//!
//! Needs root (CAP_NET_ADMIN, CAP_SYS_ADMIN) and `ip` of Debian's package iproute2. Without them
//! the tests say that they are skipped; with TANIST_TEST_REQUIRE_NETNS=1 they fail instead.

mod machines;
mod names;
mod udp;
