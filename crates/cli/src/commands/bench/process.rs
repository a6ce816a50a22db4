//! What the system says of a process.

use std::fs;
use std::time::Duration;

use anyhow::Context;

/// What a process has used so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Usage {
    /// Processor time, in user and kernel mode.
    pub(super) busy: Duration,
    /// Memory in use now, in bytes.
    pub(super) resident: u64,
    /// How often it gave up the processor by itself: how often it woke.
    pub(super) wakes: u64,
}

/// Reads it off the system.
pub(super) fn usage(process: u32) -> anyhow::Result<Usage> {
    let mut wakes = 0;
    let mut busy = Duration::ZERO;
    for task in fs::read_dir(format!("/proc/{process}/task"))? {
        let path = task?.path();
        let status = fs::read_to_string(path.join("status"))?;
        wakes += field(&status, "voluntary_ctxt_switches:").context("no count of switches")?;
        let times = fs::read_to_string(path.join("schedstat"))?;
        let nanoseconds = times.split(' ').next().and_then(|word| word.parse().ok());
        busy += Duration::from_nanos(nanoseconds.context("no processor time")?);
    }
    let status = fs::read_to_string(format!("/proc/{process}/status"))?;
    let resident = field(&status, "VmRSS:").context("no resident size")? * 1024;
    Ok(Usage { busy, resident, wakes })
}

fn field(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_can_be_read() {
        let usage = usage(std::process::id()).unwrap();
        assert!(usage.resident > 0);
    }

    #[test]
    fn a_field_is_a_number_after_its_name() {
        let text = "VmHWM:\t   9 kB\nVmRSS:\t  5120 kB\n";
        assert_eq!(field(text, "VmRSS:"), Some(5120));
        assert_eq!(field(text, "VmSwap:"), None);
    }
}
