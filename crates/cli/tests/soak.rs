//! A soak: three nodes with a job, everything that a stranger on the machine can do to them at
//! once, and a look every second at what must not move and what must not grow.
//!
//! `TANIST_SOAK_SECONDS` says how long; `.ci/soak` sets it and builds the release.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop where it stands")]

#[path = "agents/live/group.rs"]
#[allow(dead_code, reason = "every test program uses its own part of it")]
mod group;
#[path = "agents/job/home.rs"]
#[allow(dead_code, reason = "every test program uses its own part of it")]
mod home;
#[path = "agents/attacks/proxy.rs"]
#[allow(dead_code, reason = "every test program uses its own part of it")]
mod proxy;
#[path = "agents/attacks/strangers.rs"]
mod strangers;

mod soak {
    mod attack;
    mod health;
    mod nodes;
    mod recording;
    mod run;
    mod samples;
    mod slope;
    mod swarm;
    mod watch;
}
