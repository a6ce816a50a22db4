//! Group numbers: a node increments its counter, and saves it before a message can carry the
//! number.

use super::ElectionAlgorithm;
use crate::group::{Counter, GroupNumber};
use crate::mutant::{Mutant, mutants};
use crate::protocol::{Context, Effects};

/// Takes the next group number and saves its counter before it can be sent (I-08).
pub(crate) fn next_number<P: ElectionAlgorithm>(
    cx: &Context<'_>,
    counter: &mut Counter,
    out: &mut Effects<P>,
) -> GroupNumber {
    if !(cx.is_mutated(Mutant::REUSE_COUNTER) && counter.0 > 0) {
        *counter = counter.next();
    }
    if !cx.is_mutated(Mutant::SKIP_SAVE) && !cx.is_mutated(Mutant::SAVE_AFTER_SEND) {
        out.save(*counter);
    }
    counter.group(cx.me)
}

/// Advances to a counter that another node saw, if it is higher; it is saved before it is used.
pub(crate) fn advance_to<P: ElectionAlgorithm>(
    counter: &mut Counter,
    seen: Counter,
    out: &mut Effects<P>,
) {
    if seen > *counter {
        *counter = seen;
        out.save(seen);
    }
}

/// Saves the counter after the messages were sent; only the mutant `save-after-send` does so.
pub(crate) fn save_late<P: ElectionAlgorithm>(
    cx: &Context<'_>,
    counter: Counter,
    out: &mut Effects<P>,
) {
    if cx.is_mutated(Mutant::SAVE_AFTER_SEND) {
        out.save(counter);
    }
}

mutants! {
    /// The counter is used without having been saved.
    SKIP_SAVE = "skip-save",
    /// A new group gets the number of the last one.
    REUSE_COUNTER = "reuse-counter",
    /// The save comes after the message that it should precede.
    SAVE_AFTER_SEND = "save-after-send",
}
