//! Hooks and health checks of real agents: their order, the pre_leader check, refused hooks, and
//! what hooks see.

pub(crate) mod ending;
pub(crate) mod gate;
pub(crate) mod leadership;
pub(crate) mod order;
pub(crate) mod program;

use crate::support::agent;
use crate::support::fleet::Fleet;

/// Writes the configuration of a node, with bully: the highest node leads.
pub(crate) fn configure(fleet: &Fleet, node: usize, more: &str) {
    fleet.configure(node, &format!("algorithm = \"bully\"\n{more}"));
}

/// Whether a process runs whose number a hook has written.
pub(crate) fn is_running(process: &str) -> bool {
    agent::is_running(process.parse().unwrap())
}
