//! A running group changes its key and moves to identities: no outage, no second job, no election.
//!
//! Five nodes under `tanist run`, each with a key file of its own, while clients ask all the time
//! and strangers connect to the peer ports. Every step is what an operator would type.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop where it stands")]

#[path = "agents/live/group.rs"]
#[allow(dead_code, reason = "every test program uses its own part of it")]
mod group;
#[path = "agents/job/home.rs"]
#[allow(dead_code, reason = "every test program uses its own part of it")]
mod home;

mod rotation {
    mod commands;
    mod fleet;
    mod live;
}
