//! Ctrl-C: the first one stops the work and lets it tell what it did, the second ends it at once.

use std::process;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::exit::INTERRUPTED;
use crate::terminal::output::complain;

static IS_ASKED: AtomicBool = AtomicBool::new(false);

/// Listens from now on.
pub(crate) fn listen() {
    let heard = ctrlc::set_handler(|| {
        if IS_ASKED.swap(true, Ordering::Relaxed) {
            process::exit(i32::from(INTERRUPTED));
        }
        complain("stopping; once more ends it at once");
    });
    if heard.is_err() {
        complain("cannot listen for Ctrl-C: it will end the run without a summary");
    }
}

/// Whether the user wants it to stop.
pub(crate) fn is_asked() -> bool {
    IS_ASKED.load(Ordering::Relaxed)
}
