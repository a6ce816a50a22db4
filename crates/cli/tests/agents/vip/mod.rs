//! The virtual address of `deploy/vip`: three machines at a switch, and clients that keep connecting.
//!
//! Needs root (CAP_NET_ADMIN, CAP_SYS_ADMIN), `ip` and perl; see `adhoc` for what happens without.

mod client;
mod machines;
mod script;
mod story;

/// The virtual addresses, which no machine has by itself.
const VIP: &str = "10.77.0.100";
const VIP6: &str = "fd77::100";

/// The program under test.
const PROGRAM: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../deploy/vip/tanist-vip");
