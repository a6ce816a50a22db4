//! A soak: three nodes with a job, all attacks at once that a stranger on the machine can make, and
//! a check every second of what must not change or grow.
//!
//! `TANIST_SOAK_SECONDS` says how long; `.ci/soak` sets it and builds the release.

mod attack;
mod health;
mod nodes;
mod recording;
mod run;
mod samples;
mod slope;
mod swarm;
mod watch;
