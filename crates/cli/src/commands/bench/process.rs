//! What the system says of a process.

use std::path::Path;
use std::time::Duration;
use std::{fs, io};

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

/// Reads it off the system. A thread that ends while it is read counts nothing: what it used is
/// known to the kernel as part of the process, but no longer as its own.
pub(super) fn usage(process: u32) -> anyhow::Result<Usage> {
    let mut wakes = 0;
    let mut busy = Duration::ZERO;
    for task in fs::read_dir(format!("/proc/{process}/task"))? {
        let path = task?.path();
        let Some(status) = of_a_living_task(&path.join("status"))? else { continue };
        let Some(times) = of_a_living_task(&path.join("schedstat"))? else { continue };
        wakes += field(&status, "voluntary_ctxt_switches:").context("no count of switches")?;
        let nanoseconds = times.split(' ').next().and_then(|word| word.parse().ok());
        busy += Duration::from_nanos(nanoseconds.context("no processor time")?);
    }
    let status = fs::read_to_string(format!("/proc/{process}/status"))?;
    let resident = field(&status, "VmRSS:").context("no resident size")? * 1024;
    Ok(Usage { busy, resident, wakes })
}

/// What the file says, or nothing if its task has ended: the file is gone then, or the kernel
/// answers "no such process".
fn of_a_living_task(path: &Path) -> io::Result<Option<String>> {
    const NO_SUCH_PROCESS: i32 = 3;
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) if error.raw_os_error() == Some(NO_SUCH_PROCESS) => Ok(None),
        Err(error) => Err(error),
    }
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
    fn threads_that_end_while_they_are_read_do_no_harm() {
        let done = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !done.load(std::sync::atomic::Ordering::Relaxed) {
                    std::thread::scope(|inner| (0..8).for_each(|_| drop(inner.spawn(|| ()))));
                }
            });
            let read = (0..300).map(|_| usage(std::process::id())).collect::<Vec<_>>();
            done.store(true, std::sync::atomic::Ordering::Relaxed);
            assert_eq!(read.iter().filter(|usage| usage.is_err()).count(), 0);
        });
    }

    #[test]
    fn a_field_is_a_number_after_its_name() {
        let text = "VmHWM:\t   9 kB\nVmRSS:\t  5120 kB\n";
        assert_eq!(field(text, "VmRSS:"), Some(5120));
        assert_eq!(field(text, "VmSwap:"), None);
    }
}
