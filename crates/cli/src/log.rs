//! Where warnings of a node go.

use std::io;

use tracing_subscriber::filter::LevelFilter;

/// Everything that a node warns of goes to stderr, one line each.
pub(crate) fn to_stderr() {
    let lines = tracing_subscriber::fmt()
        .with_writer(io::stderr)
        .with_ansi(false)
        .with_target(false)
        .with_max_level(LevelFilter::INFO);
    // Only the first call counts, and there is one.
    let _ = lines.try_init();
}
