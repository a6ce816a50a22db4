//! The store on a thread of its own, so that a slow disk does not make the node silent.
//!
//! ```text
//!   reserve   numbers for later elections are put on disk while nothing waits for them; if that
//!             fails or takes long, the node goes on with those that it has
//!   save      a number is about to be used: on disk already, or the driver waits for it, and
//!             not for longer than its peers can do without a sign of life
//! ```
//!
//! One write is in progress at any time, so what a save has to wait for is at most one reservation
//! and its own write. Assumes that counters of saves never go down. Leaves out: when to reserve.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError, channel};
use std::thread;
use std::time::{Duration, Instant};

use tanist_core::NodeRecord;
use tanist_core::group::Counter;
use tokio::sync::Notify;

use crate::error::Failure;
use crate::store::{SaveError, Store};

/// The driver's side of the store's thread. Dropping it ends the thread after its current write.
#[derive(Debug)]
pub(crate) struct Saver {
    directory: PathBuf,
    orders: Sender<NodeRecord>,
    done: Receiver<Done>,
    /// Wakes the driver when a write is done.
    woken: Arc<Notify>,
    /// What the disk holds for certain.
    held: NodeRecord,
    /// What was to be saved last.
    used: NodeRecord,
    /// What is being written.
    writing: Option<NodeRecord>,
    /// How long a save may take.
    limit: Duration,
}

/// What became of a write.
#[derive(Debug)]
struct Done {
    record: NodeRecord,
    result: Result<(), SaveError>,
}

/// The thread's side.
struct Reporter {
    done: Option<Sender<Done>>,
    woken: Arc<Notify>,
}

impl Reporter {
    fn report(&self, done: Done) {
        if let Some(to) = &self.done {
            // A driver that is gone needs no answer.
            let _ = to.send(done);
        }
        self.woken.notify_one();
    }
}

impl Drop for Reporter {
    /// Also when a write panics: then the driver must not wait for it.
    fn drop(&mut self) {
        self.done = None;
        self.woken.notify_one();
    }
}

/// Tells when the store is closed.
#[derive(Debug)]
pub(crate) struct Closing {
    ended: Receiver<()>,
    limit: Duration,
}

impl Closing {
    /// Waits until the store is closed, so that it can be opened again, with a limit, since its
    /// disk may hang.
    pub(crate) fn wait(self) {
        // Nothing is ever sent: the other end is dropped when the store is.
        let _ = self.ended.recv_timeout(self.limit);
    }
}

impl Saver {
    /// Moves a store to a thread of its own. A save that takes longer than `limit` fails.
    pub(crate) fn start(mut store: Store, limit: Duration) -> std::io::Result<(Self, Closing)> {
        let directory = store.directory().to_owned();
        let held = store.record();
        Self::run(directory, held, limit, move |record| store.save(record))
    }

    fn run(
        directory: PathBuf,
        held: impl Into<NodeRecord>,
        limit: Duration,
        mut write: impl FnMut(NodeRecord) -> Result<(), SaveError> + Send + 'static,
    ) -> std::io::Result<(Self, Closing)> {
        let (orders, ordered) = channel::<NodeRecord>();
        let (finished, done) = channel();
        let (closed, ended) = channel();
        let woken = Arc::new(Notify::new());
        let reporter = Reporter { done: Some(finished), woken: Arc::clone(&woken) };
        let body = move || {
            for record in ordered {
                let result = write(record.clone());
                reporter.report(Done { record, result });
            }
            drop(write);
            drop(closed);
        };
        thread::Builder::new().name("tanist-store".to_owned()).spawn(body)?;
        let held = held.into();
        let used = held.clone();
        let saver = Self { directory, orders, done, woken, held, used, writing: None, limit };
        Ok((saver, Closing { ended, limit }))
    }

    /// What the disk holds for certain.
    pub(crate) const fn record(&self) -> &NodeRecord {
        &self.held
    }

    /// The counter that the disk holds for certain, which may be more than was used.
    pub(crate) const fn held(&self) -> Counter {
        self.held.counter
    }

    /// How many numbers are on disk and not used yet.
    pub(crate) const fn reserved(&self) -> u64 {
        self.held.counter.0 - self.used.counter.0
    }

    /// Keeps a record before it is used. Returns when it would survive power loss.
    pub(crate) fn save(&mut self, record: impl Into<NodeRecord>) -> Result<(), Failure> {
        let record = record.into();
        let counter = record.counter;
        if counter == Counter(u64::MAX) {
            return Err(SaveError::Exhausted.into());
        }
        if counter < self.used.counter {
            let (held, asked) = (self.used.counter.0, counter.0);
            return Err(SaveError::Backwards { held, asked }.into());
        }
        let begun = Instant::now();
        while !self.held.covers(&record) {
            let own = record.clone().raised_to(self.held.counter);
            if self.writing.is_none() {
                self.order(own.clone())?;
            }
            let left = self.limit.saturating_sub(begun.elapsed());
            let done = match self.done.recv_timeout(left) {
                Ok(done) => done,
                Err(RecvTimeoutError::Timeout) => {
                    let (directory, waited) = (self.directory.clone(), self.limit);
                    return Err(SaveError::Slow { directory, waited }.into());
                }
                Err(RecvTimeoutError::Disconnected) => return Err(Failure::Panicked),
            };
            match self.finish(done) {
                Ok(_) => {}
                // A reservation for later has failed; the number that is needed is tried by itself.
                Err((tried, error)) if tried != own => warn_of(&error),
                Err((_, error)) => return Err(error.into()),
            }
        }
        self.used = record;
        Ok(())
    }

    /// Begins to put numbers for later elections on disk, unless there are enough or a write is in
    /// progress.
    pub(crate) fn reserve(&mut self) {
        let used = self.used.counter.0;
        let wanted = Counter(used.saturating_add(RESERVED).min(u64::MAX - 1));
        if self.writing.is_none() && self.held.counter < wanted {
            // If the thread is gone, the next save says so.
            let _ = self.order(self.used.clone().raised_to(wanted));
        }
    }

    /// Waits for the end of a reservation: what the disk holds, or why it does not hold more. Fails
    /// if the thread has panicked.
    pub(crate) async fn reservation(&mut self) -> Result<Result<Counter, SaveError>, Failure> {
        loop {
            match self.done.try_recv() {
                Ok(done) => return Ok(self.finish(done).map_err(|(_, error)| error)),
                Err(TryRecvError::Empty) => self.woken.notified().await,
                Err(TryRecvError::Disconnected) => return Err(Failure::Panicked),
            }
        }
    }

    fn order(&mut self, record: NodeRecord) -> Result<(), Failure> {
        self.orders.send(record.clone()).map_err(|_| Failure::Panicked)?;
        self.writing = Some(record);
        Ok(())
    }

    fn finish(
        &mut self,
        Done { record, result }: Done,
    ) -> Result<Counter, (NodeRecord, SaveError)> {
        self.writing = None;
        match result {
            Ok(()) => self.held = record.raised_to(self.held.counter),
            Err(error) => return Err((record, error)),
        }
        Ok(self.held.counter)
    }
}

/// Tells the operator that a reservation failed.
pub(super) fn warn_of(error: &SaveError) {
    tracing::warn!(
        %error,
        "cannot put group numbers for later elections on disk; the node goes on with those that it \
         has saved, and ends when it needs another one and the disk still fails"
    );
}

/// How many numbers are put on disk beforehand: enough elections for a person to mend a disk. A
/// restart skips those that were not used.
const RESERVED: u64 = 16;

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    /// A disk that writes when it is let, and says what it was asked.
    #[derive(Clone, Debug, Default)]
    struct Disk {
        asked: Arc<Mutex<Vec<u64>>>,
    }

    impl Disk {
        fn asked(&self) -> Vec<u64> {
            self.asked.lock().unwrap().clone()
        }
    }

    type Verdict = Result<(), SaveError>;

    fn full() -> Verdict {
        let source = std::io::ErrorKind::StorageFull.into();
        let path = PathBuf::from("/data/counter.new");
        Err(SaveError::Unwritten(crate::store::DiskError { action: "write", path, source }))
    }

    /// A saver on a disk whose every write waits for a verdict.
    fn saver(limit: Duration) -> (Saver, Closing, Disk, Sender<Verdict>) {
        let disk = Disk::default();
        let (verdicts, next) = channel::<Verdict>();
        let asked = Arc::clone(&disk.asked);
        let write = move |record: NodeRecord| {
            asked.lock().unwrap().push(record.counter.0);
            next.recv().unwrap_or(Ok(()))
        };
        let (saver, closing) = Saver::run("/data".into(), Counter(10), limit, write).unwrap();
        (saver, closing, disk, verdicts)
    }

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn a_number_that_is_not_reserved_is_written_before_the_save_returns() {
        let (mut saver, _closing, disk, verdicts) = saver(LONG);
        verdicts.send(Ok(())).unwrap();
        saver.save(Counter(11)).unwrap();
        assert_eq!((disk.asked(), saver.held()), (vec![11], Counter(11)));
        saver.save(Counter(11)).unwrap();
        assert_eq!(disk.asked(), [11], "what the disk holds is not written again");
    }

    #[tokio::test]
    async fn reserved_numbers_are_saved_without_the_disk_even_while_it_hangs() {
        let (mut saver, _closing, disk, verdicts) = saver(LONG);
        saver.reserve();
        verdicts.send(Ok(())).unwrap();
        assert_eq!(saver.reservation().await.unwrap().unwrap(), Counter(10 + RESERVED));
        saver.save(Counter(11)).unwrap();
        // The next reservation hangs, and nothing waits for it.
        saver.reserve();
        for counter in 12..=10 + RESERVED {
            saver.save(Counter(counter)).unwrap();
        }
        assert_eq!(saver.reserved(), 0);
        let asked = disk.asked();
        assert!(asked == [26] || asked == [26, 27], "{asked:?}");
    }

    #[test]
    fn a_save_waits_for_the_reservation_that_is_in_progress_and_needs_no_write_of_its_own() {
        let (mut saver, _closing, disk, verdicts) = saver(LONG);
        saver.reserve();
        verdicts.send(Ok(())).unwrap();
        saver.save(Counter(11)).unwrap();
        assert_eq!((disk.asked(), saver.held()), (vec![26], Counter(26)));
    }

    #[test]
    fn a_save_tries_its_own_number_after_a_reservation_that_failed() {
        let (mut saver, _closing, disk, verdicts) = saver(LONG);
        saver.reserve();
        verdicts.send(full()).unwrap();
        verdicts.send(Ok(())).unwrap();
        saver.save(Counter(11)).unwrap();
        assert_eq!(disk.asked(), [26, 11]);
        verdicts.send(full()).unwrap();
        let failed = saver.save(Counter(12)).unwrap_err();
        assert!(matches!(failed, Failure::Store(SaveError::Unwritten(_))), "{failed}");
    }

    #[tokio::test]
    async fn a_reservation_that_fails_takes_nothing_away() {
        let (mut saver, _closing, _, verdicts) = saver(LONG);
        saver.reserve();
        verdicts.send(full()).unwrap();
        saver.reservation().await.unwrap().unwrap_err();
        assert_eq!((saver.held(), saver.reserved()), (Counter(10), 0));
        saver.save(Counter(10)).unwrap();
    }

    #[test]
    fn a_save_that_takes_too_long_fails_and_names_the_directory() {
        let (mut saver, closing, _, _verdicts) = saver(Duration::from_millis(20));
        let failed = saver.save(Counter(11)).unwrap_err().to_string();
        assert!(failed.contains("/data") && failed.contains("20ms"), "{failed}");
        drop(saver);
        // The disk still hangs, and the node is not held up by it.
        closing.wait();
    }

    #[tokio::test]
    async fn a_thread_that_panics_is_noticed_at_once() {
        let write = |_| panic!("on purpose");
        let (mut saver, _closing) = Saver::run("/data".into(), Counter(1), LONG, write).unwrap();
        saver.reserve();
        let failed = saver.reservation().await.unwrap_err();
        assert!(matches!(failed, Failure::Panicked), "{failed}");
        assert!(matches!(saver.save(Counter(2)), Err(Failure::Panicked)));
    }

    #[test]
    fn a_lower_counter_and_the_last_one_are_refused() {
        let (mut saver, _closing, disk, _verdicts) = saver(LONG);
        let failed = saver.save(Counter(9)).unwrap_err();
        assert!(matches!(failed, Failure::Store(SaveError::Backwards { .. })), "{failed}");
        let failed = saver.save(Counter(u64::MAX)).unwrap_err();
        assert!(matches!(failed, Failure::Store(SaveError::Exhausted)), "{failed}");
        assert_eq!(disk.asked(), Vec::<u64>::new());
    }
}
