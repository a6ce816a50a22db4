//! How a protocol that contains another one passes on the effects of the inner one.
//!
//! Messages and timers of the inner protocol are wrapped, and their order stays. What the inner
//! protocol saves and notifies goes to a function of the outer one, at its place in that order; so
//! "save, then send" and "stop, then answer" hold across layers as well. Leaves out: where a notice
//! goes, which the outer protocol decides.

use super::{Effect, Effects, Protocol};

/// What an inner protocol passes to the outer one.
pub(crate) enum Upward<P: Protocol> {
    /// Put this on stable storage.
    Save(P::Record),
    /// This happened.
    Notify(P::Notice),
}

/// Passes on the effects of an inner protocol, in order.
///
/// `message` and `timer` wrap what belongs to the inner protocol, or drop what the outer one has no
/// place for; `upward` deals with everything else.
pub(crate) fn lift<I: Protocol, O: Protocol>(
    mut inner: Effects<I>,
    out: &mut Effects<O>,
    message: impl Fn(I::Message) -> Option<O::Message>,
    timer: impl Fn(I::Timer) -> Option<O::Timer>,
    mut upward: impl FnMut(Upward<I>, &mut Effects<O>),
) {
    for effect in inner.drain() {
        match effect {
            Effect::Send { to, message: inner } => {
                if let Some(message) = message(inner) {
                    out.send(to, message);
                }
            }
            Effect::Broadcast(inner) => {
                if let Some(message) = message(inner) {
                    out.broadcast(message);
                }
            }
            Effect::SetTimer { timer: inner, after } => {
                if let Some(timer) = timer(inner) {
                    out.set_timer(timer, after);
                }
            }
            Effect::CancelTimer(inner) => {
                if let Some(timer) = timer(inner) {
                    out.cancel_timer(timer);
                }
            }
            Effect::Save(record) => upward(Upward::Save(record), out),
            Effect::Notify(notice) => upward(Upward::Notify(notice), out),
        }
    }
}
