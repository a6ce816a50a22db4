//! A running group changes its key and moves to identities: no outage, no second job, no election.
//!
//! Five nodes under `tanist run`, each with a key file of its own, while clients query them and
//! strangers connect to the peer ports. Every step is what an operator would type.

mod commands;
mod group;
mod live;
