//! Nodes of different releases in one group: upgrades and downgrades node by node, and releases
//! that have no version in common.

mod group;
mod load;
mod refused;
mod release;
mod upgrade;
