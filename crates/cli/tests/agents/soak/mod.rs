//! A soak: three nodes with a job, everything that a stranger on the machine can do to them at
//! once, and a look every second at what must not move and what must not grow.
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
