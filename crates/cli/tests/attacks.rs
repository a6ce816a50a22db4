//! Attacks by strangers, and faults that a careless operator makes, each by name.
//!
//! Every test plays one attack on real agents and asserts what must hold all the same: at most one
//! active leader, health answered, the group up. An attack that once succeeded stays here.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop where it stands")]

#[path = "agents/adversity/agents.rs"]
#[allow(dead_code, reason = "every test program uses its own part of it")]
mod agents;
#[path = "agents/live/group.rs"]
#[allow(dead_code, reason = "every test program uses its own part of it")]
mod group;
#[path = "agents/job/home.rs"]
#[allow(dead_code, reason = "every test program uses its own part of it")]
mod home;
#[path = "agents/adhoc/namespaces.rs"]
#[allow(dead_code, reason = "every test program uses its own part of it")]
mod namespaces;

mod attacks {
    mod control_socket;
    mod disk;
    mod events;
    mod files;
    mod handshake;
    mod hooks;
    mod http;
    mod identity;
    mod log;
    mod proxy;
    mod refusals;
    mod reports;
    mod samples;
    mod services;
    mod settings;
    mod strangers;
}
