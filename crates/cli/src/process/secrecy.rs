//! Keeps the memory of a process that holds a group's key from being written or read by others.

use rustix::process::{DumpableBehavior, set_dumpable_behavior};

/// No core file is written when this process crashes, and no other process of the same user can
/// attach to it. What it starts is not affected: the flag ends with `exec`.
pub(crate) fn hide_memory() {
    if let Err(error) = set_dumpable_behavior(DumpableBehavior::NotDumpable) {
        tracing::warn!(%error, "a crash may write the group's key to a core file; set ulimit -c 0");
    }
}
