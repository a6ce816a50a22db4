//! Tests that need most of the machine take turns.
//!
//! All families are one program, whose tests run in parallel. A test with many agents, or one that
//! checks that a machine under attack keeps its deadlines, holds the turn. Light tests may run
//! beside it.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Waits until no other heavy test runs. The turn ends when the guard is dropped.
pub(crate) fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    // A heavy test that failed has ended its turn, too.
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}
