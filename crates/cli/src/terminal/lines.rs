//! Lines for a descriptor that may take nothing: written by a thread of their own, so that no
//! other thread ever waits for it.
//!
//! ```text
//!   any thread --put--> queue (bounded) --> thread "lines" --write--> stderr or stdout
//!                         full: dropped and counted
//! ```
//!
//! Lines that were dropped are reported as soon as one could be written again. Left out: a process
//! that is killed loses what is queued.
//! tracing-appender does the same for a log alone; it bounds its queue by lines and not by bytes,
//! reports nothing when there is room again, and would need a second mechanism for panics and
//! stdout.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::os::fd::AsFd;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};

/// Where lines are put. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Lines {
    shared: Arc<Shared>,
}

/// What became of lines that could not be written.
#[derive(Debug)]
pub(crate) enum Loss<'a> {
    /// A line could not be written.
    Failed(&'a io::Error),
    /// So many were dropped, and there is room again.
    Dropped(u64),
}

#[derive(Debug, Default)]
struct Shared {
    queue: Mutex<Queue>,
    /// A line was put, or the last one was written.
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Queue {
    waiting: VecDeque<Vec<u8>>,
    /// What `waiting` takes, roughly.
    bytes: usize,
    /// A line is being written, or what was lost before it is being reported.
    is_writing: bool,
    /// Lines that were dropped or could not be written, in all.
    lost: u64,
    /// Those that were not reported yet.
    unreported: u64,
}

impl Lines {
    /// Writes lines to a descriptor, and says what was lost. `report` may put lines itself.
    pub(crate) fn start(
        to: impl AsFd,
        mut report: impl FnMut(Loss<'_>) + Send + 'static,
    ) -> io::Result<Self> {
        // A descriptor of its own: the locks around std's would make other threads wait.
        let mut to = File::from(to.as_fd().try_clone_to_owned()?);
        let lines = Self { shared: Arc::default() };
        let shared = Arc::clone(&lines.shared);
        let work = move || loop {
            let line = shared.take();
            match write(&mut to, &line) {
                Ok(()) => {
                    let dropped = std::mem::take(&mut shared.lock().unreported);
                    if dropped > 0 {
                        report(Loss::Dropped(dropped));
                    }
                }
                Err(error) => {
                    shared.lock().lose();
                    report(Loss::Failed(&error));
                }
            }
            shared.lock().is_writing = false;
            shared.changed.notify_all();
        };
        thread::Builder::new().name("lines".to_owned()).spawn(work)?;
        Ok(lines)
    }

    /// Adds what is written next; drops it if too much waits. Never waits itself.
    pub(crate) fn put(&self, line: Vec<u8>) {
        let mut queue = self.shared.lock();
        let size = line.len() + LINE_COST;
        if queue.bytes + size > WAITING_MAX {
            queue.lose();
            return;
        }
        queue.bytes += size;
        queue.waiting.push_back(line);
        self.shared.changed.notify_all();
    }

    /// How many lines were lost so far.
    pub(crate) fn lost(&self) -> u64 {
        self.shared.lock().lost
    }

    /// Waits until everything is written, but no longer than this.
    pub(crate) fn flush(&self, limit: Duration) {
        let end = Instant::now() + limit;
        let mut queue = self.shared.lock();
        while queue.is_writing || !queue.waiting.is_empty() {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            let waited = self.shared.changed.wait_timeout(queue, left);
            queue = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl Shared {
    /// Waits for the next line.
    fn take(&self) -> Vec<u8> {
        let mut queue = self.lock();
        loop {
            if let Some(line) = queue.waiting.pop_front() {
                queue.bytes -= line.len() + LINE_COST;
                queue.is_writing = true;
                return line;
            }
            queue = self.changed.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        // No thread panics while holding it: every change above is a plain assignment.
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Queue {
    const fn lose(&mut self) {
        self.lost += 1;
        self.unreported += 1;
    }
}

/// Writes all of it, also where the descriptor was made non-blocking by another process.
fn write(to: &mut File, mut rest: &[u8]) -> io::Result<()> {
    while !rest.is_empty() {
        match to.write(rest) {
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Ok(count) => rest = &rest[count..],
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                poll(&mut [PollFd::new(to, PollFlags::OUT)], None)?;
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// What may wait: some thousand lines.
const WAITING_MAX: usize = 1 << 20;
/// What a line takes beside its bytes, roughly.
const LINE_COST: usize = 64;

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader};
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn lines_come_in_order_and_a_full_queue_drops_and_says_how_many_later() {
        let (reader, mut writer) = io::pipe().unwrap();
        // A full pipe, so that no line leaves the queue before there is a reader.
        rustix::io::ioctl_fionbio(&writer, true).unwrap();
        let filled = std::iter::from_fn(|| writer.write(b"\n").ok()).sum::<usize>();
        let (lost, told) = mpsc::channel();
        let lines = Lines::start(writer, move |loss| {
            if let Loss::Dropped(count) = loss {
                lost.send(count).unwrap();
            }
        });
        let lines = lines.unwrap();
        let long = |number: u32| format!("{number:>10000}\n").into_bytes();
        lines.put(long(0));
        while !lines.shared.lock().waiting.is_empty() {
            thread::yield_now();
        }
        // The thread waits with the first line; this is more than the queue holds.
        (1..500).for_each(|number| lines.put(long(number)));
        let dropped = lines.lost();
        assert!(dropped > 0);
        lines.flush(Duration::from_millis(1));
        let mut read = BufReader::new(reader).lines().map(|line| line.unwrap()).skip(filled);
        let numbers: Vec<u32> =
            (0..500 - dropped).map(|_| read.next().unwrap().trim().parse().unwrap()).collect();
        let first: Vec<u32> = (0..u32::try_from(500 - dropped).unwrap()).collect();
        assert_eq!(numbers, first);
        assert_eq!(told.recv().unwrap(), dropped);
        lines.put(b"after\n".to_vec());
        lines.flush(Duration::from_secs(60));
        assert_eq!(read.next().unwrap(), "after");
        assert_eq!(lines.lost(), dropped);
    }

    #[test]
    fn what_cannot_be_written_is_counted_and_reported() {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let (failed, told) = mpsc::channel();
        let report = move |loss: Loss<'_>| {
            if let Loss::Failed(error) = loss {
                failed.send(error.kind()).unwrap();
            }
        };
        let lines = Lines::start(full, report).unwrap();
        lines.put(b"a\n".to_vec());
        assert_eq!(told.recv().unwrap(), ErrorKind::StorageFull);
        lines.flush(Duration::from_secs(60));
        assert_eq!(lines.lost(), 1);
    }
}
