//! How much memory this process occupies.
//!
//! The system is asked, since it knows what no account of the parts contains: the values that
//! snapshots share, memos, and what the allocator keeps. Only Linux is asked; elsewhere the caller
//! has to estimate.

use std::fs;

/// The bytes that this process occupies, where the system tells.
pub(crate) fn occupied() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}
