//! Where warnings of a node go, and how loud it is. The level can change while it runs.

use std::io;
use std::sync::OnceLock;

use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{Layer as _, Registry, fmt, reload};

use crate::config::{LogFormat, LogLevel, LogTable};

/// Everything that a node tells goes to stderr, one line each.
pub(crate) fn to_stderr(log: &LogTable) {
    let (filter, handle) = reload::Layer::new(filter(log.level));
    let lines = fmt::layer().with_writer(io::stderr).with_ansi(false).with_target(false);
    let lines = match log.format {
        LogFormat::Text => lines.boxed(),
        LogFormat::Json => lines.json().flatten_event(true).boxed(),
    };
    // Only the first call counts, and there is one.
    let _ = tracing_subscriber::registry().with(filter).with(lines).try_init();
    let _ = LEVEL.set(handle);
}

/// Tells more or less from here on.
pub(crate) fn set_level(level: LogLevel) {
    if let Some(handle) = LEVEL.get() {
        // It fails only if nobody listens any more.
        let _ = handle.reload(filter(level));
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
