//! Nodes of different releases in one group: upgrades and downgrades node by node, and releases
//! that have no version in common.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop where it stands")]

#[path = "agents/live/group.rs"]
#[allow(dead_code, reason = "every test program uses its own part of it")]
mod group;
#[path = "agents/job/home.rs"]
#[allow(dead_code, reason = "every test program uses its own part of it")]
mod home;

mod rolling {
    mod fleet;
    mod load;
    mod refused;
    mod release;
    mod upgrade;
}
