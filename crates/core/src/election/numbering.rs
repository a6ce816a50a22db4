//! Group numbers: a node counts on, and saves the counter before a message can carry the number.

use super::Elects;
use crate::group::{Counter, GroupNumber};
use crate::mutant::Mutant;
use crate::protocol::{Context, Effects};

/// Takes the next group number and saves its counter before anybody can hear of it (I-08).
pub(crate) fn mint<P: Elects>(
    cx: &Context<'_>,
    counter: &mut Counter,
    out: &mut Effects<P>,
) -> GroupNumber {
    if !(cx.is_mutated(Mutant::ReuseCounter) && counter.0 > 0) {
        *counter = counter.next();
    }
    if !cx.is_mutated(Mutant::SkipSave) && !cx.is_mutated(Mutant::SaveAfterSend) {
        out.save(*counter);
    }
    counter.group(cx.me)
}

/// Goes on from a counter that somebody else saw, if it is higher; it is saved before it is used.
pub(crate) fn raise<P: Elects>(counter: &mut Counter, seen: Counter, out: &mut Effects<P>) {
    if seen > *counter {
        *counter = seen;
        out.save(seen);
    }
}

/// What the `save-after-send` mutant calls where the messages have left.
pub(crate) fn mint_late<P: Elects>(cx: &Context<'_>, counter: Counter, out: &mut Effects<P>) {
    if cx.is_mutated(Mutant::SaveAfterSend) {
        out.save(counter);
    }
}
