//! Where warnings of a node go, and how loud it is. The level can change while it runs.
//!
//! Everything that an agent writes while it runs goes through [`Lines`]: its log, the messages of
//! panics and its complaints to stderr, changes of role to stdout. So a stderr that is never read,
//! or a disk that is full, costs lines and not the node.

use std::backtrace::{Backtrace, BacktraceStatus};
use std::io::{self, ErrorKind, Write};
use std::panic;
use std::sync::OnceLock;
use std::thread;
use std::time::Duration;

use tanist::transport::Throttle;
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{Layer as _, Registry, fmt, reload};

use crate::config::{LogFormat, LogLevel, LogTable};
use crate::terminal::lines::{Lines, Loss};

/// Everything that a node tells goes to stderr, one line each, from here on without waiting.
pub(crate) fn to_stderr(log: &LogTable) -> io::Result<()> {
    if STDERR.get().is_some() {
        return Ok(());
    }
    let lines = Lines::start(io::stderr(), |loss| match loss {
        Loss::Dropped(count) => tracing::warn!(
            "{count} log lines were dropped, because stderr took none for a while. Look at what \
             reads it"
        ),
        // There is nowhere left to say it; it is counted.
        Loss::Failed(_) => {}
    })?;
    let lines = STDERR.get_or_init(|| lines);
    let (filter, handle) = reload::Layer::new(filter(log.level));
    let layer = fmt::layer().with_writer(Stderr).with_ansi(false).with_target(false);
    let layer = match log.format {
        LogFormat::Text => layer.boxed(),
        LogFormat::Json => layer.json().flatten_event(true).boxed(),
    };
    // Only the first call counts, and there is one.
    let _ = tracing_subscriber::registry().with(filter).with(layer).try_init();
    let _ = LEVEL.set(handle);
    panic::set_hook(Box::new(|panic| {
        let thread = thread::current();
        let name = thread.name().unwrap_or("without a name");
        lines.put(format!("the thread {name} {panic}\n").into_bytes());
        // It is there if RUST_BACKTRACE asks for it.
        let trace = Backtrace::capture();
        if trace.status() == BacktraceStatus::Captured {
            lines.put(format!("{trace}\n").into_bytes());
        }
    }));
    Ok(())
}

/// Tells more or less from here on.
pub(crate) fn set_level(level: LogLevel) {
    if let Some(handle) = LEVEL.get() {
        // It fails only if the reader is gone.
        let _ = handle.reload(filter(level));
    }
}

/// Where complaints go that are no log lines, if [`to_stderr`] was called.
pub(crate) fn stderr() -> Option<&'static Lines> {
    STDERR.get()
}

/// Where the changes of a node go. Lines that stdout does not take are dropped, with a warning.
pub(crate) fn stdout() -> io::Result<&'static Lines> {
    if let Some(lines) = STDOUT.get() {
        return Ok(lines);
    }
    let warning = Throttle::new();
    let lines = Lines::start(io::stdout(), move |loss| match loss {
        // A reader that goes away is not an error.
        Loss::Failed(error) if error.kind() == ErrorKind::BrokenPipe => {}
        Loss::Failed(error) => {
            if let Some(held_back) = warning.pass() {
                tracing::warn!(
                    held_back,
                    "stdout cannot be written ({error}), so a change of role is missing there. \
                     The node goes on; make room where stdout leads"
                );
            }
        }
        Loss::Dropped(count) => tracing::warn!(
            "{count} changes of role are missing on stdout, because it took none for a while. \
             Look at what reads it"
        ),
    })?;
    Ok(STDOUT.get_or_init(|| lines))
}

/// How many lines stderr and stdout did not take so far.
pub(crate) fn lost() -> Lost {
    let count = |lines: &OnceLock<Lines>| lines.get().map_or(0, Lines::lost);
    Lost { stderr: count(&STDERR), stdout: count(&STDOUT) }
}

/// Lines that were not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lost {
    /// Of the log.
    pub(crate) stderr: u64,
    /// Of the changes of role.
    pub(crate) stdout: u64,
}

/// Writes what is queued, for a moment. For the end of the process, also by a panic: when this is
/// dropped.
#[derive(Debug)]
pub(crate) struct FlushAtEnd;

impl Drop for FlushAtEnd {
    fn drop(&mut self) {
        flush();
    }
}

/// Writes what is queued, for a moment.
pub(crate) fn flush() {
    for lines in [STDOUT.get(), STDERR.get()].into_iter().flatten() {
        lines.flush(FLUSH_MAX);
    }
}

/// Puts every line of the log into the queue.
struct Stderr;

impl<'a> MakeWriter<'a> for Stderr {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        Self
    }
}

impl Write for Stderr {
    /// A whole line each: tracing writes no less.
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        if let Some(lines) = STDERR.get() {
            lines.put(line.to_vec());
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

const fn filter(level: LogLevel) -> LevelFilter {
    match level {
        LogLevel::Error => LevelFilter::ERROR,
        LogLevel::Warn => LevelFilter::WARN,
        LogLevel::Info => LevelFilter::INFO,
        LogLevel::Debug => LevelFilter::DEBUG,
        LogLevel::Trace => LevelFilter::TRACE,
    }
}

static LEVEL: OnceLock<reload::Handle<LevelFilter, Registry>> = OnceLock::new();
static STDERR: OnceLock<Lines> = OnceLock::new();
static STDOUT: OnceLock<Lines> = OnceLock::new();

/// How long the end of the process may wait for each of the two.
const FLUSH_MAX: Duration = Duration::from_millis(500);
