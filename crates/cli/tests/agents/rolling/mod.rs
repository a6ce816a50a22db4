//! Nodes of different releases in one group: upgrades and downgrades node by node, and releases
//! that have no version in common.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop where it stands")]

mod group;
mod load;
mod refused;
mod release;
mod upgrade;
